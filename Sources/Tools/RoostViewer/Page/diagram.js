// The model as a diagram and as a list. The diagram is moved and zoomed by mouse, keys and buttons.

import { h, svg, replace, text, plain, amount, button } from "./dom.js";
import { path, changed, go } from "./router.js";
import { heading, jsonLink } from "./store.js";
import { show } from "./values.js";
import { layOut } from "./layout.js";

const rowHeight = 17;
const headHeight = 27;
const padding = 9;
/// A diagram with more entities shows their names only.
const detailLimit = 28;
/// A diagram with more entities names a relationship only when the mouse is on its line.
const labelLimit = 14;
const rowLimit = 16;
const margin = 50;

export function modelView(place, model) {
    const chosen = model.entities.find((entity) => entity.name === place.parameters.get("entity"));
    const depth = place.parameters.get("depth") ?? "1";
    const entities = chosen ? neighbors(model, chosen, depth) : model.entities;
    const lines = connections(model, entities);
    const about = h("p.about", { "aria-live": "polite" });
    const diagram = new Diagram(place, model, entities, lines, chosen, about);
    const select = h("select", { "aria-label": "Entity", "data-focus": "entity", on: { change: () => go(changed(place, { entity: select.value })) } },
        h("option", { value: "" }, "All entities"), [...model.entities].sort((a, b) => (a.name < b.name ? -1 : 1)).map((entity) =>
            h("option", { value: entity.name, selected: entity === chosen }, plain(entity.name))));
    const depths = chosen ? h("span.choices", { role: "group", "aria-label": "Distance" }, ["1", "2", "all"].map((name) =>
        h("a.button", { href: changed(place, { depth: name === "1" ? null : name }), "aria-current": name === depth ? "true" : null,
            "data-focus": `depth ${name}` }, name === "all" ? "All around" : amount(Number(name), "step")))) : null;
    const versions = model.versionIdentifiers.length ? [" · version ", model.versionIdentifiers.map((name, index) => [index ? ", " : "", text(name)])] : null;
    return { title: chosen ? `Model around ${plain(chosen.name)}` : `Model of ${place.store}`, ready: () => diagram.fit(),
        announcement: `${amount(entities.length, "entity", "entities")} in the diagram`, node: h("section",
            heading("Model", jsonLink(`${place.pathname}.json`)),
            h("div.tools", h("label", "Show ", select), depths, h("span.muted", amount(entities.length, "entity", "entities"), versions)),
            h("div.diagram-and-list", h("div.diagram-box", diagram.node, diagram.buttons, about, legend()),
                h("div.entities-list", { role: "region", "aria-label": "The model as a list", tabindex: 0 }, entities.map((entity) => entityText(place, entity))))) };
}

/// The entities at most `depth` relationships or superentities away from `chosen`.
function neighbors(model, chosen, depth) {
    const near = new Map(model.entities.map((entity) => [entity.name, new Set()]));
    const join = (a, b) => {
        near.get(a)?.add(b);
        near.get(b)?.add(a);
    };
    for (const entity of model.entities) {
        if (entity.superentity) join(entity.name, entity.superentity);
        for (const relationship of entity.relationships) if (!relationship.isInherited) join(entity.name, relationship.destination);
    }
    const found = new Set([chosen.name]);
    let border = [chosen.name];
    for (let step = 0; border.length && (depth === "all" || step < Number(depth)); step += 1) {
        border = [...new Set(border.flatMap((name) => [...near.get(name)]))].filter((name) => !found.has(name));
        for (const name of border) found.add(name);
    }
    return model.entities.filter((entity) => found.has(entity.name));
}

