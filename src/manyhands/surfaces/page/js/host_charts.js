// Charts below each other over one time axis, with one cursor for all of them.
import { h, keyed, setText } from "./dom.js";
import { valueAt } from "./host_series.js";
import { fitCanvas } from "./paint.js";
import { drawTicks } from "./ribbon.js";
import { count, short } from "./words.js";

const HEIGHT = 96;
const AXIS_H = 20;
const TOP = 6;
const COLOURS = ["accent", "good", "warn", "bad", "muted", "ink"];

const told = (value, unit) => `${value >= 10_000 ? short(value) : value >= 100 || Number.isInteger(value) ? count(value) : value.toFixed(value < 1 ? 3 : 1)}${unit}`;

export class HostCharts {
	/** `setCursor(at)` is told where the pointer is; null when it leaves. */
	constructor(element, paint, setCursor) {
		Object.assign(this, { element, paint, setCursor });
	}

	draw(charts, scale, gutter, now, origin, cursor, moves) {
		Object.assign(this, { scale, gutter });
		keyed(this.element, charts, (chart) => chart.name, (chart) => this.make(chart), (box, chart) => {
			const values = cursor === null ? "" : chart.lines.map((line) => [line.name, valueAt(line, cursor)]).filter(([, value]) => value !== null).map(([name, value]) => `${name} ${told(value, chart.unit)}`).join(" · ");
			setText(box.values, values || chart.lines.map((line) => line.name).join(" · "));
			this.chart(box.canvas, chart, scale, gutter, now, origin, cursor, chart.name === "Width" ? moves : []);
			box.canvas.setAttribute("aria-label", `${chart.name} over time. ${values}`);
		});
	}

	make(chart) {
		const canvas = h("canvas", { role: "img" });
		const values = h("span", { class: "quiet" });
		canvas.addEventListener("pointermove", (event) => this.setCursor(this.scale.t(event.clientX - canvas.getBoundingClientRect().left - this.gutter)));
		canvas.addEventListener("pointerleave", () => this.setCursor(null));
		const box = h("figure", { class: "chart" }, h("figcaption", {}, h("b", {}, `${chart.name}${chart.unit ? `, ${chart.unit.trim()}` : ""}`), values), h("div", { class: "canvas-box" }, canvas));
		return Object.assign(box, { canvas, values });
	}

	chart(canvas, chart, scale, gutter, now, origin, cursor, moves) {
		const { paint } = this;
		const c = fitCanvas(canvas, scale.width + gutter, HEIGHT + AXIS_H);
		const most = (Math.max(chart.most ?? 0, ...chart.lines.flatMap((line) => line.points.map(([, value]) => value ?? 0))) || 1) * 1.05;
		const y = (value) => HEIGHT - (value / most) * (HEIGHT - TOP);
		c.font = paint.font("11px");
		c.textAlign = "right";
		c.textBaseline = "middle";
		for (const value of niceTicks(most)) {
			c.fillStyle = paint.line;
			c.fillRect(gutter, Math.round(y(value)), scale.width, 1);
			c.fillStyle = paint.muted;
			c.fillText(value >= 10_000 ? short(value).replace(".0", "") : String(Number(value.toPrecision(3))), gutter - 6, Math.max(6, y(value)));
		}
		drawTicks(c, paint, scale, gutter, HEIGHT, AXIS_H, origin);
		c.save();
		c.beginPath();
		c.rect(gutter, 0, scale.width, HEIGHT);
		c.clip();
		c.translate(gutter, 0);
		for (const [i, line] of chart.lines.entries()) this.line(c, line, scale, y, now, paint[COLOURS[i % COLOURS.length]]);
		for (const move of moves) {
			c.fillStyle = move.width < move.was ? paint.bad : paint.ink;
			const x = scale.x(move.at);
			c.fillRect(x - 0.5, 0, 1, HEIGHT);
			c.textAlign = "center";
			c.fillText(move.width < move.was ? "▼" : "▲", x, 6);
		}
		if (cursor !== null) {
			c.fillStyle = paint.ink;
			c.fillRect(scale.x(cursor) - 0.5, 0, 1, HEIGHT);
		}
		c.restore();
	}

	line(c, { points, isStepped, isFilled }, scale, y, now, colour) {
		const end = scale.x(Math.min(now, scale.to));
		for (const part of parts(points)) {
			const isLast = part.at(-1) === points.at(-1);
			c.beginPath();
			let last = null;
			for (const [at, value] of part) {
				if (isStepped && last !== null) c.lineTo(scale.x(at), y(last));
				c.lineTo(scale.x(at), y(value));
				last = value;
			}
			if (isStepped && isLast) c.lineTo(end, y(last));
			c.strokeStyle = c.fillStyle = colour;
			c.lineWidth = 1.6;
			c.stroke();
			if (part.length === 1) c.fillRect(scale.x(part[0][0]) - 2, y(last) - 2, 4, 4);
			if (!isFilled) continue;
			c.lineTo(isLast ? end : scale.x(part.at(-1)[0]), y(0));
			c.lineTo(scale.x(part[0][0]), y(0));
			c.globalAlpha = 0.15;
			c.fill();
			c.globalAlpha = 1;
		}
	}
}

/** The stretches of a line in which its value is known. */
export function parts(points) {
	const found = [];
	let isOpen = false;
	for (const point of points) {
		if (point[1] !== null && !isOpen) found.push([]);
		isOpen = point[1] !== null;
		if (isOpen) found.at(-1).push(point);
	}
	return found;
}

/** Three or so round numbers from zero up. */
export function niceTicks(most) {
	const rough = most / 3;
	const power = 10 ** Math.floor(Math.log10(rough));
	const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
	return Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step);
}
