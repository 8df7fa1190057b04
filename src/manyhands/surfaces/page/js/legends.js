// What colours, signs and textures mean; only what is in sight.
import { causeOf, endingOf, SIGNS } from "./causes.js";
import { button, h, redo } from "./dom.js";
import { isMine } from "./model.js";
import { causeSwatch, kindClass, kindVars } from "./paint.js";
import { STATES } from "./tree.js";
import { count } from "./words.js";

const isOn = (filter, term) => String(filter.split(/\s+/).includes(term));

/** Of those that the store has, the ones of what is shown. */
function kindsIn(model) {
	const found = new Set(model.series.inFlight.keys());
	for (const task of model.tasks.values()) if (isMine(model, task)) found.add(task.kind);
	return model.kinds.filter((kind) => found.has(kind));
}

export function showKinds(element, model, filter, pick) {
	const kinds = kindsIn(model);
	redo(element, kinds.join() + filter, () => [
		...kinds.map((kind) =>
			button({ key: kind, class: `chip plain${kindClass(model, kind)}`, "aria-pressed": isOn(filter, `kind:${kind}`), vars: kindVars(model, kind), onclick: () => pick(kind) }, kind)),
		h("span", {}, "▲▼ a move of the clutch"),
	]);
}

export function showEndings(element, model, causes, paint) {
	const found = new Set();
	for (const bar of model.bars.values()) if (bar.ending && bar.ending !== "done" && isMine(model, bar)) found.add(endingOf(bar));
	const endings = Object.keys(SIGNS).filter((ending) => found.has(ending));
	const gaps = [...causes].sort();
	redo(element, [...endings, ...gaps, paint.ink].join(), () => [
		...endings.map((ending) => h("span", {}, h("span", { class: "sign" }, SIGNS[ending].sign), SIGNS[ending].label)),
		...(gaps.length ? [h("span", {}, "free:")] : []),
		...gaps.map((cause) => h("span", {}, causeSwatch(cause, paint), causeOf(cause).label)),
	]);
}

export function showStates(element, counts, filter, pick) {
	const found = STATES.filter((state) => counts[state]);
	redo(element, found.map((state) => state + counts[state]).join() + filter, () =>
		found.map((state) => button({ key: state, class: "plain", "aria-pressed": isOn(filter, `state:${state}`), onclick: () => pick(state) }, h("span", { class: "state", "data-state": state }, `${state} ${count(counts[state])}`))));
}
