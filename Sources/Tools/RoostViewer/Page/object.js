// One object with all values, and one value alone.

import { h, text, plain, count, amount, bytes, button } from "./dom.js";
import { path, objectPath, withQuery, changed, dataPath } from "./router.js";
import { show, typeName, objectLink, objectName, isPicture } from "./values.js";
import { heading, jsonLink } from "./store.js";
import { editForm } from "./edit.js";
import { askToDelete } from "./delete.js";

export async function objectView(place, object, context) {
    const canChange = context.isWritable(place.store) && object.writable;
    const name = objectName(object);
    const head = h("span", h("span.of", text(object.entity), ` ${object.key} `), object.title === null ? null : text(object.title));
    const base = { title: `${plain(name)} · ${plain(object.entity)} ${object.key}`, undo: object.undo };
    if (canChange && place.parameters.has("edit")) {
        const form = await editForm(place, object, context);
        return { ...base, title: `Edit ${base.title}`, ready: form.ready, node: h("section", heading(h("span", h("span.of", "Edit "), head)), form.node) };
    }
    return { ...base, node: h("section", heading(head,
        canChange ? h("a.button.primary", { href: changed(place, { edit: "1" }), "data-focus": "edit" }, "Edit") : null,
        canChange ? button("Delete…", () => askToDelete(place, object, context), { class: "danger", "data-focus": "delete" }) : null,
        jsonLink(`${place.pathname}.json`)),
    h("p.summary", h("span.tag", text(object.entity)), object.superentities.map((entity) => ["subentity of ", h("a.tag", { href: path(place.store, entity) }, text(entity))]),
        h("span.muted", `key ${object.key}, version ${object.version}`)),
    h("dl.properties", object.properties.map((property) => propertyItem(place, object, property))),
    object.referencedBy.length ? [h("h2", "Referenced by"), h("ul.references", object.referencedBy.map((reference) =>
        h("li", reference.count ? h("a", { href: withQuery(path(place.store, reference.entity), { where: reference.where }) },
            amount(reference.count, "object"), " of ", text(reference.entity)) : [`0 objects of `, text(reference.entity)],
        h("span.muted", " by ", text(reference.relationship)))))] : null) };
}

/// The name and the rules of a property.
export function propertyHead(object, property, id = null) {
    const about = [typeName(property), property.isOptional === false ? "required" : null, property.isDerived ? "derived" : null,
        property.isTransient ? "transient" : null, property.isOrdered ? "ordered" : null].filter(Boolean).join(", ");
    const details = [property.limits, property.inverse ? `inverse ${property.inverse}` : null,
        property.deleteRule ? `on delete: ${property.deleteRule}` : null].filter(Boolean).map(plain).join(", ");
    return [h(id ? "label.name" : "span.name", id ? { for: id } : {}, text(property.name)), h("span.type", about),
        details ? h("span.rules", details) : null,
        property.declaredBy && property.declaredBy !== object.entity ? h("span.rules", "from ", text(property.declaredBy)) : null];
}

function propertyItem(place, object, property) {
    const at = { store: place.store, entity: object.entity, key: object.key };
    let value = property.isTransient ? h("span.null", "not stored") : show(property.value, property, at, true);
    if (property.kind === "toMany" && property.value.count) {
        const rest = property.value.count - property.objects.length;
        value = [h(`${property.isOrdered ? "ol" : "ul"}.objects${property.objects.length > 7 ? ".long" : ""}`, property.objects.map((other) => h("li", objectLink(place.store, other)))),
            h("a.all", { href: path(place.store, object.entity, object.key, property.name), "data-focus": `all ${property.name}` },
                `all ${count(property.value.count)} →`), rest > 0 ? h("span.muted", ` ${count(rest)} more`) : null];
    }
    return h("div", { "data-property": property.name }, h("dt", propertyHead(object, property)),
        h("dd", value, wholeLink(property, at)));
}

/// A link to the view of one value, for a long text or a text that may be JSON or XML.
function wholeLink(property, at) {
    const isText = typeof property.value === "string" && property.type === "string" && (property.value.length > 300 || /^\s*[[{<]/.test(property.value));
    return isText ? [" ", h("a.whole", { href: path(at.store, at.entity, at.key, property.name) }, "this value alone")] : null;
}

export function valueView(place, data) {
    const { owner, property } = data;
    const { value } = property;
    const file = `${objectPath(place.store, owner)}/${encodeURIComponent(property.name)}.bin`;
    const hasBytes = value !== null && typeof value === "object" && "bytes" in value;
    const sections = [];
    const add = (title, content) => sections.push(h("section.form", h("h2", title), content));
    if (isPicture(value)) add("Picture", h("img.whole", { src: file, alt: `${plain(property.name)} of ${plain(objectName(owner))}` }));
    if (data.formatted) add("Formatted", h("pre", text(data.formatted, { lines: true })));
    if (data.hexdump) add("Bytes", h("pre.dump", text(data.hexdump, { lines: true })));
    if (!hasBytes) add(data.formatted ? "As stored" : "Value", valueNode(value, property, place));
    const size = hasBytes ? bytes(value.bytes) : typeof value === "string" ? amount([...value].length, "character") : "";
    return { title: `${plain(property.name)} of ${plain(objectName(owner))}`, node: h("section.value",
        heading(h("span", text(property.name), h("span.of", " of "), objectLink(place.store, owner)),
            hasBytes || typeof value === "string" ? h("a", { href: file, "data-native": true, download: true }, "Save as a file") : null,
            jsonLink(dataPath(place.address))),
        h("p.summary", h("span.tag", text(property.type ?? "")), size ? h("span.muted", size) : null), sections) };
}

function valueNode(value, property, place) {
    if (value !== null && typeof value === "object" && "text" in value) {
        return [h("pre.text", text(value.text, { lines: true }), "…"), h("p.muted", `The text has ${amount(value.length, "character")}; save it as a file to read on.`)];
    }
    return typeof value === "string" && value !== "" && property.type === "string"
        ? h("pre.text", text(value, { lines: true })) : h("p", show(value, property, { store: place.store }, true));
}
