// A table of objects: those of an entity, or those of a relationship. Its state is in its address.

import { h, text, plain, count, amount, duration, button } from "./dom.js";
import { Failure, load } from "./jobs.js";
import { path, objectPath, dataPath, changed, go } from "./router.js";
import { show, typeName, objectName, isNumeric, isPicture } from "./values.js";
import { heading, jsonLink } from "./store.js";
import { predicateBar, both } from "./predicate.js";
import { valueView } from "./object.js";

const sizes = [25, 50, 100, 200, 500];
const usualSize = 50;

/// The view of an address with the name of a property: objects of a relationship, or a whole value.
export function propertyView(place, data, context) {
    return data.rows ? tableView(place, data, context) : valueView(place, data, context);
}

export function tableView(place, data, context) {
    const bar = predicateBar(place, data.entity, null);
    const title = data.relationship ? `${plain(data.relationship)} of ${plain(objectName(data.owner))}` : plain(data.entity);
    const heads = data.relationship
        ? h("span", text(data.relationship), h("span.of", " of "), h("a", { href: objectPath(place.store, data.owner) }, text(objectName(data.owner))))
        : text(data.entity);
    const canInsert = !data.relationship && context.isWritable(place.store);
    const pages = Math.max(1, Math.ceil(data.count / Math.max(1, data.size)));
    const turns = pageTurns(place, data, pages);
    return { title, undo: data.undo, ready: bar.ready,
        announcement: `${title}: ${amount(data.count, "object")}, page ${count(data.page)} of ${count(pages)}`,
        node: h("section", heading(heads, canInsert ? h("a.button.primary", { href: changed({ ...place, parameters: [] }, { new: "1" }) }, "New object") : null,
            data.relationship ? h("a", { href: path(place.store, data.entity) }, "all ", text(data.entity)) : null,
            h("a", { href: changed({ pathname: path(place.store, "-", "model"), parameters: [] }, { entity: data.entity }) }, "Model"),
            jsonLink(dataPath(place.address))),
        bar.node, data.plan ? plan(data.plan) : null,
        h("div.tools", h("p.total", h("strong", amount(data.count, "object")), data.where ? " with this condition" : "",
            data.entities.length > 1 ? h("span.muted", " of ", data.entities.map((name, index) => [index ? ", " : "", text(name)])) : null,
            h("span.muted", ` · ${duration(data.milliseconds)}`)), facetMenu(place, data), columnMenu(place, data), command(place, data, context), turns),
        h("div.table-and-facets", data.facets ? facetPanel(place, data) : null,
            h("div.table-box", data.rows.length ? objectTable(place, data) : h("p.empty",
                data.count ? "This page has no objects." : data.where ? "No object meets this condition." : "There are no objects.",
                data.page > 1 && data.count ? h("a", { href: changed(place, { page: null }) }, " First page") : null)))) };
}

/// The view for a condition that the server refuses: the field with the error, without objects.
export async function refusedTable(place, error, context) {
    const entity = place.property ? await destination(place, context) : place.entity;
    const bar = predicateBar(place, entity, error);
    return { title: plain(place.property ?? place.entity), ready: bar.ready, announcement: plain(error.message),
        node: h("section", heading(place.property ?? place.entity), bar.node) };
}

async function destination(place, context) {
    const object = await load(`${path(place.store, place.entity, place.key)}.json`, context.signal);
    const relationship = object.properties.find((property) => property.name === place.property);
    if (!relationship?.destination) throw new Failure(404, { code: "notFound", message: "There is no such relationship." });
    return relationship.destination;
}

// The order

/// The parts of a list with commas between them. A backslash precedes a comma that belongs to a name.
function parts(list) {
    return ((list ?? "").match(/(?:\\.|[^,\\])+/gsu) ?? []).map((part) => part.replace(/\\(.)/gsu, "$1").trim()).filter(Boolean);
}

function joined(parts) { return parts.map((part) => part.replace(/[\\,]/g, "\\$&")).join(","); }

function columnOf(part) { return part.replace(/^-/, "").replace(/\[\w+\]$/, ""); }

/// The order after a click on a column: ascending, then descending, then by key again.
function nextOrder(sort, name, isAdding) {
    const order = parts(sort);
    const place = order.findIndex((part) => columnOf(part) === name);
    const old = order[place];
    const next = old === undefined ? name : old.startsWith("-") ? null : `-${old}`;
    if (!isAdding) return joined(next === null ? [] : [next]);
    if (place < 0) order.push(next);
    else order.splice(place, 1, ...(next === null ? [] : [next]));
    return joined(order);
}

