// Keyboard shortcuts. Single-character shortcuts can be turned off, for people who use speech input.

import { h, button } from "./dom.js";
import { openDialog } from "./dialog.js";

const setting = "roost.singleKeys";
const keys = [
    ["↓ ↑ or j k", "Next and previous row"], ["→ ←", "Next and previous link of a row"], ["Enter", "Open the link"],
    ["] [ or n p", "Next and previous page"], ["/", "Write a condition"], ["e", "Find an entity"], ["u", "One level up"],
    ["Ctrl+Space", "Complete in a condition"], ["Ctrl+Z, Ctrl+Shift+Z", "Undo and redo a change"], ["Ctrl+Enter", "Save an edited object"],
    ["+ − 0", "Zoom the diagram, or show it whole"], ["Alt+← Alt+→", "Back and forward"], ["Escape", "Close"], ["?", "Show the keys"],
];

function singleKeys() { return localStorage.getItem(setting) !== "off"; }

export function showKeys() {
    const box = h("input", { type: "checkbox", checked: singleKeys(), on: {
        change: () => localStorage.setItem(setting, box.checked ? "on" : "off") } });
    openDialog("Keys", (close) => [
        h("table.keys", h("tbody", keys.map(([key, what]) => h("tr", h("th", { scope: "row" }, h("kbd", key)), h("td", what))))),
        h("label.check", box, " Keys of one character"),
        h("p.actions", button("Close", close, { autofocus: true })),
    ]);
}

/// Whether `target` is a field that uses key presses as input.
function isWriting(target) {
    return target.closest?.("input:not([type=checkbox]), textarea, select, [contenteditable]") != null;
}

/// Moves the focus among the links of the table: one row up or down, or one link to the side.
function moveInTable(rows, across) {
    const all = [...document.querySelectorAll("#view table.objects tbody tr")];
    if (!all.length) return false;
    const link = document.activeElement?.closest("table.objects tbody a");
    const row = link?.closest("tr");
    if (!row) {
        if (across) return false;
        focusLink(all[rows > 0 ? 0 : all.length - 1].querySelector("a"));
        return true;
    }
    const links = [...row.querySelectorAll("a")];
    if (across) {
        focusLink(links[links.indexOf(link) + across]);
        return true;
    }
    const next = all[all.indexOf(row) + rows];
    const cell = [...row.cells].indexOf(link.closest("td, th"));
    focusLink(next?.cells[cell]?.querySelector("a") ?? next?.querySelector("a"));
    return true;
}

/// Focuses a link, and makes it the only link in the rows of the table at which the Tab key stops.
function focusLink(link) {
    if (!link) return;
    for (const other of document.querySelectorAll("#view table.objects tbody a[tabindex='0']")) other.tabIndex = -1;
    link.tabIndex = 0;
    link.focus();
    link.closest("tr").scrollIntoView({ block: "nearest" });
}

function click(selector) {
    const node = document.querySelector(selector);
    node?.click();
    return node !== null;
}

function focus(selector) {
    const node = document.querySelector(selector);
    node?.focus();
    node?.select?.();
    return node !== null;
}

const singleKeyActions = {
    j: () => moveInTable(1, 0), k: () => moveInTable(-1, 0),
    n: () => click("#view a[rel=next]"), "]": () => click("#view a[rel=next]"),
    p: () => click("#view a[rel=prev]"), "[": () => click("#view a[rel=prev]"),
    "/": () => focus("#view .predicate textarea"), e: () => focus("#side input"),
    u: () => {
        const links = [...document.querySelectorAll("#header .crumbs a:not([aria-current])")];
        links.at(-1)?.click();
        return true;
    },
    "?": () => {
        showKeys();
        return true;
    },
};

export function listenForKeys({ undo, redo }) {
    document.addEventListener("keydown", (event) => {
        if (event.defaultPrevented || event.altKey || event.isComposing) return;
        const isModified = event.ctrlKey || event.metaKey;
        if (event.key === "Escape") {
            for (const menu of document.querySelectorAll("details.menu[open]")) {
                menu.open = false;
                menu.querySelector("summary").focus();
            }
            if (isWriting(event.target) && !event.target.closest("dialog, form.edit")) event.target.blur();
            return;
        }
        if (isWriting(event.target) || document.querySelector("dialog[open]")) return;
        let isDone = false;
        if (isModified) {
            const key = event.key.toLowerCase();
            if (key === "z" || key === "y") {
                (key === "y" || event.shiftKey ? redo : undo)();
                isDone = true;
            }
        } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            // Elsewhere the arrow keys scroll.
            if (isAtTable(event.target)) isDone = moveInTable(event.key === "ArrowDown" ? 1 : -1, 0);
        } else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
            if (event.target.closest?.("table.objects tbody")) isDone = moveInTable(0, event.key === "ArrowRight" ? 1 : -1);
        } else if (singleKeys()) {
            isDone = singleKeyActions[event.key]?.() ?? false;
        }
        if (isDone) event.preventDefault();
    });
}

function isAtTable(target) { return target === document.body || target.matches?.("h1, main") || target.closest?.("table.objects"); }
