// The hosts: how wide each is and why, what limits it, and how it went over time.
import { h, renew, setText } from "./dom.js";
import { HostCharts } from "./host_charts.js";
import { hostCharts, limitsOf, readingOf, valueAt } from "./host_series.js";
import { moveText } from "./ribbon_layout.js";
import { count, duration, percent, short, sinceStart, wallClock } from "./words.js";

const MOVES_SHOWN = 40;
const STEP = 1 / 60; // of what is in sight, for a press of an arrow key

export class HostsView {
	/** `time()` gives {scale, gutter, now, origin}: the time in sight is that of the overview. */
	constructor(elements, paint, time) {
		Object.assign(this, { ...elements, paint, time, host: "", cursor: null });
		this.charts = new HostCharts(this.box, paint, (at) => this.setCursor(at));
		this.select.addEventListener("change", () => this.setHost(this.select.value));
		this.box.addEventListener("keydown", (event) => this.key(event));
	}

	setHost(host) {
		this.host = host;
		this.update(this.model, this.now);
	}

	setCursor(at) {
		this.cursor = at;
		this.isDirty = true;
	}

	key(event) {
		const by = { ArrowLeft: -STEP, ArrowRight: STEP }[event.key];
		if (!by) return;
		const { from, to } = this.time().scale;
		this.setCursor(Math.min(to, Math.max(from, (this.cursor ?? to) + by * (to - from))));
		event.preventDefault();
		event.stopPropagation();
	}

	update(model, now) {
		Object.assign(this, { model, now });
		const names = [...model.hosts.keys()];
		if (!names.includes(this.host)) this.host = "";
		renew(this.select, h("option", { key: "", value: "" }, "all hosts"), names.map((name) => h("option", { key: name, value: name }, name)));
		if (document.activeElement !== this.select) this.select.value = this.host;
		this.fillTable(names);
		const { scale } = this.time();
		this.found = hostCharts(model, this.host, scale.from, Math.min(now, scale.to));
		this.isDirty = true;
	}

	get mine() {
		return this.model.widths.filter((move) => !this.host || move.host === this.host);
	}

	fillTable(names) {
		const { model, now } = this;
		const met = { rate: new Map(), unreachable: new Map() };
		for (const { overload, host } of model.bars.values()) met[overload]?.set(host, (met[overload].get(host) ?? 0) + 1);
		const words = { wallClock, duration, count, short };
		const rows = names.map((name) => {
			const host = model.hosts.get(name);
			const lanes = (host.lanes ?? []).filter((lane) => lane.success != null).map((lane) => `${lane.kind} ${percent(lane.success)}`);
			const last = readingOf(model, name, now);
			const memory = last?.memory_total_bytes ? `${(last.memory_used_bytes / 2 ** 30).toFixed(1)} of ${(last.memory_total_bytes / 2 ** 30).toFixed(1)} GB` : "";
			const limits = limitsOf(model, name, now, words);
			return h("tr", { key: name },
				h("th", { scope: "row" }, name), h("td", {}, `${host.in_flight ?? ""}${host.in_flight == null ? "" : " of "}${host.width}${host.ceiling ? `, at most ${host.ceiling}` : ""}`),
				h("td", {}, host.pinned != null ? "pinned" : host.why ?? ""), h("td", {}, lanes.join(", ")), h("td", { class: "num" }, count(met.rate.get(name) ?? 0)), h("td", { class: "num" }, count(met.unreachable.get(name) ?? 0)), h("td", {}, memory), h("td", {}, limits.join("; ") || "none known"));
		});
		renew(this.table, h("table", { class: "rows" }, h("tbody", {}, h("tr", { key: "" }, ["host", "width", "why", "success", "429", "not reachable", "memory", "limits"].map((name) => h("th", { scope: "col", class: ["429", "not reachable"].includes(name) ? "num" : null }, name))), rows)));
		const moves = this.mine;
		renew(this.moves, moves.slice(-MOVES_SHOWN).reverse().map((move) => h("li", { key: `${move.at} ${move.host} ${move.kind}` }, h("time", {}, wallClock(move.at)), moveText(move))),
			moves.length > MOVES_SHOWN && h("li", { key: "more" }, `${MOVES_SHOWN} of ${count(moves.length)} shown`), !moves.length && h("li", { key: "none" }, "No width has moved."));
	}

	draw(isDirty) {
		if (!this.found || !(isDirty || this.isDirty)) return;
		this.isDirty = false;
		const { scale, gutter, now, origin } = this.time();
		const inSight = (move) => !move.kind && move.at >= scale.from && move.at <= scale.to;
		this.charts.draw(this.found, scale, gutter, now, origin, this.cursor, this.host ? this.mine.filter(inSight) : []);
		setText(this.said, this.cursor === null ? "Arrow keys move the cursor." : this.words(origin));
	}

	/** The moment at the cursor, in words. */
	words(origin) {
		const { cursor } = this;
		const values = this.found.flatMap((chart) => chart.lines.map((line) => [chart.name, line.name, valueAt(line, cursor)])).filter(([, , value]) => value !== null);
		const move = this.mine.findLast((each) => each.at <= cursor);
		return [`${sinceStart(cursor - origin, 1)} (${wallClock(cursor)})`, ...values.map(([chart, line, value]) => `${chart === "Width" ? line : chart.toLowerCase()} ${Number(value.toPrecision(3))}`), move && `last move: ${moveText(move)}`].filter(Boolean).join(" · ");
	}
}
