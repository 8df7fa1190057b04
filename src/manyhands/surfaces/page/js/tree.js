// The plan's tree on the page: epics open into their tasks, and a click on one narrows everything to what hangs below.
import { button, h, redo, taskHref } from "./dom.js";
import { treeOf, visible } from "./tree_layout.js";
import { count } from "./words.js";

export const STATES = ["done", "running", "ready", "backoff", "blocked", "deferred", "needs_person", "failed", "cancelled", "skipped"];

export function progressBar(element, counts) {
	const parts = STATES.filter((state) => counts[state]);
	redo(element, parts.map((state) => state + counts[state]).join(), () =>
		parts.map((state) => h("span", { "data-state": state, title: `${state} ${count(counts[state])}`, vars: { "flex-grow": counts[state] } })));
}

export class Tree {
	/** `pick(node)` narrows everything to what hangs below, `open(task)` opens a task. */
	constructor(element, pick, open) {
		Object.assign(this, { element, pick, open, toggled: new Set() });
	}

	update(model) {
		this.model = model;
		const nodes = treeOf([...model.tasks.values()]);
		const opensItself = (node) => node.depth < 1 && node.nodes.length > 0;
		const isOpen = (node) => this.toggled.has(node.key) !== opensItself(node);
		const { rows, left } = visible(nodes, isOpen);
		const told = rows.map((node) => (node.leaf ? node.key + node.leaf.state : `${node.key}${isOpen(node)}${node.title}${Object.entries(node.counts)}`)).join() + left;
		redo(this.element, told, () => [
			...rows.map((node) => (node.leaf ? this.leaf(node) : this.row(node, isOpen(node)))),
			left > 0 && h("p", { class: "note" }, `${count(rows.length)} of ${count(rows.length + left)} shown; close some to see the rest`),
			!rows.length && h("p", { class: "note" }, "No tasks yet."),
		]);
	}

	toggle(node) {
		if (!this.toggled.delete(node.key)) this.toggled.add(node.key);
		this.update(this.model);
	}

	/** Two buttons: one opens and closes, the other filters. */
	row(node, isOpen) {
		const bar = h("span", { class: "progress" });
		progressBar(bar, node.counts);
		const name = node.title || node.name;
		const deferred = node.counts.deferred ? `, ${node.counts.deferred} deferred` : "";
		return h("div", { key: node.key, class: "node", vars: { "--depth": node.depth } },
			button({ class: "plain fold", "aria-expanded": String(isOpen), "aria-label": `Tasks of ${name}`, onclick: () => this.toggle(node) }, isOpen ? "▾" : "▸"),
			button({ class: "plain name", title: `${name}: ${node.ended} of ${node.total} ended${deferred}`, onclick: () => this.pick(node) }, name),
			bar, h("span", { class: "n" }, `${count(node.ended)}/${count(node.total)}`));
	}

	leaf({ key, leaf, depth }) {
		return h("div", { key, class: "node leaf", vars: { "--depth": depth } },
			h("a", { class: "name", href: taskHref(leaf.run, leaf.task), onclick: (event) => (event.preventDefault(), this.open(leaf)) }, leaf.task),
			h("span", { class: "state", "data-state": leaf.state }, leaf.state));
	}
}
