// How long what is shown will still take, as a range: from what its kinds usually take and how many run at once.
import { isMine, mineInFlight } from "./model.js";
import { duration } from "./words.js";

const ENDED = new Set(["done", "failed", "cancelled", "skipped"]);

/** kind → [usual seconds, seconds within which nine of ten are done], as the hosts have learned them. */
function usualTimes(model) {
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

/** {from, to} in seconds: all as usual, or all slow. null if nothing runs, or a kind is new. */
export function timeLeft(model, now) {
	const running = mineInFlight(model);
	if (!running.length || model.tasks.size < model.tasksTotal) return null;
	const usual = usualTimes(model);
	let from = 0;
	let to = 0;
	for (const task of model.tasks.values()) {
		if (ENDED.has(task.state) || task.state === "deferred" || !isMine(model, task)) continue;
		const times = usual.get(task.kind);
		if (!times) return null;
		from += times[0];
		to += times[1];
	}
	for (const bar of running) {
		// One that takes longer than usual counts as nearly finished.
		const [usually, slowly] = usual.get(bar.kind) ?? [0, 0];
		from -= Math.min(now - bar.start, usually);
		to -= Math.min(now - bar.start, slowly);
	}
	return { from: Math.max(0, from) / running.length, to: Math.max(0, from, to) / running.length };
}

export function timeLeftText(left) {
	if (!left) return "";
	const [from, to] = [duration(left.from), duration(left.to)];
	return from === to ? `about ${from} left` : `${from} to ${to} left`;
}
