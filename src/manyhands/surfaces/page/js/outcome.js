// How a run came out: the verdict, what it took, and what did not succeed, grouped by cause. Data in, data out.
import { TASKS_MAX } from "./bulk.js";
import { criticalPath, tookSoFar } from "./critical_path.js";
import { count } from "./words.js";

const isOpen = (run) => run.ended_at == null;
const hasFailed = (run) => run.counts?.failed > 0;

/** The runs that belong to now: the one shown, or else the newest, all that are open, and what ended beside these. */
function runsAtOnce(model) {
	if (model.scope) return [model.runs.get(model.scope)].filter(Boolean);
	const runs = [...model.runs.values()];
	const since = runs.at(-1)?.opened_at;
	return runs.filter((run) => isOpen(run) || run.ended_at > since || run === runs.at(-1));
}

/** The run that the page is about: the newest of those that are open and fail, or else the newest that has something to say. */
export function mainRun(model) {
	const runs = runsAtOnce(model);
	const newest = runs.at(-1) ?? null;
	return runs.findLast((run) => isOpen(run) && hasFailed(run)) ?? (newest && isOpen(newest) ? runs.findLast(hasFailed) ?? newest : newest);
}

/** The other runs in which something has failed, the newest first. */
export function othersFailed(model) {
	const main = mainRun(model);
	return runsAtOnce(model).filter((run) => run !== main && hasFailed(run)).reverse();
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
	const bars = [...model.bars.values()].filter((bar) => bar.run === run.run);
	const spent = sum(bars.map((bar) => Math.max(0, (bar.end ?? now) - bar.start))); // what is in flight counts as far as it has come
	const tookS = (run.ended_at ?? now) - run.opened_at;
	return {
		run, isOver, bad, counts, tookS,
		alone: spent,
		...(isOver ? idealOf(model, tasks, spent, run, now) : { chain: null, ideal: null }),
		isPartial: bars.length < model.barsTotal && model.barsKnownFrom > run.opened_at,
		cost: bars.some((bar) => bar.cost != null) ? sum(bars.map((bar) => bar.cost ?? 0)) : null,
		tokens: sum(bars.map((bar) => bar.tokens)),
		failures: groups(tasks.filter((task) => task.state === "failed")),
		skipped: becauseOf(tasks),
		cancelled: groups(tasks.filter((task) => task.state === "cancelled")),
		others: othersFailed(model).map((other) => ({ run: other, isOver: !isOpen(other), counts: other.counts })),
	};
}

/** `chain`: the longest chain of needs, with what each task took. `ideal`: no less than that, and all of it without a gap as wide as it ever was. */
function idealOf(model, tasks, spent, run, now) {
	const took = tookSoFar(model, run.run, now);
	const chain = criticalPath(tasks, (task) => took.get(task.task) ?? 0).seconds;
	return { chain, ideal: Math.max(chain, spent / Math.max(1, run.peak ?? 1)) };
}

/** What was skipped, grouped by the tasks that it needs and that did not end well. */
function becauseOf(tasks) {
	const byName = new Map(tasks.map((task) => [task.task, task]));
	const roots = new Map();
	const rootOf = (task, depth = 0) => {
		if (roots.has(task.task)) return roots.get(task.task);
		roots.set(task.task, null); // a ring of needs ends here
		const bad = (task.needs ?? []).map((need) => byName.get(need)).find((need) => need && need.state !== "done");
		const root = !bad ? null : bad.state === "skipped" && depth < 2000 ? rootOf(bad, depth + 1) ?? bad : bad;
		roots.set(task.task, root);
		return root;
	};
	const found = new Map();
	for (const task of tasks) {
		if (task.state !== "skipped") continue;
		const root = rootOf(task);
		const key = root ? `root ${root.task}` : task.cause;
		if (!found.has(key)) found.set(key, { key, cause: root ? `because ${root.task} ${SAID[root.state] ?? `is ${root.state}`}` : task.cause || "no cause was recorded", tasks: [] });
		found.get(key).tasks.push(task);
	}
	return [...found.values()].sort((a, b) => b.tasks.length - a.tasks.length);
}

const SAID = { failed: "failed", cancelled: "was cancelled", skipped: "was skipped" };

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

/** In a few words, for the title of the page. */
export function verdict({ run, isOver, counts }) {
	const failed = counts.failed ?? 0;
	if (!isOver) return `${count(failed)} failed so far`;
	if (failed) return `${count(failed)} of ${count(run.total)} failed`;
	const rest = (counts.cancelled ?? 0) + (counts.skipped ?? 0);
	return rest ? `${count(rest)} of ${count(run.total)} were cancelled or skipped` : "all done";
}
