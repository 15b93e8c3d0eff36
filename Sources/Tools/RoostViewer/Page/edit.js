// The form that changes an object. The type of a property determines its field. Errors are shown at
// their fields, and conflicting values side by side.

import { h, append, replace, text, plain, count, amount, bytes, button } from "./dom.js";
import { Failure, get, change } from "./jobs.js";
import { path, objectPath, withQuery, changed as changedAddress, go } from "./router.js";
import { show, objectLink, objectName } from "./values.js";
import { heading } from "./store.js";
import { propertyHead } from "./object.js";
import { chooseObject } from "./picker.js";

/// The maximum number of objects of a relationship that are listed for ordering.
const orderLimit = 5000;
const pageSize = 500;
const fileLimit = 11 << 20;

/// Unsaved input by address, with the object that it belongs to. It is restored when the address is
/// opened again.
const drafts = new Map();

window.addEventListener("beforeunload", (event) => {
    if ([...drafts.values()].some((draft) => draft.written.size)) event.preventDefault();
});

const hints = { date: "2024-05-01 or 2024-05-01T12:30:00Z", uuid: "8-4-4-4-12 digits", uri: "https://…", decimal: "12.50", objectID: "Entity/5" };

/// The text of a value in its field.
function fieldText(value) {
    if (value === null || value === undefined) return null;
    // Object IDs are written as on the command line.
    return typeof value === "object" ? `${value.entity}/${value.key}` : String(value);
}

/// The line end of a text, or undefined if the text has different ones.
///
/// A control of the form changes every line end to LF, so the field restores the original line
/// ends.
function lineEnd(value) {
    const ends = new Set(typeof value === "string" ? value.match(/\r\n|\r|\n/g) : []);
    return ends.size > 1 ? undefined : [...ends][0] ?? "\n";
}

/// One row of the form. `read()` returns the new value for the server, or undefined if it is
/// unchanged.
class Field {
    constructor(property, object, id) {
        Object.assign(this, { property, name: property.name, id });
        this.problem = h("p.failure", { id: `${id}-problem`, role: "alert" });
        this.control = h("div.control");
        this.node = h("div", { "data-property": property.name }, h("dt", propertyHead(object, property, id)),
            h("dd", this.control, this.problem));
    }

    fail(message) {
        replace(this.problem, message ? text(message) : null);
        this.node.classList.toggle("invalid", Boolean(message));
        for (const control of this.control.querySelectorAll("input, textarea, select")) {
            control.setAttribute("aria-invalid", String(Boolean(message)));
        }
    }

    focus() { this.control.querySelector("input, textarea, select, button")?.focus(); }
}

class ReadOnlyField extends Field {
    constructor(property, object, at, id, why) {
        super(property, object, id);
        append(this.control, [show(property.value, property, at, true), h("span.muted", ` ${why}`)]);
    }

    read() { return undefined; }
    write() {}
}

/// A value of an attribute, or of one element of a composite.
class ValueField extends Field {
    constructor(property, object, id, changed) {
        super(property, object, id);
        this.old = fieldText(property.value);
        this.current = this.old;
        this.changed = changed;
        const attributes = { id, "data-focus": `field ${property.name}`, "aria-describedby": `${id}-problem`,
            placeholder: hints[property.type] ?? null, dir: "auto", spellcheck: property.type === "string" ? "true" : "false" };
        this.lineEnd = lineEnd(this.old);
        const on = { input: () => this.set(this.typed) };
        if (property.type === "boolean") {
            this.input = h("select", { ...attributes, on }, h("option", { value: "" }, "–"), h("option", { value: "true" }, "true"), h("option", { value: "false" }, "false"));
        } else if (property.type === "string" || property.type === "transformable") {
            this.input = h("textarea", { ...attributes, rows: 1, on });
        } else {
            this.input = h("input", { ...attributes, type: "text", inputmode: /int/.test(property.type) ? "numeric" : null, on });
        }
        this.nullButton = property.isOptional ? button("null", () => {
            this.set(this.current === null ? this.typed : null);
            if (this.current !== null) this.input.focus();
        }, { class: "null-button", "aria-label": `No value for ${plain(property.name)}` }) : null;
        append(this.control, [this.input, property.type === "uuid" ? button("New", () => this.write(crypto.randomUUID().toUpperCase())) : null, this.nullButton]);
        this.write(this.current);
    }

    /// The text of the control, with the line ends of the stored text.
    get typed() { return this.lineEnd === "\n" ? this.input.value : this.input.value.replaceAll("\n", this.lineEnd); }

