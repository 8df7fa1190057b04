// The graph of a run: tasks by what they need, in the colours of their states, with the critical path and who holds whose files.
import { blocking } from "./claim_conflicts.js";
import { criticalPath, wholeTimes } from "./critical_path.js";
import { button, h, renew, setText, taskHref } from "./dom.js";
import { strokeHeld, strokeNeeds } from "./graph_edges.js";
import { fitView, layGraph, neighbour } from "./graph_layout.js";
import { mainRun } from "./outcome.js";
import { fitCanvas } from "./paint.js";
import { panZoom } from "./pan_zoom.js";
import { count, duration, listed, plural } from "./words.js";

const OPEN_MAX = 300; // with more tasks, epics begin closed
const NAMES_FROM = 0.55; // zoom from which names can be read
const FAR = 0.33; // below this a task is a rectangle in the colour of its state
const EDGES_FAR = 400; // from afar, more edges than this are drawn only around what is looked at
const SIGNS = { done: "✓", failed: "×", running: "▶", skipped: "»", cancelled: "⁄", backoff: "↻", deferred: "‖", blocked: "⋯", ready: "○" };
const COLOURS = { done: "good", failed: "bad", skipped: "bad", running: "ink", backoff: "warn", cancelled: "muted", deferred: "muted", ready: "accent", blocked: "faint" };
const WORST = ["failed", "running", "backoff", "ready", "blocked", "deferred", "skipped", "cancelled", "done"];

/** What a node stands for in one word: of an epic, the state that matters most. */
const stateOf = (node) => (node.epic ? WORST.find((state) => node.tasks.some((task) => task.state === state)) ?? node.tasks[0].state : node.tasks[0].state);

export class Graph {
	/** `open(task)` opens a task, `tip(lines, event)` shows words beside the pointer. */
	constructor(canvas, heading, tools, said, paint, open, tip) {
		Object.assign(this, { canvas, heading, tools, said, paint, open, tip, laid: null, view: null, focus: null, hover: null, isDirty: true });
		this.toggled = new Set(); // epics that are not as they begin
		this.isFitted = true;
		panZoom(canvas, {
			move: (dx, dy) => this.moveBy(dx, dy),
			zoom: (x, y, factor) => this.zoomAt(x, y, factor),
			hover: (x, y, event) => this.look(this.nodeAt(x, y), event),
			leave: () => this.look(null),
			click: (x, y) => this.act(this.nodeAt(x, y)),
			fit: () => this.fit(),
		});
		canvas.addEventListener("keydown", (event) => this.key(event));
	}

	isClosed(epic) {
		return this.toggled.has(epic) !== this.beginsClosed;
	}

	toggle(epic) {
		if (!this.toggled.delete(epic)) this.toggled.add(epic);
		this.lay();
	}

	/** All epics open, or all closed. */
	setAll(areClosed) {
		this.toggled.clear();
		this.beginsClosed = areClosed;
		this.lay();
		this.fit();
	}

	/** Called about once a second while it is in sight. */
	update(model, now, isShown) {
		const run = mainRun(model);
		const tasks = run ? [...model.tasks.values()].filter((task) => task.run === run.run) : [];
		if (run?.run !== this.run) {
			Object.assign(this, { run: run?.run, beginsClosed: tasks.length > OPEN_MAX, focus: null, isFitted: true, laidFrom: "" });
			this.toggled.clear();
		}
		Object.assign(this, { model, tasks, isShown });
		setText(this.heading, run ? `Graph of ${run.run}` : "Graph");
		const from = `${tasks.length}/${model.planned}`;
		if (from !== this.laidFrom) this.lay();
		this.laidFrom = from;
		const path = criticalPath(tasks, wholeTimes(model, run?.run, now));
		this.path = path.path.length > 1 ? path : { seconds: path.seconds, path: [] }; // one task alone makes none
		this.mark();
		this.held = blocking(tasks).map(({ holder, waiter, claim }) => ({ from: this.laid.nodeOf.get(holder.task), to: this.laid.nodeOf.get(waiter.task), claim })).filter(({ from: a, to }) => a !== to);
		this.isDirty = true;
		this.fillTools();
		this.tell();
	}

	lay() {
		if (!this.tasks) return;
		const focus = this.focus?.tasks[0].task;
		this.laid = layGraph(this.tasks, (epic) => this.isClosed(epic));
		this.epics = new Set(this.tasks.map((task) => task.parent).filter(Boolean));
		this.focus = this.laid.nodeOf.get(focus) ?? null;
		this.hover = null;
		this.mark();
		this.held = [];
		if (this.isFitted) this.view = null;
		this.isDirty = true;
	}

