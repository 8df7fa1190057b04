// The longest chain of needs: what a run has to take, however wide it is. Data in, data out.

export const ENDED = new Set(["done", "failed", "cancelled", "skipped"]);

/** {seconds, path}: the chain that takes longest, from its first task to its last; `secondsOf(task)` says how long one takes. */
export function criticalPath(tasks, secondsOf) {
	const byName = new Map(tasks.map((task) => [task.task, task]));
	const known = new Map(); // name → {seconds, before}: the longest chain that ends with it, and the need on that chain
	const begun = new Set();
	let last = null;
	for (const { task } of tasks) {
		const stack = [task]; // without recursion: a chain may be as long as the plan
		while (stack.length) {
			const at = stack.at(-1);
			const needs = byName.get(at).needs ?? [];
			const open = begun.has(at) ? [] : needs.filter((need) => byName.has(need) && !begun.has(need));
			begun.add(at);
			if (open.length) {
				stack.push(...open);
				continue;
			}
			stack.pop();
			if (known.has(at)) continue;
			let before = null;
			for (const need of needs) if (known.has(need) && !(known.get(need).seconds <= known.get(before)?.seconds)) before = need;
			known.set(at, { seconds: secondsOf(byName.get(at)) + (before === null ? 0 : known.get(before).seconds), before });
			if (last === null || known.get(at).seconds > known.get(last).seconds) last = at;
		}
	}
	const path = [];
	for (let at = last; at !== null; at = known.get(at).before) path.unshift(at);
	return { seconds: last === null ? 0 : known.get(last).seconds, path };
}

/** kind → [usual seconds, seconds within which nine of ten are done], as the hosts have learned them. */
export function usualTimes(model) {
	const found = new Map();
	for (const host of model.hosts.values()) {
		for (const { kind, usual_s, p90_s } of host.lanes ?? []) {
			if (usual_s == null) continue;
			const [usual, slow] = found.get(kind) ?? [0, 0];
			found.set(kind, [Math.max(usual, usual_s), Math.max(slow, p90_s ?? usual_s)]);
		}
	}
	return found;
}

/** task → how long its attempts in this run have taken so far. */
export function tookSoFar(model, run, now) {
	const took = new Map();
	for (const bar of model.bars.values()) if (bar.run === run) took.set(bar.task, (took.get(bar.task) ?? 0) + Math.max(0, (bar.end ?? now) - bar.start));
	return took;
}

/** How long each task of a run takes: what it took, or as long as its kind usually does. A kind that is new counts as the mean of the others. */
export function wholeTimes(model, run, now) {
	const took = tookSoFar(model, run, now);
	const usual = usualTimes(model);
	let sum = 0;
	for (const [usually] of usual.values()) sum += usually;
	const guess = usual.size ? sum / usual.size : 1;
	return (task) => {
		const spent = took.get(task.task) ?? 0;
		return ENDED.has(task.state) ? spent : Math.max(spent, usual.get(task.kind)?.[0] ?? guess);
	};
}