    set(value) {
        // An empty choice of a boolean is null.
        this.current = this.property.type === "boolean" && value === "" ? null : value;
        this.draw();
        this.changed(this);
    }

    write(value) {
        this.input.value = value ?? "";
        this.current = value;
        this.draw();
        this.changed(this);
    }

    draw() {
        const isNull = this.current === null;
        this.control.classList.toggle("is-null", isNull);
        this.nullButton?.setAttribute("aria-pressed", String(isNull));
        this.node.classList.toggle("changed", this.read() !== undefined);
    }

    read() {
        // An unchanged value is not sent. For a new object, the model's default value then applies.
        return this.current === this.old ? undefined : this.current;
    }
}

/// Bytes, which the user replaces with a file.
class DataField extends Field {
    constructor(property, object, at, id, changed) {
        super(property, object, id);
        this.value = undefined;
        const state = h("span.muted");
        const input = h("input", { id, type: "file", "aria-describedby": `${id}-problem`, on: { change: async () => {
            const [file] = input.files;
            if (!file) return;
            if (file.size > fileLimit) return this.fail(`The file has ${bytes(file.size)}; the most is ${bytes(fileLimit)}.`);
            this.fail(null);
            this.write(base64(new Uint8Array(await file.arrayBuffer())));
            state.textContent = `→ ${plain(file.name)}, ${bytes(file.size)}`;
        } } });
        append(this.control, [show(property.value, property, at), " ", input, state,
            property.isOptional ? button("null", () => {
                this.write(null);
                state.textContent = "→ null";
            }, { class: "null-button" }) : null]);
        this.changed = changed;
    }

    write(value) {
        this.value = value;
        this.node.classList.toggle("changed", value !== undefined);
        this.changed(this);
    }

    read() { return this.value; }
}

function base64(data) {
    let binary = "";
    // A call has a limited number of arguments.
    for (let start = 0; start < data.length; start += 0x8000) binary += String.fromCharCode(...data.subarray(start, start + 0x8000));
    return btoa(binary);
}

class ToOneField extends Field {
    constructor(property, object, at, id, changed) {
        super(property, object, id);
        Object.assign(this, { at, changed, old: property.value, current: property.value });
        this.draw();
    }

    draw() {
        const { property } = this;
        replace(this.control, h("span.chosen", this.current ? objectLink(this.at.store, this.current, { target: "_blank" }) : h("span.null", "null")),
            button("Choose…", async () => {
                const chosen = await chooseObject(this.at.store, property.destination, `Choose ${plain(property.name)}`);
                if (chosen) this.write(chosen);
            }, { id: this.id, "data-focus": `field ${property.name}`, "aria-describedby": `${this.id}-problem` }),
            property.isOptional ? button("null", () => this.write(null), { class: "null-button", "aria-pressed": String(!this.current) }) : null);
        this.node.classList.toggle("changed", this.read() !== undefined);
    }

    write(value) {
        this.current = value;
        this.draw();
        this.changed(this);
    }

    read() {
        const [old, now] = [this.old, this.current];
        if (old?.key === now?.key && old?.entity === now?.entity) return undefined;
        return now ? { entity: now.entity, key: now.key } : null;
    }
}

/// Objects of a relationship, which can be added, removed and, if ordered, moved.
class ToManyField extends Field {
    constructor(property, object, at, id, changed) {
        super(property, object, id);
        Object.assign(this, { at, changed, total: property.value?.count ?? 0, isWhole: false, added: [], removed: [] });
        this.listed = [...(property.objects ?? [])];
        this.isWhole = this.listed.length === this.total;
        this.original = this.listed.map((item) => item.key);
        this.list = h(property.isOrdered ? "ol.members" : "ul.members");
        append(this.control, [this.list, this.tools = h("p.actions")]);
        this.draw();
    }

    /// Reads more objects. If they are ordered, reads all up to `orderLimit`, because the order is
    /// saved as a whole.
    async more() {
        const address = `${path(this.at.store, this.at.entity, this.at.key, this.name)}.json`;
        const limit = Math.min(this.total, this.property.isOrdered ? orderLimit : this.original.length + pageSize);
        const known = new Set(this.original);
        try {
            for (let page = 1 + Math.floor(this.original.length / pageSize); this.original.length < limit; page += 1) {
                const answer = await get(withQuery(address, { page, size: pageSize }));
                if (!answer.rows.length) break;
                for (const { entity, key, title } of answer.rows) {
                    if (known.has(key)) continue;
                    this.original.push(key);
                    this.listed.push({ entity, key, title });
                }
            }
        } catch (error) {
            this.fail(error.message);
        }
        this.isWhole = this.original.length >= this.total;
        // An object that was added may be a member that was not listed yet.
        const listed = new Set(this.original);
        this.added = this.added.filter((item) => !listed.has(item.key));
        this.draw();
    }