	/** The nodes of the critical path, and which edges are of it: those from one to the next. */
	mark() {
		const nodes = (this.path?.path ?? []).map((name) => this.laid.nodeOf.get(name)).filter(Boolean);
		this.onPath = new Set(nodes);
		this.steps = new Set(nodes.slice(1).map((node, i) => `${nodes[i].index},${node.index}`));
	}

	get size() {
		const w = Math.max(50, this.canvas.parentElement.clientWidth);
		return { w, h: Math.max(320, Math.min(900, innerHeight - 230, w * 1.1)) };
	}

	fit() {
		this.isFitted = true;
		this.view = null;
		this.isDirty = true;
	}

	moveBy(dx, dy) {
		if (!this.view) return;
		this.isFitted = false;
		this.view.x += dx / this.view.k;
		this.view.y += dy / this.view.k;
		this.isDirty = true;
	}

	zoomAt(x, y, factor) {
		if (!this.view) return;
		this.isFitted = false;
		const k = Math.min(3, Math.max(0.02, this.view.k * factor));
		this.view = { x: this.view.x + x / this.view.k - x / k, y: this.view.y + y / this.view.k - y / k, k };
		this.isDirty = true;
	}

	/** At its middle, for buttons and keys. */
	zoom(factor) {
		const { w, h: height } = this.size;
		this.zoomAt(w / 2, height / 2, factor);
	}

	nodeAt(x, y) {
		if (!this.view || !this.laid) return null;
		const wx = this.view.x + x / this.view.k;
		const wy = this.view.y + y / this.view.k;
		return this.laid.nodes.find((node) => wx >= node.x && wx <= node.x + node.w && wy >= node.y && wy <= node.y + node.h) ?? null;
	}

	look(node, event = null) {
		if (node !== this.hover) this.isDirty = true;
		this.hover = node;
		this.canvas.style.cursor = node ? "pointer" : "";
		this.tip(node && event ? this.words(node) : null, event);
	}

	act(node) {
		if (!node) return;
		this.pick(node);
		if (node.epic) this.toggle(node.epic);
		else this.open(node.tasks[0]);
	}

	pick(node) {
		this.focus = node;
		this.isDirty = true;
		this.tell();
	}

	key(event) {
		const direction = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" }[event.key];
		if (direction && !event.ctrlKey && !event.metaKey) {
			this.pick(neighbour(this.laid?.nodes ?? [], this.focus, direction));
			this.bringIntoSight();
		} else if (event.key === "Enter" && this.focus) this.act(this.focus);
		else return;
		event.preventDefault();
		event.stopPropagation();
	}

	bringIntoSight() {
		const { focus, view, size } = this;
		if (!focus || !view) return;
		const x = (focus.x - view.x) * view.k;
		const y = (focus.y - view.y) * view.k;
		const room = { w: focus.w * view.k, h: focus.h * view.k };
		if (x < 0 || y < 0 || x + room.w > size.w || y + room.h > size.h) this.moveBy(x + room.w / 2 - size.w / 2, y + room.h / 2 - size.h / 2);
	}

	/** What is known of a node, in lines. */
	words(node) {
		const task = node.tasks[0];
		const names = (nodes) => listed(nodes.map((each) => each.name), 4);
		const waits = this.held.filter((edge) => edge.to === node).map((edge) => `${edge.from.name} (${edge.claim})`);
		const holds = this.held.filter((edge) => edge.from === node).map((edge) => `${edge.to.name} (${edge.claim})`);
		const ended = node.tasks.filter((each) => each.state === "done").length;
		return [
			node.epic ? `${node.name} · ${count(ended)} of ${plural(node.tasks.length, "task")} done` : `${node.name} · ${task.state}`,
			!node.epic && task.title,
			node.needs.length > 0 && `needs ${names(node.needs)}`,
			node.neededBy.length > 0 && `needed by ${names(node.neededBy)}`,
			waits.length > 0 && `waits for files of ${listed(waits, 3)}`,
			holds.length > 0 && `holds files that others wait for: ${listed(holds, 3)}`,
			this.onPath.has(node) && "on the critical path",
		].filter(Boolean);
	}

