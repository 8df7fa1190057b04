// The clutch meter: for every host how wide it is, how much of that is used, how its kinds go, and why.
import { button, h, keyed, redo, setText } from "./dom.js";
import { whyFree, whyPaused } from "./causes.js";
import { isMine } from "./model.js";
import { kindClass, kindPlace, kindVars } from "./paint.js";
import { percent } from "./words.js";

const SLOTS_SHOWN = 24;
const THEIRS = "\uffff"; // sorted last

export class Meter {
	/** `command(method, path, body)` sends an order; null where none may be given. */
	constructor(element, command) {
		this.element = element;
		this.command = command;
	}

	update(model, now) {
		const byHost = new Map();
		for (const bar of model.inFlight.values()) byHost.set(bar.host, [...(byHost.get(bar.host) ?? []), bar]);
		keyed(this.element, model.hosts.values(), (host) => host.host, (host) => this.make(host), (row, host) => {
			fill(row, model, host, byHost.get(host.host) ?? [], now);
			row.parts.act.hidden = !model.command;
		});
	}

	make(host) {
		const path = `/api/v1/hosts/${encodeURIComponent(host.host)}`;
		const parts = {
			n: h("span", { class: "n" }),
			kinds: h("span", { class: "kinds" }),
			why: h("div", { class: "why" }),
			slots: h("span", { class: "slots" }),
			pause: button({ onclick: () => this.command("POST", `${path}/${row.host.paused ? "resume" : "pause"}`) }, "pause"),
		};
		const set = (by) => this.command("PUT", `${path}/width`, { width: Math.max(1, row.host.width + by) });
		parts.free = button({ title: "Let the clutch decide again", onclick: () => this.command("PUT", `${path}/width`, { width: null }) }, "free");
		parts.act = h("span", { class: "act" },
			button({ "aria-label": `Narrow ${host.host} by one`, onclick: () => set(-1) }, "−"),
			button({ "aria-label": `Widen ${host.host} by one`, onclick: () => set(1) }, "+"),
			parts.free, parts.pause);
		const row = h("div", { class: "host", "data-host": host.host },
			parts.n, h("span", { class: "name" }, host.host, parts.kinds), parts.act, parts.slots, parts.why);
		row.parts = parts;
		return row;
	}
}

function fill(row, model, host, bars, now) {
	const { parts } = row;
	row.host = host;
	redo(parts.n, `${bars.length}/${host.width}`, () => [String(bars.length), h("small", {}, ` of ${host.width}`)]);
	const idle = model.idle.find((each) => each.host === host.host);
	setText(parts.why, whyText(host, idle, bars.length, now));
	setText(parts.pause, host.paused ? "resume" : "pause");
	parts.free.hidden = host.pinned == null;
	const lanes = (host.lanes ?? []).filter((lane) => lane.in_flight || lane.success != null);
	const told = lanes.map((lane) => `${lane.kind}|${lane.success == null ? "" : percent(lane.success)}|${lane.width ?? ""}|${lane.in_flight}`).join();
	redo(parts.kinds, told, () => lanes.slice(0, 4).map((lane) => laneChip(model, lane)));
	const kinds = bars.map((bar) => (isMine(model, bar) ? bar.kind : THEIRS)).sort();
	redo(parts.slots, kinds.map((kind) => (kind === THEIRS ? "" : kind + kindPlace(model, kind))).join() + "/" + host.width, () => slotDots(model, kinds, host.width));
}

function laneChip(model, lane) {
	const bound = lane.width != null ? `, at most ${lane.width} at once: ${lane.why}` : "";
	const title = `${lane.kind}: ${lane.in_flight} in flight${bound}`;
	return h("span", { class: `chip${kindClass(model, lane.kind)}`, title, vars: kindVars(model, lane.kind) },
		lane.success == null ? lane.kind : `${lane.kind} ${percent(lane.success)}`);
}

function slotDots(model, kinds, width) {
	const size = Math.max(kinds.length, width);
	const dots = Array.from({ length: Math.min(SLOTS_SHOWN, size) }, (_, i) =>
		i < kinds.length ? h("i", kinds[i] === THEIRS ? { class: "theirs", title: "used by another run" } : { class: `on${kindClass(model, kinds[i])}`, vars: kindVars(model, kinds[i]) }) : h("i"));
	return size > SLOTS_SHOWN ? [...dots, h("small", { class: "quiet" }, `+${size - SLOTS_SHOWN}`)] : dots;
}

function whyText(host, idle, inFlight, now) {
	if (host.paused) return whyPaused(host, now);
	const free = host.width - inFlight;
	const width = host.pinned != null ? "pinned" : host.why;
	if (free > 0 && idle && idle.cause !== "no work") return `${free} free: ${whyFree(idle, now)}`;
	if (free > 0 && idle) return `${free} free: ${whyFree(idle, now)}${width ? ` · ${width}` : ""}`;
	return width ?? "";
}