    members() {
        const removed = new Set(this.removed.map((item) => item.key));
        return [...this.listed.filter((item) => !removed.has(item.key)), ...this.added];
    }

    draw() {
        const members = this.members();
        const canMove = this.property.isOrdered && this.isWhole;
        replace(this.list, members.map((item, index) => h("li", { class: this.added.includes(item) ? "added" : null },
            objectLink(this.at.store, item, { target: "_blank" }),
            canMove ? [button("↑", () => this.move(index, -1), { disabled: index === 0, "aria-label": `${plain(objectName(item))} up`, class: "up" }),
                button("↓", () => this.move(index, 1), { disabled: index === members.length - 1, "aria-label": `${plain(objectName(item))} down`, class: "down" })] : null,
            button("×", () => this.remove(item), { class: "remove", title: "Remove", "aria-label": `Remove ${plain(objectName(item))}` }))));
        replace(this.tools, button("Add…", () => this.choose(), { id: this.id, "data-focus": `field ${this.name}`, "aria-describedby": `${this.id}-problem` }),
            this.isWhole || (this.property.isOrdered && this.original.length >= orderLimit) ? null
                : [" ", button(this.property.isOrdered ? `List all ${count(this.total)}, to put them in order` : "List more", () => this.more()),
                    h("span.muted", ` ${count(this.total - this.original.length)} more are not listed`)],
            this.removed.length ? h("span.muted", ` ${count(this.removed.length)} to be removed`) : null);
        this.node.classList.toggle("changed", this.read() !== undefined);
    }

    async choose() {
        const chosen = await chooseObject(this.at.store, this.property.destination, `Add to ${plain(this.name)}`);
        if (!chosen || this.members().some((item) => item.key === chosen.key)) return;
        const removed = this.removed.findIndex((item) => item.key === chosen.key);
        if (removed >= 0) this.removed.splice(removed, 1);
        // After a move, `listed` does not contain the removed objects, so choosing a removed object adds it.
        if (removed < 0 || (this.ordered && !this.listed.some((item) => item.key === chosen.key))) this.added.push(chosen);
        this.note();
    }

    remove(item) {
        if (this.added.includes(item)) this.added.splice(this.added.indexOf(item), 1);
        else if (this.original.includes(item.key)) this.removed.push(item);
        // The object was added, and a move then put it into `listed`.
        else this.listed = this.listed.filter((other) => other !== item);
        this.note();
        this.control.querySelector(".remove, button")?.focus();
    }

    move(index, step) {
        const members = this.members();
        [members[index], members[index + step]] = [members[index + step], members[index]];
        // The whole order is saved, so added objects join the list.
        this.ordered = true;
        this.listed = members;
        this.added = this.added.filter((item) => !members.includes(item));
        this.note();
        const buttons = this.list.children[index + step].querySelectorAll(`.${step < 0 ? "up" : "down"}:not(:disabled), .up:not(:disabled), .down:not(:disabled)`);
        buttons[0]?.focus();
    }

    note() {
        this.draw();
        this.changed(this);
    }

    /// The user's changes: a conflict shows them, and `write` restores them.
    draft() {
        const keys = new Set(this.original);
        return { add: this.members().filter((item) => !keys.has(item.key)), remove: this.removed, order: this.ordered ? this.members() : null };
    }

    async write(draft) {
        // An order can be restored only in the whole list.
        if (draft.order && !this.isWhole) await this.more();
        const keys = new Set(this.original);
        this.removed = draft.remove.filter((item) => keys.has(item.key) || !this.isWhole);
        if (draft.order && this.isWhole) {
            const added = new Set(draft.add.map((item) => item.key));
            const order = draft.order.filter((item) => keys.has(item.key) || added.has(item.key));
            const ordered = new Set(order.map((item) => item.key));
            // Objects that another program added are kept at the end of the list.
            this.listed = [...order, ...this.listed.filter((item) => !ordered.has(item.key))];
            this.ordered = true;
            return this.note();
        }
        this.added = draft.add.filter((item) => !keys.has(item.key));
        if (!draft.order) return this.note();
        // The draft keeps the order, so that it can be restored later.
        this.draw();
        this.fail("The order that you chose is not restored, because the whole list cannot be read.");
    }