	fillTools() {
		const { epics, path } = this;
		const closed = [...epics].filter((epic) => this.isClosed(epic)).length;
		renew(this.tools,
			h("span", { class: "quiet grow" }, `${plural(this.tasks.length, "task")}${path.path.length > 1 ? ` · critical path: ${plural(path.path.length, "task")}, ${duration(path.seconds)}` : ""}${this.held.length ? ` · ${plural(this.held.length, "wait")} for files` : ""}`),
			epics.size > 0 && [
				button({ key: "close", disabled: closed === epics.size, onclick: () => this.setAll(true) }, "close all epics"),
				button({ key: "open", disabled: closed === 0, onclick: () => this.setAll(false) }, "open all")],
			button({ key: "out", "aria-label": "Zoom out", onclick: () => this.zoom(1 / 1.4) }, "−"),
			button({ key: "in", "aria-label": "Zoom in", onclick: () => this.zoom(1.4) }, "+"),
			button({ key: "fit", onclick: () => this.fit() }, "fit"));
	}

	/** The node in focus in words, for those who do not see the canvas, and its epic's button. */
	tell() {
		const { focus } = this;
		if (!focus) {
			renew(this.said, h("span", { class: "quiet" }, "Arrow keys move along needs, Enter opens a task or an epic."));
			return;
		}
		const task = focus.tasks[0];
		const epic = focus.epic || (task.parent && !this.isClosed(task.parent) ? task.parent : "");
		renew(this.said,
			focus.epic ? null : h("a", { key: "link", href: taskHref(task.run, task.task) }, task.task),
			h("span", { key: "words" }, this.words(focus).join(" · ")),
			epic && button({ key: "epic", class: "small", onclick: () => this.toggle(epic) }, `${this.isClosed(epic) ? "open" : "close"} ${epic}`));
	}

	// Drawing

	draw() {
		if (!this.laid || !this.isDirty) return;
		this.isDirty = false;
		const { w, h: height } = this.size;
		const c = fitCanvas(this.canvas, w, height);
		const view = (this.view ??= fitView(this.laid, w, height));
		const inSight = (node) => node.x + node.w >= view.x && node.x <= view.x + w / view.k && node.y + node.h >= view.y && node.y <= view.y + height / view.k;
		c.translate(-view.x * view.k, -view.y * view.k);
		c.scale(view.k, view.k);
		const drawHeld = this.edges(c, view.k, inSight);
		const nodes = this.laid.nodes.filter(inSight);
		if (view.k < FAR) this.far(c, nodes.filter((node) => !node.epic));
		for (const node of nodes) {
			if (view.k >= FAR || node.epic) this.node(c, node, view.k);
			this.outline(c, node, view.k);
		}
		drawHeld();
		setText(this.said.parentElement.querySelector("[data-empty]"), this.laid.nodes.length ? "" : "No tasks yet.");
	}

	/** Draws the needs, and returns what draws the waits for files: those go over the boxes, which would hide them. */
	edges(c, k, inSight) {
		const { paint, laid } = this;
		const looked = this.hover ?? this.focus;
		const isNear = (edge) => edge.from === looked || edge.to === looked;
		const isSeen = (edge) => inSight(edge.from) || inSight(edge.to);
		const isMany = (edges) => k < FAR && edges.length > EDGES_FAR;
		const some = laid.edges.filter(isMany(laid.edges) ? isNear : isSeen);
		const isCritical = (edge) => this.steps.has(`${edge.from.index},${edge.to.index}`);
		const thin = Math.max(1, 0.7 / k);
		strokeNeeds(c, some.filter((edge) => !isCritical(edge)), paint.faint, thin, looked ? 0.35 : 0.7);
		strokeNeeds(c, some.filter((edge) => isNear(edge)), paint.ink, 1.6 * thin, 1);
		strokeNeeds(c, laid.edges.filter((edge) => isCritical(edge) && isSeen(edge)), paint.warn, 2.6 * thin, 1);
		return () => strokeHeld(c, this.held.filter(isMany(this.held) ? isNear : isSeen), paint.cause("claims"), 1.6 * thin);
	}

	node(c, node, k) {
		const { paint } = this;
		const state = stateOf(node);
		const isDim = this.isShown && !node.tasks.some(this.isShown);
		c.globalAlpha = isDim ? 0.2 : 1;
		if (node.epic) this.epic(c, node, k);
		else {
			c.fillStyle = paint.surface;
			c.fillRect(node.x, node.y, node.w, node.h);
			c.strokeStyle = paint.line;
			c.lineWidth = 1;
			c.strokeRect(node.x + 0.5, node.y + 0.5, node.w - 1, node.h - 1);
			c.fillStyle = this.colour(state);
			c.fillRect(node.x, node.y, state === "failed" ? 20 : 18, node.h);
			this.sign(c, node, state);
			if (k >= NAMES_FROM) this.name(c, node.name, node.x + 24, node.y + node.h / 2 + 0.5, node.w - 28, paint.ink, "12px");
		}
		c.globalAlpha = 1;
	}

