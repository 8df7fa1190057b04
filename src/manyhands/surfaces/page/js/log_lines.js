// What happened, line by line, with the slots of all hosts beside it. Data in, data out.
import { endingLabel } from "./causes.js";
import { isMine } from "./model.js";
import { moveText } from "./ribbon_layout.js";
import { duration } from "./words.js";

const SLOTS_MAX = 32; // more are not drawn
export const LINES_MAX = 4000; // the newest ones
const ORDER = { end: 0, width: 1, start: 2 };

/** {lines: [{at, what, lane, task, run, text, strip}], total}: the newest lines, the oldest of them first; `strip` has a sign for every slot: ┬ begins, ┴ ends, │ runs, · free. */
export function logLines(model) {
	const events = [];
	for (const bar of model.bars.values()) {
		if (!isMine(model, bar)) continue;
		events.push({ at: bar.start, what: "start", bar });
		if (bar.end !== null) events.push({ at: bar.end, what: "end", bar });
	}
	for (const move of model.widths) events.push({ at: move.at, what: "width", move });
	events.sort((a, b) => a.at - b.at || ORDER[a.what] - ORDER[b.what]);
	const slots = slotsOf(model);
	const busy = new Array(slots.size).fill("·");
	const first = Math.max(0, events.length - LINES_MAX);
	for (const { what, bar } of events.slice(0, first)) {
		const place = bar && slots.get(`${bar.host}/${bar.slot + 1}`);
		if (place !== undefined) busy[place] = what === "start" ? "│" : "·";
	}
	return { lines: events.slice(first).map((event) => lineOf(event, slots, busy)), total: events.length };
}

/** host/slot → its place in the strip. */
function slotsOf(model) {
	const names = new Set();
	for (const bar of model.bars.values()) if (isMine(model, bar)) names.add(`${bar.host}/${bar.slot + 1}`);
	const sorted = [...names].sort((a, b) => a.localeCompare(b, "en", { numeric: true })).slice(0, SLOTS_MAX);
	return new Map(sorted.map((name, i) => [name, i]));
}

function lineOf({ at, what, bar, move }, slots, busy) {
	if (move) return { at, what, run: "", task: "", lane: move.kind ? `${move.host}/${move.kind}` : move.host, text: moveText(move), strip: busy.join("") };
	const lane = `${bar.host}/${bar.slot + 1}`;
	const place = slots.get(lane);
	const strip = [...busy];
	if (place !== undefined) {
		strip[place] = what === "start" ? "┬" : "┴";
		busy[place] = what === "start" ? "│" : "·";
	}
	const ended = `${endingLabel(bar)} after ${duration((bar.end ?? at) - bar.start)}${bar.detail ? `: ${bar.detail}` : ""}`;
	const began = `${bar.kind}${bar.number > 1 ? `, attempt ${bar.number}` : ""}, waited ${duration(bar.start - bar.queued)}`;
	return { at, what, run: bar.run, task: bar.task, lane, ending: what === "end" ? bar.ending : "", text: what === "start" ? `starts: ${began}` : ended, strip: strip.join("") };
}
