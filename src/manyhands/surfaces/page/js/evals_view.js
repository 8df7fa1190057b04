// An eval while it runs: scores by case and arm as they come, the intervals of the lifts, and transcripts side by side.
import { ask, taskPath } from "./commands.js";
import { button, h, renew, setText, svg, taskHref } from "./dom.js";
import { armMean, evalCells, narrowing } from "./eval_table.js";
import { count, plainText, plural } from "./words.js";

const AGAIN_MS = 3000;
const [W, H] = [260, 64];
const shown = (score) => (score === null ? "–" : Number(score.toPrecision(3)).toString());

/** The lift upwards, the trials that were scored to the right. */
function axes({ least, most, last, zero }) {
	const label = (x, y, text, anchor = "end") => svg("text", { x, y, "text-anchor": anchor }, text);
	const ends = [[most, 3], [least, H - 3]].filter(([value, y]) => value !== 0 && Math.abs(y - zero) > 9);
	return [
		svg("path", { d: `M0 0V${H}H${W}`, fill: "none", stroke: "var(--line)" }),
		...ends.map(([value, y]) => label(-5, y + 3, shown(value))), label(-5, Number(zero) + 3, "0"),
		label(0, H + 14, "0", "start"), label(W, H + 14, plural(last, "trial") + " scored"),
	];
}

export class EvalsView {
	constructor(elements, isServed) {
		Object.assign(this, { ...elements, isServed, askedAt: -AGAIN_MS, eval: "", scorer: "", picked: null, texts: new Map() });
		this.select.addEventListener("change", () => this.choose({ eval: this.select.value, scorer: "", picked: null }));
		this.scorers.addEventListener("change", () => this.choose({ scorer: this.scorers.value }));
	}

	choose(wanted) {
		Object.assign(this, wanted, { askedAt: -AGAIN_MS, refusedAt: null });
		this.update(this.model);
	}

	update(model) {
		this.model = model;
		const at = performance.now();
		const isStill = this.found?.is_over && this.found.eval === (this.eval || this.found.eval) && this.seq === model.seq;
		// Without an eval there is nothing to ask for until something new is run.
		if (this.refusedAt === model.runs.size) return;
		if (!this.isAsking && at > this.askedAt + AGAIN_MS && !isStill) this.load(at);
		if (this.found) this.show();
	}

	async load(at) {
		Object.assign(this, { askedAt: at, isAsking: true, seq: this.model.seq });
		try {
			if (!this.isServed()) throw new Error("A recording does not keep scores.");
			this.found = await ask(`/api/v1/eval${this.eval ? `?eval=${encodeURIComponent(this.eval)}` : ""}`);
			this.refusedAt = null;
			setText(this.note, "");
			this.show();
		} catch (error) {
			if (error.status === 404) this.refusedAt = this.model.runs.size;
			setText(this.note, error.message);
		} finally {
			this.isAsking = false;
		}
	}

	show() {
		const { found } = this;
		const scorer = found.scorers.includes(this.scorer) ? this.scorer : found.scorers[0];
		for (const [select, names, chosen] of [[this.select, [...found.evals].reverse(), found.eval], [this.scorers, found.scorers, scorer]]) {
			renew(select, names.map((name) => h("option", { key: name, value: name }, name)));
			if (document.activeElement !== select) select.value = chosen;
		}
		const scored = found.trials.filter((trial) => trial.scores[scorer] != null).length;
		setText(this.about, `${count(scored)} of ${plural(found.trials.length, "trial")} scored${found.is_over ? " · it has ended" : ""}`);
		this.showTable(scorer);
		renew(this.lifts, found.lifts.filter((lift) => lift.scorer === scorer).map((lift) => this.lift(lift)));
		this.showTranscripts();
	}

	showTable(scorer) {
		const { found } = this;
		const cells = evalCells(found, scorer);
		const cell = (name, arm) => {
			const { mean, scored, planned } = cells.get(name).get(arm);
			return h("td", { key: arm, class: "num" }, h("b", {}, shown(mean)), h("small", { class: "quiet" }, ` ${scored}/${planned}`));
		};
		renew(this.table, h("table", { class: "rows" }, h("tbody", {},
			h("tr", { key: "" }, h("th", { scope: "col" }, "case"), found.arms.map((arm) => h("th", { scope: "col", key: arm, class: "num" }, arm === found.baseline ? `${arm} (baseline)` : arm))),
			found.cases.map((name) => h("tr", { key: `case ${name}` },
				h("th", { scope: "row" }, button({ class: "plain name", "aria-pressed": String(this.picked === name), title: `Transcripts of ${name}`, onclick: () => this.pick(name) }, name)),
				found.arms.map((arm) => cell(name, arm)))),
			h("tr", { key: "mean" }, h("th", { scope: "row" }, "mean"), found.arms.map((arm) => h("td", { key: arm, class: "num" }, h("b", {}, shown(armMean(found, arm, scorer)))))))));
	}

	/** How far an arm is from the baseline, and how certain that has become. */
	lift({ arm, baseline, points }) {
		const last = points.at(-1);
		const drawn = narrowing(points, W, H);
		const told = !last ? "no pair has been scored yet" : `${shown(last.mean)}${last.low === null ? ", no interval yet" : `, from ${shown(last.low)} to ${shown(last.high)} (95 %)`}`;
		return h("figure", { key: arm, class: "chart" }, h("figcaption", {}, h("b", {}, `${arm} against ${baseline}`), h("span", { class: "quiet" }, told)),
			drawn && svg("svg", { viewBox: `-44 -7 ${W + 50} ${H + 26}`, width: W + 50, height: H + 26, class: "axes", role: "img", "aria-label": `The interval of ${arm} over ${last.scored} scored trials: ${told}` },
				...axes(drawn),
				svg("path", { d: `M0 ${drawn.zero}H${W}`, stroke: "var(--faint)", "stroke-dasharray": "3 3" }),
				svg("path", { d: drawn.band, fill: "var(--accent)", "fill-opacity": ".18" }),
				svg("path", { d: drawn.line, fill: "none", stroke: "var(--accent)", "stroke-width": "1.8" })));
	}

	pick(name) {
		this.picked = this.picked === name ? null : name;
		this.show();
	}

	/** What every arm printed for the case, in its first replication. */
	showTranscripts() {
		const trials = this.picked ? this.found.trials.filter((trial) => trial.case === this.picked && trial.replication === 1) : [];
		this.transcripts.hidden = !trials.length;
		for (const trial of trials) this.read(trial);
		renew(this.transcripts, trials.map((trial) => h("div", { key: trial.run }, h("h3", {}, h("a", { href: taskHref(trial.run, "s1") }, `${trial.arm} · ${trial.case}`)), h("pre", { tabIndex: 0, "aria-label": `What ${trial.arm} printed` }, this.texts.get(trial.run)?.text ?? "nothing yet"))));
	}

	/** Again while it has no score; then it stays as it is. */
	async read(trial) {
		const known = this.texts.get(trial.run);
		const isOver = trial.state !== "missing";
		if (known?.isWhole || known?.isAsking) return;
		this.texts.set(trial.run, { ...known, isAsking: true });
		let text = known?.text;
		try {
			text = plainText((await ask(`${taskPath(trial.run, "s1")}/output`)).text) || text;
		} catch {
			// It has not begun, or printed nothing.
		}
		this.texts.set(trial.run, { text, isWhole: isOver });
	}
}
