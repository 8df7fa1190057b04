// The runs of the store: a list, the same tasks run after run as a grid, and two runs held against each other.
import { ask } from "./commands.js";
import { compare, gridOfModel, meanWidth, readGrid, tookOf } from "./compared_runs.js";
import { h, renew, setText, taskHref } from "./dom.js";
import { showRunList } from "./runs_table.js";
import { ScrolledRows } from "./scrolled_rows.js";
import { count, duration, money, plural, short } from "./words.js";

const ROW_H = 36;
const AGAIN_MS = 5000; // while something runs

const signed = (number, text) => `${number < 0 ? "−" : "+"}${text(Math.abs(number))}`;

export class RunsView {
	/** `choose(run)` shows a run, `isServed()` says whether there is a server to ask. */
	constructor(elements, choose, isServed) {
		Object.assign(this, { ...elements, choose, isServed, grid: null, askedAt: -AGAIN_MS, pair: null, wanted: "" });
		this.rows = new ScrolledRows(this.table, ROW_H, (row) => this.row(row));
		this.compared = new ScrolledRows(this.differences, ROW_H, (row) => this.difference(row));
		for (const [i, select] of this.selects.entries()) select.addEventListener("change", () => this.setPair(i, select.value));
	}

	update(model, now) {
		Object.assign(this, { model, now });
		showRunList(this.list, model, now, this.choose);
		this.load();
		if (this.grid) this.show();
	}

	/** Asked again when the runs have changed, and now and then while one runs. */
	async load() {
		const { model } = this;
		const told = [...model.runs.values()].map((run) => run.run + run.ended_at).join() + model.scope + this.wanted;
		const isOpen = [...model.runs.values()].some((run) => run.ended_at == null);
		const at = performance.now();
		if (this.isAsking || (told === this.told && !(isOpen && at > this.askedAt + AGAIN_MS))) return;
		Object.assign(this, { told, askedAt: at, isAsking: true });
		try {
			this.grid = this.isServed() ? readGrid(await ask(`/api/v1/grid${this.query()}`)) : gridOfModel(model, this.now);
			setText(this.note, "");
			this.show();
		} catch (error) {
			setText(this.note, error.message);
		} finally {
			this.isAsking = false;
		}
	}

	/** The two that were chosen, or else the run that is shown and those before it of its plan. */
	query() {
		if (this.wanted) return `?runs=${encodeURIComponent(this.wanted)}`;
		return this.model.scope ? `?run=${encodeURIComponent(this.model.scope)}` : "";
	}

	/** Runs that the grid does not have are asked for by name. */
	setPair(place, name) {
		this.pair = this.pairNow;
		this.pair[place] = name;
		const known = this.grid.runs.map((run) => run.run);
		const names = this.pair.filter(Boolean);
		if (names.some((each) => !known.includes(each))) this.wanted = [...new Set(names)].join();
		this.load();
		this.show();
	}

	/** The two that are compared: those that were chosen, or else the last two. */
	get pairNow() {
		const { runs } = this.grid;
		return this.pair ?? [runs.at(-2)?.run ?? "", runs.at(-1)?.run ?? ""];
	}

	show() {
		const { grid } = this;
		const { runs } = grid;
		setText(this.about, `${plural(grid.total, "task")} in ${plural(runs.length, "run")}${grid.tasks.length < grid.total ? `; ${count(grid.tasks.length)} are shown, those that did not all succeed first` : ""}`);
		this.rows.set(["task", ...runs.map((run) => run.run)], grid.tasks);
		const names = [...this.model.runs.keys()];
		for (const [i, select] of this.selects.entries()) {
			renew(select, h("option", { key: "", value: "" }, "choose a run"), [...names].reverse().map((name) => h("option", { key: name, value: name }, name)));
			if (document.activeElement !== select) select.value = this.pairNow[i];
		}
		const pair = this.pairNow.map((name) => runs.find((run) => run.run === name));
		this.compareBox.hidden = !(pair[0] && pair[1] && pair[0] !== pair[1]);
		if (!this.compareBox.hidden) this.showPair(...pair);
	}

	row(row) {
		const { runs } = this.grid;
		return h("tr", { key: row.task }, h("td", { title: row.title }, row.task), row.cells.map((cell, i) => h("td", { key: i }, cell
			? h("a", { class: "state", "data-state": cell.state, href: taskHref(runs[i].run, row.task), "aria-label": `${row.task} in ${runs[i].run}: ${cell.state}` }, cell.took == null ? cell.state : duration(cell.took), cell.tries > 1 && h("small", {}, ` ${cell.tries} ×`))
			: h("span", { class: "quiet" }, "–"))));
	}

	/** What the two took and cost, then their tasks. */
	showPair(a, b) {
		const { now } = this;
		const facts = [
			["took", (run) => tookOf(run, now), duration],
			["done", (run) => run.counts.done ?? 0, count],
			["failed", (run) => run.counts.failed ?? 0, count],
			["attempts", (run) => run.attempts, count],
			["widest", (run) => run.peak, count],
			["mean width", (run) => meanWidth(run, now), (width) => width.toFixed(1)],
			["tokens", (run) => run.tokens, short],
			["cost", (run) => run.cost, money],
		].filter(([, of]) => of(a) != null || of(b) != null);
		renew(this.facts, h("table", { class: "rows" }, h("tbody", {},
			h("tr", { key: "" }, ["", a.run, b.run, "difference"].map((name) => h("th", { scope: "col", class: "num" }, name))),
			facts.map(([name, of, text]) => {
				const [x, y] = [of(a), of(b)];
				const differs = x != null && y != null && text(x) !== text(y);
				return h("tr", { key: name }, h("th", { scope: "row" }, name), [x, y].map((value) => h("td", { class: "num" }, value == null ? "–" : text(value))), h("td", { class: "num" }, differs ? signed(y - x, text) : ""));
			}))));
		this.compared.set(["task", a.run, b.run, "difference"], compare(this.grid, a.run, b.run));
	}

	difference(row) {
		const told = (cell) => (cell ? h("span", { class: "state", "data-state": cell.state }, cell.took == null ? cell.state : duration(cell.took)) : h("span", { class: "quiet" }, "not in it"));
		return h("tr", { key: row.task, class: row.isOther ? "is-other" : null },
			h("td", { title: row.title }, row.task), h("td", {}, told(row.before)), h("td", {}, told(row.after)),
			h("td", {}, row.isOther ? `${row.before?.state ?? "not in it"} → ${row.after?.state ?? "not in it"}` : row.by === null ? "" : signed(row.by, duration)));
	}
}
