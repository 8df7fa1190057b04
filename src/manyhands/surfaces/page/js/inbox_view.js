// What waits for a person: what holds the most tasks first, each with the command that answers it.
import { ask, order, taskPath } from "./commands.js";
import { button, h, renew, setText, taskHref } from "./dom.js";
import { duration, plural } from "./words.js";

const AGAIN_MS = 2000;
const OF_TASKS = new Set(["approval", "question", "permission", "task", "failure"]);

const onHost = (verb) => ({ verb, path: ({ name }) => `/api/v1/hosts/${encodeURIComponent(name)}/${verb}` });
const onTask = (verb) => ({ verb, path: ({ run, name }) => `${taskPath(run, name)}/${verb}` });
/** What one click can answer, by what the item waits for: the verb of its command. */
const ANSWERS = { host: onHost("resume"), account: onHost("resume"), failure: onTask("retry"), task: onTask("resume") };

export class InboxView {
	constructor(elements, isServed) {
		Object.assign(this, { ...elements, isServed, askedAt: -AGAIN_MS, seq: null, found: null, said: "" });
	}

	update(model, now) {
		Object.assign(this, { now, mayAct: model.command && this.isServed() });
		const at = performance.now();
		if (!this.isAsking && model.seq !== this.seq && at > this.askedAt + AGAIN_MS) this.load(at, model.seq);
		if (this.found) this.show();
	}

	async load(at, seq) {
		Object.assign(this, { askedAt: at, isAsking: true, seq });
		try {
			if (!this.isServed()) throw new Error("A recording has no inbox: it shows what was, not what waits now.");
			this.found = await ask("/api/v1/inbox");
			setText(this.note, this.said);
			this.show();
		} catch (error) {
			this.seq = null; // asked again soon
			setText(this.note, error.message);
		} finally {
			this.isAsking = false;
		}
	}

	show() {
		const { items, total } = this.found;
		setText(this.about, !total ? "nothing waits for you" : items.length < total ? `${items.length} of ${plural(total, "item")}` : plural(total, "item"));
		renew(this.list, items.map((item) => this.item(item)));
	}

	async answer(item, { verb, path }) {
		try {
			const { done } = await order("POST", path(item));
			this.said = done;
		} catch (error) {
			this.said = `${verb} ${item.name}: ${error.message}`;
		}
		setText(this.note, this.said);
	}

	/** A task is opened by its name: its pane has the diff or the question, with buttons. */
	item(found) {
		const { waits_for: waitsFor, name, run, holds, since, why, command } = found;
		const answer = this.mayAct && ANSWERS[waitsFor];
		const isTask = OF_TASKS.has(waitsFor);
		const facts = [run && run !== name && `of run ${run}`, holds && `holds ${plural(holds, "task")}`, since !== null && `for ${duration(Math.max(0, this.now - since))}`];
		return h("li", { key: `${waitsFor} ${run} ${name}`, "data-waits-for": waitsFor },
			h("div", { class: "group" }, h("span", { class: "quiet" }, waitsFor), h("b", {}, isTask ? h("a", { href: taskHref(run, name) }, name) : name), h("span", { class: "quiet" }, facts.filter(Boolean).join(" · "))),
			h("p", {}, why),
			h("code", {}, command),
			answer && h("div", { class: "group", key: "answer" }, button({ "data-verb": answer.verb, "aria-label": `${answer.verb} ${name}`, onclick: () => this.answer(found, answer) }, answer.verb)));
	}
}
