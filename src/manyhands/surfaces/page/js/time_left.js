// How long what is shown will still take, as a range: from what its kinds usually take and how many run at once.
import { ENDED, criticalPath, usualTimes } from "./critical_path.js";
import { isMine, keyOf, mineInFlight } from "./model.js";
import { duration } from "./words.js";

/** {from, to, chain} in seconds: all as usual, or all slow; no less than the longest chain of needs. null if nothing runs, or a kind is new. */
export function timeLeft(model, now) {
	const running = mineInFlight(model);
	if (!running.length || model.tasks.size < model.tasksTotal) return null;
	const usual = usualTimes(model);
	const began = new Map(running.map((bar) => [keyOf(bar.run, bar.task), bar.start]));
	const byRun = new Map(); // what is still to be done
	let from = 0;
	let to = 0;
	// One that takes longer than usual counts as nearly finished.
	const left = (task, which) => Math.max(0, usual.get(task.kind)[which] - (now - (began.get(keyOf(task.run, task.task)) ?? now)));
	for (const task of model.tasks.values()) {
		if (ENDED.has(task.state) || task.state === "deferred" || task.state === "needs_person" || !isMine(model, task)) continue;
		if (!usual.has(task.kind)) return null;
		from += left(task, 0);
		to += left(task, 1);
		if (!byRun.has(task.run)) byRun.set(task.run, []);
		byRun.get(task.run).push(task);
	}
	const chain = longest(byRun, (task) => left(task, 0));
	const slow = chain.tasks.reduce((sum, task) => sum + left(task, 1), 0);
	from = Math.max(from / running.length, chain.seconds);
	return { from, to: Math.max(from, to / running.length, slow), chain };
}

/** The longest chain of any run. */
function longest(byRun, secondsOf) {
	let found = { run: "", seconds: 0, path: [], tasks: [] };
	for (const [run, tasks] of byRun) {
		const { seconds, path } = criticalPath(tasks, secondsOf);
		const on = new Set(path);
		if (seconds > found.seconds) found = { run, seconds, path, tasks: tasks.filter((task) => on.has(task.task)) };
	}
	return found;
}

export function timeLeftText(left) {
	if (!left) return "";
	const [from, to] = [duration(left.from), duration(left.to)];
	return from === to ? `about ${from} left` : `${from} to ${to} left`;
}
