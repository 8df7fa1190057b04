// The plan as a tree: epics and their children, with how far each has come.
import { keyOf } from "./model.js";

const ENDED = new Set(["done", "failed", "cancelled", "skipped"]);
const DEEPEST = 12;

/** Nodes that have children; tasks that are neither parent nor child stand together in one. */
export function treeOf(tasks) {
	const known = new Set();
	const children = new Map();
	for (const task of tasks) {
		const parent = task.parent ? keyOf(task.run, task.parent) : "";
		known.add(keyOf(task.run, task.task));
		if (!children.has(parent)) children.set(parent, []);
		children.get(parent).push(task);
	}
	const node = (key, task, kids, depth) => {
		const counts = task ? { [task.state]: 1 } : {};
		const nodes = [];
		for (const kid of kids) {
			const below = depth < DEEPEST && children.get(keyOf(kid.run, kid.task));
			const made = below ? node(keyOf(kid.run, kid.task), kid, below, depth + 1) : { counts: { [kid.state]: 1 } };
			if (below) nodes.push(made);
			for (const [state, n] of Object.entries(made.counts)) counts[state] = (counts[state] ?? 0) + n;
		}
		const name = task?.task ?? key.slice(key.indexOf("\n") + 1);
		return { key, name, title: task?.title ?? "", nodes, counts, depth, ...progress(counts) };
	};
	const roots = [];
	const loose = [];
	for (const task of children.get("") ?? []) {
		const key = keyOf(task.run, task.task);
		if (children.has(key)) roots.push(node(key, task, children.get(key), 0));
		else loose.push(task);
	}
	// A parent may be a name only.
	for (const [key, kids] of children) if (key && !known.has(key)) roots.push(node(key, null, kids, 0));
	if (loose.length) roots.push({ ...node("", null, loose, 0), name: roots.length ? "without a parent" : "all tasks" });
	return roots;
}

function progress(counts) {
	let total = 0;
	let ended = 0;
	for (const [state, n] of Object.entries(counts)) {
		total += n;
		if (ENDED.has(state)) ended += n;
	}
	return { total, ended };
}

/** What is shown of it, from top to bottom; closed nodes keep their children to themselves. */
export function visible(nodes, isOpen, most = 400) {
	const rows = [];
	let left = 0;
	const walk = (list) => {
		for (const node of list) {
			if (rows.length < most) rows.push(node);
			else left++;
			if (node.nodes.length && isOpen(node)) walk(node.nodes);
		}
	};
	walk(nodes);
	return { rows, left };
}
