// Deletes objects, after a question.

import { h, replace, text, plain, amount, button } from "./dom.js";
import { Failure, change } from "./jobs.js";
import { path, objectPath, withQuery, go, reload } from "./router.js";
import { openDialog } from "./dialog.js";

/// Asks before an object is deleted, and says what is deleted with it.
export async function askToDelete(place, object, context) {
    const address = `${objectPath(place.store, object)}.json`;
    const name = `${plain(object.entity)} ${object.key}${object.title ? ` “${plain(object.title)}”` : ""}`;
    let trial;
    let refusal = null;
    try {
        trial = await change("DELETE", withQuery(address, { version: object.version, dry: 1 }));
    } catch (error) {
        if (!(error instanceof Failure)) throw error;
        refusal = error;
    }
    if (refusal) {
        openDialog(`${name} cannot be deleted`, (close) => [
            refusal.failures?.length ? h("ul", refusal.failures.map((failure) => h("li", text(failure.message)))) : h("p", text(refusal.message)),
            h("p.actions", refusal.code === "conflict" ? button("Show the object as it is now", () => {
                close();
                reload();
            }) : null, button("Close", close, { autofocus: true }))]);
        return;
    }
    const others = trial.deleted.map(({ entity, count: number }) => ({ entity, number: entity === object.entity ? number - 1 : number }))
        .filter((item) => item.number > 0);
    openDialog(`Delete ${name}?`, (close) => {
        const problem = h("p.failure", { role: "alert" });
        return [others.length ? [h("p", "This is deleted with it:"), h("ul", others.map((item) => h("li", amount(item.number, "object"), " of ", text(item.entity))))]
            : h("p", "No other object is deleted with it."), h("p.muted", "You can undo this."), problem,
        h("p.actions", button("Delete", async () => {
            try {
                await change("DELETE", withQuery(address, { version: object.version, state: trial.state }));
            } catch (error) {
                replace(problem, text(error.message));
                return;
            }
            close();
            context.changed(place.store);
            await go(path(place.store, object.entity));
            document.getElementById("announcement").textContent = `Deleted ${name}.`;
        }, { class: "danger" }), button("Cancel", close, { autofocus: true }))];
    });
}
