// Makes elements. The text of a store becomes text nodes and checked attributes only, so nothing in
// it can run.

const svgSpace = "http://www.w3.org/2000/svg";
// Matches addresses on this server, and web addresses, which values of type uri can contain.
const safeAddress = /^(?:\/(?!\/)|#|https?:\/\/)/i;

/// Makes an element: `h("td.number", { title: "…" }, children…)`.
export function h(name, ...rest) { return make(document.createElement.bind(document), name, rest); }

/// Makes an SVG element.
export function svg(name, ...rest) { return make((tag) => document.createElementNS(svgSpace, tag), name, rest); }

function make(create, name, rest) {
    const [tag, ...classes] = name.split(".");
    const node = create(tag);
    if (classes.length) node.setAttribute("class", classes.join(" "));
    if (rest.length && isPlain(rest[0])) setAttributes(node, rest.shift());
    append(node, rest);
    return node;
}

function isPlain(value) { return value !== null && typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype; }

export function setAttributes(node, attributes) {
    for (const [name, value] of Object.entries(attributes)) {
        if (value === null || value === undefined || value === false) {
            node.removeAttribute(name);
        } else if (name === "on") {
            for (const [event, handler] of Object.entries(value)) node.addEventListener(event, handler);
        } else if (name === "style") {
            for (const [property, text] of Object.entries(value)) node.style.setProperty(property, text);
        } else if (/^on|^srcdoc$|^xlink/i.test(name) || (/^(?:href|src)$/.test(name) && !safeAddress.test(value))) {
            throw new Error(`The attribute ${name} is refused.`);
        } else {
            node.setAttribute(name, value === true ? "" : String(value));
        }
    }
    return node;
}

export function append(node, children) {
    for (const child of children.flat(Infinity)) {
        if (child === null || child === undefined || child === false) continue;
        node.append(child instanceof Node ? child : String(child));
    }
    return node;
}

export function replace(node, ...children) {
    node.replaceChildren();
    return append(node, children);
}

// Characters that are invisible, or that reorder the text around them. Joiners stay, because some
// writing systems and emoji need them.
const unseen =
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
const unseenParts = new RegExp(`(${unseen.source})`);

// Names of the ASCII control characters. Few fonts have the symbols that Unicode has for them.
const controls = ("NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US").split(" ");

function symbol(character) { return controls[character.charCodeAt(0)] ?? name(character); }

function name(character) { return `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`; }

/// An element with a text of the store. The text does not change the writing direction around it.
/// Invisible characters are shown as marks.
export function text(value, { lines = false } = {}) {
    const node = h(lines ? "bdi.lines" : "bdi");
    const parts = String(value).split(lines ? unseenParts : new RegExp(`(${unseen.source}|\\n|\\t)`));
    parts.forEach((part, index) => {
        if (index % 2 === 0) {
            if (part) node.append(part);
        } else if (part === "\n") {
            node.append(h("span.control", { title: "New line" }, "↵"));
        } else if (part === "\t") {
            node.append(h("span.control", { title: "Tab" }, "⇥"));
        } else {
            node.append(h("span.control", { title: name(part) }, symbol(part)));
        }
    });
    return node;
}

/// A text of the store as a string, for titles and attributes.
export function plain(value) {
    return String(value).split(new RegExp(`(${unseen.source}|\\n|\\t)`))
        .map((part, index) => (index % 2 === 0 ? part : part === "\n" || part === "\t" ? " " : symbol(part))).join("");
}

const numbers = new Intl.NumberFormat("en-US");

/// A number with separators, as in 3,503.
export function count(number) { return numbers.format(number); }

/// `1 object`, `3,503 objects`.
export function amount(number, one, many = `${one}s`) { return `${count(number)} ${number === 1 ? one : many}`; }

export function bytes(number) {
    if (number < 1000) return amount(number, "byte");
    const units = ["kB", "MB", "GB", "TB"];
    let unit = -1;
    let value = number;
    while (value >= 1000 && unit < units.length - 1) {
        value /= 1000;
        unit += 1;
    }
    return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${units[unit]}`;
}

export function duration(milliseconds) {
    return milliseconds < 1000 ? `${milliseconds} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

/// A button; a click calls `action`.
export function button(label, action, attributes = {}) {
    return h("button", { type: "button", on: { click: action }, ...attributes }, label);
}