    read() {
        const name = ({ entity, key }) => ({ entity, key });
        if (this.ordered) {
            const members = this.members();
            const isSame = members.length === this.original.length && members.every((item, index) => item.key === this.original[index]);
            // The server compares the former members, because a list has no version.
            return isSame ? undefined : { set: members.map(name), was: this.original };
        }
        if (!this.added.length && !this.removed.length) return undefined;
        return { add: this.added.map(name), remove: this.removed.map(name) };
    }
}

function makeFields(object, at, changed) {
    return object.properties.flatMap((property, index) => {
        const id = `field-${index}`;
        if (property.isDerived) return [new ReadOnlyField(property, object, at, id, "is derived")];
        if (property.isTransient) return [new ReadOnlyField(property, object, at, id, "is not stored")];
        if (property.kind === "toOne") return [new ToOneField(property, object, at, id, changed)];
        if (property.kind === "toMany") return [new ToManyField(property, object, at, id, changed)];
        if (property.type === "composite") return compositeFields(property, object, at, id, changed);
        return [valueField(property, object, at, id, changed)];
    });
}

/// A field for a value, which is read-only if its control would change the value.
function valueField(property, object, at, id, changed) {
    if (property.type === "composite") return new ReadOnlyField(property, object, at, id, "has elements that cannot be edited here");
    if (property.type === "binaryData" || property.type === "transformable") return new DataField(property, object, at, id, changed);
    // The server sends a truncated text as an object with the member `text`.
    if (property.isTooLong || typeof property.value?.text === "string") return new ReadOnlyField(property, object, at, id, "is too long to be edited here");
    const end = lineEnd(property.value);
    const keepsLines = property.type === "string" || property.type === "transformable";
    if (end === undefined || (!keepsLines && /[\r\n]/.test(fieldText(property.value) ?? "")))
        return new ReadOnlyField(property, object, at, id, "has line ends that this page cannot keep");
    return new ValueField(property, object, id, changed);
}

/// A composite has a field for each element.
function compositeFields(property, object, at, id, changed) {
    if (!property.elements) return [new ReadOnlyField(property, object, at, id, "can be set when the object is saved")];
    // An element has no address of its own, so its value has no links.
    return property.elements.map((element, index) => valueField({ ...element, kind: "attribute", name: `${property.name}.${element.name}`,
        declaredBy: property.declaredBy, value: elementOf(property.value, element.name) }, object, { store: at.store }, `${id}-${index}`, changed));
}

/// Reads texts that the view of the object has cut, so that saving never shortens them.
async function wholeTexts(at, object, signal) {
    return { ...object, properties: await Promise.all(object.properties.map(async (property) => {
        if (property.kind !== "attribute" || typeof property.value?.text !== "string") return property;
        const whole = await get(`${path(at.store, at.entity, at.key, property.name)}.json`, { signal });
        return typeof whole.property.value === "string" ? { ...property, value: whole.property.value } : { ...property, isTooLong: true };
    })) };
}

/// The form for an object that exists.
export async function editForm(place, object, context) {
    const at = { store: place.store, entity: object.entity, key: object.key };
    return form(place, at, await wholeTexts(at, object, context.signal), context, {
        label: "Save", cancel: changedAddress(place, { edit: null }),
        save: (values, version) => change("PATCH", `${objectPath(place.store, object)}.json`, { version, values }),
    });
}

