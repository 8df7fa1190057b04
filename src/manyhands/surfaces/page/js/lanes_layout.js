// Where every bar, gap and slot of the lanes goes: data in, rectangles out. No canvas, no clock.
import { laneRowsOf } from "./model.js";
import { firstAbove } from "./steps.js";

const HEAD_H = 22; // the line that names a host
const SLOT_MIN_H = 4;
const SLOT_MAX_H = 20;
const BETWEEN_HOSTS = 10;
const SLOTS_MAX = 2000; // rows beyond this are counted, not drawn

/** The rows: a head for each host, then its slots (or, by kind, those of each lane). */
export function rowsOf(model, mode, heightWanted, scale) {
	const groups = mode === "kinds" ? groupsByKind(model) : groupsBySlot(model, scale);
	for (const group of groups) while (group.rows.length > group.least && !isInSight(group.rows.at(-1), scale)) group.rows.pop();
	const slots = groups.reduce((sum, group) => sum + group.rows.length, 0);
	const heads = groups.length * (HEAD_H + BETWEEN_HOSTS);
	const fit = slots ? Math.floor((heightWanted - heads) / slots) : SLOT_MAX_H;
	const slotH = Math.min(SLOT_MAX_H, Math.max(SLOT_MIN_H, fit));
	const rows = [];
	let y = 0;
	let hidden = 0;
	for (const group of groups) {
		rows.push({ type: "head", host: group.host, kind: group.kind, y, h: HEAD_H });
		y += HEAD_H;
		for (const [slot, bars] of group.rows.entries()) {
			if (rows.length > SLOTS_MAX) {
				hidden++;
				continue;
			}
			rows.push({ type: "slot", host: group.host, kind: group.kind, slot, bars, y, h: slotH });
			y += slotH;
		}
		y += BETWEEN_HOSTS;
	}
	return { rows, height: Math.max(y, HEAD_H), slotH, hidden };
}

function isInSight(bars, { from, to }) {
	const first = bars[firstVisible(bars, from)];
	return Boolean(first && first.start <= to);
}

/** As many rows as the host was wide in the time shown, and as ran there then. */
function groupsBySlot(model, { from, to }) {
	const groups = [];
	for (const host of model.hosts.keys()) {
		const used = model.rows.get(host) ?? [];
		const widths = model.series.widthOf.get(host);
		const least = Math.min(SLOTS_MAX, widths?.max(from, to) ?? 0);
		groups.push({ host, kind: "", least, rows: Array.from({ length: Math.max(used.length, least) }, (_, i) => used[i] ?? []) });
	}
	for (const [host, rows] of model.rows) if (!model.hosts.has(host)) groups.push({ host, kind: "", least: 0, rows: [...rows] });
	return groups;
}

function groupsByKind(model) {
	const groups = [];
	const hosts = [...new Set([...model.hosts.keys(), ...model.rows.keys()])];
	for (const host of hosts) {
		for (const kind of model.kinds) {
			const rows = laneRowsOf(model).get(host + "\n" + kind);
			if (rows) groups.push({ host, kind, least: 1, rows: [...rows] });
		}
	}
	return groups;
}

/** The first bar of a row that has not ended before `from`. Bars of a row follow one another. */
export function firstVisible(bars, from) {
	let low = 0;
	let high = bars.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		const end = bars[middle].end;
		if (end !== null && end < from) low = middle + 1;
		else high = middle;
	}
	return low;
}

export class Rectangles {
	constructor() {
		this.size = 0;
		this.x = [];
		this.w = [];
		this.row = [];
		this.bar = [];
		this.merged = []; // how many bars a rectangle stands for
		this.worst = []; // one of them did not end well
	}

	put(x, w, row, bar) {
		const i = this.size++;
		this.x[i] = x;
		this.w[i] = w;
		this.row[i] = row;
		this.bar[i] = bar;
		this.merged[i] = 1;
		this.worst[i] = !endedWell(bar);
	}

	joinLast(x1, bar) {
		const i = this.size - 1;
		this.w[i] = Math.max(this.w[i], x1 - this.x[i]);
		this.merged[i]++;
		this.worst[i] ||= !endedWell(bar);
		if (length(bar) > length(this.bar[i])) this.bar[i] = bar;
	}
}

