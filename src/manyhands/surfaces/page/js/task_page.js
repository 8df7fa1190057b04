// One task: why it is in its state, its story, its attempts and output, and what may be done with it.
import { ENDINGS } from "./causes.js";
import { ask, order, taskPath } from "./commands.js";
import { button, h, setText, taskHref } from "./dom.js";
import { keyOf } from "./model.js";
import { kindVars } from "./paint.js";
import { duration, wallClock } from "./words.js";

const ENDED = new Set(["done", "failed", "cancelled", "skipped"]);
const OUTPUT_KEPT = 200_000;

export class TaskPage {
	constructor(element, close) {
		// isServed: there is a server to ask; otherwise the model has all there is.
		Object.assign(this, { element, close, isServed: false, shown: null, lastState: "" });
	}

	show(model, now, run, task) {
		this.shown = { run, task };
		this.model = model;
		this.detail = null;
		this.story = null;
		this.output = { attempt: null, text: "", next: 0 };
		this.said = h("p", { class: "said", role: "status" });
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
			if (isStill()) this.say(error.message);
		}
	}

	/** Called a few times a second while open: reload when the state changed, read more while it runs. */
	update(model, now) {
		if (!this.shown) return;
		this.model = model;
		this.tick?.(now);
		const state = `${this.record?.state}/${this.record?.attempt}`;
		if (state !== this.lastState) {
			this.lastState = state;
			this.draw(now);
			if (this.isServed) this.load(now);
		} else if (this.record?.state === "running" && this.isServed) this.readOutput();
	}

	async readOutput() {
		if (this.isReading || !this.shown) return;
		this.isReading = true;
		const { run, task } = this.shown;
		try {
			const attempt = this.record?.tries || this.detail?.attempts?.length;
			if (!attempt) return;
			if (this.output.attempt !== attempt) this.output = { attempt, text: "", next: 0 };
			const more = await ask(`${taskPath(run, task)}/output?attempt=${attempt}&after=${this.output.next}`);
			if (this.shown?.task !== task || !more?.text) return;
			this.output.text = (this.output.text + more.text).slice(-OUTPUT_KEPT);
			this.output.next = more.next;
			this.drawOutput();
		} catch {
			// No output is kept for this attempt; the page shows what else there is.
		} finally {
			this.isReading = false;
		}
	}

	drawOutput() {
		if (!this.pre) return;
		const text = this.output.text || this.detail?.output || this.bars.at(-1)?.line || "";
		const isAtEnd = this.pre.scrollTop + this.pre.clientHeight >= this.pre.scrollHeight - 8;
		this.pre.textContent = text || (this.isServed ? "no output" : "a recording does not keep output");
		if (isAtEnd) this.pre.scrollTop = this.pre.scrollHeight;
	}

	say(text, isFine = false) {
		this.said.textContent = text;
		this.said.classList.toggle("is-fine", isFine);
	}

	async act(verb) {
		const { run, task } = this.shown;
		try {
			await order("POST", `${taskPath(run, task)}/${verb}`);
			this.say(`${verb}: done, and on disk`, true);
		} catch (error) {
			this.say(error.message);
		}
	}

	draw(now) {
		this.tick = null;
		const { run, task } = this.shown;
		const record = this.record ?? { state: this.detail?.state ?? "unknown", kind: this.detail?.plan?.kind ?? "", run, task, title: "" };
		this.lastState = `${record.state}/${record.attempt}`;
		const buttons = this.buttons(record);
		this.pre = h("pre", { tabIndex: 0, "aria-label": "Output" });
		this.element.replaceChildren(
			h("header", {}, h("div", {}, h("h2", {}, task), h("p", {}, record.title ?? "")), button({ "aria-label": "Close (Esc)", onclick: () => this.close() }, "✕")),
			h("div", { class: "facts" },
				h("span", { class: "state", "data-state": record.state }, record.state),
				h("span", { class: "chip", vars: kindVars(this.model, record.kind) }, record.kind),
				h("span", {}, `run ${run}`),
				record.priority != null && h("span", {}, `priority ${record.priority}`),
				record.parent && h("span", {}, `part of ${record.parent}`)),
			...(buttons.length ? [h("div", { class: "group" }, buttons)] : []),
			this.said,
			h("div", { class: "why" }, this.reasons(record).map((reason) => h("p", {}, reason))),
			...this.uses(record),
			h("h3", {}, "Attempts"), this.attempts(now),
			h("h3", {}, "Output"), this.pre,
			h("h3", {}, "Story"), this.storyList(record),
		);
		this.drawOutput();
	}

	buttons(record) {
		if (!this.isServed || !this.model.command) return [];
		const ended = ENDED.has(record.state);
		const { state } = record;
		const verbs = [];
		if (state === "deferred") verbs.push("resume");
		else if (!ended && state !== "running") verbs.push("defer");
		if (ended && state !== "done") verbs.push("retry");
		if (!ended) verbs.push("cancel");
		return verbs.map((verb) => button({ class: verb === "cancel" ? "danger" : null, "data-verb": verb, onclick: () => this.act(verb) }, verb));
	}

	reasons(record) {
		const bar = this.bars.at(-1);
		if (record.state === "running" && bar) return [`runs on ${bar.host} as attempt ${bar.number}`];
		if (this.detail?.why?.length) return this.detail.why;
		if (record.cause) return [record.cause];
		if (record.state === "done" && bar) return [`done on ${bar.host} by attempt ${bar.number} in ${duration(bar.end - bar.start)}`];
		if (record.state === "blocked") return [`needs ${(record.needs ?? []).join(", ")}`];
		return [record.state];
	}

	uses(record) {
		const claims = this.detail?.claims ?? record.claims ?? [];
		const needs = record.needs ?? this.detail?.plan?.needs ?? [];
		const out = [];
		if (needs.length) out.push(h("h3", {}, "Needs"), h("p", {}, needs.map((need, i) => [i ? ", " : "", h("a", { href: taskHref(record.run, need) }, need), ` (${this.model.tasks.get(keyOf(record.run, need))?.state ?? "?"})`]).flat()));
		if (claims.length) out.push(h("h3", {}, "Claims"), h("p", { class: "path" }, claims.join(" · ")));
		return out;
	}

	attempts(now) {
		const bars = this.bars;
		if (!bars.length) return h("p", { class: "note" }, "None yet.");
		const rows = bars.map((bar) => {
			const told = this.detail?.attempts?.find((each) => each.attempt === bar.attempt);
			const ending = bar.end === null ? "running" : `${ENDINGS[bar.ending]?.sign ?? ""} ${ENDINGS[bar.ending]?.label ?? bar.ending}`.trim();
			const ran = h("td", {}, duration((bar.end ?? now) - bar.start));
			if (bar.end === null) this.tick = (at) => setText(ran, duration(at - bar.start));
			return h("tr", {}, [`${bar.number}`, bar.host, ending].map((text) => h("td", {}, text)), ran, h("td", {}, bar.detail || told?.detail || ""));
		});
		return h("table", { class: "rows" }, h("tbody", {}, h("tr", {}, ["#", "host", "ending", "ran", "detail"].map((name) => h("th", {}, name))), rows));
	}

	storyList(record) {
		const lines = this.story ?? storyFrom(this.bars, record);
		if (!lines.length) return h("p", { class: "note" }, "Nothing has happened to it yet.");
		return h("ol", { class: "story-list" }, lines.map((line) => h("li", {}, h("time", {}, wallClock(line.at)), line.text)));
	}
}

/** The story without a journal: what the picture knows. */
export function storyFrom(bars, record) {
	const lines = [];
	for (const bar of bars) {
		if (!lines.length) lines.push({ at: bar.queued, text: "became ready" });
		lines.push({ at: bar.start, text: `attempt ${bar.number} started on ${bar.host}` });
		if (bar.end !== null) lines.push({ at: bar.end, text: `attempt ${bar.number} ended: ${ENDINGS[bar.ending]?.label ?? bar.ending}${bar.detail ? `, ${bar.detail}` : ""}` });
	}
	if (record.since && ENDED.has(record.state)) lines.push({ at: record.since, text: [record.state, record.cause].filter(Boolean).join(": ") });
	return lines;
}