/// The view for a new object. Its properties come from the model.
export async function newView(place, model, context) {
    const inherits = (entity) => entity.name === place.entity || (entity.superentity !== null
        && inherits(model.entities.find((other) => other.name === entity.superentity)));
    const choices = model.entities.filter((entity) => !entity.isAbstract && inherits(entity));
    const name = place.parameters.get("as") ?? (choices.some((entity) => entity.name === place.entity) ? place.entity : choices[0]?.name);
    const entity = choices.find((entity) => entity.name === name);
    if (!entity) throw new Failure(404, { code: "notFound", message: `The model has no entity '${place.entity}' that can have objects.` });
    if (!context.isWritable(place.store)) throw new Failure(403, { code: "readOnly", message: "Nothing can be changed here: start 'roost browse' with --write." });
    const object = { entity: entity.name, key: undefined, properties: [
        ...[...entity.attributes].sort((a, b) => Number(a.isOptional) - Number(b.isOptional)).map((attribute) => ({ ...attribute, kind: "attribute", value: attribute.default ?? (attribute.isOptional ? null : undefined) })),
        ...entity.relationships.map((relationship) => ({ ...relationship, kind: relationship.isToMany ? "toMany" : "toOne",
            value: relationship.isToMany ? { count: 0 } : null, objects: [] })),
    ] };
    const at = { store: place.store, entity: entity.name };
    const fields = await form(place, at, object, context, { label: "Add", cancel: path(place.store, place.entity),
        save: (values) => change("POST", `${path(place.store, entity.name)}.json`, { values }) });
    const choice = choices.length < 2 ? null : h("p.choice", h("label", "Entity ", selectEntity(place, choices, name)));
    return { title: `New ${plain(name)}`, ready: fields.ready, undo: (await context.overview(place.store, context.signal)).undo,
        node: h("section", heading(h("span", h("span.of", "New "), text(name))), choice, fields.node) };
}

function selectEntity(place, choices, name) {
    const select = h("select", { "data-focus": "as", on: { change: () => go(changedAddress(place, { as: select.value }), { replaces: true }) } },
        choices.map((entity) => h("option", { value: entity.name, selected: entity.name === name }, plain(entity.name))));
    return select;
}

async function form(place, at, object, context, actions) {
    let fields = [];
    const summary = h("p.changes", { "aria-live": "polite" });
    const problem = h("div.problems", { role: "alert" });
    const saveButton = h("button.primary", { type: "submit" }, actions.label);
    const draft = drafts.get(place.address) ?? { written: new Map(), base: object };
    drafts.set(place.address, draft);
    if (!draft.written.size) draft.base = object;
    let isReady = false;
    /// Whether the form is being saved, or earlier input is being restored.
    let isBusy = false;

    function changed(field) {
        if (!isReady) return;
        if (field.read() === undefined) draft.written.delete(field.name);
        else draft.written.set(field.name, field instanceof ToManyField ? field.draft() : field.current ?? field.read());
        field.fail(null);
        if (!fields.some((other) => other.node.classList.contains("invalid")) && !problem.querySelector("table")) replace(problem);
        countChanges();
    }

    function countChanges() {
        const number = fields.filter((field) => field.read() !== undefined).length;
        summary.textContent = number ? `${amount(number, "change")}, not saved` : "No changes";
        saveButton.disabled = isBusy || (number === 0 && object.key !== undefined);
    }

    function setBusy(value) {
        isBusy = value;
        // Input during this time would be lost.
        list.inert = value;
        countChanges();
    }

    function discard() { drafts.delete(place.address); }

    async function save(event) {
        event?.preventDefault();
        if (saveButton.disabled) return;
        const values = {};
        for (const field of fields) {
            const value = field.read();
            if (value !== undefined) values[field.name] = value;
            field.fail(null);
        }
        replace(problem);
        const focused = document.activeElement;
        setBusy(true);
        try {
            const saved = await actions.save(values, object.version);
            discard();
            context.changed(place.store);
            await go(objectPath(place.store, saved), { replaces: true });
            document.getElementById("announcement").textContent = "Saved.";
        } catch (error) {
            setBusy(false);
            focused?.focus();
            if (!(error instanceof Failure)) throw error;
            if (error.code === "conflict") return showConflict(error);
            showFailures(error);
        }
    }

    function showFailures(error) {
        const rest = [];
        let first = null;
        for (const failure of error.failures ?? []) {
            const field = fields.find((field) => field.name === failure.property)
                ?? fields.find((field) => field.name.startsWith(`${failure.property}.`));
            if (!field) rest.push(failure.message);
            else {
                field.fail(failure.message);
                first ??= field;
            }
        }
        if (!first && !rest.length) rest.push(error.message);
        replace(problem, rest.map((message) => h("p", text(message))), first ? h("p", "Nothing was saved: see the marked fields.") : null);
        if (first) first.focus();
        else problem.scrollIntoView({ block: "nearest" });
    }

    function showConflict(error) {
        const { current } = error;
        const close = () => replace(problem);
        if (!current) {
            replace(problem, h("h2", "Deleted meanwhile"), h("p", text(error.message)),
                h("p.actions", button("Discard what you wrote", () => {
                    discard();
                    go(path(place.store, place.entity));
                })));
            return;
        }
        replace(problem, conflictTable(at, object, current, fields), h("p.actions",
            button("Take theirs", () => {
                discard();
                go(objectPath(place.store, current), { replaces: true });
            }, { class: "theirs" }),
            button("Edit again on theirs", async () => {
                close();
                object = draft.base = await wholeTexts(at, current, undefined);
                // The user can write while the texts are read.
                const kept = new Map(draft.written);
                draw();
                await rewrite(kept);
                fields.find((field) => field.read() !== undefined)?.focus();
            }, { class: "again primary" })));
        problem.querySelector("button").focus();
        problem.scrollIntoView({ block: "start" });
    }

    /// Restores the earlier input of the fields.
    async function rewrite(kept) {
        setBusy(true);
        try {
            await Promise.all([...kept].map(([name, value]) => fields.find((field) => field.name === name)?.write(value)));
        } finally {
            setBusy(false);
        }
    }

    const list = h("dl.properties");
    function draw() {
        isReady = false;
        fields = makeFields(object, at, changed);
        replace(list, fields.map((field) => field.node));
        isReady = true;
        countChanges();
    }
    draw();
    const node = h("form.edit", { on: { submit: save, keydown: (event) => {
        if ((event.ctrlKey || event.metaKey) && (event.key === "Enter" || event.key === "s")) save(event);
    } } }, problem, list, h("div.save", saveButton, h("a.button", { href: actions.cancel, on: { click: discard } }, "Cancel"), summary));
    return { node, ready: async () => {
        const kept = new Map(draft.written);
        if (kept.size) {
            // The stored object may be newer than the draft. The form sends the version of the draft, so that
            // saving cannot overwrite changes that the user has not seen.
            const current = object;
            const isOld = draft.base.version !== current.version;
            object = draft.base;
            if (isOld) draw();
            await rewrite(kept);
            summary.textContent += ": written before you left";
            if (isOld) showConflict({ current });
        } else {
            fields.find((field) => !(field instanceof ReadOnlyField))?.focus();
        }
    } };
}

