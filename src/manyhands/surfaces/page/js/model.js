// The picture of all runs, made of a snapshot and the changes after it. Nothing here looks at a clock or a screen:
// live streams, recordings and exported files all come through `apply`.
import { Steps, openCount } from "./steps.js";

export const keyOf = (run, task) => run + "\n" + task;

export function emptyModel() {
	return {
		seq: 0,
		at: 0,
		startedAt: Infinity, // the earliest anything is known of
		version: "",
		scope: "", // the run that is shown; "": all of them
		command: false,
		takesCommands: true,
		dispatching: true,
		runs: new Map(),
		hosts: new Map(),
		tasks: new Map(),
		tasksTotal: 0,
		planned: 0, // grows when a task comes or its needs change
		bars: new Map(),
		barsTotal: 0,
		barsKnownFrom: -Infinity, // earlier attempts are not in the snapshot
		widthKnownFrom: -Infinity, // earlier widths are unknown
		idleKnownFrom: -Infinity, // earlier nobody looked why slots were free
		rows: new Map(), // host → one array of bars per slot, each in order of start
		laneRows: null, // host \n kind → the same, by lane; made when first asked for
		inFlight: new Map(), // attempt → bar
		widths: [],
		widthsTotal: 0,
		idle: [],
		idleSpans: new Map(), // host → [{from, to, free, cause, detail}], the last one open (to: null)
		claims: [],
		gauges: new Map(), // host → what its probe read, in order of time
		waiting: { oldest_s: 0, ready: 0, at: 0 },
		tokens: 0,
		cost: null, // null: unknown
		kinds: [], // in the order in which the store first had them: a kind keeps its colour
		series: newSeries(),
		isFresh: true, // attempts came or went since anyone looked
	};
}

function newSeries() {
	return {
		width: new Steps(),
		widthOf: new Map(), // host → Steps
		ceiling: new Steps(),
		inFlight: new Map(), // kind → Steps
		others: new Steps(), // slots that other runs use
		blocked: new Map(), // cause → Steps: free slots and what keeps them free
		done: new Steps(),
		since: new Steps(), // when the one that waits longest began to; 0: none waits
		tokens: new Steps(),
		cost: new Steps(),
	};
}

export const isMine = (model, { run }) => !model.scope || run === model.scope;

export const runsOf = (model) => [...model.runs.values()].filter((run) => isMine(model, run));

export function fromSnapshot(snapshot, scope = "") {
	const model = emptyModel();
	model.scope = scope;
	model.idleKnownFrom = snapshot.looks_from ?? -Infinity;
	model.seq = snapshot.seq;
	model.at = snapshot.at;
	model.version = snapshot.version ?? "";
	model.command = Boolean(snapshot.command);
	model.takesCommands = snapshot.takes_commands ?? false;
	model.dispatching = snapshot.dispatching ?? true;
	for (const run of snapshot.runs ?? []) setRun(model, run);
	for (const kind of snapshot.kinds ?? []) seeKind(model, kind);
	readTasks(model, snapshot.tasks ?? {});
	readBars(model, snapshot.bars ?? {});
	readWidths(model, snapshot);
	readIdle(model, snapshot.idle_past ?? []);
	setIdle(model, snapshot.idle ?? []);
	model.claims = snapshot.claims ?? [];
	for (const row of snapshot.gauges ?? []) addGauge(model, row);
	for (const [attempt, line] of Object.entries(snapshot.lines ?? {})) apply(model, { t: "output", attempt: Number(attempt), line });
	for (const past of snapshot.waiting_past ?? []) setWaiting(model, past, past.at);
	setWaiting(model, snapshot.waiting ?? { oldest_s: 0, ready: 0 });
	return model;
}

export function applyFrame(model, { seq, at, changes }) {
	model.at = Math.max(model.at, at);
	for (const change of changes) apply(model, change);
	model.seq = seq;
}

const APPLY = {
	run: setRun,
	counts(model, change) {
		const run = model.runs.get(change.run);
		if (run) Object.assign(run, { counts: change.counts, total: change.total, peak: change.peak });
	},
	task: setTask,
	host: setHost,
	start: startBar,
	end: endBar,
	width: addMove,
	gauge: addGauge,
	idle: (model, change) => setIdle(model, change.idle),
	claims(model, change) {
		model.claims = change.claims;
	},
	output(model, change) {
		const bar = model.bars.get(change.attempt);
		if (bar) bar.line = change.line;
	},
	live(model, change) {
		const bar = model.bars.get(change.attempt);
		if (bar) bar.live = change;
	},
	dispatching(model, change) {
		model.dispatching = change.on;
	},
	waiting: setWaiting,
	gone: drop,
};

