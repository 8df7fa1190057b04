// Who waits for whose files: claims of tasks that run against those of tasks that wait. Data in, data out.
// The rules are those of the scheduler: a path claims what is below it too, and globs that might meet do.

const EDGES_MAX = 2000;
const RESOURCE = /^[A-Za-z][A-Za-z0-9_+.-]+:/;

function split(claim) {
	const at = claim.indexOf(" ");
	const pattern = claim.slice(at + 1);
	return { mode: claim.slice(0, at), pattern, parts: RESOURCE.test(pattern) ? [pattern] : partsOf(pattern) };
}

const isWild = (part) => /[*?[]/.test(part);

function partsOf(pattern) {
	const parts = pattern.split("/").filter((part) => part && part !== ".");
	if (!parts.length) return ["**"];
	return pattern.endsWith("/") || !isWild(parts.at(-1)) ? [...parts, "**"] : parts;
}

/** Whether one path may be named by both. */
export function mayMeet(a, b) {
	if (a === b) return true;
	return !RESOURCE.test(a) && !RESOURCE.test(b) && meet(partsOf(a), partsOf(b), "**", (x, y) => x === y || ((isWild(x) || isWild(y)) && meet([...x], [...y], "*", (p, q) => p === q || "?[".includes(p) || "?[".includes(q))));
}

/** Is there a sequence that both describe, where `many` stands for any number of parts? */
function meet(a, b, many, isSame) {
	let row = [true]; // row[j]: what is left of a meets the last j parts of b
	for (const part of [...b].reverse()) row.push(row.at(-1) && part === many);
	for (const mine of [...a].reverse()) {
		const below = row;
		row = [below[0] && mine === many];
		for (let j = 1; j <= b.length; j++) {
			const theirs = b[b.length - j];
			row.push(mine === many || theirs === many ? below[j] || row[j - 1] : below[j - 1] && isSame(mine, theirs));
		}
	}
	return row.at(-1);
}

/** Two that read, or two that append, do not mind each other. */
const areApart = (a, b) => a.mode === b.mode && a.mode !== "write";

/** Where a claim stops being literal: its path that far, and whether anything wild follows. */
function literalOf({ parts }) {
	const end = parts.findIndex(isWild);
	const path = (end < 0 ? parts : parts.slice(0, end)).join("/");
	return { path, isPlain: end < 0 || (end === parts.length - 1 && parts[end] === "**") };
}

/** Claims that are held, found by path: those at or above a path, those below it, and the wild ones. */
class Held {
	constructor() {
		Object.assign(this, { at: new Map(), below: new Map(), wild: [], all: [] });
	}

	add(held) {
		const { path, isPlain } = literalOf(held);
		this.all.push(held);
		if (!isPlain) {
			this.wild.push(held);
			return;
		}
		put(this.at, path, held);
		for (const above of pathsAbove(path)) put(this.below, above, held);
	}

	near(wanted) {
		const { path, isPlain } = literalOf(wanted);
		if (!isPlain) return this.all;
		return [path, ...pathsAbove(path)].flatMap((each) => this.at.get(each) ?? []).concat(this.below.get(path) ?? [], this.wild);
	}
}

function put(map, key, value) {
	if (map.has(key)) map.get(key).push(value);
	else map.set(key, [value]);
}

function pathsAbove(path) {
	const found = path ? [""] : [];
	for (let at = path.indexOf("/"); at > 0; at = path.indexOf("/", at + 1)) found.push(path.slice(0, at));
	return found;
}

/** [{holder, waiter, claim}]: tasks that run and hold what a ready task claims too. */
export function blocking(tasks) {
	const held = new Held();
	for (const holder of tasks) if (holder.state === "running") for (const claim of holder.claims ?? []) held.add({ ...split(claim), holder });
	const found = [];
	if (!held.all.length) return found;
	for (const waiter of tasks) {
		if (waiter.state !== "ready" || !waiter.claims?.length) continue;
		const holders = new Set();
		for (const wanted of waiter.claims.map(split)) {
			for (const each of held.near(wanted)) {
				if (holders.has(each.holder) || areApart(each, wanted) || !mayMeet(each.pattern, wanted.pattern)) continue;
				holders.add(each.holder);
				found.push({ holder: each.holder, waiter, claim: wanted.pattern });
				if (found.length >= EDGES_MAX) return found;
			}
		}
	}
	return found;
}