/// Inheritance and relationships as lines. A relationship and its inverse are one line, from the
/// "one" end to the "many" end.
function connections(model, entities) {
    const names = new Set(entities.map((entity) => entity.name));
    const byName = new Map(model.entities.map((entity) => [entity.name, entity]));
    const lines = [];
    const done = new Set();
    for (const entity of entities) {
        if (entity.superentity && names.has(entity.superentity)) lines.push({ from: entity.superentity, to: entity.name, isInheritance: true });
        for (const relationship of entity.relationships) {
            if (relationship.isInherited || !names.has(relationship.destination) || done.has(`${entity.name}.${relationship.name}`)) continue;
            done.add(`${entity.name}.${relationship.name}`);
            const inverse = relationship.inverse
                ? byName.get(relationship.destination).relationships.find((other) => other.name === relationship.inverse) : null;
            if (inverse) done.add(`${relationship.destination}.${inverse.name}`);
            const there = { owner: entity.name, ...relationship };
            const back = inverse ? { owner: relationship.destination, ...inverse } : null;
            const isTurned = relationship.isToMany ? false : !back || back.isToMany;
            lines.push(isTurned ? { from: relationship.destination, to: entity.name, forth: back, back: there }
                : { from: entity.name, to: relationship.destination, forth: there, back });
        }
    }
    return lines;
}

function cardinality(relationship) {
    const { minimum, maximum, isToMany, isOptional } = relationship;
    const least = minimum || (isOptional ? 0 : 1);
    if (!isToMany) return least ? "one" : "none or one";
    if (maximum) return `${least} to ${maximum}`;
    return least ? `${least} or more` : "any number";
}

/// A relationship in words.
function relationshipText(relationship) {
    return `${cardinality(relationship)} of ${plain(relationship.destination)}${relationship.isOrdered ? ", ordered" : ""}`
        + `, on delete: ${relationship.deleteRule}${relationship.inverse ? `, inverse ${plain(relationship.inverse)}` : ", no inverse"}`;
}

function lineText(line) {
    if (line.isInheritance) return `${plain(line.to)} is a subentity of ${plain(line.from)}`;
    return [line.forth, line.back].filter(Boolean).map((relationship) => `${plain(relationship.owner)}.${plain(relationship.name)}: ${relationshipText(relationship)}`).join("  ⟷  ");
}

function entityText(place, entity) {
    const own = (list) => list.filter((item) => !item.isInherited);
    const attributes = own(entity.attributes).map((attribute) => h("li", text(attribute.name), h("span.type",
        [attribute.type, attribute.isOptional ? null : "required", attribute.isDerived ? "derived" : null, attribute.isTransient ? "transient" : null,
            attribute.isIndexed ? "indexed" : null, attribute.limits ? plain(attribute.limits) : null].filter(Boolean).join(", ")),
    attribute.default === null || attribute.default === undefined ? null
        : h("span.type", ", default ", show(attribute.default, attribute, { store: place.store }))));
    const relationships = own(entity.relationships).map((relationship) => h("li.relationship", text(relationship.name),
        h("span.type", `${relationship.isToMany ? "⇉" : "→"} ${relationshipText(relationship)}`)));
    const notes = [entity.uniquenessConstraints.map((names) => h("li", "unique: ", text(names.join(", ")))),
        entity.indexes.map((index) => h("li", "index ", text(index.name), ": ", text(index.elements.join(", "))))];
    return h("article", { "data-entity": entity.name }, h("h3", h("a", { href: path(place.store, entity.name) }, text(entity.name)),
        entity.superentity ? h("span.muted", " is a subentity of ", text(entity.superentity)) : null, entity.isAbstract ? h("span.tag", "abstract") : null,
        h("a.around", { href: changed(place, { entity: entity.name, depth: null }), "aria-label": `Show only ${plain(entity.name)} and its neighbors`,
            title: "Show only its neighbors" }, "◎")),
    h("ul", attributes, relationships, notes));
}

function legend() {
    const sample = (label, ...marks) => h("span", svg("svg", { width: 44, height: 14, "aria-hidden": "true", class: "sample" },
        svg("path.line", { d: "M2 7H42" }), marks), label);
    return h("p.legend", sample("one", svg("path.mark", { d: oneMark(42, 7, -1) })), sample("many", svg("path.mark", { d: manyMark(42, 7, -1) })),
        sample("optional", svg("circle.mark", { cx: 27, cy: 7, r: 3.5 }), svg("path.mark", { d: oneMark(42, 7, -1) })),
        sample("superentity", svg("path.triangle", { d: triangle(42, 7, -1) })),
        sample("deletes with it", svg("path.line.cascade", { d: "M2 7H42" })));
}

