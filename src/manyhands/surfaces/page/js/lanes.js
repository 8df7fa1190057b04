// Draws the lanes: slots that come and go, what ran in them, and why they were empty.
import { causeOf, endingLabel, endingOf, SIGNS, inFlightOn } from "./causes.js";
import { Rectangles, causesOf, gapsOf, hit, layBars, rowsOf, slotSpans } from "./lanes_layout.js";
import { fitCanvas } from "./paint.js";
import { AXIS_H, drawTicks } from "./ribbon.js";
import { duration, wallClock } from "./words.js";
import { isMine, keyOf } from "./model.js";

const THEIRS = Symbol("other runs");
const LETTER_W = 6.4; // near enough to decide whether a name fits

export class Lanes {
	constructor(canvas, paint) {
		this.canvas = canvas;
		this.paint = paint;
		this.rows = [];
		this.causes = new Set(); // in sight, for the legend
		this.hidden = 0;
	}

	draw(model, scale, now, gutter, view) {
		const { rows, height, slotH, hidden } = rowsOf(model, view.rows, view.heightWanted, scale);
		this.rows = rows;
		this.hidden = hidden;
		const c = fitCanvas(this.canvas, scale.width + gutter, height + AXIS_H);
		const rectangles = new Rectangles();
		this.causes.clear();
		c.save();
		c.beginPath();
		c.rect(gutter, 0, scale.width, height);
		c.clip();
		c.translate(gutter, 0);
		for (const [index, row] of rows.entries()) {
			if (row.type !== "slot") continue;
			if (view.rows === "slots") this.slot(c, model, row, scale, now);
			layBars(row, index, scale, now, rectangles);
		}
		this.bars(c, model, rectangles, slotH, view);
		this.nowLine(c, scale, now, height);
		this.range(c, scale, height, view.range);
		c.restore();
		this.heads(c, model, gutter);
		drawTicks(c, this.paint, scale, gutter, height, AXIS_H, view.origin);
		this.drawn = rectangles.size;
	}

	slot(c, model, row, scale, now) {
		const spans = slotSpans(model.series.widthOf.get(row.host), row.slot, scale, now);
		const inset = row.h > 6 ? 1 : 0;
		c.fillStyle = this.paint.track;
		for (const span of spans) c.fillRect(scale.x(span.from), row.y + inset, (span.to - span.from) * scale.perSecond, row.h - 2 * inset);
		const gaps = gapsOf(row, spans, scale, now);
		for (const gap of causesOf(gaps, model.idleSpans.get(row.host) ?? [], scale, now)) {
			if (gap.cause || gap.w > 4) this.causes.add(gap.cause);
			if (!gap.cause && gap.from >= model.idleKnownFrom) continue;
			c.fillStyle = this.paint.texture(c, gap.cause);
			c.fillRect(gap.x, row.y + inset, gap.w, row.h - 2 * inset);
		}
	}

	bars(c, model, out, slotH, view) {
		const { paint } = this;
		const inset = slotH > 6 ? 1.5 : slotH > 4 ? 0.5 : 0;
		const byKind = new Map();
		for (let i = 0; i < out.size; i++) {
			const kind = isMine(model, out.bar[i]) ? out.bar[i].kind : THEIRS;
			if (kind === THEIRS) this.causes.add("other runs");
			if (!byKind.has(kind)) byKind.set(kind, []);
			byKind.get(kind).push(i);
		}
		const isShown = view.isShown;
		for (const [kind, list] of byKind) {
			c.fillStyle = kind === THEIRS ? paint.theirs(c) : paint.kind(model, kind, c);
			for (const i of list) {
				const row = this.rows[out.row[i]];
				c.globalAlpha = isShown && !isShown(out.bar[i]) ? 0.14 : out.bar[i].end === null ? 0.72 : 1;
				c.fillRect(out.x[i], row.y + inset, out.w[i] > 3 ? out.w[i] - 0.6 : out.w[i], row.h - 2 * inset);
			}
		}
		c.globalAlpha = 1;
		if (slotH >= 8) this.waits(c, model, out, view);
		for (let i = 0; i < out.size; i++) {
			if (!isMine(model, out.bar[i])) continue;
			if (out.worst[i]) this.ending(c, out, i, inset);
			else if (out.bar[i].end === null && slotH > 5) this.open(c, out, i, inset);
		}
		if (slotH >= 12) this.names(c, model, out);
		this.marks(c, out, view);
	}

