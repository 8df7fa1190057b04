// One task: why it is in its state, what it is, its attempts and output, its story, and what may be done with it.
import { ApprovalBox } from "./approval.js";
import { ask, order, taskPath } from "./commands.js";
import { blocking } from "./claim_conflicts.js";
import { ENDED } from "./critical_path.js";
import { button, h, renew, setText } from "./dom.js";
import { keyOf } from "./model.js";
import { OutputView } from "./output_view.js";
import { kindClass, kindVars } from "./paint.js";
import { attemptsTable, filesLeft, notesLeft, reasons, storyFrom, storyList, uses, whatItIs } from "./task_parts.js";
import { duration, plainText } from "./words.js";

export class TaskPage {
	constructor(element, close, edit) {
		// isServed: there is a server to ask; otherwise the model has all there is.
		Object.assign(this, { element, close, edit, isServed: false, shown: null, lastState: "" });
		this.output = new OutputView();
		// One element for every task: drawing keeps what stands in the pane, so a fresh one would never come into it.
		this.said = h("p", { class: "said", role: "status" });
		this.approval = new ApprovalBox((text, isFine) => this.say(text, isFine), () => this.shown && this.draw(this.now));
	}

	show(model, now, run, task) {
		Object.assign(this, { shown: { run, task }, model, detail: null, story: null, picked: null, asks: "" });
		this.isUnknown = false; // the server has no such task
		this.output.show(run, task, null);
		this.say("");
		this.element.hidden = false;
		this.draw(now);
		this.element.focus({ preventScroll: true });
		this.element.scrollTop = 0;
		if (this.isServed) this.load(now);
	}

	hide() {
		this.shown = null;
		this.element.hidden = true;
	}

	get record() {
		return this.model.tasks.get(keyOf(this.shown.run, this.shown.task));
	}

	get stateNow() {
		return `${this.record?.state}/${this.record?.attempt}/${this.record?.cause}`;
	}

	/** What the attempt in flight says of itself; the pane is drawn again when that has changed. */
	get liveNow() {
		return this.bars.find((bar) => bar.end === null)?.live;
	}

	get bars() {
		const mine = [];
		for (const bar of this.model.bars.values()) if (bar.task === this.shown.task && bar.run === this.shown.run) mine.push(bar);
		return mine;
	}

	async load(now) {
		const { run, task } = this.shown;
		const isStill = () => this.shown?.run === run && this.shown?.task === task;
		try {
			const detail = await ask(taskPath(run, task));
			if (!isStill()) return;
			this.detail = detail;
			this.draw(now);
			await this.readOutput();
			const { story, truncated } = await ask(taskPath(run, task) + "/story");
			if (!isStill()) return;
			this.story = truncated ? [...story, { at: now, text: "later events are not shown" }] : story;
			this.draw(now);
		} catch (error) {
			if (!isStill()) return;
			this.isUnknown = error.status === 404 && !this.record;
			this.say(error.message);
		}
	}

	/** Called a few times a second while open: reload when the state changed, read more while it runs. */
	update(model, now) {
		if (!this.shown) return;
		this.model = model;
		this.tick?.(now);
		if (this.isUnknown && !this.record) return;
		const state = this.stateNow;
		if (state !== this.lastState) {
			this.lastState = state;
			this.draw(now);
			if (this.isServed) this.load(now);
			return;
		}
		if (this.liveNow !== this.lastLive) this.draw(now);
		if (this.record?.state === "running" && this.isServed) this.readOutput();
	}

	/** The attempt whose output is shown: the latest, unless someone picked another. */
	get attempt() {
		return this.picked ?? (this.record?.tries || this.detail?.attempts?.length || null);
	}

	async readOutput() {
		if (!this.isServed || !this.shown) return;
		const { run, task } = this.shown;
		if (this.output.attempt !== this.attempt) this.output.show(run, task, this.attempt);
		await this.output.read();
		if (this.shown?.task === task) this.drawOutput();
	}

	drawOutput() {
		const told = this.detail?.attempts?.[(this.attempt ?? 0) - 1]?.tail || (this.picked ? "" : this.detail?.output || this.bars.at(-1)?.line) || "";
		this.output.draw(plainText(told) || (this.isServed ? "no output" : "a recording does not keep output"));
	}