// The marks at the ends of lines. `side` is 1 if the line leaves the box to the right, and -1 if to the left.
function oneMark(x, y, side) { return `M${x + side * 7} ${y - 5}v10`; }
function manyMark(x, y, side) { return `M${x + side * 10} ${y}L${x} ${y - 5}M${x + side * 10} ${y}L${x} ${y + 5}`; }
function triangle(x, y, side) { return `M${x} ${y}l${side * 11} -6v12z`; }

class Diagram {
    constructor(place, model, entities, lines, chosen, about) {
        Object.assign(this, { place, entities, lines, chosen, about, isDetailed: entities.length <= detailLimit });
        this.pen = document.createElement("canvas").getContext("2d");
        this.boxes = new Map(entities.map((entity) => [entity.name, this.measure(entity)]));
        const isLabelled = entities.length <= labelLimit;
        this.size = layOut([...this.boxes.values()], lines, { columnGap: isLabelled ? this.labelSpace() : 64, aspect: 1.15 });
        this.content = svg("g");
        this.node = svg("svg.diagram", { role: "group", "aria-label": "Diagram of the model. The list after it says the same.", tabindex: 0,
            "data-focus": "diagram" }, this.content);
        for (const line of lines) this.content.append(this.lineNode(line, isLabelled));
        for (const entity of entities) this.content.append(this.boxNode(entity));
        this.buttons = h("div.zoom", button("+", () => this.zoom(1.3), { "aria-label": "Larger" }), button("−", () => this.zoom(1 / 1.3), { "aria-label": "Smaller" }),
            button("Whole", () => this.fit()));
        this.listen();
    }

    width(label, isHead) {
        this.pen.font = isHead ? "600 13px system-ui, sans-serif" : "12px system-ui, sans-serif";
        return this.pen.measureText(label).width;
    }

    /// The distance between columns, from 80 to 150. If possible, the names at both ends of each
    /// line have room there.
    labelSpace() {
        const widths = this.lines.map((line) => [line.forth, line.back].reduce((sum, relationship) =>
            sum + (relationship ? this.width(cut(relationship.name)) : 0), 0));
        return Math.min(150, Math.max(80, 52 + Math.max(0, ...widths)));
    }

    /// The rows of an entity's box: the attributes that the entity does not inherit, with types.
    rows(entity) {
        if (!this.isDetailed) return [];
        const own = entity.attributes.filter((attribute) => !attribute.isInherited);
        const rows = own.slice(0, rowLimit).map((attribute) => ({ name: cut(attribute.name), type: attribute.type, isOptional: attribute.isOptional }));
        if (own.length > rowLimit) rows.push({ name: `… ${own.length - rowLimit} more`, type: "", isOptional: true });
        return rows;
    }

    measure(entity) {
        const rows = this.rows(entity);
        const width = Math.max(90, this.width(cut(entity.name), true) + 44, ...rows.map((row) => this.width(row.name) + this.width(row.type) + 42));
        return { id: entity.name, width: Math.ceil(width), height: headHeight + (rows.length ? rows.length * rowHeight + 8 : 0), rows };
    }

