// Shows values. Tables show them in one line; an object shows them whole.

import { h, text, plain, count, bytes, amount } from "./dom.js";
import { path, objectPath } from "./router.js";

const pictures = new Set(["png", "jpeg", "gif", "webp"]);
/// The maximum number of bytes that the view of an object shows. The view of one value has a longer
/// dump.
const shownBytes = 64;
const numeric = new Set(["integer16", "integer32", "integer64", "double", "float", "decimal"]);

export function isNumeric(type) { return numeric.has(type); }
export function isPicture(value) { return pictures.has(value?.kind); }

/// The name of a type, or the destination of a relationship: `string`, `→ Artist`, `⇉ Track`.
export function typeName(property) {
    if (property.kind === "toOne") return `→ ${plain(property.destination)}`;
    if (property.kind === "toMany") return `⇉ ${plain(property.destination)}`;
    return property.type ?? "";
}

/// The title of an object, as a string.
export function objectName(object) { return object.title ?? `${object.entity} ${object.key}`; }

/// A link to an object.
export function objectLink(store, object, attributes = {}) {
    const label = object.title === null || object.title === undefined
        ? [text(object.entity), ` ${object.key}`] : [text(object.title)];
    if (object.missing) {
        return h("span.missing", { title: "This object does not exist." }, label, " (missing)");
    }
    return h("a.object", { href: objectPath(store, object), title: `${plain(object.entity)} ${object.key}`, ...attributes }, label);
}

/// The date in a form that is easy to compare; the title attribute has the stored form.
function date(value, isWhole) {
    const parts = /^(\d{4,})-(\d\d)-(\d\d)T(\d\d:\d\d:\d\d(?:\.\d+)?)Z$/.exec(value);
    if (!parts) return text(value);
    const day = `${parts[1]}-${parts[2]}-${parts[3]}`;
    const label = !isWhole && parts[4] === "00:00:00" ? day : `${day} ${parts[4]}`;
    return h("time", { datetime: value, title: `${value} (UTC)` }, label, isWhole ? h("span.unit", " UTC") : null);
}

function address(value) {
    if (!/^https?:\/\//i.test(value)) return text(value);
    return h("a.outside", { href: value, rel: "noreferrer noopener", target: "_blank" }, text(value));
}

function missingValue(label) { return h("span.null", label); }

/// A node that shows a value.
///
/// - value: The value as the server sends it.
/// - property: The column or property, with its type and kind.
/// - at: The store, and the object with the value: `{ store, entity, key }`.
/// - isWhole: True in the view of the object, where there is space.
export function show(value, property, at, isWhole = false) {
    if (value === null || value === undefined) return missingValue("null");
    if (typeof value === "boolean") return h(`span.bool.${value}`, String(value));
    if (typeof value === "number") return h("span.number", String(value));
    if (typeof value === "string") return string(value, property, isWhole);
    if ("composite" in value) return composite(value.composite, at, isWhole);
    if ("bytes" in value) return data(value, property, at, isWhole);
    if ("text" in value) return longText(value, property, at, isWhole);
    if ("count" in value) return many(value.count, property, at);
    if ("entity" in value) return objectLink(at.store, value);
    return text(JSON.stringify(value));
}

function string(value, property, isWhole) {
    if (value === "") return missingValue("empty");
    if (property.type === "date") return date(value, isWhole);
    if (property.type === "uri") return address(value);
    if (property.type === "uuid") return h("span.code", text(value));
    if (numeric.has(property.type)) return h("span.number", text(value));
    return text(value, { lines: isWhole });
}

function propertyPath(property, at) { return path(at.store, at.entity, at.key, property.name); }

function longText(value, property, at, isWhole) {
    return h("span.long", text(value.text, { lines: isWhole }), "… ",
        at.key === undefined ? null : h("a.whole", { href: propertyPath(property, at) },
            isWhole ? `the whole text, ${amount(value.length, "character")}` : count(value.length)));
}

function many(number, property, at) {
    if (!number) return h("span.zero", "0");
    return h("a.many", { href: propertyPath(property, at), title: `${amount(number, "object")} of ${plain(property.name)}` },
        count(number), h("span.arrow", { "aria-hidden": "true" }, " →"));
}

function data(value, property, at, isWhole) {
    const kind = value.kind ? value.kind.toUpperCase() : "data";
    const label = `${kind}, ${bytes(value.bytes)}`;
    if (at.key === undefined) return h("span.data", label);
    const link = h("a.whole", { href: propertyPath(property, at) }, label);
    if (isPicture(value)) {
        return h("span.data", h("img", { src: `${propertyPath(property, at)}.bin`, alt: `${kind} of ${plain(property.name)}`,
            loading: "lazy", class: isWhole ? "picture" : "thumbnail" }), " ", link);
    }
    const digits = value.hex.slice(0, 2 * shownBytes).replace(/(..)/g, "$1 ").trim();
    return h("span.data", link, isWhole && value.hex ? h("span.hex", digits, value.bytes > shownBytes ? " …" : "") : null);
}

function composite(elements, at, isWhole) {
    const names = Object.keys(elements);
    if (!names.length) return missingValue("no elements");
    const shown = names.map((name) => [text(name), show(elements[name], { name, type: null }, { store: at.store }, isWhole)]);
    if (isWhole) return h("dl.composite", shown.map(([name, value]) => h("div", h("dt", name), h("dd", value))));
    return h("span.composite", shown.map(([name, value], index) => [index ? ", " : "", h("span.element", name, ": "), value]));
}
