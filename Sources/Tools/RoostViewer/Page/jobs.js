// Sends requests to the server. Long work is a job on the server: the page polls the job, shows its
// progress, and can cancel it.

import { h, replace, button, count, duration } from "./dom.js";

const firstPause = 80;
const longestPause = 500;
const quietMilliseconds = 300;

/// An answer that is an error.
export class Failure extends Error {
    constructor(status, error) {
        super(error.message);
        this.status = status;
        Object.assign(this, error);
    }
}

/// The user cancelled the work.
export class Cancelled extends Error {}

async function send(path, options) {
    try {
        return await fetch(path, { credentials: "same-origin", ...options });
    } catch (error) {
        if (error.name === "AbortError") throw error;
        throw new Failure(0, { code: "noServer", message: "The server does not answer. Is 'roost browse' still running?" });
    }
}

async function answer(response) {
    let body = null;
    try { body = await response.json(); } catch (error) { if (error.name === "AbortError") throw error; }
    if (response.ok && body !== null) return body;
    throw new Failure(response.status, body?.error ?? { code: "failure", message: `The server answered ${response.status}.` });
}

/// Reads an address. `report` is called with the state of a job while it runs.
export async function get(path, { signal, report } = {}) {
    const response = await send(path, { signal, headers: { Prefer: "respond-async" } });
    const body = await answer(response);
    return response.status === 202 ? await finish(body.job, signal, report) : body;
}

async function finish(number, signal, report) {
    const address = `/-/jobs/${number}.json`;
    const cancel = () => send(address, { method: "DELETE", headers: { "Content-Type": "application/json" } }).catch(() => {});
    // The answer is no longer needed, so the job is cancelled.
    signal?.addEventListener("abort", cancel, { once: true });
    try {
        for (let pause = firstPause; ; pause = Math.min(pause * 1.3, longestPause)) {
            const job = await answer(await send(address, { signal }));
            if (job.state === "done") return await answer(await send(`/-/jobs/${number}/result.json`, { signal }));
            if (job.state === "cancelled") throw new Cancelled("The work was cancelled.");
            if (job.state === "failed") throw new Failure(500, job.error ?? { code: "failure", message: "The work failed." });
            report?.({ ...job, cancel });
            await new Promise((resolve) => setTimeout(resolve, pause));
            signal?.throwIfAborted();
        }
    } finally {
        signal?.removeEventListener("abort", cancel);
    }
}

/// Reads an address for the view. Progress shows after a moment, so that fast answers do not
/// flicker.
export async function load(path, signal) {
    const box = document.getElementById("progress");
    let job = null;
    const draw = () => {
        if (signal.aborted) return;
        const hasTotal = job?.total > 0;
        const bar = h("progress", { "aria-label": job?.what ?? "Reading", max: hasTotal ? job.total : null,
            value: hasTotal ? Math.min(job.done, job.total) : null });
        const amountText = !job || !job.done ? "" : hasTotal ? `${count(job.done)} of ${count(job.total)}` : count(job.done);
        if (box.hidden || !box.querySelector("progress")) {
            replace(box, bar, h("span.what"), h("span.amount"), button("Cancel", () => job?.cancel(), { class: "cancel" }));
            box.hidden = false;
        } else {
            box.querySelector("progress").replaceWith(bar);
        }
        box.querySelector(".what").textContent = job?.what ?? "Reading";
        box.querySelector(".amount").textContent = [amountText, job ? duration(job.milliseconds) : ""].filter(Boolean).join(" · ");
        box.querySelector(".cancel").disabled = !job;
    };
    let isLate = false;
    const timer = setTimeout(() => {
        isLate = true;
        draw();
    }, quietMilliseconds);
    try {
        return await get(path, { signal, report: (state) => {
            job = state;
            if (isLate) draw();
        } });
    } finally {
        clearTimeout(timer);
        // A newer view may already show its own progress here.
        if (!signal.aborted) hideProgress();
    }
}

export function hideProgress() { replace(document.getElementById("progress")).hidden = true; }

/// Sends a change as JSON, the only type that the server accepts.
export async function change(method, path, body) {
    const response = await send(path, { method, headers: { "Content-Type": "application/json" },
        body: body === undefined ? undefined : JSON.stringify(body) });
    return await answer(response);
}
