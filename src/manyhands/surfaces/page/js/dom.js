// The few things every panel does with the document. Text is always set as text.

export function h(tag, props = {}, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(props)) {
		if (value == null || value === false) continue;
		if (name === "key") element.key = value;
		else if (name.startsWith("on")) hear(element, name.slice(2), value);
		else if (name === "class") element.className = value;
		else if (name === "vars") for (const [key, each] of Object.entries(value)) element.style.setProperty(key, each);
		else if (name in element && typeof value !== "string") element[name] = value;
		else element.setAttribute(name, value === true ? "" : value);
	}
	element.append(...children.flat(9).filter((child) => child != null && child !== false));
	return element;
}

/** One listener for each kind of event, so that what it does can be changed while a button is pressed. */
function hear(element, name, act) {
	element.heard ??= {};
	if (!(name in element.heard)) element.addEventListener(name, (event) => element.heard[name]?.(event));
	element.heard[name] = act;
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
	if (element.textContent === text) return;
	if (element.childNodes.length === 1 && element.firstChild.nodeType === Node.TEXT_NODE) setData(element.firstChild, text);
	else element.textContent = text;
}

/** Changes only the part of a text that differs: a selection in the rest stays. */
function setData(node, text) {
	const was = node.data;
	if (was === text) return;
	const most = Math.min(was.length, text.length);
	let same = 0;
	while (same < most && was[same] === text[same]) same++;
	let tail = 0;
	while (tail < most - same && was[was.length - 1 - tail] === text[text.length - 1 - tail]) tail++;
	node.replaceData(same, was.length - same - tail, text.slice(same, text.length - tail));
}

/** Fills the element anew if its content changed. */
export function redo(element, told, make) {
	if (element.told === told) return;
	element.told = told;
	renew(element, make());
}

/** Makes the children of `parent` like those given and changes no more than differs: focus, selection and presses stay. */
export function renew(parent, ...wanted) {
	const children = wanted.flat(9).filter((child) => child != null && child !== false)
		.map((child) => (child instanceof Node ? child : document.createTextNode(child)));
	const old = [...parent.childNodes];
	const own = new Set(children);
	const spare = old.filter((node) => !own.has(node));
	const kept = children.map((child) => {
		if (child.parentNode === parent) return child;
		const i = likest(spare, child);
		if (i < 0) return child;
		const [node] = spare.splice(i, 1);
		become(node, child);
		return node;
	});
	settle(parent, kept);
}

/** Which of the old nodes becomes the new one: the one of its key, or the first of its sort. */
function likest(spare, child) {
	const isAlike = (node) => node.nodeName === child.nodeName && node.key === child.key && node.nodeName !== "CANVAS";
	const i = spare.findIndex((node) => isAlike(node) && node.className === child.className);
	return i < 0 ? spare.findIndex(isAlike) : i;
}

function become(node, fresh) {
	if (node.nodeType === Node.TEXT_NODE) {
		setData(node, fresh.data);
		return;
	}
	for (const { name, value } of fresh.attributes) if (name !== "style" && node.getAttribute(name) !== value) node.setAttribute(name, value);
	for (const { name } of [...node.attributes]) if (name !== "style" && !fresh.hasAttribute(name)) node.removeAttribute(name);
	// The page's policy forbids the attribute, not the property.
	if (node.style.cssText !== fresh.style.cssText) node.style.cssText = fresh.style.cssText;
	for (const name of Object.keys(node.heard ?? {})) node.heard[name] = null;
	for (const [name, act] of Object.entries(fresh.heard ?? {})) hear(node, name, act);
	renew(node, [...fresh.childNodes]);
	if (node.nodeName === "SELECT" && document.activeElement !== node) node.value = fresh.value;
}

/** Takes away what is not in the list and puts the rest in order, without moving what someone holds. */
function settle(parent, nodes) {
	const staying = new Set(nodes);
	for (const node of [...parent.childNodes]) if (!staying.has(node)) takeAway(node, staying);
	if (!nodes.length) return;
	const held = Math.max(0, nodes.findIndex(isHeld));
	if (nodes[held].parentNode !== parent) parent.append(nodes[held]);
	for (let i = held - 1; i >= 0; i--) if (nodes[i].nextSibling !== nodes[i + 1] || nodes[i].parentNode !== parent) parent.insertBefore(nodes[i], nodes[i + 1]);
	for (let i = held + 1; i < nodes.length; i++) if (nodes[i - 1].nextSibling !== nodes[i]) parent.insertBefore(nodes[i], nodes[i - 1].nextSibling);
}

/** Has this the focus, or some of the selected text? */
export function isHeld(node) {
	if (node.contains(document.activeElement)) return true;
	const selected = getSelection();
	return selected.rangeCount > 0 && !selected.isCollapsed && (node.contains(selected.anchorNode) || node.contains(selected.focusNode));
}

const CAN_FOCUS = "a[href], button:not([disabled]), input, select, textarea, [tabindex]";

/** Whoever had the focus in what goes continues beside it. */
function takeAway(node, staying) {
	const hadFocus = node.contains(document.activeElement);
	let beside = node.nextElementSibling;
	while (beside && !staying.has(beside)) beside = beside.nextElementSibling;
	beside ??= [...staying].findLast((each) => each.isConnected) ?? null;
	const parent = node.parentElement;
	node.remove();
	if (hadFocus) (firstFocus(beside) ?? parent.closest(CAN_FOCUS) ?? parent.closest("section")?.querySelector(CAN_FOCUS))?.focus({ preventScroll: true });
}

const firstFocus = (node) => (node?.matches?.(CAN_FOCUS) ? node : node?.querySelector?.(CAN_FOCUS));

/** Makes the children of `parent` those of `items`, keeping the element of each key. */
export function keyed(parent, items, keyOf, make, update) {
	const known = (parent.byKey ??= new Map());
	const wanted = [];
	const seen = new Set();
	for (const item of items) {
		const key = keyOf(item);
		seen.add(key);
		let element = known.get(key);
		if (!element) known.set(key, (element = make(item)));
		update(element, item);
		wanted.push(element);
	}
	for (const key of [...known.keys()]) if (!seen.has(key)) known.delete(key);
	settle(parent, wanted);
}

/** The rest of the view stays in the address. */
export function taskHref(run, task) {
	const [, query] = location.hash.split("?");
	return `#/task/${encodeURIComponent(run)}/${encodeURIComponent(task)}${query ? `?${query}` : ""}`;
}

export const $ = (id) => document.getElementById(id);

export const isCalm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
