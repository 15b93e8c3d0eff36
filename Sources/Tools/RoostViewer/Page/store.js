// The list of stores, and the views of a whole store: overview, check, history, list of entities.

import { h, replace, text, plain, count, amount, bytes, duration, button } from "./dom.js";
import { path, objectPath, changed, go } from "./router.js";
import { show } from "./values.js";

export function jsonLink(address) {
    return h("a.json", { href: address, "data-native": true, title: "The data of this view, for programs" }, "JSON");
}

export function storesView(place, session) {
    const rows = session.stores.map((store) => h("tr",
        h("th", { scope: "row" }, h("a", { href: path(store.name), "data-focus": store.name }, text(store.title))),
        h("td", text(store.type)), h("td.number", store.objects === null ? h("span.null", "unreadable") : count(store.objects)),
        h("td.path", text(store.path)), h("td", session.writable && store.writable ? "yes" : "no")));
    return { title: "Stores", announcement: amount(session.stores.length, "store"), node: h("section",
        heading("Stores", jsonLink("/-/session.json")),
        h("div.scroll", h("table.list", head("Store", "Type", ["Objects", "number"], "File", "Can be changed"), h("tbody", rows))),
        h("p.muted", "Roost ", text(session.version), session.writable ? ". Changes are saved at once, and can be undone."
            : ". Nothing can be changed here: start roost browse with --write for that.")) };
}

function head(...names) {
    return h("thead", h("tr", names.map((name) => Array.isArray(name)
        ? h(`th.${name[1]}`, { scope: "col" }, name[0]) : h("th", { scope: "col" }, name))));
}

export function heading(title, ...actions) {
    return h("div.heading", h("h1", { tabindex: -1 }, title instanceof Node ? title : text(title)), h("div.actions", actions));
}

/// Entities with the depth of each: subentities follow their superentity.
function tree(entities) {
    const children = new Map();
    for (const entity of entities) children.set(entity.superentity, [...(children.get(entity.superentity) ?? []), entity]);
    const list = [];
    const visit = (parent, depth) => {
        for (const entity of children.get(parent) ?? []) {
            list.push({ entity, depth, hasSubentities: children.has(entity.name) });
            visit(entity.name, depth + 1);
        }
    };
    visit(null, 0);
    return list;
}

export function overviewView(place, store) {
    const list = tree(store.entities);
    const hasTotals = list.some((item) => item.hasSubentities);
    const largest = Math.max(1, ...store.entities.map((entity) => entity.total));
    const rows = list.map(({ entity, depth }) => {
        const bar = h("span.bar", { "aria-hidden": "true", style: { width: `${(100 * entity.total) / largest}%` } });
        return h("tr", h("th", { scope: "row", style: { "padding-inline-start": `${0.6 + depth * 1.4}rem` } },
            depth ? h("span.branch", { "aria-hidden": "true" }, "└ ") : null,
            h("a", { href: path(store.name, entity.name), "data-focus": entity.name }, text(entity.name)),
            entity.isAbstract ? h("span.tag", "abstract") : null),
        h("td.number", entity.isAbstract ? h("span.null", "–") : count(entity.count)),
        hasTotals ? h("td.number", count(entity.total)) : null, h("td.share", bar),
        h("td.number", count(entity.attributes)), h("td.number", count(entity.relationships)));
    });
    const total = store.entities.reduce((sum, entity) => sum + entity.count, 0);
    return { title: store.title, undo: store.undo, announcement: `${plain(store.title)}: ${amount(total, "object")}`, node: h("section",
        heading(store.title, jsonLink(`${place.pathname}.json`)),
        h("p.summary", `${amount(total, "object")} of ${amount(store.entities.length, "entity", "entities")}, ${bytes(store.bytes)} `,
            store.writable ? h("span.tag.writable", "can be changed") : h("span.tag", "read-only")),
        store.notices.map((notice) => h("p.notice", text(notice))),
        store.libraries.filter((library) => library.warning).map((library) => h("p.notice", text(library.warning))),
        h("div.two", h("div.main", h("h2", "Entities"),
            h("div.scroll", h("table.list.entities", head("Entity", ["Objects", "number"], ...(hasTotals ? [["With subentities", "number"]] : []),
                ["", "share"], ["Attributes", "number"], ["Relationships", "number"]), h("tbody", rows)))),
        h("div.aside", h("h2", "Store"), h("dl.facts", facts(store)),
            store.metadata.length ? [h("h2", "Metadata"), h("dl.facts", store.metadata.map(({ name, value }) =>
                fact(text(name), show(value, { name, type: null }, { store: store.name }, true))))] : null,
            store.links.length ? [h("h2", "Links"), h("dl.facts.links", store.links.map((link) =>
                fact(text(link.relationship), count(link.count))))] : null))) };
}

function fact(name, value) { return h("div", h("dt", name), h("dd", value)); }

function facts(store) {
    return [
        fact("File", h("span.path", text(store.path))),
        fact("Type", [text(store.type), store.formatVersion ? `, format ${store.formatVersion}` : ""]),
        store.versionIdentifiers.length ? fact("Model version", store.versionIdentifiers.map((name, index) => [index ? ", " : "", text(name)])) : null,
        fact("Size", `${bytes(store.bytes)} (${count(store.bytes)} bytes)`),
        fact("UUID", h("span.code", text(store.uuid))),
        store.digest ? fact("Digest", h("span.code", text(store.digest))) : null,
        fact("History", store.hasHistory ? h("a", { href: path(store.name, "-", "history") }, "kept") : "not kept"),
        fact("Libraries", store.libraries.map((library, index) => [index ? ", " : "", text(`${library.name} ${library.version}`)])),
        fact("Capabilities", store.capabilities.map((name) => h("span.tag", text(name)))),
    ];
}