	/** How long it waited: a thin line before it, behind other bars only if selected. */
	waits(c, model, out, view) {
		for (let i = 0; i < out.size; i++) {
			const bar = out.bar[i];
			if (bar.start - bar.queued < 1e-3 || !isMine(model, bar)) continue;
			const row = this.rows[out.row[i]];
			const isLooked = view.hover === bar.attempt || isSelected(view, bar);
			const from = Math.max(-2, out.x[i] - (bar.start - bar.queued) * view.perSecond);
			const previous = i > 0 && out.row[i - 1] === out.row[i] ? out.x[i - 1] + out.w[i - 1] : -2;
			const x = isLooked ? from : Math.max(from, previous);
			if (out.x[i] - x < 1) continue;
			c.fillStyle = this.paint.kind(model, bar.kind);
			c.globalAlpha = isLooked ? 1 : 0.55;
			c.fillRect(x, row.y + row.h / 2 - 1, out.x[i] - x, 2);
			c.fillRect(x, row.y + row.h / 2 - 3, 1.5, 6);
		}
		c.globalAlpha = 1;
	}

	/** A bar that did not end well has its end cut off in the colour of trouble, with a sign where it fits. */
	ending(c, out, i, inset) {
		const row = this.rows[out.row[i]];
		const right = out.x[i] + out.w[i];
		const h = row.h - 2 * inset;
		const w = Math.min(out.w[i], h >= 11 ? 13 : 4);
		c.fillStyle = out.bar[i].ending === "cancelled" || out.bar[i].ending === "preempted" ? this.paint.muted : this.paint.bad;
		c.fillRect(right - w, row.y + inset, w, h);
		if (h < 11 || w < 11) return;
		c.fillStyle = this.paint.surface;
		c.font = this.paint.font("bold 11px");
		c.textAlign = "center";
		c.textBaseline = "middle";
		c.fillText(SIGNS[endingOf(out.bar[i])]?.sign || "×", right - w / 2, row.y + row.h / 2 + 0.5);
	}

	/** In flight: its end is open. */
	open(c, out, i, inset) {
		const row = this.rows[out.row[i]];
		const right = out.x[i] + out.w[i];
		c.fillStyle = this.paint.surface;
		for (let y = row.y + inset; y < row.y + row.h - inset; y += 4) c.fillRect(right - 3, y, 3, 2);
	}

	names(c, model, out) {
		c.font = this.paint.font("11px");
		c.textAlign = "left";
		c.textBaseline = "middle";
		for (let i = 0; i < out.size; i++) {
			const x = Math.max(0, out.x[i]);
			const room = Math.floor((out.x[i] + out.w[i] - x - (out.worst[i] ? 20 : 10)) / LETTER_W);
			if (out.merged[i] > 1 || room < 4 || !isMine(model, out.bar[i])) continue;
			const name = out.bar[i].task;
			const row = this.rows[out.row[i]];
			c.fillStyle = this.paint.inkOn(model, out.bar[i].kind);
			c.fillText(name.length > room ? name.slice(0, room - 1) + "…" : name, x + 5, row.y + row.h / 2 + 0.5);
		}
	}

	marks(c, out, view) {
		for (let i = 0; i < out.size; i++) {
			const bar = out.bar[i];
			if (view.hover !== bar.attempt && !isSelected(view, bar)) continue;
			const row = this.rows[out.row[i]];
			c.strokeStyle = this.paint.ink;
			c.lineWidth = 2;
			c.strokeRect(out.x[i] - 0.5, row.y + 0.5, out.w[i], row.h - 1);
		}
	}

