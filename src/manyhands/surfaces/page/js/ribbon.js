// Draws the ribbon: as thick as the width, filled as far as it is used, textured where it is free but blocked.
import { causeOf } from "./causes.js";
import { fitCanvas } from "./paint.js";
import { edge, layMarkers, layRibbon, moveText, widest } from "./ribbon_layout.js";
import { countTicks, ticks } from "./scale.js";
import { sinceStart, wallClock } from "./words.js";

export const AXIS_H = 22;
const TOP = 26; // room for the markers

export class Ribbon {
	constructor(canvas, paint) {
		this.canvas = canvas;
		this.paint = paint;
		this.most = 1; // what the axis ends at, eased
		this.markers = [];
		this.edge = null; // where the right end of the fill is, for the fan
	}

	/** Returns true while the axis is still moving to where it should be. */
	draw(model, scale, now, gutter, height, origin, isCalm) {
		const { canvas, paint } = this;
		const c = fitCanvas(canvas, scale.width + gutter, height);
		const laid = (this.laid = layRibbon(model.series, model.kinds, scale, now, model.idleKnownFrom));
		const wanted = Math.max(laid.most, laid.ceiling ? Math.min(laid.ceiling[laid.columns - 1] || 0, laid.most * 1.6) : 0, 2) * 1.06;
		const isMoving = !isCalm && Math.abs(wanted - this.most) > 0.01;
		this.most = isMoving ? this.most + (wanted - this.most) * 0.3 : wanted;
		const bottom = height - AXIS_H;
		const y = (value) => bottom - (value / this.most) * (bottom - TOP);
		this.axis(c, scale, gutter, y, bottom, origin);
		c.save();
		c.beginPath();
		c.rect(gutter, 0, scale.width, bottom + 1);
		c.clip();
		c.translate(gutter, 0);
		this.band(c, model, laid, y);
		this.unknown(c, model, scale, bottom);
		this.moves(c, model, scale, laid, y);
		c.restore();
		this.findEdge(model, scale, now, gutter, y, laid);
		return isMoving;
	}

	axis(c, scale, gutter, y, bottom, origin) {
		const { paint } = this;
		c.font = paint.font("11px");
		c.textBaseline = "middle";
		c.textAlign = "right";
		for (const value of countTicks(this.most)) {
			c.fillStyle = paint.line;
			c.fillRect(gutter, Math.round(y(value)), scale.width, 1);
			c.fillStyle = paint.muted;
			c.fillText(String(value), gutter - 8, y(value));
		}
		drawTicks(c, paint, scale, gutter, bottom, AXIS_H, origin);
	}

	band(c, model, laid, y) {
		const { paint } = this;
		if (!laid.columns) return;
		fillBetween(c, laid.width, null, y, paint.track);
		for (const layer of laid.layers) {
			const style = layer.type === "kind" ? paint.kind(model, layer.name, c) : layer.type === "others" ? paint.theirs(c) : paint.texture(c, layer.name);
			fillBetween(c, layer.top, layer.bottom, y, style);
		}
		for (const layer of laid.layers) if (layer.type === "blocked") this.reason(c, layer, y);
		strokeEdge(c, laid.width, y, paint.ink, 1.6, []);
		if (laid.ceiling) {
			strokeEdge(c, laid.ceiling, y, paint.bad, 1.2, [5, 4], laid.ceilingFrom);
			const value = laid.ceiling[laid.columns - 1];
			const isHigher = y(value) < 8; // than what is drawn
			this.label(c, `ceiling ${Math.round(value)}${isHigher ? " ↑" : ""}`, Math.max(44, laid.columns - 44), isHigher ? 9 : Math.max(9, y(value) - 9), paint.bad);
		}
	}

	/** Words that can be read on any texture. */
	label(c, text, x, y, colour) {
		c.font = this.paint.font("11px");
		const room = c.measureText(text).width + 12;
		c.fillStyle = this.paint.surface;
		c.fillRect(x - room / 2, y - 8, room, 16);
		c.fillStyle = colour;
		c.textAlign = "center";
		c.fillText(text, x, y + 0.5);
	}

	/** The reason in words, where the layer has room for them. */
	reason(c, { name, top, bottom }, y) {
		const text = causeOf(name).label;
		const place = widest(top.map((value, i) => y(bottom[i]) - y(value)), 15);
		if (place.size < 8 + 6.4 * text.length) return;
		const x = place.from + place.size / 2;
		this.label(c, text, x, (y(top[Math.floor(x)]) + y(bottom[Math.floor(x)])) / 2, this.paint.ink);
	}

	/** Before this, attempts are unknown: it must not look as if nothing ran. */
	unknown(c, model, scale, bottom) {
		const from = Math.max(model.barsKnownFrom, model.widthKnownFrom);
		if (from <= scale.from) return;
		const x = Math.min(scale.width, scale.x(from));
		c.fillStyle = this.paint.texture(c, "");
		c.fillRect(0, TOP, x, bottom - TOP);
		c.fillStyle = this.paint.muted;
		c.textAlign = "right";
		if (x > 170) c.fillText(model.widthKnownFrom < from ? "earlier attempts are not shown" : "how wide it was is unknown", x - 8, TOP + 14);
	}

