// The plan's tree on the page: open and close, and a click narrows everything to what hangs below.
import { button, h, redo } from "./dom.js";
import { treeOf, visible } from "./tree_layout.js";
import { count } from "./words.js";

export const STATES = ["done", "running", "ready", "backoff", "blocked", "deferred", "failed", "cancelled", "skipped"];

export function progressBar(element, counts) {
	const parts = STATES.filter((state) => counts[state]);
	redo(element, parts.map((state) => state + counts[state]).join(), () =>
		parts.map((state) => h("span", { "data-state": state, title: `${state} ${count(counts[state])}`, vars: { "flex-grow": counts[state] } })));
}

export class Tree {
	constructor(element, pick) {
		this.element = element;
		this.pick = pick;
		this.toggledKeys = new Set();
	}

	update(model) {
		const nodes = treeOf([...model.tasks.values()]);
		const isOpen = (node) => this.toggledKeys.has(node.key) !== node.depth < 1;
		const { rows, left } = visible(nodes, isOpen);
		this.element.replaceChildren(
			...rows.map((node) => this.row(node, isOpen(node), model)),
			...(left ? [h("p", { class: "note" }, `${count(rows.length)} of ${count(rows.length + left)} shown; close some to see the rest`)] : []),
			...(rows.length ? [] : [h("p", { class: "note" }, "No tasks yet.")]),
		);
	}

	row(node, isOpen, model) {
		const bar = h("span", { class: "progress" });
		progressBar(bar, node.counts);
		const sign = node.nodes.length ? (isOpen ? "▾" : "▸") : "";
		const toggle = () => {
			if (this.toggledKeys.has(node.key)) this.toggledKeys.delete(node.key);
			else this.toggledKeys.add(node.key);
			this.update(model);
		};
		const deferred = node.counts.deferred ? `, ${node.counts.deferred} deferred` : "";
		return button({
			class: "node", title: `${node.title || node.name}: ${node.ended} of ${node.total} ended${deferred}`,
			vars: { "--depth": node.depth }, onclick: (event) => (event.detail === 0 || !node.nodes.length || event.offsetX > 30 ? this.pick(node) : toggle()),
		}, h("span", {}, sign), h("span", { class: "name" }, node.title || node.name), bar, h("span", { class: "n" }, `${count(node.ended)}/${count(node.total)}`));
	}
}
