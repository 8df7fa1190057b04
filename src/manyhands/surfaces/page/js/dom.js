// The few things every panel does with the document. Text is always set as text.

export function h(tag, props = {}, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(props)) {
		if (value == null || value === false) continue;
		if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
		else if (name === "class") element.className = value;
		else if (name === "vars") for (const [key, each] of Object.entries(value)) element.style.setProperty(key, each);
		else if (name in element && typeof value !== "string") element[name] = value;
		else element.setAttribute(name, value === true ? "" : value);
	}
	element.append(...children.flat().filter((child) => child != null && child !== false));
	return element;
}

export const button = (props, ...children) => h("button", { type: "button", ...props }, ...children);

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag, attributes = {}, ...children) {
	const element = document.createElementNS(SVG, tag);
	for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
	element.append(...children);
	return element;
}

export function setText(element, text) {
	if (element.textContent !== text) element.textContent = text;
}

/** Fills the element anew if its content changed. */
export function redo(element, told, make) {
	if (element.told === told) return;
	element.told = told;
	element.replaceChildren(...make());
}

/** Makes the children of `parent` those of `items`, keeping the element of each key. */
export function keyed(parent, items, keyOf, make, update) {
	const known = (parent.byKey ??= new Map());
	const seen = new Set();
	let place = parent.firstElementChild;
	for (const item of items) {
		const key = keyOf(item);
		seen.add(key);
		let element = known.get(key);
		if (!element) known.set(key, (element = make(item)));
		if (element === place) place = place.nextElementSibling;
		else parent.insertBefore(element, place);
		update(element, item);
	}
	for (const [key, element] of known) {
		if (seen.has(key)) continue;
		element.remove();
		known.delete(key);
	}
}

export const taskHref = (run, task) => `#/task/${encodeURIComponent(run)}/${encodeURIComponent(task)}`;

export const $ = (id) => document.getElementById(id);

export const isCalm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