export const endedWell = (bar) => bar.end === null || bar.ending === "done";
const length = (bar) => (bar.end ?? Infinity) - bar.start;

/** The bars of one row; those that fall on the same pixel become one rectangle that knows how many it is. */
export function layBars(row, index, scale, now, out) {
	const bars = row.bars;
	const mark = out.size;
	for (let i = firstVisible(bars, scale.from); i < bars.length; i++) {
		const bar = bars[i];
		if (bar.start > scale.to) break;
		const x0 = Math.max(-4, scale.x(bar.start));
		const x1 = Math.min(scale.width + 4, scale.x(bar.end ?? now));
		const last = out.size - 1;
		const isTiny = x1 - x0 < 1;
		if (isTiny && out.size > mark && x0 < out.x[last] + out.w[last] + 0.5 && out.w[last] < 1.5) out.joinLast(x1, bar);
		else out.put(x0, Math.max(1, x1 - x0), index, bar);
	}
}

/** When a slot was there: the stretches in which the host was wider than it. */
export function slotSpans(widths, slot, scale, now) {
	const out = [];
	if (!widths) return out;
	const until = Math.min(now, scale.to);
	for (let i = Math.max(0, widths.indexAt(scale.from)); i < widths.at.length && widths.at[i] < until; i++) {
		if (widths.value[i] <= slot) continue;
		const from = Math.max(scale.from, widths.at[i]);
		const to = Math.min(until, widths.at[i + 1] ?? until);
		const last = out[out.length - 1];
		if (last && last.to >= from) last.to = to;
		else if (to > from) out.push({ from, to });
	}
	return out;
}

/** The times of a row in which its slot was there and empty, wide enough to be seen. */
export function gapsOf(row, spans, scale, now) {
	const gaps = [];
	const visible = 1.5 / scale.perSecond;
	const bars = row.bars;
	for (const span of spans) {
		let from = span.from;
		for (let i = firstVisible(bars, span.from); i < bars.length && bars[i].start < span.to; i++) {
			if (bars[i].start - from > visible) gaps.push({ from, to: bars[i].start });
			from = Math.max(from, bars[i].end ?? now);
		}
		if (span.to - from > visible) gaps.push({ from, to: span.to });
	}
	return gaps;
}

/** Each gap, cut where its cause changed; "" is an unknown cause. */
export function causesOf(gaps, idle, scale, now) {
	const out = [];
	const froms = idle.map((span) => span.from);
	for (const gap of gaps) {
		let at = gap.from;
		for (let i = Math.max(0, firstAbove(froms, gap.from) - 1); i < idle.length && idle[i].from < gap.to; i++) {
			const from = Math.max(gap.from, idle[i].from);
			const to = Math.min(gap.to, idle[i].to ?? now);
			if (to <= from) continue;
			put(out, at, from, "", "", scale);
			put(out, from, to, idle[i].cause, idle[i].detail, scale);
			at = Math.max(at, to);
		}
		put(out, at, gap.to, "", "", scale);
	}
	return out;
}

function put(out, from, to, cause, detail, scale) {
	if (to <= from) return;
	const x = scale.x(from);
	const w = (to - from) * scale.perSecond;
	const last = out[out.length - 1];
	const touches = last && Math.abs(last.x + last.w - x) < 0.5;
	if (touches && (last.cause === cause || w < 1)) last.w = x + w - last.x;
	else out.push({ x, w, cause, detail, from });
}

/** What lies under a point: its row, and the bar if there is one. */
export function hit(rows, scale, now, x, y) {
	const row = rows.find((each) => y >= each.y && y < each.y + each.h);
	if (!row || row.type === "head") return { row: row ?? null, bar: null };
	const t = scale.t(x);
	const near = 3 / scale.perSecond;
	const i = firstVisible(row.bars, t - near);
	const bar = row.bars[i];
	return { row, bar: bar && bar.start <= t + near && (bar.end ?? now) >= t - near ? bar : null, at: t };
}