	pick(number) {
		this.picked = number;
		this.draw(this.now);
		this.readOutput();
	}

	say(text, isFine = false) {
		setText(this.said, text);
		this.said.classList.toggle("is-fine", isFine);
	}

	/** Who holds files that it waits for. */
	holders(record) {
		const near = [...this.model.tasks.values()].filter((task) => task.state === "running" || task === record);
		return blocking(near).filter((edge) => edge.waiter === record);
	}

	/** Stopping something that runs is asked for twice. */
	async act(verb) {
		if (verb === "cancel" && this.record?.state === "running" && this.asks !== verb) {
			this.asks = verb;
			this.draw(this.now);
			return;
		}
		this.asks = "";
		const { run, task } = this.shown;
		try {
			await order("POST", `${taskPath(run, task)}/${verb}`);
			this.say(`${verb}: done, and on disk`, true);
		} catch (error) {
			this.say(error.message);
		}
	}

	draw(now) {
		this.now = now;
		this.tick = null;
		const { run, task } = this.shown;
		const record = this.record ?? { state: this.detail?.state ?? "unknown", kind: this.detail?.plan?.kind ?? "", run, task, title: "" };
		this.lastState = this.stateNow;
		this.lastLive = this.liveNow;
		const { bars } = this;
		const buttons = this.buttons(record);
		const ticking = (element, bar) => (this.tick = (at) => setText(this.element.querySelector("[data-ticks]") ?? element, duration(at - bar.start)));
		renew(this.element,
			h("header", {}, h("div", {}, h("h2", {}, task), h("p", {}, record.title ?? "")), button({ "aria-label": "Close (Esc)", onclick: () => this.close() }, "✕")),
			h("div", { class: "facts" },
				h("span", { class: "state", "data-state": record.state }, record.state),
				h("span", { class: `chip${kindClass(this.model, record.kind)}`, vars: kindVars(this.model, record.kind) }, record.kind),
				h("span", {}, `run ${run}`),
				record.priority != null && h("span", {}, `priority ${record.priority}`),
				record.parent && h("span", {}, `part of ${record.parent}`)),
			buttons.length > 0 && h("div", { class: "group" }, buttons),
			this.said,
			h("div", { class: "why" }, reasons(record, this.detail, bars.at(-1), now).map((reason) => h("p", {}, reason))),
			this.approval.parts(run, task, this.detail?.asks, this.isServed && this.model.command, this.isServed && ENDED.has(record.state) && this.detail?.plan?.workspace === "worktree"),
			whatItIs(this.detail?.plan),
			uses(this.model, record, this.detail, record.state === "ready" ? this.holders(record) : []),
			filesLeft(this.detail),
			notesLeft(this.detail),
			h("h3", { key: "attempts" }, "Attempts"), attemptsTable(bars, this.detail, this.attempt, now, (number) => this.pick(number), ticking),
			h("h3", { key: "output" }, this.attempt ? `Output of attempt ${this.attempt}` : "Output"), this.output.bar, this.output.pre,
			h("h3", { key: "story" }, "History"), storyList(this.story ?? storyFrom(bars, record)),
		);
		this.drawOutput();
	}

	buttons(record) {
		if (!this.isServed || !this.model.command) return [];
		const ended = ENDED.has(record.state);
		const { state } = record;
		const verbs = [];
		if (state === "deferred" || (state === "needs_person" && !this.detail?.asks)) verbs.push(this.detail?.plan?.stage ? "publish" : "resume");
		else if (!ended && state !== "running" && state !== "needs_person") verbs.push("defer");
		if (ended && state !== "done") verbs.push("retry");
		if (!ended) verbs.push("cancel");
		const edit = !ended && state !== "running" && this.detail && button({ key: "edit", "data-verb": "edit", onclick: () => this.edit.open(this.shown, this.detail.plan, (said) => this.changed(said)) }, "change");
		const label = (verb) => (verb === this.asks ? "cancel: it runs, really stop it?" : verb);
		return verbs.map((verb) => button({ key: verb, class: verb === "cancel" ? "danger" : null, "data-verb": verb, onclick: () => this.act(verb) }, label(verb))).concat(edit || []);
	}

	/** After a change that is on disk. */
	changed(said) {
		this.say(said, true);
		this.load(this.now);
	}
}
