// The form that adds a task to a run, as `manyhands add` does.
import { order } from "./commands.js";
import { button, h, setText } from "./dom.js";

const FIELDS = [
	["id", "text", "its name, unique in the run"],
	["kind", "text", "what sort of work it is; hosts are found by it"],
	["title", "text", "one line for people"],
	["needs", "text", "tasks that must be done before, with commas between them"],
	["priority", "number", "0 is the most urgent, 2 the usual"],
];

/** A task with the fields of a plan: only what was filled in. */
export function taskOf(values) {
	const task = {};
	for (const name of ["id", "kind", "title", "prompt"]) if (values[name]?.trim()) task[name] = values[name].trim();
	if (values.command?.trim()) task.run = ["sh", "-c", values.command.trim()];
	const needs = (values.needs ?? "").split(",").map((each) => each.trim()).filter(Boolean);
	if (needs.length) task.needs = needs;
	if (values.priority) task.priority = Number(values.priority);
	return task;
}

export class AddTask {
	constructor(dialog) {
		this.dialog = dialog;
		this.inputs = {};
		this.said = h("p", { class: "said", role: "status" });
		const field = (name, input, what) => h("label", {}, h("span", {}, name), (this.inputs[name] = input), h("small", {}, what));
		this.where = h("p", { class: "note" });
		dialog.append(h("form", { method: "dialog", onsubmit: (event) => (event.preventDefault(), this.send()) },
			h("h2", {}, "Add a task"), this.where,
			FIELDS.map(([name, type, what]) => field(name, h("input", { type, name, autocomplete: "off" }), what)),
			field("command", h("textarea", { name: "command", rows: 2 }), "for a shell host: what sh runs"),
			field("prompt", h("textarea", { name: "prompt", rows: 4 }), "for a model or an agent; give this or a command"),
			this.said,
			h("div", { class: "group" }, h("button", { type: "submit" }, "Add"), button({ onclick: () => dialog.close() }, "Close"))));
	}

	open(run) {
		this.run = run;
		setText(this.where, run ? `to run ${run}` : "to the run of tasks that were added by hand");
		setText(this.said, "");
		this.dialog.showModal();
		this.inputs.id.focus();
	}

	async send() {
		const values = Object.fromEntries(Object.entries(this.inputs).map(([name, input]) => [name, input.value]));
		try {
			await order("POST", "/api/v1/tasks", { tasks: [taskOf(values)], ...(this.run ? { run: this.run } : {}) });
			this.said.classList.add("is-fine");
			setText(this.said, `${values.id}: added, and on disk`);
			for (const input of Object.values(this.inputs)) input.value = "";
		} catch (error) {
			this.said.classList.remove("is-fine");
			setText(this.said, error.message);
		}
	}
}