	outline(c, node, k) {
		const isLooked = node === this.focus || node === this.hover;
		if (!isLooked && !this.onPath.has(node)) return;
		c.strokeStyle = isLooked ? this.paint.ink : this.paint.warn;
		c.lineWidth = Math.max(2, 1.2 / k);
		c.strokeRect(node.x - 1, node.y - 1, node.w + 2, node.h + 2);
	}

	colour(state) {
		return this.paint[COLOURS[state] ?? "faint"];
	}

	/** Too small for words: the colours of their states; what failed is crossed out, what was skipped struck through. */
	far(c, nodes) {
		const byState = new Map();
		for (const node of nodes) {
			const state = stateOf(node);
			const look = `${state}${this.isShown && !node.tasks.some(this.isShown) ? " dim" : ""}`;
			if (!byState.has(look)) byState.set(look, { state, isDim: look !== state, nodes: [] });
			byState.get(look).nodes.push(node);
		}
		for (const { state, isDim, nodes: those } of byState.values()) {
			c.globalAlpha = isDim ? 0.2 : 1;
			c.fillStyle = this.colour(state);
			for (const node of those) c.fillRect(node.x, node.y, node.w, node.h);
			if (state === "failed" || state === "skipped") this.cross(c, those, state === "failed");
		}
		c.globalAlpha = 1;
	}

	cross(c, nodes, isBoth) {
		c.strokeStyle = this.paint.surface;
		c.lineWidth = 5;
		c.beginPath();
		for (const { x, y, w, h: tall } of nodes) {
			c.moveTo(x, y);
			c.lineTo(x + w, y + tall);
			if (!isBoth) continue;
			c.moveTo(x + w, y);
			c.lineTo(x, y + tall);
		}
		c.stroke();
	}

	sign(c, node, state) {
		c.fillStyle = this.paint.surface;
		c.font = this.paint.font("bold 12px");
		c.textAlign = "center";
		c.textBaseline = "middle";
		c.fillText(SIGNS[state] ?? "", node.x + 9.5, node.y + node.h / 2 + 0.5);
	}

	name(c, text, x, y, room, colour, size) {
		c.font = this.paint.font(size);
		c.fillStyle = colour;
		c.textAlign = "left";
		c.textBaseline = "middle";
		const most = Math.floor(room / 6.3);
		c.fillText(text.length > most ? `${text.slice(0, most - 1)}…` : text, x, y);
	}

	/** A closed epic: its name, and how far each state has come. */
	epic(c, node, k) {
		const { paint } = this;
		c.fillStyle = paint.surface;
		c.fillRect(node.x, node.y, node.w, node.h);
		c.strokeStyle = paint.muted;
		c.lineWidth = 1.5;
		c.strokeRect(node.x + 0.5, node.y + 0.5, node.w - 1, node.h - 1);
		const counts = new Map();
		for (const task of node.tasks) counts.set(task.state, (counts.get(task.state) ?? 0) + 1);
		let x = node.x + 6;
		const isSmall = k < NAMES_FROM;
		const [top, tall] = isSmall ? [node.y + 6, node.h - 12] : [node.y + node.h - 13, 8];
		for (const state of [...WORST].reverse()) {
			const w = ((counts.get(state) ?? 0) / node.tasks.length) * (node.w - 12);
			c.fillStyle = this.colour(state);
			c.fillRect(x, top, w, tall);
			if (state === "failed" && w > 1) {
				c.fillStyle = paint.surface;
				for (let at = x + 2; at < x + w; at += 4) c.fillRect(at, top, 1.4, tall);
			}
			x += w;
		}
		if (isSmall) return;
		this.name(c, `▸ ${node.name}`, node.x + 6, node.y + 13, node.w - 56, paint.ink, "600 12px");
		c.font = paint.font("11px");
		c.fillStyle = paint.muted;
		c.textAlign = "right";
		c.fillText(`${count(counts.get("done") ?? 0)}/${count(node.tasks.length)}`, node.x + node.w - 6, node.y + 13);
	}
}
