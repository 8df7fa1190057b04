// All tasks as a table that only builds the rows in sight.
import { button, h, taskHref } from "./dom.js";
import { kindVars } from "./paint.js";
import { count, duration } from "./words.js";
import { keyOf } from "./model.js";

const ROW_H = 29;
const COLUMNS = [
	{ name: "task", width: "20%" },
	{ name: "title", width: "26%", wide: true },
	{ name: "kind", width: "11%" },
	{ name: "state", width: "12%" },
	{ name: "host", width: "11%", wide: true },
	{ name: "since", width: "9%", title: "in this state for", wide: true },
	{ name: "cause", width: "", wide: true, title: "why" },
];
const ORDER = { running: 0, backoff: 1, ready: 2, blocked: 3, deferred: 4, failed: 5, cancelled: 6, skipped: 7, done: 8 };

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
		Object.assign(this, { element, shown, open, list: [], by: "state", isDown: false, here: null });
		this.body = h("tbody");
		this.before = h("td", { colSpan: COLUMNS.length });
		this.after = h("td", { colSpan: COLUMNS.length });
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
		this.list = sortTasks(list, this.by, this.isDown);
		const left = model.tasksTotal - model.tasks.size;
		const known = left > 0 ? ` · ${count(model.tasks.size)} of ${count(model.tasksTotal)} loaded, unfinished first` : "";
		this.shown.textContent = isShown ? `${count(list.length)} of ${count(model.tasks.size)} match${known}` : `${count(list.length)} of ${count(model.tasksTotal)} shown${left > 0 ? ", unfinished first" : ""}`;
		this.table.setAttribute("aria-rowcount", String(list.length + 1));
		this.draw();
	}

	draw() {
		const top = Math.max(0, Math.floor(this.element.scrollTop / ROW_H) - 6);
		const bottom = Math.min(this.list.length, top + Math.ceil((this.element.clientHeight || 420) / ROW_H) + 14);
		this.before.style.height = `${top * ROW_H}px`;
		this.after.style.height = `${(this.list.length - bottom) * ROW_H}px`;
		const rows = [];
		for (let i = top; i < bottom; i++) rows.push(this.row(this.list[i], i));
		this.body.replaceChildren(h("tr", { class: "spacer" }, this.before), ...rows, h("tr", { class: "spacer" }, this.after));
	}

	row(task, i) {
		const cells = {
			task: h("a", { href: taskHref(task.run, task.task), onclick: (event) => event.preventDefault() }, task.task),
			title: task.title ?? "",
			kind: h("span", { class: "chip", vars: kindVars(this.model, task.kind) }, task.kind),
			state: h("span", { class: "state", "data-state": task.state }, task.state),
			host: task.host ?? "",
			since: duration(this.now - task.since),
			cause: task.cause ?? "",
		};
		return h("tr", { class: this.here === keyOf(task.run, task.task) ? "is-here" : null, "aria-rowindex": String(i + 2), "data-task": task.task, onclick: () => this.open(task) },
			COLUMNS.map(({ name, wide }) => h("td", { class: wide ? "wide" : null, title: typeof cells[name] === "string" ? cells[name] : null }, cells[name])));
	}

	/** The next or previous task from the one selected. */
	step(by) {
		if (!this.list.length) return null;
		const at = this.list.findIndex((task) => keyOf(task.run, task.task) === this.here);
		const next = Math.min(this.list.length - 1, Math.max(0, at + by));
		const task = this.list[next];
		this.here = keyOf(task.run, task.task);
		const y = next * ROW_H;
		const { scrollTop, clientHeight } = this.element;
		if (y < scrollTop || y > scrollTop + clientHeight - 2 * ROW_H) this.element.scrollTop = Math.max(0, y - clientHeight / 2);
		this.draw();
		this.element.focus({ preventScroll: true });
		return task;
	}
}
