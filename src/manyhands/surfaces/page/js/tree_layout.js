// The plan as a tree: epics and their children, with how far each has come.
import { ENDED } from "./critical_path.js";
import { keyOf } from "./model.js";

const DEEPEST = 12;

/** The trees of all runs; of several, each below its run. */
export function treeOf(tasks) {
	const byRun = new Map();
	for (const task of tasks) {
		if (!byRun.has(task.run)) byRun.set(task.run, []);
		byRun.get(task.run).push(task);
	}
	if (byRun.size <= 1) return treeOfRun(tasks, 0);
	return [...byRun].reverse().map(([run, its]) => {
		const nodes = treeOfRun(its, 1);
		const counts = {};
		for (const node of nodes) addCounts(counts, node.counts);
		return { key: `run ${run}`, run, task: "", name: run, title: `run ${run}`, nodes, tasks: [], counts, depth: 0, ...progress(counts) };
	});
}

function addCounts(sums, counts) {
	for (const [state, n] of Object.entries(counts)) sums[state] = (sums[state] ?? 0) + n;
}

/** Nodes that have children; tasks that are neither parent nor child stand together in one. */
function treeOfRun(tasks, top) {
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
		const leaves = [];
		for (const kid of kids) {
			const below = depth < DEEPEST && children.get(keyOf(kid.run, kid.task));
			const made = below ? node(keyOf(kid.run, kid.task), kid, below, depth + 1) : { counts: { [kid.state]: 1 } };
			(below ? nodes : leaves).push(below ? made : kid);
			addCounts(counts, made.counts);
		}
		const name = task?.task ?? key.slice(key.indexOf("\n") + 1);
		return { key, run: kids[0]?.run ?? "", task: name, name, title: task?.title ?? "", nodes, tasks: leaves, counts, depth, ...progress(counts) };
	};
	const roots = [];
	const loose = [];
	for (const task of children.get("") ?? []) {
		const key = keyOf(task.run, task.task);
		if (children.has(key)) roots.push(node(key, task, children.get(key), top));
		else loose.push(task);
	}
	// A parent may be a name only.
	for (const [key, kids] of children) if (key && !known.has(key)) roots.push(node(key, null, kids, top));
	if (loose.length) roots.push({ ...node(`${tasks[0].run}\n`, null, loose, top), task: "", name: roots.length ? "without a parent" : "all tasks" });
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
			if (!isOpen(node)) continue;
			walk(node.nodes);
			for (const task of node.tasks) {
				if (rows.length < most) rows.push({ key: keyOf(task.run, task.task), leaf: task, depth: node.depth + 1 });
				else left++;
			}
		}
	};
	walk(nodes);
	return { rows, left };
}
