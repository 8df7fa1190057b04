// Where every task of a plan goes in the graph of needs: layers from left to right. Data in, places out; no canvas.

export const NODE_W = 148;
export const NODE_H = 24;
export const EPIC_H = 40;
const GAP_X = 56; // between layers: room for the edges
const GAP_COLUMN = 12; // between columns of one layer
const GAP_Y = 8;
const ROWS_MIN = 14; // a layer with more wraps into columns
const SWEEPS = 3;

/** The outermost closed epic that each task is part of; "" for tasks that stand for themselves. */
function closedOver(tasks, isClosed) {
	const parentOf = new Map(tasks.map((task) => [task.task, task.parent ?? ""]));
	const epics = new Set(tasks.map((task) => task.parent).filter(Boolean));
	const known = new Map();
	const over = (name, depth = 0) => {
		if (!known.has(name)) {
			known.set(name, ""); // a circle of parents ends here
			const parent = parentOf.get(name) ?? "";
			const above = parent && depth < 50 ? over(parent, depth + 1) : "";
			known.set(name, above || (epics.has(name) && isClosed(name) ? name : ""));
		}
		return known.get(name);
	};
	return (task) => over(task.task) || (task.parent ? over(task.parent) : "");
}

/** {nodes, edges, width, height, nodeOf}: `nodeOf` finds the node that shows a task, by its name. */
export function layGraph(tasks, isClosed) {
	const nodes = [];
	const byKey = new Map();
	const nodeOf = new Map();
	const over = closedOver(tasks, isClosed);
	for (const task of tasks) {
		const epic = over(task);
		const key = epic ? `epic ${epic}` : task.task;
		let node = byKey.get(key);
		if (!node) {
			node = { key, index: nodes.length, epic, name: epic || task.task, tasks: [], layer: 0, x: 0, y: 0, w: NODE_W, h: epic ? EPIC_H : NODE_H, needs: [], neededBy: [] };
			byKey.set(key, node);
			nodes.push(node);
		}
		node.tasks.push(task);
		nodeOf.set(task.task, node);
	}
	const edges = edgesOf(tasks, nodeOf, nodes.length);
	const size = place(nodes);
	return { nodes, edges, nodeOf, ...size };
}

function edgesOf(tasks, nodeOf, size) {
	const edges = new Map();
	for (const task of tasks) {
		const to = nodeOf.get(task.task);
		for (const need of task.needs ?? []) {
			const from = nodeOf.get(need);
			if (!from || from === to) continue;
			const key = from.index * size + to.index;
			if (edges.has(key)) edges.get(key).count++;
			else {
				edges.set(key, { from, to, count: 1 });
				from.neededBy.push(to);
				to.needs.push(from);
			}
		}
	}
	return [...edges.values()];
}

/** Each node one layer after the last of its needs. Closed epics may need each other: then the first of them goes first. */
function setLayers(nodes) {
	const open = nodes.map((node) => node.needs.length);
	const done = new Uint8Array(nodes.length);
	const queue = nodes.filter((node) => !node.needs.length);
	let look = 0;
	for (let i = 0; i < nodes.length; i++) {
		if (i >= queue.length) {
			while (done[nodes[look].index]) look++;
			queue.push(nodes[look]);
		}
		const node = queue[i];
		done[node.index] = 1;
		for (const next of node.neededBy) {
			if (done[next.index]) continue;
			next.layer = Math.max(next.layer, node.layer + 1);
			if (--open[next.index] === 0) {
				done[next.index] = 1;
				queue.push(next);
			}
		}
	}
}

function place(nodes) {
	setLayers(nodes);
	const isLoose = (node) => !node.needs.length && !node.neededBy.length;
	const layers = [];
	for (const node of nodes) if (!isLoose(node)) (layers[node.layer] ??= []).push(node);
	const found = layers.filter(Boolean);
	order(found);
	const rows = Math.max(ROWS_MIN, Math.ceil(Math.sqrt(nodes.length) * 1.4));
	const highest = Math.max(0, ...found.map((layer) => heightOf(layer.slice(0, rows))));
	let x = 0;
	for (const layer of found) {
		for (let i = 0; i < layer.length; i += rows) {
			const column = layer.slice(i, i + rows);
			stack(column, x, layer.length > rows ? 0 : (highest - heightOf(column)) / 2);
			x += NODE_W + (i + rows < layer.length ? GAP_COLUMN : GAP_X);
		}
	}
	const width = Math.max(0, x - GAP_X);
	return placeLoose(nodes.filter(isLoose), rows, width, highest);
}

/** Tasks that need nothing and that nothing needs stand below the others, in rows. */
function placeLoose(loose, rows, width, height) {
	if (!loose.length) return { width, height };
	const across = Math.max(1, Math.floor((width + GAP_COLUMN) / (NODE_W + GAP_COLUMN)), Math.ceil(loose.length / rows));
	let y = height ? height + GAP_X : 0;
	for (let i = 0; i < loose.length; i += across) {
		const row = loose.slice(i, i + across);
		for (const [k, node] of row.entries()) Object.assign(node, { x: k * (NODE_W + GAP_COLUMN), y });
		y += Math.max(...row.map((node) => node.h)) + GAP_Y;
	}
	return { width: Math.max(width, Math.min(across, loose.length) * (NODE_W + GAP_COLUMN) - GAP_COLUMN), height: y - GAP_Y };
}

const heightOf = (column) => column.reduce((sum, node) => sum + node.h + GAP_Y, -GAP_Y);

function stack(column, x, y) {
	for (const node of column) {
		Object.assign(node, { x, y });
		y += node.h + GAP_Y;
	}
}

/** Puts each node beside those it is joined to, so that few edges cross. */
function order(layers) {
	const keep = (layer) => layer.forEach((node, i) => (node.at = (i + 0.5) / layer.length));
	layers.forEach(keep);
	const sweep = (list, joined) => {
		for (const layer of list) {
			for (const node of layer) {
				const others = node[joined];
				node.wants = others.length ? others.reduce((sum, each) => sum + each.at, 0) / others.length : node.at;
			}
			layer.sort((a, b) => a.wants - b.wants);
			keep(layer);
		}
	};
	for (let i = 0; i < SWEEPS; i++) {
		sweep(layers, "needs");
		if (i < SWEEPS - 1) sweep([...layers].reverse(), "neededBy");
	}
}

/** The view that shows all of it: {x, y, k}, the top left corner and the zoom. */
export function fitView({ width, height }, w, h, margin = 16) {
	const k = Math.min(1.2, (w - 2 * margin) / Math.max(1, width), (h - 2 * margin) / Math.max(1, height));
	return { x: width / 2 - w / 2 / k, y: height / 2 - h / 2 / k, k };
}

/** The node nearest in a direction ("left" is what it needs), for those who move by keys. */
export function neighbour(nodes, from, direction) {
	if (!from) return nodes[0] ?? null;
	if (direction === "left" || direction === "right") {
		const joined = direction === "left" ? from.needs : from.neededBy;
		return joined.length ? joined.reduce((best, each) => (Math.abs(each.y - from.y) < Math.abs(best.y - from.y) ? each : best)) : from;
	}
	const sign = direction === "up" ? -1 : 1;
	const beside = nodes.filter((each) => each.x === from.x && (each.y - from.y) * sign > 0);
	return beside.length ? beside.reduce((best, each) => (Math.abs(each.y - from.y) < Math.abs(best.y - from.y) ? each : best)) : from;
}