/// Fills the list of entities beside each view of a store.
export function entityTree(side, place, overview) {
    const filter = side.querySelector("input")?.value ?? "";
    const list = h("ul", tree(overview.entities).map(({ entity, depth }) => h("li", { "data-name": entity.name.toLowerCase() },
        h("a", { href: path(overview.name, entity.name), "aria-current": entity.name === place.entity ? "page" : null,
            style: { "padding-inline-start": `${0.6 + depth}rem` } },
        h("span.name", text(entity.name)), h("span.count", count(entity.total))))));
    const input = h("input", { type: "search", placeholder: "Find an entity", "aria-label": "Find an entity", value: filter, on: {
        input: () => narrow(list, input.value),
        keydown: (event) => {
            const first = list.querySelector("li:not([hidden]) a");
            if (event.key === "Enter" && first) go(first.getAttribute("href"));
        } } });
    narrow(list, filter);
    const top = side.querySelector("ul")?.scrollTop ?? 0;
    replace(side, h("a.title", { href: path(overview.name), "aria-current": place.kind === "overview" ? "page" : null },
        text(overview.title)), overview.entities.length > 8 ? input : null, list);
    list.scrollTop = top;
}

function narrow(list, word) {
    for (const item of list.children) item.hidden = !item.dataset.name.includes(word.trim().toLowerCase());
}

// Check

const severities = { damage: "Damage", violation: "Violation", warning: "Warning" };

export function checkView(place, result) {
    const isSound = result.findings.length === 0;
    const rows = result.findings.map((finding) => h(`tr.${finding.severity}`,
        h("td", h(`span.tag.${finding.severity}`, severities[finding.severity] ?? text(finding.severity))),
        h("td", text(finding.text), finding.count > 1 ? h("span.muted", ` (${count(finding.count)} times)`) : null),
        h("td", finding.object ? h("a", { href: objectPath(place.store, finding.object) },
            text(`${finding.object.entity} ${finding.object.key}`)) : h("span.null", "–"))));
    const summary = isSound ? "No problems found" : amount(result.findings.length, "finding");
    return { title: `Check of ${place.store}`, announcement: summary, node: h("section",
        heading("Check", button("Check again", () => go(place.address)), jsonLink(`${place.pathname}.json`)),
        h(`p.verdict.${isSound ? "good" : "bad"}`, isSound ? "✓ " : "", summary, h("span.muted", ` in ${duration(result.milliseconds)}`)),
        result.isTruncated ? h("p.notice", "There are more findings than are listed here.") : null,
        isSound ? h("p.muted", "Every object, value, link and index was read and compared with the model.")
            : h("div.scroll", h("table.list", head("Severity", "Finding", "Object"), h("tbody", rows)))) };
}

// History

const kinds = { insert: "inserted", update: "changed", delete: "deleted" };

export function historyView(place, history) {
    const { parameters } = place;
    const after = parameters.get("after");
    const form = h("form.filter", { on: { submit: (event) => {
        event.preventDefault();
        const data = new FormData(form);
        go(changed(place, { entity: data.get("entity"), author: data.get("author"), after: null }));
    } } },
    h("label", "Entity ", h("input", { name: "entity", value: parameters.get("entity") ?? "", size: 14 })),
    h("label", "Author ", h("input", { name: "author", value: parameters.get("author") ?? "", size: 14 })),
    h("button", { type: "submit" }, "Filter"));
    const list = history.transactions.map((transaction) => h("li", h("div.when",
        show(transaction.date, { type: "date" }, place, true),
        transaction.author ? h("span.tag", text(transaction.author)) : null,
        transaction.context ? h("span.tag", text(transaction.context)) : null,
        h("span.muted", ` · ${amount(transaction.changeCount, "change")}`),
        transaction.isWhole ? null : h("span.tag", "incomplete")),
    h("ul.changes", transaction.changes.map((change) => changeItem(place, change)), (transaction.links ?? []).map((link) => linkItem(place, link))),
    transaction.changeCount > transaction.changes.length + (transaction.links?.length ?? 0)
        ? h("p.muted", `${count(transaction.changeCount - transaction.changes.length - (transaction.links?.length ?? 0))} more changes`) : null));
    return { title: `History of ${place.store}`, announcement: amount(history.transactions.length, "transaction"), node: h("section",
        heading("History", jsonLink(`${place.pathname}.json${location.search}`)), form,
        list.length ? h("ol.history", list) : h("p.muted", after ? "There are no later transactions." : "There are no transactions."),
        h("p.turns", after ? h("a", { href: changed(place, { after: null }), rel: "first" }, "From the beginning") : null, " ",
            history.next ? h("a", { href: changed(place, { after: history.next }), rel: "next" }, "Later transactions →") : null)) };
}

function changeItem(place, change) {
    const name = [text(change.entity), ` ${change.key}`, change.title ? [" ", text(change.title)] : null];
    return h(`li.${change.kind}`, h("span.kind", kinds[change.kind] ?? text(change.kind)), " ",
        change.kind === "delete" ? h("span", name) : h("a", { href: objectPath(place.store, change) }, name),
        change.properties.length ? h("span.muted", ": ", change.properties.map((property, index) => [index ? ", " : "", text(property)])) : null);
}

function linkItem(place, link) {
    const end = (object) => h("a", { href: objectPath(place.store, object) }, text(object.entity), ` ${object.key}`);
    return h(`li.${link.isAdded ? "insert" : "delete"}`, h("span.kind", link.isAdded ? "linked" : "unlinked"), " ", end(link.source), " ",
        h("span.muted", text(link.relationship)), " → ", end(link.target));
}