/// The former, written and stored value of every property that differs.
function conflictTable(at, object, current, fields) {
    const theirs = (name) => {
        const [base, element] = splitName(name, current);
        const property = current.properties.find((property) => property.name === base);
        return property && element ? { ...property, value: elementOf(property.value, element) } : property;
    };
    const rows = [];
    for (const field of fields) {
        const now = theirs(field.name);
        if (!now) continue;
        const written = field.read();
        const isTheirs = JSON.stringify([field.property.value, field.property.objects]) !== JSON.stringify([now.value, now.objects]);
        if (written === undefined && !isTheirs) continue;
        rows.push(h("tr", h("th", { scope: "row" }, text(field.name)), h("td", shownValue(field.property, at)),
            h(written === undefined ? "td" : "td.yours", written === undefined ? h("span.muted", "not changed") : writtenValue(field, at)),
            h(isTheirs ? "td.theirs" : "td", shownValue(now, at))));
    }
    return [h("h2", "This object changed while you edited it"),
        h("p", `You read version ${object.version}, and version ${current.version} is stored now. Nothing was saved.`),
        h("div.scroll", h("table.conflict", h("thead", h("tr", ["Property", "What you had", "What you wrote", "What is stored now"].map((name) =>
            h("th", { scope: "col" }, name)))), h("tbody", rows)))];
}

function splitName(name, object) {
    if (object.properties.some((property) => property.name === name)) return [name, null];
    const point = name.indexOf(".");
    return point < 0 ? [name, null] : [name.slice(0, point), name.slice(point + 1)];
}

function shownValue(property, at) {
    if (property.kind !== "toMany") return show(property.value ?? null, property, at);
    return [amount(property.value.count, "object"), h("ul.objects", property.objects.slice(0, 5).map((item) => h("li", objectLink(at.store, item))))];
}

function writtenValue(field, at) {
    if (field instanceof ToManyField) {
        const { add, remove, order } = field.draft();
        return [add.length ? ["added: ", names(add)] : null, remove.length ? [" removed: ", names(remove)] : null, order ? " another order" : null];
    }
    if (field instanceof DataField) return field.read() === null ? h("span.null", "null") : "a file";
    return show(field.current, field.property, at);
}

function names(objects) { return objects.map((object, index) => [index ? ", " : "", text(objectName(object))]); }

/// The value of an element. Its name can equal that of a property that every JavaScript object
/// inherits, such as `constructor`.
function elementOf(value, name) {
    const elements = value?.composite;
    return elements && Object.hasOwn(elements, name) ? elements[name] : null;
}
