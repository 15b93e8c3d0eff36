// The frame of all views: header, list of entities, keys, and the rendering of addresses.

import { h, append, replace, text, plain, button } from "./dom.js";
import { Failure, Cancelled, get, load, change, hideProgress } from "./jobs.js";
import { parse, path, withQuery, dataPath, go, start, reload, remember, restore, focusNamed } from "./router.js";
import { storesView, overviewView, checkView, historyView, entityTree } from "./store.js";
import { tableView, propertyView, refusedTable } from "./table.js";
import { objectView } from "./object.js";
import { newView } from "./edit.js";
import { modelView } from "./diagram.js";
import { compareView } from "./compare.js";
import { listenForKeys, showKeys } from "./keys.js";

const views = { stores: storesView, overview: overviewView, table: tableView, property: propertyView, object: objectView, new: newView,
    model: modelView, check: checkView, history: historyView, compare: compareView };

const main = document.getElementById("view");
let session = null;
/// The overview of each store, for the list of entities.
let overviews = new Map();
/// The undo state of each store, as the last view reported it.
const undos = new Map();
let shown = null;
let controller = null;

async function render({ isBack = false }) {
    const place = parse(location);
    controller?.abort();
    controller = new AbortController();
    const { signal } = controller;
    hideProgress();
    main.setAttribute("aria-busy", "true");
    let view;
    // The session and the data of the view are read at the same time.
    const reading = readSession(place);
    try {
        const [data] = await Promise.all([readData(place, signal), reading]);
        view = await views[place.kind](place, data, context(signal));
    } catch (error) {
        // The frame of an error needs the session too.
        await reading.catch(() => {});
        if (signal.aborted) return;
        view = await refusal(place, error, context(signal));
    }
    // A newer address was opened meanwhile.
    if (signal.aborted) return;
    const isFirst = shown === null;
    const isSamePlace = shown?.pathname === place.pathname;
    const focus = document.activeElement?.dataset?.focus;
    document.title = [plain(view.title), "Roost"].filter(Boolean).join(" · ");
    drawHeader(place, view);
    // The list of entities is filled later; its space is reserved now.
    document.getElementById("side").hidden = !knows(place.store);
    replace(main, view.node);
    main.removeAttribute("aria-busy");
    main.className = place.kind;
    shown = place;
    // For the developer tools of the browser, and for tests of the speed.
    performance.mark("view");
    if (isBack) restore(history.state);
    else if (!isFirst) arrive(isSamePlace, focus);
    view.ready?.();
    document.getElementById("announcement").textContent = view.announcement ?? plain(view.title);
    await drawSide(place, signal);
}

/// Focuses the heading of the new view. If the new address has the same path, focuses the control
/// that had the focus before, if the view has it.
function arrive(isSamePlace, focus) {
    document.querySelector("#view .scroll")?.scrollTo(0, 0);
    if (isSamePlace && focus && focusNamed(focus)) return;
    window.scrollTo(0, 0);
    (main.querySelector("h1") ?? main).focus({ preventScroll: true });
}

async function readData(place, signal) {
    // A comparison shows a form first, and the form for a new object needs the model.
    if (place.kind === "compare" && !(place.parameters.get("a") && place.parameters.get("b"))) return null;
    if (place.kind === "new") return await load(`${path(place.store, "-", "model")}.json`, signal);
    if (place.kind === "unknown") throw new Failure(404, { code: "notFound", message: "There is no such page." });
    return await load(dataPath(place.address), signal);
}

async function readSession(place) {
    if (session === null || place.kind === "stores") session = await get("/-/session.json");
}

function context(signal) {
    return { session, signal, isWritable: (store) => isWritable(store), overview: readOverview, changed };
}

function knows(name) { return session?.stores.some((store) => store.name === name) ?? false; }

function isWritable(name) {
    return session !== null && session.writable && (session.stores.find((store) => store.name === name)?.writable ?? false);
}

async function readOverview(name, signal) {
    if (!overviews.has(name)) overviews.set(name, await get(`${path(name)}.json`, { signal }));
    return overviews.get(name);
}

/// Discards the cached overview of a store that was changed.
function changed(store) { overviews.delete(store); }

async function refusal(place, error, context) {
    // A condition that cannot be read is shown in its field, with the error under it.
    if (error.code === "invalidPredicate" && (place.kind === "table" || place.kind === "property")) {
        try { return await refusedTable(place, error, context); } catch (other) { return failure(place, other); }
    }
    return failure(place, error);
}

function failure(place, error) {
    const isCancelled = error instanceof Cancelled;
    if (!isCancelled && !(error instanceof Failure)) console.error(error);
    const title = isCancelled ? "Cancelled" : error.code === "noHistory" ? "No history" : error.status === 404 ? "Not found" : error.status === 403 ? "No access" : "This does not work";
    return { title, node: h("section.failure", { role: "alert" }, h("h1", { tabindex: -1 }, title), h("p", text(error.message)),
        h("p.actions", error.code === "noHistory" ? null : button("Try again", () => go(place.address)),
            place.store ? h("a", { href: path(place.store) }, "Overview of the store") : h("a", { href: "/" }, "All stores"))) };
}

