// All tasks as a table that only builds the rows in sight.
import { button, h, isHeld, renew, setText, taskHref } from "./dom.js";
import { kindClass, kindVars } from "./paint.js";
import { count, duration, listed } from "./words.js";
import { keyOf } from "./model.js";

const ROW_H = 36;
const NARROW_ROW_H = 68; // with its reason below it
const rowHeight = () => (innerWidth <= 600 ? NARROW_ROW_H : ROW_H);
const WAITS = new Set(["ready", "blocked", "backoff", "deferred", "needs_person"]);
const ASK_MS = 2000;
const ASKED_MAX = 40;
const COLUMNS = [
	{ name: "task", width: "17%" },
	{ name: "title", width: "18%", wide: true },
	{ name: "kind", width: "9%" },
	{ name: "state", width: "9%" },
	{ name: "host", width: "9%", wide: true },
	{ name: "since", width: "8%", title: "for", wide: true },
	{ name: "cause", width: "", wide: true, title: "why" },
];
const ORDER = { running: 0, needs_person: 1, backoff: 2, ready: 3, blocked: 4, deferred: 5, failed: 6, cancelled: 7, skipped: 8, done: 9 };

export function sortTasks(tasks, by, isDown) {
	const value = by === "state" ? (task) => ORDER[task.state] : (task) => task[by] ?? "";
	const sign = isDown ? -1 : 1;
	return tasks.sort((a, b) => {
		const x = value(a);
		const y = value(b);
		if (x !== y) return x < y ? -sign : sign;
		return b.since - a.since;
	});
}

export class TasksTable {
	constructor(element, shown, open) {
		// `ask(run, ids)` fetches why those tasks wait; null without a server.
		Object.assign(this, { element, shown, open, ask: null, askedAt: -ASK_MS, why: new Map(), list: [], by: "state", isDown: false, here: null });
		this.body = h("tbody");
		const spacer = () => h("tr", { class: "spacer" }, h("td", { colSpan: COLUMNS.length }));
		[this.before, this.after] = [spacer(), spacer()];
		const head = COLUMNS.map((column) => {
			const sort = button({ onclick: () => this.sortBy(column.name) }, column.title ?? column.name);
			return h("th", { scope: "col", class: column.wide ? "wide" : null, vars: column.width ? { width: column.width } : {} }, sort);
		});
		this.table = h("table", {}, h("thead", {}, h("tr", {}, head)), this.body);
		element.append(this.table);
		element.addEventListener("scroll", () => this.draw());
	}

	sortBy(name) {
		this.isDown = this.by === name ? !this.isDown : false;
		this.by = name;
		sortTasks(this.list, this.by, this.isDown);
		this.draw();
	}

	update(model, isShown, now) {
		this.model = model;
		this.now = now;
		const list = [];
		for (const task of model.tasks.values()) if (!isShown || isShown(task)) list.push(task);
		this.list = isHeld(this.body) ? this.inOldOrder(list) : sortTasks(list, this.by, this.isDown);
		const left = model.tasksTotal - model.tasks.size;
		const known = left > 0 ? ` · ${count(model.tasks.size)} of ${count(model.tasksTotal)} loaded, unfinished first` : "";
		const told = isShown ? `${count(list.length)} of ${count(model.tasks.size)} match${known}` : `${count(list.length)} of ${count(model.tasksTotal)} shown${left > 0 ? ", unfinished first" : ""}`;
		setText(this.shown, told);
		this.table.setAttribute("aria-rowcount", String(list.length + 1));
		this.draw();
	}

	/** While someone is at a row, no row moves away; what is new comes last. */
	inOldOrder(list) {
		const shown = new Set(list);
		const old = new Set(this.list);
		const held = [...this.body.children].find(isHeld)?.key;
		const stays = (task) => shown.has(task) || keyOf(task.run, task.task) === held;
		return [...this.list.filter(stays), ...list.filter((task) => !old.has(task))];
	}

