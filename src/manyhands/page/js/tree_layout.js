// The plan as a tree: epics and their children, with how far each has come.

const ENDED = new Set(["done", "failed", "cancelled", "skipped"]);

/** Nodes that have children, deepest first counted; tasks without a parent that have none stand together. */
export function treeOf(tasks) {
	const children = new Map();
	const byKey = new Map();
	for (const task of tasks) byKey.set(task.run + "\n" + task.task, task);
	let loose = null;
	for (const task of tasks) {
		const parent = task.parent ? task.run + "\n" + task.parent : "";
		if (!children.has(parent)) children.set(parent, []);
		children.get(parent).push(task);
	}
	const node = (key, name, title, task, kids, depth) => {
		const counts = task ? { [task.state]: 1 } : {};
		const nodes = [];
		const ownKey = key;
		for (const kid of kids) {
			const kidKey = kid.run + "\n" + kid.task;
			const below = children.get(kidKey);
			if (below && depth < 12 && kidKey !== ownKey) {
				const made = node(kidKey, kid.task, kid.title, kid, below, depth + 1);
				nodes.push(made);
				for (const [state, n] of Object.entries(made.counts)) counts[state] = (counts[state] ?? 0) + n;
			} else counts[kid.state] = (counts[kid.state] ?? 0) + 1;
		}
		return { key, name, title, task, nodes, counts, depth, ...progress(counts) };
	};
	const roots = [];
	const single = [];
	for (const [parent, kids] of children) {
		if (parent === "") {
			for (const task of kids) {
				const key = task.run + "\n" + task.task;
				if (children.has(key)) roots.push(node(key, task.task, task.title, task, children.get(key), 0));
				else single.push(task);
			}
		} else if (!byKey.has(parent)) {
			const name = parent.slice(parent.indexOf("\n") + 1);
			roots.push(node(parent, name, "", null, kids, 0)); // a parent that is a name only
		}
	}
	if (single.length) {
		const counts = {};
		for (const task of single) counts[task.state] = (counts[task.state] ?? 0) + 1;
		loose = { key: "", name: roots.length ? "without a parent" : "all tasks", title: "", task: null, nodes: [], counts, depth: 0, ...progress(counts) };
	}
	return loose ? [...roots, loose] : roots;
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
	const out = [];
	let left = 0;
	const walk = (list) => {
		for (const node of list) {
			if (out.length >= most) {
				left++;
				continue;
			}
			out.push(node);
			if (node.nodes.length && isOpen(node)) walk(node.nodes);
		}
	};
	walk(nodes);
	return { rows: out, left };
}