export function apply(model, change) {
	const how = APPLY[change.t];
	if (how) how(model, change); // a newer server may say more than this page knows
}

function seeKind(model, kind) {
	if (kind != null && !model.kinds.includes(kind)) model.kinds.push(kind);
}

function setRun(model, run) {
	const { t: _, ...fields } = run;
	model.runs.set(run.run, { ...model.runs.get(run.run), ...fields });
	model.startedAt = Math.min(model.startedAt, run.opened_at);
}

function drop(model, { run, host }) {
	if (host) {
		model.hosts.delete(host);
		recordWidth(model, host, model.at, 0);
		return;
	}
	model.runs.delete(run);
	for (const [key, task] of model.tasks) if (task.run === run) model.tasks.delete(key);
}

function setTask(model, change) {
	const key = keyOf(change.run, change.task);
	const known = model.tasks.get(key);
	if (!known || change.needs) model.planned++;
	if (known) Object.assign(known, change);
	else {
		model.tasks.set(key, { host: "", tries: 0, ...change });
		model.tasksTotal++;
		seeKind(model, change.kind);
	}
}

function setHost(model, change) {
	const { t: _, ...fields } = change;
	const known = model.hosts.get(change.host);
	model.hosts.set(change.host, { ...known, ...fields });
	recordWidth(model, change.host, known ? model.at : Math.min(model.startedAt, model.at), change.width);
	recordCeiling(model);
}

function recordWidth(model, host, at, width) {
	const { widthOf, width: total } = model.series;
	let steps = widthOf.get(host);
	if (!steps) widthOf.set(host, (steps = new Steps()));
	const before = steps.last;
	steps.push(at, width);
	if (width !== before) total.add(at, width - before);
}

function recordCeiling(model, at = model.at) {
	let most = 0;
	for (const host of model.hosts.values()) most += Math.max(host.width, host.ceiling ?? host.pinned ?? 1 / 0);
	most = Math.min(most, model.waiting.ceiling ?? most);
	if (most && most < 1 / 0) model.series.ceiling.push(at, most);
}

function addMove(model, { at, host, kind, was, width, reason }) {
	model.widths.push({ at, host, kind, was, width, reason });
	model.widthsTotal++;
	if (!kind) {
		recordWidth(model, host, at, width);
		const known = model.hosts.get(host);
		if (known) Object.assign(known, { width, why: reason });
	}
}

function addGauge(model, { t: _, ...row }) {
	groupOf(model.gauges, row.host).push(row);
}

function startBar(model, change) {
	const bar = barOf(change, change.at);
	place(model, bar);
	model.barsTotal++;
	busySteps(model, bar).add(bar.start, 1);
	model.isFresh = true;
}

const busySteps = (model, bar) => (isMine(model, bar) ? seriesOf(model.series.inFlight, bar.kind) : model.series.others);

function barOf({ attempt, run, task, kind, host, slot, queued_at, number, of, claims }, start, end = null, ending = "") {
	const queued = queued_at ?? start;
	return { tokens: 0, cost: null, attempt, run, task, kind, host, slot, queued, start, end, ending, number: number ?? 1, of: of ?? 1, claims: claims ?? [], overload: "", line: "", detail: "" };
}

function place(model, bar) {
	seeKind(model, bar.kind);
	model.bars.set(bar.attempt, bar);
	if (bar.end === null) model.inFlight.set(bar.attempt, bar);
	const rows = groupOf(model.rows, bar.host);
	bar.slot = bar.slot ?? firstFree(rows, bar.start);
	rowOf(rows, bar.slot).push(bar);
	if (model.laneRows) placeInLane(model, bar);
	const task = model.tasks.get(keyOf(bar.run, bar.task));
	if (task) {
		task.host = bar.host;
		task.tries = bar.number;
		task.attempt = bar.attempt;
	}
}

