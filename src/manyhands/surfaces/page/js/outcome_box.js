// The outcome on the page: verdict, times, failures by cause with a retry for each, and what to do next.
import { howMany, orderEach } from "./bulk.js";
import { button, h, renew, taskHref } from "./dom.js";
import { mainRun, othersFailed, outcomeOf, retried, verdict } from "./outcome.js";
import { count, duration, money, plural, short } from "./words.js";

const NAMED_MAX = 4;
const OTHERS_MAX = 6;

export class OutcomeBox {
	/** `open(task)` opens a task, `pick(filter)` filters by a text, `choose(run)` shows a run. */
	constructor(element, open, pick, choose) {
		Object.assign(this, { element, open, pick, choose, said: "", outcome: null });
	}

	update(model, now, isServed) {
		// A run that has ended stays as it is; the times of one that runs grow.
		const run = mainRun(model);
		const told = run && [run, ...othersFailed(model)].map(({ run: name, ended_at, total, counts }) => [name, ended_at, total, counts?.failed, counts?.cancelled, counts?.skipped]).join();
		const isSame = this.model === model && this.told === told && this.outcome?.isOver;
		if (!isSame) Object.assign(this, { model, told, outcome: outcomeOf(model, now) });
		const { outcome } = this;
		this.element.hidden = !outcome;
		if (!outcome) return;
		this.element.dataset.state = outcome.counts.failed || outcome.others.length ? "failed" : outcome.bad ? "skipped" : "done";
		const mayAct = isServed && model.command;
		renew(this.element,
			h("h2", {}, `${outcome.run.run}: ${verdict(outcome)}`),
			h("p", { class: "figures-line" }, figures(outcome).join(" · ")),
			this.others(outcome.others),
			this.list("failed", "Failed", outcome.failures, mayAct),
			this.list("skipped", "Skipped", outcome.skipped, mayAct),
			this.list("cancelled", "Cancelled", outcome.cancelled, mayAct),
			outcome.isOver && h("p", { class: "next", key: "next" }, nextStep(outcome), reviewLink(outcome.run, isServed)),
			h("p", { class: "said is-fine", key: "said", role: "status" }, this.said));
	}

	/** A line for each other run in which something has failed. */
	others(runs) {
		if (!runs.length) return null;
		return h("ul", { key: "others", "aria-label": "Other runs with failures" },
			runs.slice(0, OTHERS_MAX).map((other) => h("li", { key: other.run.run }, button({ class: "plain name", onclick: () => this.choose(other.run.run) }, other.run.run), `: ${verdict(other)}`)),
			runs.length > OTHERS_MAX && h("li", { key: "more" }, `and ${plural(runs.length - OTHERS_MAX, "more run")} with failures`));
	}

	list(state, title, groups, mayAct) {
		if (!groups.length) return null;
		return h("div", { key: state, class: "groups" },
			h("h3", {}, button({ class: "plain", onclick: () => this.pick(`state:${state}`) }, title)),
			h("ul", {}, groups.slice(0, 8).map((group) => this.group(group, mayAct)),
				groups.length > 8 && h("li", { key: "more" }, `and ${plural(groups.length - 8, "more cause")}`)));
	}

	group(group, mayAct) {
		const named = group.tasks.slice(0, NAMED_MAX);
		const rest = group.tasks.length - named.length;
		return h("li", { key: group.key },
			h("b", {}, `${count(group.tasks.length)} × `), h("span", { class: "cause" }, group.cause), " ",
			named.map((task) => [h("a", { key: task.task, href: taskHref(task.run, task.task), onclick: (event) => (event.preventDefault(), this.open(task)) }, task.task), " "]),
			rest > 0 && `and ${count(rest)} more `,
			mayAct && button({ class: "small", onclick: () => this.retry(group) }, group.tasks.length > 1 ? howMany(retried(group).length < group.tasks.length ? "retry" : "retry these", group.tasks.length) : "retry it"));
	}

	retry(group) {
		return orderEach("retry", retried(group), (said) => (this.said = said), group.tasks.length);
	}
}

function figures({ isOver, tookS, alone, chain, ideal, cost, tokens, isPartial }) {
	const told = [`${isOver ? "took" : "has run for"} ${duration(tookS)}`];
	const soFar = isOver ? "" : " so far";
	if (alone > 0 && tookS > 0 && !isPartial) told.push(`one at a time ${duration(alone)}${soFar} (${(alone / tookS).toFixed(1)} × as long)`);
	if (ideal && tookS > 0 && !isPartial) told.push(`ideal ${duration(ideal)} (took ${(tookS / ideal).toFixed(2)} ×)`);
	if (chain) told.push(`longest chain of needs ${duration(chain)}`);
	if (cost !== null) told.push(`cost ${money(cost)}${soFar}`);
	if (tokens) told.push(`${short(tokens)} tokens${soFar}`);
	return told;
}

const reviewLink = ({ run }, isServed) => (isServed ? [" ", h("a", { href: `/api/v1/runs/${encodeURIComponent(run)}/review.html`, target: "_blank", rel: "noopener" }, "Read the review")] : []);

function nextStep({ run, failures, skipped, cancelled }) {
	const review = `\`manyhands review ${run.run}\` tells what happened.`;
	if (failures.length) {
		const waits = skipped.length ? " What was skipped runs once that has succeeded and is retried too." : "";
		return `Next: open a task that failed and read its output, fix the cause, then retry its group.${waits} ${review}`;
	}
	if (skipped.length || cancelled.length) return `Next: retry what should run after all. ${review}`;
	return `Nothing is left to do. ${review}`;
}
