// The runs of the store, newest first: how each came out, how long it took, how wide it was and what it cost.
import { button, h, renew } from "./dom.js";
import { count, duration } from "./words.js";

const SHOWN_MAX = 30;

export function outcomeText(run) {
	const { counts = {}, total = 0 } = run;
	const bad = ["failed", "cancelled", "skipped"].filter((state) => counts[state]).map((state) => `${count(counts[state])} ${state}`);
	if (run.ended_at == null) return [`${count(counts.done ?? 0)} of ${count(total)} done`, ...bad].join(", ");
	return bad.length ? bad.join(", ") : "all done";
}

/** run → what its attempts cost, as far as they are known. */
function costs(model) {
	const found = new Map();
	for (const bar of model.bars.values()) if (bar.cost != null) found.set(bar.run, (found.get(bar.run) ?? 0) + bar.cost);
	return found;
}

export function showRunList(element, model, now, choose) {
	const runs = [...model.runs.values()].reverse();
	const cost = costs(model);
	const heads = ["run", "outcome", "tasks", "took", "widest", "cost"];
	const state = (run) => (run.counts?.failed ? "failed" : run.ended_at == null ? "running" : run.counts?.cancelled || run.counts?.skipped ? "cancelled" : "done");
	const rows = runs.slice(0, SHOWN_MAX).map((run) => h("tr", { key: run.run },
		h("td", {}, button({ class: "plain name", "aria-pressed": String(model.scope === run.run), onclick: () => choose(run.run) }, run.run)),
		h("td", {}, h("span", { class: "state", "data-state": state(run) }, outcomeText(run))),
		h("td", { class: "num" }, count(run.total ?? 0)),
		h("td", { class: "num" }, duration((run.ended_at ?? now) - run.opened_at)),
		h("td", { class: "num" }, String(run.peak ?? "")),
		h("td", { class: "num" }, cost.has(run.run) ? cost.get(run.run).toFixed(2) : "")));
	renew(element, runs.length
		? h("table", { class: "rows" }, h("tbody", {}, h("tr", { key: "" }, heads.map((name, i) => h("th", { scope: "col", class: i > 1 ? "num" : null }, name))), rows))
		: h("p", { class: "note" }, "Nothing has been run here yet."),
	runs.length > SHOWN_MAX && h("p", { class: "note" }, `${SHOWN_MAX} of ${count(runs.length)} shown`));
}