function columnHead(place, data, column) {
    const order = parts(data.sort);
    const number = order.findIndex((part) => columnOf(part) === column.name);
    const direction = number < 0 ? null : order[number].startsWith("-") ? "descending" : "ascending";
    const about = [typeName(column), column.isIndexed ? "indexed" : null, column.isDerived ? "derived" : null].filter(Boolean).join(", ");
    const label = [h("span.name", text(column.name)), direction ? h("span.order", { "aria-hidden": "true" },
        direction === "ascending" ? "▲" : "▼", order.length > 1 ? h("sup", String(number + 1)) : null) : null];
    const kind = h("span.type", typeName(column), column.isIndexed && column.kind === "attribute" ? h("span.indexed", { title: "Indexed" }, " ⚡") : null);
    return h(`th${isNumeric(column.type) || column.kind === "toMany" ? ".number" : ""}`, { scope: "col", "aria-sort": direction }, column.isSortable
        ? h("button.sort", { type: "button", "data-focus": `sort ${column.name}`, title: `${about}. Click to sort; with Shift, to sort by several columns.`,
            on: { click: (event) => go(changed(place, { sort: nextOrder(data.sort, column.name, event.shiftKey), page: null })) } }, label, kind)
        : h("span.sort", { title: about }, label, kind));
}

// Rows

function objectTable(place, data) {
    const hasEntities = data.entities.length > 1 || data.entities[0] !== data.entity;
    const rows = data.rows.map((row) => {
        const at = { store: place.store, entity: row.entity, key: row.key };
        const key = h("a.key", { href: objectPath(place.store, row), "data-focus": `object ${row.entity} ${row.key}`,
            "aria-label": `${plain(row.entity)} ${row.key}${row.title ? `, ${plain(row.title)}` : ""}` }, String(row.key));
        return h("tr", h("th.key", { scope: "row" }, key), hasEntities ? h("td.entity", text(row.entity)) : null,
            row.values.map((value, index) => cell(value, data.columns[index], at)));
    });
    const table = h("table.objects", { on: { focusin: (event) => {
        const link = event.target.closest("tbody a");
        if (!link) return;
        for (const other of table.querySelectorAll("tbody a[tabindex='0']")) other.tabIndex = -1;
        link.tabIndex = 0;
    }, dblclick: (event) => event.target.closest("tbody tr")?.querySelector("a.key").click() } },
    h("caption.unseen", `${plain(data.entity)}, page ${data.page}`),
    h("thead", h("tr", h("th.key", { scope: "col" }, h("span.sort", { title: "The key of the object" }, h("span.name", "key"))),
        hasEntities ? h("th.entity", { scope: "col" }, h("span.sort", h("span.name", "entity"))) : null,
        data.columns.map((column) => columnHead(place, data, column)))), h("tbody", rows));
    // Tab stops at one link of the rows. The arrow keys move among the links.
    table.querySelectorAll("tbody a").forEach((link, index) => { link.tabIndex = index ? -1 : 0; });
    return h("div.scroll", { tabindex: -1 }, table);
}

function cell(value, column, at) {
    const isNumber = isNumeric(column.type) || column.kind === "toMany";
    return h(`td${isNumber ? ".number" : ""}${isPicture(value) ? ".picture" : ""}`, h("div.cell", show(value, column, at)));
}

// Tools

function pageTurns(place, data, pages) {
    const turn = (page, label, rel, title) => (page >= 1 && page <= pages && page !== data.page
        ? h("a.button", { href: changed(place, { page: page === 1 ? null : page }), rel, title, "aria-label": title, "data-focus": rel }, label)
        : h("span.button.off", { "aria-hidden": "true" }, label));
    const field = h("input", { type: "text", inputmode: "numeric", value: data.page, size: Math.max(2, String(pages).length), "aria-label": "Page",
        "data-focus": "page", on: { focus: () => field.select() } });
    const form = h("form", { on: { submit: (event) => {
        event.preventDefault();
        const page = Math.min(Math.max(1, Number.parseInt(field.value.replace(/\D/g, ""), 10) || 1), pages);
        go(changed(place, { page: page === 1 ? null : page }));
    } } }, h("label", "Page ", field), ` of ${count(pages)}`);
    const size = h("select", { "aria-label": "Objects on a page", title: "Objects on a page", "data-focus": "size", on: { change: () =>
        go(changed(place, { size: Number(size.value) === usualSize ? null : size.value, page: null })) } },
    [...new Set([...sizes, data.size])].filter(Boolean).sort((a, b) => a - b).map((number) =>
        h("option", { value: number, selected: number === data.size }, String(number))));
    return h("nav.turns", { "aria-label": "Pages" }, turn(1, "«", "first", "First page"), turn(data.page - 1, "‹", "prev", "Previous page ([ or p)"),
        form, turn(data.page + 1, "›", "next", "Next page (] or n)"), turn(pages, "»", "last", "Last page"), size);
}

function menu(label, focus, ...content) {
    return h("details.menu", h("summary.button", { "data-focus": focus }, label), h("div.panel", content));
}

