// The form that changes a task which has not begun: its priority, needs, prompt and title.
import { order, taskPath } from "./commands.js";
import { button, h, setText } from "./dom.js";

/** Only what differs from the plan is sent. */
export function changesOf(values, plan) {
	const changes = {};
	if (values.priority !== "" && Number(values.priority) !== (plan.priority ?? 2)) changes.priority = Number(values.priority);
	if (plan.prompt && values.prompt !== plan.prompt) changes.prompt = values.prompt;
	if (values.title !== (plan.title ?? "")) changes.title = values.title;
	const needs = values.needs.split(",").map((each) => each.trim()).filter(Boolean);
	if (needs.join() !== (plan.needs ?? []).join()) changes.needs = needs;
	return changes;
}

export class EditTask {
	constructor(dialog) {
		this.dialog = dialog;
		this.inputs = {
			priority: h("input", { type: "number", name: "priority", min: "0", max: "4" }),
			needs: h("input", { type: "text", name: "needs", autocomplete: "off" }),
			title: h("input", { type: "text", name: "title", autocomplete: "off" }),
			prompt: h("textarea", { name: "prompt", rows: 8 }),
		};
		this.head = h("h2");
		this.said = h("p", { class: "said", role: "status" });
		const field = (name, what) => h("label", {}, h("span", {}, name), this.inputs[name], h("small", {}, what));
		this.fields = { priority: field("priority", "0 is the most urgent, 4 can wait"), needs: field("needs", "tasks that must be done before, with commas between them"), title: field("title", "one line for people"), prompt: field("prompt", "what the model or agent is told") };
		dialog.append(h("form", { method: "dialog", onsubmit: (event) => (event.preventDefault(), this.send()) },
			this.head, Object.values(this.fields), h("p", { class: "note" }, "It holds until the plan or backlog changes the task again."), this.said,
			h("div", { class: "group" }, h("button", { type: "submit" }, "Change"), button({ onclick: () => dialog.close() }, "Close"))));
	}

	/** `done(said)` is told once the change is on disk. */
	open({ run, task }, plan, done) {
		Object.assign(this, { run, task, plan, done });
		setText(this.head, `Change ${task}`);
		setText(this.said, "");
		this.inputs.priority.value = String(plan.priority ?? 2);
		this.inputs.needs.value = (plan.needs ?? []).join(", ");
		this.inputs.title.value = plan.title ?? "";
		this.inputs.prompt.value = plan.prompt ?? "";
		this.fields.prompt.hidden = !plan.prompt;
		this.dialog.showModal();
		this.inputs.priority.focus();
	}

	async send() {
		const values = Object.fromEntries(Object.entries(this.inputs).map(([name, input]) => [name, input.value]));
		try {
			await order("PATCH", taskPath(this.run, this.task), changesOf(values, this.plan));
			this.dialog.close();
			this.done("changed, and on disk");
		} catch (error) {
			setText(this.said, error.message);
		}
	}
}
