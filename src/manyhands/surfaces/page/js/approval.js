// What a task asks a person, in its pane: the diff of its work with three buttons, or a question with a field for the answer.
import { ask, order, taskPath } from "./commands.js";
import { sides } from "./diff_layout.js";
import { button, h } from "./dom.js";
import { count } from "./words.js";

const ROWS_MAX = 1500;

export class ApprovalBox {
	/** `said(text, isFine)` tells what became of it; `drawn()` draws the pane again. */
	constructor(said, drawn) {
		Object.assign(this, { said, drawn, about: "", found: null, refused: "" });
		this.words = h("textarea", { class: "words", rows: "2", "aria-label": "What you say to the task" });
	}

	/** The elements for what the task asks now; none if it asks nothing. */
	parts(run, task, asks, mayAct, hadWorktree = false) {
		if (!asks && hadWorktree) return this.work(run, task);
		if (!asks) {
			this.about = "";
			return [];
		}
		const about = `${run}/${task}/${asks.commit ?? ""}/${asks.text}`;
		if (about !== this.about) {
			Object.assign(this, { about, found: null, refused: "" });
			this.words.value = "";
			if (asks.kind === "approval") this.load(run, task, about);
		}
		const act = (verb, words = this.words.value) => this.act(run, task, verb, words, asks.commit ?? "");
		return [
			h("h3", { key: "asks" }, asks.kind === "approval" ? "Waits for approval" : asks.kind === "permission" ? "Asks for permission" : "Asks"),
			asks.kind !== "approval" && h("p", { class: "question" }, asks.text),
			mayAct && this.words,
			mayAct && h("div", { class: "group", key: "say" }, asks.kind === "approval" ? verdicts(act) : answers(asks.choices ?? [], act)),
			asks.kind === "approval" && this.diff(),
		];
	}

	/** What an attempt that has ended did, to be read only. */
	work(run, task) {
		const about = `${run}/${task}/work`;
		const show = () => {
			Object.assign(this, { about, found: null, refused: "" });
			this.load(run, task, about);
			this.drawn();
		};
		return [
			h("h3", { key: "work" }, "Work"),
			about === this.about ? this.diff() : h("p", { key: "show work" }, button({ "data-act": "diff", onclick: show }, "show what it changed")),
		];
	}

	async load(run, task, about) {
		try {
			const found = await ask(`${taskPath(run, task)}/diff`);
			if (about === this.about) this.found = { ...found, files: sides(found.diff) };
		} catch (error) {
			if (about === this.about) this.refused = error.message;
		}
		this.drawn();
	}

	async act(run, task, verb, words, commit) {
		try {
			const body = { words: words.trim(), by: "someone on the page" };
			const { done } = await order("POST", `${taskPath(run, task)}/${verb}`, commit ? { ...body, commit } : body);
			this.words.value = "";
			this.said(done, true);
		} catch (error) {
			this.said(error.message);
		}
	}

	diff() {
		if (!this.found) return h("p", { class: "note" }, this.refused || "reading the diff");
		const { check, check_output: printed, files, is_cut: isCut, base, commit } = this.found;
		let left = ROWS_MAX;
		const tables = files.map((file) => {
			const rows = file.rows.slice(0, left);
			left -= rows.length;
			return h("section", { class: "file", key: file.path }, h("h4", {}, file.path), h("div", { class: "diff-sides" }, rows.map(row)));
		});
		const more = isCut || left <= 0;
		return h("div", { class: "diff", key: commit },
			check && h("details", {}, h("summary", {}, `${this.found.state === "failed" ? "Check" : "Check passed"}: ${check}`), h("pre", {}, printed || "it printed nothing")),
			tables,
			more && h("p", { class: "note" }, `${count(ROWS_MAX)} lines are shown; git diff ${base.slice(0, 10)} ${commit.slice(0, 10)} prints all of it`));
	}
}

const verdicts = (act) => [
	button({ key: "approve", "data-verb": "approve", class: "good", onclick: () => act("approve", "") }, "approve"),
	button({ key: "send-back", "data-verb": "send-back", onclick: () => act("send-back") }, "send back with these words"),
	button({ key: "reject", "data-verb": "reject", class: "danger", onclick: () => act("reject") }, "reject"),
];

const answers = (choices, act) => [
	...choices.map((choice) => button({ key: `is ${choice}`, "data-choice": choice, onclick: () => act("answer", choice) }, choice)),
	button({ key: "answer", "data-verb": "answer", onclick: () => act("answer") }, "answer with these words"),
];

function row({ hunk, left, right }) {
	if (hunk) return h("div", { class: "hunk" }, hunk);
	const isSame = left && right && !left.kind && !right.kind;
	const cell = (side, name) => h("span", { class: `diff-side ${name} ${side ? side.kind && `is-${side.kind}` : "is-none"}`, "data-n": side ? String(side.n) : "" }, side?.text ?? "");
	return h("div", { class: isSame ? "diff-row is-same" : "diff-row" }, cell(left, "was-side"), cell(right, "now-side"));
}