/// Chooses columns and their order.
function columnMenu(place, data) {
    let chosen = data.columns.map((column) => column.name);
    const list = h("ul.columns");
    const draw = () => {
        const names = [...chosen, ...data.available.map((column) => column.name).filter((name) => !chosen.includes(name))];
        list.replaceChildren(...names.map((name) => {
            const column = data.available.find((column) => column.name === name);
            const place = chosen.indexOf(name);
            const box = h("input", { type: "checkbox", checked: place >= 0, on: { change: () => {
                chosen = box.checked ? [...chosen, name] : chosen.filter((other) => other !== name);
                draw();
                list.querySelector(`[data-column="${CSS.escape(name)}"] input`).focus();
            } } });
            return h("li", { "data-column": name }, h("label.check", box, " ", text(name), h("span.type", typeName(column))),
                place > 0 ? button("↑", () => {
                    [chosen[place - 1], chosen[place]] = [chosen[place], chosen[place - 1]];
                    draw();
                    list.querySelector(`[data-column="${CSS.escape(name)}"] button`)?.focus();
                }, { title: "Further to the left", "aria-label": `${plain(name)} further to the left` }) : null);
        }));
    };
    draw();
    return menu("Columns", "columns", list, h("p.actions",
        button("Show", () => go(changed(place, { select: joined(chosen) })), { class: "primary" }),
        button("All", () => go(changed(place, { select: joined(data.available.map((column) => column.name)) }))),
        h("a.button", { href: changed(place, { select: null }) }, "Usual")));
}

function canHaveFacet(column) {
    return column.kind === "toOne" || (column.kind === "attribute" && !["binaryData", "composite", "transformable"].includes(column.type));
}

function facetMenu(place, data) {
    const shown = place.parameters.getAll("facet");
    const items = data.available.filter((column) => canHaveFacet(column) && !shown.includes(column.name)).map((column) =>
        h("li", h("a", { href: changed(place, { facet: [...shown, column.name] }) }, text(column.name), h("span.type", typeName(column)))));
    return items.length ? menu("Facets", "facets", h("p.muted", "Values of a column, with counts"), h("ul", items)) : null;
}

function facetPanel(place, data) {
    const shown = place.parameters.getAll("facet");
    return h("aside.facets", { "aria-label": "Facets" }, data.facets.map((facet) => {
        const column = data.available.find((column) => column.name === facet.name) ?? { name: facet.name, type: null };
        const most = Math.max(1, ...facet.values.map((item) => Number(item.count)));
        return h("section", h("h2", text(facet.name), " ", h("a.remove", { href: changed(place, { facet: shown.filter((name) => name !== facet.name) }),
            title: "Remove", "aria-label": `Remove the facet ${plain(facet.name)}` }, "×")),
        h("ul", facet.values.map((item) => h("li", facetLine(place, data, item,
            h("span.bar", { "aria-hidden": "true", style: { width: `${(100 * Number(item.count)) / most}%` } }),
            h("span.label", facetValue(item.value, column)), h("span.count", count(Number(item.count))))))), facet.isComplete ? null : h("p.muted", "There are more values."));
    }));
}

/// The line of a value: a link that adds its condition, unless the condition is applied already or
/// too long for an address (null).
function facetLine(place, data, item, ...content) {
    if (item.where === null) return h("span.value", { title: "The condition for this value is too long for an address." }, content);
    if (item.isApplied) return h("span.value", { "aria-current": "true" }, content);
    return h("a.value", { href: changed(place, { where: both(data.where, item.where), page: null }), title: plain(item.where) }, content);
}

/// A value without links of its own, because the facet is the link.
function facetValue(value, column) {
    if (value !== null && typeof value === "object" && "entity" in value) return text(objectName(value));
    if (typeof value === "string" && column.type === "uri") return text(value);
    return show(value, column, {});
}

function plan(lines) {
    return h("section.plan", h("h2", "Query plan"), h("pre", lines.map((line, index) => [index ? "\n" : "", text(line)])));
}

/// The command that prints the same objects.
function command(place, data, context) {
    if (data.relationship) return null;
    const store = context.session.stores.find((store) => store.name === place.store);
    if (!store) return null;
    const words = [`roost fetch ${quoted(store.path)} ${quoted(data.entity)}`];
    for (const [option, value] of [["where", data.where], ["sort", data.sort], ["select", place.parameters.get("select")]]) {
        if (value) words.push(`--${option}=${quoted(value)}`);
    }
    words.push(`--limit=${data.size}`);
    if (data.page > 1) words.push(`--offset=${(data.page - 1) * data.size}`);
    const line = words.join(" \\\n    ");
    return menu("Command", "command", h("p.muted", "The same in a shell"), h("pre.command", text(line, { lines: true })),
        h("p.actions", button("Copy", () => navigator.clipboard?.writeText(line))));
}

function quoted(word) { return /^[\w./:,=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`; }
