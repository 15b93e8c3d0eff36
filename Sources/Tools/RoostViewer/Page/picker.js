// A dialog to choose an object from a small table, which is searched by text or by a condition.

import { h, replace, text, plain, amount } from "./dom.js";
import { get } from "./jobs.js";
import { path, withQuery } from "./router.js";
import { show } from "./values.js";
import { openDialog } from "./dialog.js";

const pause = 200;

/// A text as a string literal of a condition, in single quotes.
function quoted(text) { return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`; }

/// Asks for an object of an entity. Resolves to null if the dialog is closed without a choice.
export function chooseObject(store, entity, title) {
    return new Promise((resolve) => {
        let request = null;
        let timer = null;
        let titleColumn;
        const results = h("div.scroll");
        const state = h("p.muted", { role: "status" });
        const field = h("input", { type: "search", autofocus: true, placeholder: "Text, key, or a condition", "aria-label": "Search", on: {
            input: () => {
                clearTimeout(timer);
                timer = setTimeout(search, pause);
            },
            keydown: (event) => {
                const first = results.querySelector("button.choose");
                if (!first || (event.key !== "Enter" && event.key !== "ArrowDown")) return;
                event.preventDefault();
                if (event.key === "Enter") first.click();
                else first.focus();
            } } });

        async function search() {
            request?.abort();
            request = new AbortController();
            const answer = await find(field.value.trim(), request.signal).catch((error) => {
                if (error.name !== "AbortError") state.replaceChildren(text(error.message));
                return null;
            });
            if (!answer) return;
            titleColumn ??= answer.columns.find((column) => column.type === "string")?.name ?? null;
            state.textContent = `${amount(answer.count, "object")}${answer.count > answer.rows.length ? `, the first ${answer.rows.length} are shown` : ""}`;
            const columns = answer.columns.slice(0, 4);
            replace(results, h("table.list", h("thead", h("tr", h("th", { scope: "col" }, "key"), columns.map((column) => h("th", { scope: "col" }, text(column.name))))),
                h("tbody", answer.rows.map((row) => h("tr", h("td", h("button.choose", { type: "button", on: { click: () => choose(row) },
                    "aria-label": `${plain(row.entity)} ${row.key} ${plain(row.title ?? "")}` }, String(row.key))),
                columns.map((column, index) => h("td", h("div.cell", show(row.values[index], column, {})))))))));
        }

        /// Tries the words as a key, a text in the title and a condition, until objects are found.
        async function find(words, signal) {
            const address = `${path(store, entity)}.json`;
            const page = (condition) => get(withQuery(address, condition ? { where: condition, size: 20 } : { size: 20 }), { signal });
            if (!words) return page(null);
            const conditions = [/^\d+$/.test(words) ? `SELF == ${words}` : null, titleColumn ? `#${quoted(titleColumn)} CONTAINS[cd] ${quoted(words)}` : null, words].filter(Boolean);
            let last = null;
            for (const condition of conditions) {
                try {
                    const answer = await page(condition);
                    if (answer.count || condition === conditions.at(-1)) return answer;
                    last ??= answer;
                } catch (error) {
                    if (error.name === "AbortError" || (!last && condition === conditions.at(-1))) throw error;
                }
            }
            return last;
        }

        let chosen = null;
        const dialog = openDialog(title, (close) => [field, state, results,
            h("p.actions", h("button", { type: "button", on: { click: close } }, "Cancel"))], { isWide: true });
        function choose(row) {
            chosen = { entity: row.entity, key: row.key, title: row.title };
            dialog.close();
        }
        dialog.addEventListener("close", () => {
            request?.abort();
            clearTimeout(timer);
            resolve(chosen);
        }, { once: true });
        results.addEventListener("keydown", (event) => {
            const buttons = [...results.querySelectorAll("button.choose")];
            const index = buttons.indexOf(document.activeElement);
            const next = { ArrowDown: index + 1, ArrowUp: index - 1 }[event.key];
            if (next === undefined) return;
            event.preventDefault();
            (buttons[next] ?? field).focus();
        });
        search();
    });
}
