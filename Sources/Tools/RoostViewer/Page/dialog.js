// The one dialog of the page: modal, closed by Escape; the focus returns to where it was.

import { h, replace } from "./dom.js";

/// Opens the dialog. `content` is a function that returns the nodes of the dialog. Its argument is
/// a function that closes the dialog.
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
