// Two stores beside each other: the differences, and the values of objects that differ.

import { h, replace, text, plain, count, amount } from "./dom.js";
import { get, Failure } from "./jobs.js";
import { path, objectPath, withQuery, go } from "./router.js";
import { show } from "./values.js";
import { heading, jsonLink } from "./store.js";

/// The maximum number of link targets in one line.
const targetLimit = 20;

export function compareView(place, result, context) {
    const { stores } = context.session;
    const sides = ["a", "b"].map((name, index) => place.parameters.get(name) ?? stores[index]?.name ?? stores[0].name);
    const title = (name) => stores.find((store) => store.name === name)?.title ?? name;
    const select = (name, index) => h("label", index ? "with " : "Compare ", h("select", { name, "data-focus": name }, stores.map((store) =>
        h("option", { value: store.name, selected: store.name === sides[index] }, plain(store.title)))));
    const form = h("form.filter", { on: { submit: (event) => {
        event.preventDefault();
        const data = new FormData(form);
        go(withQuery("/-/compare", { a: data.get("a"), b: data.get("b") }));
    } } }, select("a", 0), select("b", 1), h("button.primary", { type: "submit" }, "Compare"));
    const verdict = result === null ? "Choose two stores." : result.equal ? "They hold the same objects, values and links."
        : `${amount(result.differences.length + result.models.length, "difference")}${result.isTruncated ? " are shown; there are more" : ""}`;
    return { title: result === null ? "Compare" : `${plain(title(sides[0]))} and ${plain(title(sides[1]))}`, announcement: verdict, node: h("section",
        heading("Compare", result === null ? null : jsonLink(`/-/compare.json${location.search}`)), form,
        h(`p.verdict${result === null ? "" : result.equal ? ".good" : ".bad"}`, verdict),
        result?.models.length ? [h("h2", "Models"), h("ul.models", result.models.map((line) => h("li", text(line))))] : null,
        result?.differences.length ? h("div.differences", groups(result.differences).map(([heading, list]) =>
            [h("h2", heading, h("span.count", String(list.length))), together(list).map((difference) => item(difference, sides, title))])) : null) };
}

function groups(differences) {
    const byEntity = new Map();
    for (const difference of differences) {
        const name = plain(difference.object?.entity ?? "Store");
        byEntity.set(name, [...(byEntity.get(name) ?? []), difference]);
    }
    return [...byEntity];
}

/// Joins consecutive links of one object and one relationship into one difference.
function together(list) {
    const result = [];
    for (const difference of list) {
        const last = result.at(-1);
        if (last?.targets && difference.target && last.kind === difference.kind && last.object.key === difference.object.key
            && last.object.entity === difference.object.entity && relationship(last) === relationship(difference)) last.targets.push(difference.target);
        else result.push(difference.target ? { ...difference, targets: [difference.target] } : difference);
    }
    return result;
}

function relationship(difference) { return (difference.relationship ?? difference.properties[0] ?? "").split(".").at(-1); }

function item(difference, sides, title) {
    const { kind, object, targets } = difference;
    const side = kind.endsWith("InFirst") ? 0 : kind.endsWith("InSecond") ? 1 : null;
    const name = object ? [text(object.entity), ` ${object.key}`] : [];
    const only = side === null ? null : ["only in ", text(title(sides[side]))];
    if (kind.startsWith("link")) {
        return h("p.difference.link", h(`span.tag.side-${side}`, only), " ", h("a", { href: objectPath(sides[side], object) }, name), " ",
            h("span.muted", text(relationship(difference))), " → ", (targets ?? []).slice(0, targetLimit).map((target) => h("span.target",
                h("a", { href: objectPath(sides[side], target) }, text(target.entity), ` ${target.key}`))),
            targets?.length > targetLimit ? h("span.muted", ` and ${count(targets.length - targetLimit)} more`) : null);
    }
    const body = h("div.body");
    const details = h("details.difference", { on: { toggle: () => {
        if (details.open && !body.hasChildNodes()) fill(body, difference, sides, title);
    } } }, h("summary", side === null ? h("span.tag.changed", "differs") : h(`span.tag.side-${side}`, only), " ", name,
        difference.properties.length ? h("span.muted", ": ", difference.properties.map((property, index) => [index ? ", " : "", text(property)])) : null), body);
    return details;
}

/// Reads both objects and shows their values beside each other.
async function fill(body, difference, sides, title) {
    replace(body, h("p.muted", "Reading…"));
    try {
        const objects = await Promise.all(sides.map((store) => read(store, difference.object)));
        const names = [...new Set(objects.flatMap((object) => object?.properties.map((property) => property.name) ?? []))];
        const differing = new Set(difference.properties);
        const rows = names.map((name) => {
            const properties = objects.map((object) => object?.properties.find((property) => property.name === name));
            const differs = differing.has(name) || objects.includes(null);
            return h(differs ? "tr.differs" : "tr", h("th", { scope: "row" }, text(name), differs && !objects.includes(null) ? h("span.unseen", " differs") : null),
                properties.map((property, index) => h("td", property
                    ? show(property.value, property, { store: sides[index], entity: objects[index].entity, key: objects[index].key }) : h("span.null", "–"))));
        });
        replace(body, h("div.scroll", h("table.list.sides", h("thead", h("tr", h("th", { scope: "col" }, "Property"), sides.map((store, index) =>
            h("th", { scope: "col" }, objects[index] ? h("a", { href: path(store, objects[index].entity, objects[index].key) }, text(title(store)))
                : [text(title(store)), h("span.muted", " (does not exist)")])))), h("tbody", rows))));
    } catch (error) {
        replace(body, h("p.failure", text(error.message)));
    }
}

async function read(store, object) {
    try {
        return await get(`${objectPath(store, object)}.json`);
    } catch (error) {
        if (error instanceof Failure && error.status === 404) return null;
        throw error;
    }
}