    boxNode(entity) {
        const { x, y, width, height, rows } = this.boxes.get(entity.name);
        const head = svg("a", { href: path(this.place.store, entity.name), "aria-label": `${plain(entity.name)}: open the table` },
            svg("rect.head", { width, height: rows.length ? headHeight : height, rx: 5 }),
            svg("text.name", { x: padding, y: 18 }, cut(entity.name)), svg("title", plain(entity.name)));
        const around = svg("a.around", { href: changed(this.place, { entity: entity.name, depth: null }), tabindex: -1,
            "aria-label": `Show only ${plain(entity.name)} and its neighbors` },
        svg("rect", { x: width - 26, y: 3, width: 22, height: 21, rx: 3 }), svg("text", { x: width - 15, y: 18, "text-anchor": "middle" }, "◎"),
        svg("title", "Show only its neighbors"));
        const node = svg(`g.box${entity === this.chosen ? ".chosen" : ""}${entity.isAbstract ? ".abstract" : ""}`,
            { transform: `translate(${x} ${y})`, "data-entity": entity.name },
            svg("rect.body", { width, height, rx: 5 }), head, around, rows.map((row, index) => [
                svg(row.isOptional ? "text.row" : "text.row.required", { x: padding, y: headHeight + 16 + index * rowHeight }, row.name),
                svg("text.row.type", { x: width - padding, y: headHeight + 16 + index * rowHeight, "text-anchor": "end" }, row.type)]));
        this.highlight(node, (line) => line.from === entity.name || line.to === entity.name, null);
        return node;
    }

    lineNode(line, isLabelled) {
        const { points } = line;
        const [first, last] = [points[0], points.at(-1)];
        const d = curve(points, line.isLoop);
        const marks = [];
        const firstSide = line.isLoop || first.x < points[1].x ? 1 : -1;
        const lastSide = line.isLoop || last.x < points.at(-2).x ? 1 : -1;
        if (line.isInheritance) marks.push(svg("path.triangle", { d: triangle(first.x, first.y, firstSide) }));
        else {
            if (line.back) marks.push(endMarks(line.back, first, firstSide));
            if (line.forth) marks.push(endMarks(line.forth, last, lastSide));
            if (isLabelled) {
                if (line.back) marks.push(label(line.back.name, first, firstSide, line.isLoop ? -4 : 0));
                if (line.forth) marks.push(label(line.forth.name, last, lastSide, line.isLoop ? 17 : 0));
            }
        }
        const deletes = [line.forth, line.back].some((relationship) => relationship?.deleteRule === "cascade");
        const node = svg(`g.connection${line.isInheritance ? ".inheritance" : ""}${deletes ? ".cascade" : ""}`,
            svg("path.target", { d }), svg("path.line", { d }), marks, svg("title", lineText(line)));
        line.node = node;
        this.highlight(node, (other) => other === line, lineText(line));
        return node;
    }

    /// Emphasizes the lines that `concerns` accepts while the mouse is on `node`, and shows `words`
    /// at the top of the diagram.
    highlight(node, concerns, words) {
        const set = (isOn) => {
            for (const line of this.lines) if (concerns(line)) line.node.classList.toggle("strong", isOn);
            this.content.classList.toggle("dimmed", isOn);
            if (words) replace(this.about, isOn ? words : null);
        };
        node.addEventListener("mouseenter", () => set(true));
        node.addEventListener("mouseleave", () => set(false));
    }

    // Moving and zooming

    apply() { this.node.setAttribute("viewBox", `${this.left} ${this.top} ${this.node.clientWidth / this.scale} ${this.node.clientHeight / this.scale}`); }

    fit() {
        const { width, height } = this.size;
        const [boxWidth, boxHeight] = [this.node.clientWidth, this.node.clientHeight];
        this.scale = Math.min(1.25, boxWidth / (width + 2 * margin), boxHeight / (height + 2 * margin));
        this.left = width / 2 - boxWidth / this.scale / 2;
        this.top = height / 2 - boxHeight / this.scale / 2;
        this.apply();
        this.isWhole = true;
    }

    /// Zooms around a point of the visible area, by default its middle.
    zoom(factor, x = this.node.clientWidth / 2, y = this.node.clientHeight / 2) {
        const scale = Math.min(4, Math.max(0.08, this.scale * factor));
        this.left += x / this.scale - x / scale;
        this.top += y / this.scale - y / scale;
        this.scale = scale;
        this.isWhole = false;
        this.apply();
    }

    move(x, y) {
        this.left += x / this.scale;
        this.top += y / this.scale;
        this.isWhole = false;
        this.apply();
    }

