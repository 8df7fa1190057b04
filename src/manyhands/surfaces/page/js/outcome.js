// How a run came out: the verdict, what it took, and what did not succeed, grouped by cause. Data in, data out.
import { TASKS_MAX } from "./bulk.js";
import { count } from "./words.js";

/** The run that the page is about: the one shown, or else the newest. */
export function mainRun(model) {
	return model.runs.get(model.scope) ?? [...model.runs.values()].at(-1) ?? null;
}

/** null while there is nothing to say: it runs, and nothing has failed. */
export function outcomeOf(model, now) {
	const run = mainRun(model);
	if (!run) return null;
	const counts = run.counts ?? {};
	const bad = (counts.failed ?? 0) + (counts.cancelled ?? 0) + (counts.skipped ?? 0);
	const isOver = run.ended_at != null && run.total > 0;
	if (!isOver && !counts.failed) return null;
	const tasks = [...model.tasks.values()].filter((task) => task.run === run.run);
	const bars = [...model.bars.values()].filter((bar) => bar.run === run.run && bar.end !== null);
	const tookS = (run.ended_at ?? now) - run.opened_at;
	return {
		run, isOver, bad, counts, tookS,
		alone: sum(bars.map((bar) => bar.end - bar.start)),
		chain: isOver ? longestChain(tasks, bars) : null,
		isPartial: bars.length < model.barsTotal && model.barsKnownFrom > run.opened_at,
		cost: bars.some((bar) => bar.cost != null) ? sum(bars.map((bar) => bar.cost ?? 0)) : null,
		tokens: sum(bars.map((bar) => bar.tokens)),
		failures: groups(tasks.filter((task) => task.state === "failed")),
		skipped: groups(tasks.filter((task) => task.state === "skipped")),
		cancelled: groups(tasks.filter((task) => task.state === "cancelled")),
	};
}

const sum = (numbers) => numbers.reduce((total, each) => total + each, 0);

/** Tasks whose causes differ only in numbers are one group; the largest group comes first. */
export function groups(tasks) {
	const found = new Map();
	for (const task of tasks) {
		const cause = task.cause || "no cause was recorded";
		const key = cause.replace(/\d+/g, "#");
		if (!found.has(key)) found.set(key, { key, cause, tasks: [] });
		found.get(key).tasks.push(task);
	}
	return [...found.values()].sort((a, b) => b.tasks.length - a.tasks.length || (a.key < b.key ? -1 : 1));
}

export const retried = (group) => group.tasks.slice(0, TASKS_MAX);

/** How long the run had to take, however wide: the longest chain of needs, with what each task took. */
export function longestChain(tasks, bars) {
	const took = new Map();
	for (const bar of bars) took.set(bar.task, (took.get(bar.task) ?? 0) + bar.end - bar.start);
	const needs = new Map(tasks.map((task) => [task.task, task.needs ?? []]));
	const known = new Map();
	const begun = new Set();
	for (const { task } of tasks) {
		const stack = [task]; // without recursion: a chain may be as long as the plan
		while (stack.length) {
			const at = stack.at(-1);
			const open = begun.has(at) ? [] : needs.get(at).filter((need) => needs.has(need) && !begun.has(need));
			begun.add(at);
			if (open.length) stack.push(...open);
			else if (!known.has(stack.pop())) known.set(at, (took.get(at) ?? 0) + Math.max(0, ...needs.get(at).map((need) => known.get(need) ?? 0)));
		}
	}
	return Math.max(0, ...known.values());
}

/** In a few words, for the title of the page. */
export function verdict({ run, isOver, counts }) {
	const failed = counts.failed ?? 0;
	if (!isOver) return `${count(failed)} failed so far`;
	if (failed) return `${count(failed)} of ${count(run.total)} failed`;
	const rest = (counts.cancelled ?? 0) + (counts.skipped ?? 0);
	return rest ? `${count(rest)} of ${count(run.total)} were cancelled or skipped` : "all done";
}
