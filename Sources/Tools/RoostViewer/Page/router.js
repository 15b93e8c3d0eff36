// Addresses: every view has one, and the history of the browser holds them.

/// The address of a view, from its parts: `path("music", "Album", 5)`.
export function path(...segments) { return `/${segments.map((segment) => encodeURIComponent(String(segment))).join("/")}`; }

export function objectPath(store, object) { return path(store, object.entity, object.key); }

export function withQuery(address, parameters) {
    const query = new URLSearchParams(parameters).toString();
    return query ? `${address}?${query}` : address;
}

/// The address of the data of a view.
export function dataPath(address) {
    // The first question mark begins the query, which can contain others.
    const end = address.includes("?") ? address.indexOf("?") : address.length;
    const place = address.slice(0, end);
    return (place === "/" ? "/-/session.json" : `${place}.json`) + address.slice(end);
}

/// The view that an address names.
export function parse(location) {
    const segments = location.pathname.split("/").filter(Boolean).map(decode);
    const place = { segments, address: location.pathname + location.search, pathname: location.pathname,
        parameters: new URLSearchParams(location.search), store: null };
    const [store, entity, key, property] = segments;
    if (segments.length === 0) return { ...place, kind: "stores" };
    if (store === "-") return { ...place, kind: segments.length === 2 && entity === "compare" ? "compare" : "unknown" };
    Object.assign(place, { store });
    if (segments.length === 1) return { ...place, kind: "overview" };
    if (entity === "-") {
        return { ...place, kind: segments.length === 3 && ["model", "check", "history"].includes(key) ? key : "unknown" };
    }
    Object.assign(place, { entity, key, property });
    if (segments.length === 2) return { ...place, kind: place.parameters.has("new") ? "new" : "table" };
    if (segments.length === 3) return { ...place, kind: "object" };
    return { ...place, kind: segments.length === 4 ? "property" : "unknown" };
}

function decode(segment) {
    try { return decodeURIComponent(segment); } catch { return segment; }
}

/// The address of the same view with other parameters. Null removes a parameter, a list repeats it.
export function changed(place, changes) {
    const parameters = new URLSearchParams(place.parameters);
    for (const [name, value] of Object.entries(changes)) {
        parameters.delete(name);
        for (const item of Array.isArray(value) ? value : [value]) {
            if (item !== null && item !== undefined && item !== "") parameters.append(name, item);
        }
    }
    return withQuery(place.pathname, parameters);
}

let render = async () => {};

/// Sets the function that shows the view of the current address, and calls it.
export function start(show) {
    render = show;
    history.scrollRestoration = "manual";
    window.addEventListener("popstate", () => render({ isBack: true }));
    return render({ isBack: history.state !== null });
}

/// Opens an address of this page.
export function go(address, { replaces = false } = {}) {
    remember();
    if (replaces) history.replaceState(null, "", address);
    else if (address === location.pathname + location.search) return render({});
    else history.pushState(null, "", address);
    return render({});
}

/// Shows the view again, after a change.
export function reload() {
    remember();
    return render({ isBack: true });
}

/// Saves the scroll position and the focus in the history of the browser.
export function remember() {
    const box = document.querySelector("#view .scroll");
    history.replaceState({ top: window.scrollY, boxTop: box?.scrollTop ?? 0, boxLeft: box?.scrollLeft ?? 0,
        focus: document.activeElement?.dataset?.focus ?? null }, "");
}

/// Restores the saved scroll position and focus.
export function restore(state) {
    if (!state) return;
    const box = document.querySelector("#view .scroll");
    if (state.focus) focusNamed(state.focus);
    if (box) box.scrollTo(state.boxLeft, state.boxTop);
    window.scrollTo(0, state.top);
}

/// Focuses the element with a name, if the view has it.
export function focusNamed(name) {
    const node = document.querySelector(`#view [data-focus="${CSS.escape(name)}"]`);
    node?.focus({ preventScroll: true });
    return node !== null;
}