// Header

function drawHeader(place, view) {
    const store = session?.stores.find((store) => store.name === place.store);
    const crumbs = [h("a.brand", { href: "/", title: "All stores" }, "Roost")];
    if (place.store) crumbs.push(link(path(place.store), store?.title ?? place.store, place.kind === "overview"));
    if (place.entity) crumbs.push(link(path(place.store, place.entity), place.entity, place.kind === "table"));
    if (place.key) crumbs.push(link(path(place.store, place.entity, place.key), place.key, place.kind === "object"));
    if (place.property) crumbs.push(link(path(...place.segments), place.property, true));
    const items = [];
    if (view.undo) undos.set(place.store, view.undo);
    if (place.store) {
        for (const [kind, label] of [["model", "Model"], ["check", "Check"], ["history", "History"]]) {
            items.push(link(path(place.store, "-", kind), label, place.kind === kind));
        }
    }
    if (session?.stores.length > 1) {
        const other = session.stores.find((other) => other.name !== (place.store ?? session.stores[0].name));
        const address = withQuery("/-/compare", { a: place.store ?? session.stores[0].name, b: other.name });
        items.push(link(place.kind === "compare" ? place.address : address, "Compare", place.kind === "compare"));
    }
    replace(document.getElementById("header"),
        h("nav.crumbs", { "aria-label": "Breadcrumb" }, h("ol", crumbs.map((crumb) => h("li", crumb)))),
        h("nav.views", { "aria-label": "Views of the store" }, items),
        h("div.steps", place.store && isWritable(place.store) && undos.has(place.store) ? steps(place.store, undos.get(place.store)) : null),
        button("?", showKeys, { class: "help", title: "Keys (?)", "aria-label": "Keys" }));
}

function link(address, label, isCurrent) {
    return h("a", { href: address, "aria-current": isCurrent ? "page" : null }, text(label));
}

function steps(store, undo) {
    return [["undo", "Undo", undo.canUndo, undo.undoName, "Ctrl+Z"], ["redo", "Redo", undo.canRedo, undo.redoName, "Ctrl+Shift+Z"]]
        .map(([name, label, isPossible, what, keys]) => button([label, what ? [" ", h("span.what", text(what))] : ""],
            () => step(store, name), { id: name, disabled: !isPossible, title: `${label}${what ? ` “${plain(what)}”` : ""} (${keys})` }));
}

async function step(store, name) {
    try {
        // The server refuses if the revision changed, because the next step may then differ from the button's label.
        undos.set(store, (await change("POST", `${path(store, "-", name)}.json`, { revision: undos.get(store)?.revision })).undo);
    } catch (error) {
        showProblem(error.message);
        return;
    }
    changed(store);
    await reload();
    document.getElementById("announcement").textContent = name === "undo" ? "Undone." : "Repeated.";
}

/// An error that belongs to no field, at the top of the view.
function showProblem(message) {
    main.querySelector(".problem")?.remove();
    const problem = h("p.problem", { role: "alert" }, text(message), " ", button("Close", () => problem.remove()));
    main.prepend(problem);
}

// The list of entities

async function drawSide(place, signal) {
    if (!knows(place.store)) return;
    const side = document.getElementById("side");
    try {
        const overview = await readOverview(place.store, signal);
        if (signal.aborted) return;
        entityTree(side, place, overview);
        if (!undos.has(place.store)) drawHeader(place, overview);
    } catch (error) {
        if (signal.aborted) return;
        replace(side);
        if (!(error instanceof Failure) && error.name !== "AbortError") console.error(error);
    }
}

// Links of the page change the view. The browser handles clicks with a modifier key, links with a
// target, and links to JSON data or files.
document.addEventListener("click", (event) => {
    const anchor = event.target.closest?.("a[href]");
    if (!anchor || event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const address = anchor.getAttribute("href");
    if (address === "#view") {
        event.preventDefault();
        main.focus();
    } else if (address.startsWith("/") && !anchor.hasAttribute("target") && !("native" in anchor.dataset)) {
        event.preventDefault();
        go(address);
    }
});
// Menus close when something else is clicked.
document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
});
// The scroll position is saved while the view is shown, because it is lost when the user goes back.
let timer = null;
for (const name of ["scroll", "focusin"]) {
    document.addEventListener(name, () => {
        clearTimeout(timer);
        timer = setTimeout(() => { if (!main.hasAttribute("aria-busy")) remember(); }, 200);
    }, { capture: true, passive: true });
}
listenForKeys({ undo: () => document.getElementById("undo")?.click(), redo: () => document.getElementById("redo")?.click() });
append(document.body, [h("dialog", { id: "dialog" })]);
start(render);