	moves(c, model, scale, laid, y) {
		const { paint } = this;
		this.markers = layMarkers(model.widths, scale);
		for (const marker of this.markers) {
			const { x, sign } = marker;
			const top = laid.columns ? y(laid.width[Math.min(laid.columns - 1, Math.max(0, Math.round(x)))]) : y(0);
			marker.y = Math.max(11, top - 11);
			const size = sign.isLane ? 2.6 : 5;
			c.fillStyle = sign.down && !sign.up ? paint.bad : sign.isLane ? paint.faint : paint.ink;
			if (!sign.isLane) c.fillRect(x - 0.5, marker.y, 1, top - marker.y);
			c.beginPath();
			if (sign.isLane) c.arc(x, marker.y, size, 0, 7);
			else if (sign.up && sign.down) diamond(c, x, marker.y, size);
			else triangle(c, x, marker.y, size, sign.down ? 1 : -1);
			c.fill();
		}
	}

	findEdge(model, scale, now, gutter, y, laid) {
		const x = scale.x(now);
		this.edge = null;
		if (x < 1 || x > scale.width + 1 || !laid.columns) return;
		this.edge = { x: gutter + Math.min(scale.width, x), y };
	}

	markerAt(x, y) {
		return this.markers.find((each) => Math.abs(each.x - x) < 8 && Math.abs(each.y - y) < 12) ?? null;
	}

	/** What a pointer at this time is told. */
	tip(model, x, y, at) {
		const marker = this.markerAt(x, y);
		if (marker) {
			const shown = marker.moves.slice(0, 8).map(moveText);
			const more = marker.moves.length - shown.length;
			return [wallClock(marker.moves[0].at), ...shown, ...(more ? [`and ${more} more: zoom in`] : [])];
		}
		const lines = [];
		const { series } = model;
		let busy = 0;
		for (const kind of model.kinds) {
			const n = series.inFlight.get(kind)?.valueAt(at) ?? 0;
			busy += n;
			if (n) lines.push(`${kind}: ${n}`);
		}
		const theirs = series.others.valueAt(at);
		if (theirs) lines.push(`other runs: ${theirs}`);
		for (const [cause, steps] of series.blocked) {
			const free = steps.valueAt(at);
			if (free) lines.push(`${free} free: ${causeOf(cause).label}`);
		}
		const details = [];
		for (const [host, spans] of model.idleSpans) {
			const span = spans.findLast((each) => each.from <= at && (each.to === null || each.to > at));
			if (span?.detail) details.push(`${host}: ${span.detail}`);
		}
		const ceiling = series.ceiling.valueAt(at);
		return [`${busy} of ${series.width.valueAt(at)} in flight${ceiling ? `, ceiling ${ceiling}` : ""}`, wallClock(at), ...lines, ...details];
	}
}

export function drawTicks(c, paint, scale, gutter, y, height, origin) {
	c.font = paint.font("11px");
	c.textAlign = "center";
	c.textBaseline = "middle";
	for (const tick of ticks(scale, origin)) {
		const x = gutter + scale.x(tick.t);
		c.fillStyle = paint.line;
		c.fillRect(Math.round(x), y, 1, 5);
		c.fillStyle = paint.muted;
		if (x > gutter - 2 && x < gutter + scale.width - 14) c.fillText(sinceStart(tick.since, tick.step), Math.max(x, gutter + 14), y + height / 2 + 2);
	}
}

function trace(c, points) {
	for (const [x, y] of points) c.lineTo(x, y);
}

function fillBetween(c, top, bottom, y, style) {
	c.fillStyle = style;
	c.beginPath();
	c.moveTo(0, y(bottom ? bottom[0] : 0));
	trace(c, edge(top, y));
	if (bottom) trace(c, edge(bottom, y).reverse());
	else c.lineTo(top.length, y(0));
	c.closePath();
	c.fill();
}

function strokeEdge(c, values, y, style, width, dash, first = 0) {
	c.strokeStyle = style;
	c.lineWidth = width;
	c.setLineDash(dash);
	c.beginPath();
	trace(c, edge(values, y, first));
	c.stroke();
	c.setLineDash([]);
}

function triangle(c, x, y, size, direction) {
	c.moveTo(x, y + direction * size);
	c.lineTo(x - size, y - direction * size * 0.7);
	c.lineTo(x + size, y - direction * size * 0.7);
	c.closePath();
}

function diamond(c, x, y, size) {
	c.moveTo(x, y - size);
	c.lineTo(x + size, y);
	c.lineTo(x, y + size);
	c.lineTo(x - size, y);
	c.closePath();
}
