// One order for many tasks: those that match the filter, or a group of failures. Each is on disk before the next is sent.
import { order, taskPath } from "./commands.js";
import { button, renew } from "./dom.js";
import { count, plural } from "./words.js";

/** Which states a verb is for. */
export const VERBS = {
	retry: new Set(["failed", "cancelled", "skipped"]),
	defer: new Set(["ready", "blocked", "backoff"]),
	resume: new Set(["deferred", "needs_person"]),
	cancel: new Set(["running", "ready", "blocked", "backoff", "deferred", "needs_person"]),
};
export const TASKS_MAX = 400; // at once

/** "retry 12", or "retry the first 400 of 1,234" where one press does not do all. */
export function howMany(verb, n, word = "") {
	if (n > TASKS_MAX) return `${verb} the first ${count(TASKS_MAX)} of ${count(n)}`;
	return `${verb} ${word ? plural(n, word) : count(n)}`;
}

/** Orders it for each, and tells after each how far it is. */
export async function orderEach(verb, tasks, tell, wanted = tasks.length) {
	const more = wanted > tasks.length ? `; ${count(wanted - tasks.length)} more can follow now` : "";
	let done = 0;
	let refused = "";
	for (const task of tasks) {
		try {
			await order("POST", `${taskPath(task.run, task.task)}/${verb}`);
			done++;
		} catch (error) {
			refused = `; ${error.message}`;
		}
		tell(`${verb}: ${count(done)} of ${count(tasks.length)} are on disk${refused}${done === tasks.length ? more : ""}`);
	}
}

/** The buttons beside the filter: what can be done with all that match. Cancelling asks again. */
export class BulkBar {
	constructor(element, tell) {
		Object.assign(this, { element, tell, asked: "" });
	}

	/** `tasks` are those that match; null without a filter. */
	update(tasks, mayAct) {
		if (!tasks || !mayAct) {
			this.asked = "";
			renew(this.element);
			return;
		}
		const found = Object.entries(VERBS).map(([verb, states]) => [verb, tasks.filter((task) => states.has(task.state))]);
		renew(this.element, found.filter(([, those]) => those.length).map(([verb, those]) =>
			button({ key: verb, class: verb === "cancel" ? "small danger" : "small", "data-bulk": verb, onclick: () => this.act(verb, those) },
				this.asked === verb ? `really ${howMany(verb, those.length, "task")}?` : howMany(verb, those.length))));
	}

	act(verb, tasks) {
		if (verb === "cancel" && this.asked !== verb) {
			this.asked = verb;
			return;
		}
		this.asked = "";
		orderEach(verb, tasks.slice(0, TASKS_MAX), this.tell, tasks.length);
	}
}