	draw() {
		const rowH = rowHeight();
		const top = Math.max(0, Math.floor(this.element.scrollTop / rowH) - 6);
		const bottom = Math.min(this.list.length, top + Math.ceil((this.element.clientHeight || 420) / rowH) + 14);
		this.before.firstChild.style.height = `${top * rowH}px`;
		this.after.firstChild.style.height = `${(this.list.length - bottom) * rowH}px`;
		const rows = [];
		for (let i = top; i < bottom; i++) rows.push(this.row(this.list[i], i));
		renew(this.body, this.before, rows, this.after);
		this.askWhy(this.list.slice(top, bottom));
	}

	row(task, i) {
		const cells = {
			task: h("a", { href: taskHref(task.run, task.task), onclick: (event) => event.preventDefault() }, task.task),
			under: this.reason(task, "reason under"),
			title: task.title ?? "",
			kind: h("span", { class: `chip${kindClass(this.model, task.kind)}`, vars: kindVars(this.model, task.kind) }, task.kind),
			state: h("span", { class: "state", "data-state": task.state }, task.state),
			host: task.host ?? "",
			since: duration(this.now - task.since),
			cause: this.reason(task),
		};
		return h("tr", { key: keyOf(task.run, task.task), class: this.here === keyOf(task.run, task.task) ? "is-here" : null, "aria-rowindex": String(i + 2), "data-task": task.task, onclick: () => this.open(task) },
			COLUMNS.map(({ name, wide }) => h("td", { class: wide ? "wide" : null, title: typeof cells[name] === "string" ? cells[name] : null }, cells[name], name === "state" && cells.under)));
	}

	/** Why it is in its state, whole: the server says it for what waits. */
	reason(task, name = "reason") {
		const known = WAITS.has(task.state) ? this.why.get(keyOf(task.run, task.task)) : null;
		const needs = task.state === "blocked" ? this.openNeeds(task) : "";
		const text = known?.why || task.cause || needs;
		return h("span", { class: name, title: text }, known?.never && h("span", { class: "never" }, "can never run: "), text);
	}

	openNeeds(task) {
		const open = (task.needs ?? []).map((need) => [need, this.model.tasks.get(keyOf(task.run, need))?.state]).filter(([, state]) => state !== "done");
		return open.length ? `needs ${listed(open.map(([need, state]) => `${need} (${state ?? "never submitted"})`), 5)}` : "";
	}

	/** Asks why the tasks in sight wait, now and then while anyone can see them. */
	async askWhy(rows) {
		const waiting = rows.filter((task) => WAITS.has(task.state));
		const at = performance.now();
		const { top, bottom } = this.element.getBoundingClientRect();
		if (!this.ask || !waiting.length || at < this.askedAt + ASK_MS || document.hidden || bottom < 0 || top > innerHeight) return;
		this.askedAt = at;
		const byRun = new Map();
		for (const { run, task } of waiting.slice(0, ASKED_MAX)) byRun.set(run, [...(byRun.get(run) ?? []), task]);
		for (const [run, ids] of byRun) for (const row of await this.ask(run, ids)) this.why.set(keyOf(row.run, row.task), row);
	}

	/** The next or previous task from the one selected. */
	step(by) {
		if (!this.list.length) return null;
		const at = this.list.findIndex((task) => keyOf(task.run, task.task) === this.here);
		const next = Math.min(this.list.length - 1, Math.max(0, at + by));
		const task = this.list[next];
		this.here = keyOf(task.run, task.task);
		const rowH = rowHeight();
		const y = next * rowH;
		const { scrollTop, clientHeight } = this.element;
		if (y < scrollTop || y > scrollTop + clientHeight - 2 * rowH) this.element.scrollTop = Math.max(0, y - clientHeight / 2);
		this.draw();
		this.element.focus({ preventScroll: true });
		return task;
	}
}