function placeInLane(model, bar) {
	const lane = groupOf(model.laneRows, bar.host + "\n" + bar.kind);
	bar.laneSlot = firstFree(lane, bar.start);
	rowOf(lane, bar.laneSlot).push(bar);
}

export function laneRowsOf(model) {
	if (!model.laneRows) {
		model.laneRows = new Map();
		for (const bar of model.bars.values()) placeInLane(model, bar); // in order of start
	}
	return model.laneRows;
}

function groupOf(map, key) {
	let rows = map.get(key);
	if (!rows) map.set(key, (rows = []));
	return rows;
}

function rowOf(rows, slot) {
	while (rows.length <= slot) rows.push([]);
	return rows[slot];
}

function firstFree(rows, at) {
	const free = rows.findIndex((row) => {
		const last = row[row.length - 1];
		return !last || (last.end !== null && last.end <= at);
	});
	return free < 0 ? rows.length : free;
}

function endBar(model, change) {
	const bar = model.bars.get(change.attempt);
	if (!bar || bar.end !== null) return;
	bar.end = change.at;
	bar.ending = change.ending;
	bar.overload = change.overload ?? "";
	bar.detail = change.detail ?? "";
	model.inFlight.delete(bar.attempt);
	bar.tokens = (change.tokens_in ?? 0) + (change.tokens_out ?? 0);
	bar.cost = change.cost ?? null;
	busySteps(model, bar).add(change.at, -1);
	model.isFresh = true;
	if (isMine(model, bar)) countEnd(model, bar);
}

function seriesOf(map, key) {
	let steps = map.get(key);
	if (!steps) map.set(key, (steps = new Steps()));
	return steps;
}

/** With a run chosen, what keeps a slot free is what keeps that run from it. */
const idleFor = (model, { runs, ...each }) => ({ ...each, ...(runs?.[model.scope] ?? {}) });

function setIdle(model, told) {
	const at = model.at;
	const idle = told.map((each) => idleFor(model, each));
	model.idle = idle;
	const now = new Map(idle.map((each) => [each.host, each]));
	const sums = new Map();
	for (const each of idle) sums.set(each.cause, (sums.get(each.cause) ?? 0) + each.free);
	for (const cause of model.series.blocked.keys()) if (!sums.has(cause)) sums.set(cause, 0);
	for (const [cause, free] of sums) seriesOf(model.series.blocked, cause).push(at, free);
	for (const host of new Set([...model.idleSpans.keys(), ...now.keys()])) {
		const spans = spansOf(model, host);
		const last = spans[spans.length - 1];
		const next = now.get(host);
		const isOpen = last && last.to === null;
		if (isOpen && next && next.cause === last.cause && next.free === last.free) {
			last.detail = next.detail;
			continue;
		}
		if (isOpen) last.to = at;
		if (next) spans.push({ from: at, to: null, free: next.free, cause: next.cause, detail: next.detail });
	}
}

function spansOf(model, host) {
	return groupOf(model.idleSpans, host);
}

/** What was free before the snapshot, and why; the last span of a host may still be open. */
function readIdle(model, spans) {
	const moves = [];
	for (const span of spans.map((each) => idleFor(model, each))) {
		spansOf(model, span.host).push(span);
		moves.push([span.from, span.cause, span.free]);
		if (span.to !== null) moves.push([span.to, span.cause, -span.free]);
	}
	for (const [at, cause, by] of moves.sort((a, b) => a[0] - b[0])) seriesOf(model.series.blocked, cause).add(at, by);
}

function setWaiting(model, waiting, at = model.at) {
	model.waiting = { ...waiting, at };
	recordCeiling(model, at);
	const oldest = model.scope ? waiting.runs?.[model.scope] : waiting.oldest_s;
	model.series.since.push(at, oldest ? at - oldest : 0);
}

/** What an attempt that ended adds to the figures. */
function countEnd(model, { end, ending, tokens, cost }) {
	const { series } = model;
	if (ending === "done") series.done.add(end, 1);
	if (tokens) series.tokens.add(end, (model.tokens += tokens) - series.tokens.last);
	if (cost != null) series.cost.add(end, (model.cost = (model.cost ?? 0) + cost) - series.cost.last);
}

