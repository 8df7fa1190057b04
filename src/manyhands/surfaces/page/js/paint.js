// Colours and textures for canvases, read from the style sheet so that light and dark live in one place.
import { causeOf } from "./causes.js";

const KIND_COLOURS = 5;
/** Beyond these, kinds look like earlier ones. */
const KINDS_APART = 2 * KIND_COLOURS;

export class Paint {
	constructor() {
		this.read();
	}

	read() {
		const style = getComputedStyle(document.documentElement);
		this.get = (name) => style.getPropertyValue(name).trim();
		const names = ["ink", "muted", "line", "surface", "track", "bad", "good", "warn", "accent", "faint", "bg"];
		for (const name of names) this[name] = this.get(`--${name}`);
		this.kindColours = Array.from({ length: KIND_COLOURS }, (_, i) => this.get(`--kind-${i}`));
		this.textures = new Map();
		const family = this.get("--sans");
		this.font = (size) => `${size} ${family}`;
	}

	/** A colour, or for the second five kinds stripes of it. */
	kind(model, kind, context = null) {
		const place = kindPlace(model, kind);
		const colour = this.kindColours[place % KIND_COLOURS];
		if (place < KIND_COLOURS || !context) return colour;
		const name = `kind ${place}`;
		if (!this.textures.has(name)) this.textures.set(name, context.createPattern(stripes(colour, this.surface), "repeat"));
		return this.textures.get(name);
	}

	/** Black or white, whichever is easier to read on the kind's colour. */
	inkOn(model, kind) {
		const [r, g, b] = this.kind(model, kind).match(/\w\w/g).map((pair) => parseInt(pair, 16));
		return r * 0.3 + g * 0.59 + b * 0.11 > 115 ? "#111" : "#fff";
	}

	cause(cause) {
		return this.get(`--cause-${slug(cause)}`) || (cause ? this.muted : this.line);
	}

	/** What other runs use: there, but not of what is shown. */
	theirs(context) {
		return this.texture(context, "other runs");
	}

	/** A repeating texture in the cause's colour, for this canvas. */
	texture(context, cause) {
		const known = this.textures.get(cause);
		if (known) return known;
		const made = context.createPattern(tile(causeOf(cause).texture, this.cause(cause)), "repeat");
		this.textures.set(cause, made);
		return made;
	}
}

export const slug = (cause) => cause.replaceAll(" ", "-");

/** The kind's colour as the custom property that style rules use. */
export const kindVars = (model, kind) => ({ "--c": `var(--kind-${kindPlace(model, kind) % KIND_COLOURS})` });

export const kindClass = (model, kind) => (kindPlace(model, kind) < KIND_COLOURS ? "" : " striped");

/** The place of a kind among the colours: first come, first served. No kind that comes later changes it. */
export const kindPlace = (model, kind) => Math.max(0, model.kinds.indexOf(kind)) % KINDS_APART;

function stripes(colour, between) {
	const canvas = document.createElement("canvas");
	canvas.width = canvas.height = 6;
	const c = canvas.getContext("2d");
	c.fillStyle = colour;
	c.fillRect(0, 0, 6, 6);
	c.strokeStyle = between;
	c.lineWidth = 1.6;
	c.beginPath();
	for (const by of [-6, 0, 6]) {
		c.moveTo(by - 1, 7);
		c.lineTo(by + 7, -1);
	}
	c.stroke();
	return canvas;
}

function tile(texture, colour) {
	const size = 8;
	const canvas = document.createElement("canvas");
	canvas.width = canvas.height = size;
	const c = canvas.getContext("2d");
	c.globalAlpha = texture === "plain" ? 0.35 : 0.22;
	c.fillStyle = c.strokeStyle = colour;
	c.fillRect(0, 0, size, size);
	c.globalAlpha = 0.95;
	c.lineWidth = 1.4;
	c.beginPath();
	const line = (x0, y0, x1, y1) => {
		c.moveTo(x0, y0);
		c.lineTo(x1, y1);
	};
	if (texture === "rising") for (const by of [-size, 0, size]) line(by - 1, size + 1, by + size + 1, -1);
	if (texture === "falling") for (const by of [-size, 0, size]) line(by - 1, -1, by + size + 1, size + 1);
	if (texture === "upright" || texture === "grid") line(size / 2, 0, size / 2, size);
	if (texture === "level" || texture === "grid") line(0, size / 2, size, size / 2);
	c.stroke();
	if (texture === "dots") {
		c.beginPath();
		c.arc(2, 2, 1.1, 0, 7);
		c.arc(6, 6, 1.1, 0, 7);
		c.fill();
	}
	return canvas;
}

/** Makes the canvas as sharp as the screen and returns its context, in CSS pixels. */
export function fitCanvas(canvas, width, height) {
	const ratio = Math.min(2, devicePixelRatio || 1);
	const w = Math.round(width * ratio);
	const h = Math.round(height * ratio);
	if (canvas.width !== w || canvas.height !== h) {
		canvas.width = w;
		canvas.height = h;
		canvas.style.height = `${height}px`;
	}
	const context = canvas.getContext("2d", { alpha: true });
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	context.clearRect(0, 0, width, height);
	return context;
}

/** A small example of a cause's texture for a legend. */
export function causeSwatch(cause, paint) {
	const canvas = document.createElement("canvas");
	canvas.width = 16;
	canvas.height = 16;
	canvas.className = "swatch";
	const context = canvas.getContext("2d");
	context.fillStyle = context.createPattern(tile(causeOf(cause).texture, paint.cause(cause)), "repeat");
	context.fillRect(0, 0, 16, 16);
	return canvas;
}
