// The one dialog of the page: modal, closed by Escape; the focus returns to where it was.

import { h, replace } from "./dom.js";

/// Opens the dialog. `content` gets a function that closes the dialog, and returns its children.
export function openDialog(title, content, { isWide = false } = {}) {
    const dialog = document.getElementById("dialog");
    const before = document.activeElement;
    const close = () => dialog.close();
    replace(dialog, h("h2", { id: "dialog-title" }, title), content(close));
    dialog.setAttribute("aria-labelledby", "dialog-title");
    dialog.classList.toggle("wide", isWide);
    dialog.addEventListener("close", () => {
        replace(dialog);
        if (before?.isConnected) before.focus();
    }, { once: true });
    if (!dialog.open) dialog.showModal();
    return dialog;
}