/** The rows of a table told in columns; a column is a plain array, or values with an index for each row. */
function rowsIn(table, names) {
	const columns = names.map((name) => table[name]).map((raw) => (!raw || Array.isArray(raw) ? raw : raw.index.map((i) => raw.values[i])));
	return Array.from({ length: table.shown ?? 0 }, (_, i) => {
		const row = {};
		for (let k = 0; k < names.length; k++) row[names[k]] = columns[k]?.[i];
		return row;
	});
}

const TASK = ["run", "task", "title", "kind", "state", "priority", "parent", "needs", "since", "cause", "claims"];
const BAR = ["attempt", "run", "task", "kind", "host", "slot", "queued_at", "started_at", "ended_at", "ending", "overload", "number", "of", "claims", "tokens", "cost"];

function readTasks(model, table) {
	model.tasksTotal = table.total ?? 0;
	for (const row of rowsIn(table, TASK)) {
		model.tasks.set(keyOf(row.run, row.task), Object.assign(row, { host: "", tries: 0 }));
		seeKind(model, row.kind);
	}
}

function readBars(model, table) {
	model.barsTotal = table.total ?? 0;
	const rows = rowsIn(table, BAR).sort((a, b) => a.started_at - b.started_at);
	if (!rows.length) return;
	for (const row of rows) {
		const bar = barOf(row, row.started_at, row.ended_at ?? null, row.ending ?? "");
		place(model, Object.assign(bar, { overload: row.overload ?? "", tokens: row.tokens ?? 0, cost: row.cost ?? null }));
	}
	model.startedAt = Math.min(model.startedAt, rows[0].started_at);
	if (model.barsTotal > rows.length) model.barsKnownFrom = rows[0].started_at;
	countBars(model);
}

function countBars(model) {
	const starts = new Map();
	const ends = new Map();
	const ended = [];
	const THEIRS = Symbol("other runs");
	for (const bar of model.bars.values()) {
		const mine = isMine(model, bar);
		groupOf(starts, mine ? bar.kind : THEIRS).push(bar.start);
		if (bar.end === null) continue;
		groupOf(ends, mine ? bar.kind : THEIRS).push(bar.end);
		if (mine) ended.push(bar);
	}
	for (const [kind, list] of starts) {
		const open = openCount(Float64Array.from(list).sort(), Float64Array.from(ends.get(kind) ?? []).sort());
		if (kind === THEIRS) model.series.others = open;
		else model.series.inFlight.set(kind, open);
	}
	for (const bar of ended.sort((a, b) => a.end - b.end)) countEnd(model, bar);
}

/** The width of every host over time, from its moves; before the first it was what that move came from. */
function readWidths(model, snapshot) {
	const moves = (snapshot.widths ?? []).slice().sort((a, b) => a.at - b.at);
	model.widths = moves;
	model.widthsTotal = snapshot.widths_total ?? moves.length;
	if (snapshot.knows_past === false) model.widthKnownFrom = snapshot.looks_from;
	else if (moves.length < model.widthsTotal) model.widthKnownFrom = moves[0]?.at ?? model.at;
	const from = Math.max(model.widthKnownFrom, Math.min(model.startedAt, moves.length ? moves[0].at : Infinity, model.at));
	const hosts = snapshot.hosts ?? [];
	for (const host of hosts) {
		const first = moves.find((move) => move.host === host.host && !move.kind);
		model.hosts.set(host.host, { ...host });
		recordWidth(model, host.host, from, first ? first.was : host.width);
	}
	for (const move of moves) if (!move.kind && model.hosts.has(move.host)) recordWidth(model, move.host, move.at, move.width);
	for (const host of hosts) recordWidth(model, host.host, model.at, host.width);
	recordCeiling(model, from);
}

/** The attempts in flight of what is shown. */
export const mineInFlight = (model) => [...model.inFlight.values()].filter((bar) => isMine(model, bar));

/** The tasks of what is shown: by state, and in all. */
export function totals(model) {
	const counts = {};
	let total = 0;
	for (const run of runsOf(model)) {
		total += run.total ?? 0;
		for (const [state, n] of Object.entries(run.counts ?? {})) counts[state] = (counts[state] ?? 0) + n;
	}
	let width = 0;
	for (const host of model.hosts.values()) width += host.width;
	const inFlight = mineInFlight(model).length;
	return { counts, total, width, inFlight, others: model.inFlight.size - inFlight, ready: counts.ready ?? 0 };
}