	nowLine(c, scale, now, height) {
		const x = scale.x(now);
		if (x < 0 || x > scale.width) return;
		c.fillStyle = this.paint.ink;
		c.globalAlpha = 0.5;
		c.fillRect(x - 0.5, 0, 1, height);
		c.globalAlpha = 1;
	}

	range(c, scale, height, range) {
		if (!range) return;
		const x0 = scale.x(range.from);
		const x1 = scale.x(range.to);
		c.fillStyle = this.paint.accent;
		c.globalAlpha = 0.12;
		c.fillRect(x0, 0, x1 - x0, height);
		c.globalAlpha = 1;
		c.fillRect(x0, 0, 1.5, height);
		c.fillRect(x1 - 1.5, 0, 1.5, height);
	}

	heads(c, model, gutter) {
		const { paint } = this;
		c.textBaseline = "middle";
		for (const row of this.rows) {
			if (row.type === "slot") {
				if (row.h >= 12) {
					c.font = paint.font("11px");
					c.fillStyle = paint.faint;
					c.textAlign = "right";
					c.fillText(String(row.slot + 1), gutter - 8, row.y + row.h / 2);
				}
				continue;
			}
			const host = model.hosts.get(row.host);
			c.textAlign = "left";
			c.font = paint.font("600 12px");
			c.fillStyle = paint.ink;
			const y = row.y + row.h / 2 + 2;
			c.fillText(row.host, 10, y);
			let x = 10 + c.measureText(row.host).width + 10;
			c.font = paint.font("12px");
			if (row.kind) {
				c.fillStyle = paint.kind(model, row.kind, c);
				c.fillRect(x, y - 5, 9, 9);
				x += 14;
			}
			c.fillStyle = paint.muted;
			c.fillText(headText(model, host, row), x, y);
		}
	}

	hit(scale, now, x, y) {
		return hit(this.rows, scale, now, x, y);
	}

	tip(model, found, now, usual) {
		const { row, bar, at } = found;
		if (bar) return barTip(model, bar, now, usual);
		if (!row || row.type === "head") return null;
		const span = (model.idleSpans.get(row.host) ?? []).findLast((each) => each.from <= at && (each.to ?? now) > at);
		const width = model.series.widthOf.get(row.host)?.valueAt(at) ?? 0;
		if (row.kind || at > now) return null;
		if (row.slot >= width) return [`slot ${row.slot + 1} of ${row.host} did not exist`, `the width was ${width}`];
		return [`slot ${row.slot + 1} of ${row.host} is free`, span ? `${causeOf(span.cause).label}${span.detail ? ": " + span.detail : ""}` : "the cause was not recorded"];
	}
}

const isSelected = (view, bar) => view.selected !== null && view.selected === keyOf(bar.run, bar.task);

function headText(model, host, row) {
	if (row.kind) {
		const lane = host?.lanes?.find((each) => each.kind === row.kind);
		return `${row.kind}${lane ? ` · ${lane.in_flight} in flight${lane.width != null ? ` of ${lane.width}` : ""}` : ""}`;
	}
	if (!host) return "no longer in the config";
	return `${inFlightOn(model, row.host)} of ${host.width}${host.paused ? ` · paused: ${host.paused}` : host.pinned != null ? " · pinned" : ""}`;
}

function barTip(model, bar, now, usual) {
	const task = model.tasks.get(keyOf(bar.run, bar.task));
	const ran = (bar.end ?? now) - bar.start;
	return [
		!isMine(model, bar) && `run ${bar.run} used this slot`,
		`${bar.task} · ${bar.end === null ? "running" : endingLabel(bar)}`,
		task?.title,
		`${bar.kind} on ${bar.host}, attempt ${bar.number}${bar.of > 1 ? ` of ${bar.of}` : ""}`,
		`ran ${duration(ran)}${usual ? ` (usual ${duration(usual)})` : ""}, waited ${duration(bar.start - bar.queued)}`,
		`from ${wallClock(bar.start)}`,
		bar.detail,
	].filter(Boolean);
}