    listen() {
        let drag = null;
        const { node } = this;
        node.addEventListener("wheel", (event) => {
            event.preventDefault();
            const frame = node.getBoundingClientRect();
            if (event.ctrlKey || event.metaKey) this.zoom(Math.exp(-event.deltaY / 200), event.clientX - frame.left, event.clientY - frame.top);
            else this.move(event.shiftKey ? event.deltaY : event.deltaX, event.shiftKey ? 0 : event.deltaY);
        }, { passive: false });
        node.addEventListener("pointerdown", (event) => { if (event.button === 0) drag = { x: event.clientX, y: event.clientY, isMoved: false }; });
        node.addEventListener("pointermove", (event) => {
            if (!drag || !(event.buttons & 1)) return;
            const [x, y] = [event.clientX - drag.x, event.clientY - drag.y];
            if (!drag.isMoved && Math.hypot(x, y) < 4) return;
            if (!drag.isMoved) node.setPointerCapture(event.pointerId);
            this.move(-x, -y);
            drag = { x: event.clientX, y: event.clientY, isMoved: true };
            node.classList.add("moving");
        });
        node.addEventListener("pointerup", () => node.classList.remove("moving"));
        // The end of a drag on a box is not a click on it.
        node.addEventListener("click", (event) => {
            if (drag?.isMoved) event.preventDefault();
            drag = null;
        });
        node.addEventListener("dragstart", (event) => event.preventDefault());
        node.addEventListener("keydown", (event) => {
            if (event.ctrlKey || event.altKey || event.metaKey) return;
            const step = { ArrowLeft: [-60, 0], ArrowRight: [60, 0], ArrowUp: [0, -60], ArrowDown: [0, 60] }[event.key];
            if (step) this.move(...step);
            else if (event.key === "+" || event.key === "=") this.zoom(1.3);
            else if (event.key === "-") this.zoom(1 / 1.3);
            else if (event.key === "0") this.fit();
            else return;
            event.preventDefault();
        });
        // A box that gets the focus by a key is brought into view.
        node.addEventListener("focusin", (event) => {
            const box = this.boxes.get(event.target.closest("g.box")?.dataset.entity);
            if (!box || !event.target.matches(":focus-visible")) return;
            this.left = Math.min(Math.max(this.left, box.x + box.width + 20 - node.clientWidth / this.scale), box.x - 20);
            this.top = Math.min(Math.max(this.top, box.y + box.height + 20 - node.clientHeight / this.scale), box.y - 20);
            this.apply();
        });
        new ResizeObserver(() => {
            // A diagram that was replaced by another view has no size.
            if (!node.clientWidth) return;
            if (this.isWhole) this.fit();
            else if (this.scale) this.apply();
        }).observe(node);
    }
}

function cut(name) {
    const shown = plain(name);
    return shown.length > 30 ? `${shown.slice(0, 29)}…` : shown;
}

function endMarks(relationship, { x, y }, side) {
    const isOptional = !relationship.minimum && relationship.isOptional !== false;
    return [svg("path.mark", { d: relationship.isToMany ? manyMark(x, y, side) : oneMark(x, y, side) }),
        isOptional ? svg("circle.mark", { cx: x + side * 14, cy: y, r: 3.5 }) : null];
}

function label(name, { x, y }, side, down) {
    return svg("text.label", { x: x + side * 20, y: y - 5 + down, "text-anchor": side > 0 ? "start" : "end" }, cut(name));
}

function curve(points, isLoop) {
    const start = `M${points[0].x} ${points[0].y}`;
    if (isLoop) return `${start}C${points.slice(1).map((point) => `${point.x} ${point.y}`).join(" ")}`;
    return start + points.slice(1).map((point, index) => {
        const last = points[index];
        if (last.y === point.y) return `L${point.x} ${point.y}`;
        const middle = (last.x + point.x) / 2;
        return `C${middle} ${last.y} ${middle} ${point.y} ${point.x} ${point.y}`;
    }).join("");
}
