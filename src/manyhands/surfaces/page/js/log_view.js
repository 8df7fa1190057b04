// The log of what is shown, the newest first: time, slots, task, and what happened.
import { h, setText, taskHref } from "./dom.js";
import { logLines } from "./log_lines.js";
import { keyOf } from "./model.js";
import { ScrolledRows } from "./scrolled_rows.js";
import { plural, shownOf, sinceStart, wallClock } from "./words.js";

const ROW_H = 36;

export class LogView {
	constructor(element, about, origin) {
		Object.assign(this, { about, origin, from: "" });
		this.rows = new ScrolledRows(element, ROW_H, (line, i) => this.row(line, i));
	}

	update(model, now, isShown) {
		const from = `${model.seq}/${model.bars.size}/${model.widths.length}/${model.scope}`;
		if (from !== this.from || model !== this.model || isShown !== this.isShown) {
			Object.assign(this, { from, model, isShown });
			const { lines, total } = logLines(model);
			const shown = isShown ? lines.filter((line) => line.task && isShown(model.tasks.get(keyOf(line.run, line.task)) ?? line)) : lines;
			setText(this.about, shown.length < total ? shownOf(shown.length, total) : plural(total, "line"));
			this.rows.set(["time", "slots", "lane", "task", "what happened"], shown.reverse());
		}
	}

	row(line, i) {
		const name = { done: "done", overloaded: "backoff", cancelled: "cancelled", preempted: "cancelled" }[line.ending] ?? (line.ending ? "failed" : line.what === "start" ? "running" : "");
		return h("tr", { key: `${line.at} ${line.what} ${line.lane} ${line.task}`, "aria-rowindex": String(i + 2) },
			h("td", { title: wallClock(line.at) }, sinceStart(line.at - this.origin(), 0.1)),
			h("td", { class: "strip", "aria-hidden": "true" }, line.strip),
			h("td", {}, line.lane),
			h("td", {}, line.task && h("a", { href: taskHref(line.run, line.task) }, line.task)),
			h("td", { title: line.text }, h("span", name ? { class: "state what", "data-state": name } : { class: "what" }, line.text)));
	}
}
