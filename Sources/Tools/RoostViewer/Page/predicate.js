// The field for a condition: names are completed, and a parser's error is shown below its position.

import { h, replace, text } from "./dom.js";
import { get } from "./jobs.js";
import { path, withQuery, go, changed } from "./router.js";

const completionPause = 90;
const errorPause = 700;

/// Makes the field and its buttons. `error` is the server's error for the condition in the address,
/// or null. The field completes the names of properties, beginning at `entity`.
export function predicateBar(place, entity, error) {
    const field = h("textarea", { rows: 1, spellcheck: "false", autocomplete: "off", autocapitalize: "off", role: "combobox", id: "where",
        "aria-label": "Condition", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": "completions",
        "aria-describedby": "where-error", placeholder: "Condition, as in name CONTAINS[cd] 'blue' AND year >= 1970", "data-focus": "where" });
    field.value = place.parameters.get("where") ?? "";
    const list = h("ul.completions", { id: "completions", role: "listbox", "aria-label": "Completions", hidden: true });
    const problem = h("div.error", { id: "where-error", "aria-live": "polite" });
    const ruler = h("span.ruler", { "aria-hidden": "true" });
    let options = [];
    let active = -1;
    let range = { offset: 0, length: 0 };
    let request = null;
    let timers = [];

    function close() {
        list.hidden = true;
        options = [];
        active = -1;
        field.setAttribute("aria-expanded", "false");
        field.removeAttribute("aria-activedescendant");
    }

    function mark(index) {
        active = index;
        [...list.children].forEach((item, number) => item.setAttribute("aria-selected", String(number === index)));
        const item = list.children[index];
        item?.scrollIntoView({ block: "nearest" });
        if (item) field.setAttribute("aria-activedescendant", item.id);
        else field.removeAttribute("aria-activedescendant");
    }

    function accept(option) {
        const end = range.offset + range.length;
        const rest = field.value.slice(end);
        // A period may follow a relationship, so no space is added.
        const space = /^to-/.test(option.detail ?? "") || /^[\s.)]/.test(rest) ? "" : " ";
        field.setRangeText(option.text + space, range.offset, end, "end");
        close();
        fit();
        ask(false);
    }

    function open(answer) {
        options = answer.completions;
        range = answer.replace;
        if (!options.length) return close();
        replace(list, options.map((option, index) => h("li", { id: `completion-${index}`, role: "option", "aria-selected": "false", on: {
            // The field keeps the focus.
            mousedown: (event) => {
                event.preventDefault();
                accept(option);
            } } }, h("span.text", text(option.text)), h("span.detail", text(option.detail || option.kind)))));
        ruler.textContent = field.value.slice(0, range.offset);
        const left = Math.min(ruler.offsetWidth, Math.max(0, field.clientWidth - 200));
        list.style.setProperty("inset-inline-start", `${left}px`);
        list.hidden = false;
        field.setAttribute("aria-expanded", "true");
        active = -1;
    }

    /// Asks what can be written here. The error of a condition that is still being written shows
    /// only after a pause.
    async function ask(isExplicit) {
        request?.abort();
        request = new AbortController();
        const [content, cursor] = [field.value, field.selectionStart];
        try {
            const answer = await get(withQuery(`${path(place.store, entity, "-", "predicate")}.json`, { text: content, cursor }),
                { signal: request.signal });
            if (document.activeElement !== field || field.value !== content) return;
            if (content.trim() || isExplicit) open(answer);
            else close();
            timers.push(setTimeout(() => showError(content === field.value ? answer.error : null, true), errorPause));
        } catch {
            // An error is ignored, because the condition is checked again when it is applied.
            close();
        }
    }

    function later(action, pause) {
        timers.forEach(clearTimeout);
        timers = [setTimeout(action, pause)];
    }

    function showError(error, isTentative) {
        problem.classList.toggle("tentative", isTentative);
        field.setAttribute("aria-invalid", String(Boolean(error) && !isTentative));
        if (!error) return replace(problem);
        if (error.offset === undefined || error.offset === null) return replace(problem, h("p", text(error.message)));
        const content = field.value;
        const length = Math.max(1, error.length ?? 1);
        // A hidden copy of the text before the error precedes the caret, so the caret is at the error
        // in any writing system.
        const caret = h("pre.caret", { "aria-hidden": "true" }, h("span.before", content.slice(0, error.offset)),
            h("span.mark", "^".repeat(Math.min(length, 40))));
        const isLong = field.clientHeight > 2.2 * Number.parseFloat(getComputedStyle(field).lineHeight) || content.includes("\n");
        const line = isLong ? h("pre.again", { "aria-hidden": "true" }, content.slice(0, error.offset),
            h("mark", content.slice(error.offset, error.offset + length) || " "), content.slice(error.offset + length)) : null;
        replace(problem, isLong ? line : caret, h("p", text(error.message), /column \d/.test(error.message) ? null : h("span.muted", ` (character ${error.offset + 1})`)));
    }

    /// Makes the field as high as its text.
    function fit() {
        field.style.setProperty("height", "auto");
        field.style.setProperty("height", `${field.scrollHeight + 2}px`);
    }

    function apply() {
        close();
        go(changed(place, { where: field.value.trim(), page: null }));
    }

    for (const [name, handler] of Object.entries({
        input: () => {
            fit();
            showError(null, false);
            later(() => ask(false), completionPause);
        },
        blur: () => {
            timers.forEach(clearTimeout);
            close();
        },
        keydown: (event) => {
            const isOpen = !list.hidden;
            if (event.key === "ArrowDown" && isOpen) mark(Math.min(active + 1, options.length - 1));
            else if (event.key === "ArrowUp" && isOpen) mark(Math.max(active - 1, 0));
            else if (event.key === "Tab" && isOpen && !event.shiftKey) accept(options[Math.max(active, 0)]);
            else if (event.key === "Enter" && !event.shiftKey) isOpen && active >= 0 ? accept(options[active]) : apply();
            else if (event.key === "Escape" && isOpen) close();
            else if (event.key === " " && event.ctrlKey) ask(true);
            else return;
            event.preventDefault();
        } })) field.addEventListener(name, handler);

    const form = h("form.predicate", { role: "search", on: { submit: (event) => {
        event.preventDefault();
        apply();
    } } },
    h("label.name", { for: "where" }, "Where"),
    h("div.field", field, ruler, list, problem),
    h("div.actions", h("button", { type: "submit" }, "Apply"),
        place.parameters.get("where") ? h("a.button", { href: changed(place, { where: null, page: null }) }, "Clear") : null,
        h("a.button", { href: changed(place, { plan: place.parameters.has("plan") ? null : "1" }), "data-focus": "plan",
            "aria-pressed": null, title: "How the store finds these objects" }, place.parameters.has("plan") ? "Hide the plan" : "Plan")));
    return { node: form, ready: () => {
        fit();
        if (error) {
            showError(error, false);
            field.focus();
        }
    } };
}

/// Two conditions that must both hold, as one.
export function both(condition, other) {
    if (!condition?.trim()) return other;
    return `${/\bOR\b|\|\|/i.test(condition) ? `(${condition})` : condition} AND ${other}`;
}
