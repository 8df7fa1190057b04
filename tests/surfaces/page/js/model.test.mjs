import assert from "node:assert/strict";
import { test } from "node:test";
import { apply, applyFrame, fromSnapshot, laneRowsOf, totals } from "../../../../src/manyhands/surfaces/page/js/model.js";
import { end, host, nothing, seen, start, task } from "./made.mjs";

test("what is in flight over time is what started and has not ended", () => {
  const model = seen([100, host("a", 2)], [101, start(1, 101)], [102, start(2, 102, { slot: 1 })], [104, end(1, 104)]);
  const steps = model.series.inFlight.get("code");
  assert.deepEqual([100, 101, 102, 103, 104].map((t) => steps.valueAt(t)), [0, 1, 2, 2, 1]);
  assert.deepEqual([...model.inFlight.keys()], [2]);
});

test("a snapshot in columns gives the same picture as the changes that led to it", () => {
  const live = seen([100, host("a", 2)], [101, start(1, 101)], [102, start(2, 102, { slot: 1, kind: "text" })], [104, end(1, 104, "failed")]);
  const told = fromSnapshot(nothing({
    at: 104,
    runs: [{ run: "r", opened_at: 100, ended_at: null, counts: {}, total: 0 }],
    hosts: [host("a", 2)],
    bars: {
      total: 2, shown: 2, attempt: [2, 1], run: { values: ["r"], index: [0, 0] }, task: ["t2", "t1"], kind: { values: ["code", "text"], index: [1, 0] },
      host: { values: ["a"], index: [0, 0] }, slot: [1, 0], queued_at: [100, 100], started_at: [102, 101], ended_at: [null, 104], ending: ["", "failed"], number: [1, 1], of: [1, 1],
    },
  }));
  for (const kind of ["code", "text"]) {
    for (const t of [101.5, 103, 104.5]) assert.equal(told.series.inFlight.get(kind).valueAt(t), live.series.inFlight.get(kind).valueAt(t));
  }
  const shape = (model) => model.rows.get("a").map((row) => row.map((bar) => [bar.task, bar.start, bar.end, bar.ending]));
  assert.deepEqual(shape(told), shape(live));
  assert.equal(told.series.done.last, 0);
});

test("the width over time follows the moves, and what it was before the first of them", () => {
  const widths = [{ at: 110, host: "a", kind: "", was: 2, width: 4, reason: "up" }, { at: 112, host: "a", kind: "code", was: 1, width: 2, reason: "lane" }, { at: 120, host: "a", kind: "", was: 4, width: 3, reason: "down" }];
  const model = fromSnapshot(nothing({ at: 130, runs: [{ run: "r", opened_at: 100 }], hosts: [host("a", 3), host("b", 1)], widths, widths_total: 3 }));
  assert.deepEqual([101, 111, 121].map((t) => model.series.width.valueAt(t)), [3, 5, 4]);
  apply(model, { t: "width", at: 131, host: "b", kind: "", was: 1, width: 6, reason: "up" });
  assert.equal(model.series.width.last, 9);
  assert.equal(model.hosts.get("b").why, "up");
});

test("a lane's own slots are the first that are free", () => {
  const model = seen([100, host("a", 3)], [101, start(1, 101, { kind: "x" }), start(2, 101, { kind: "y", slot: 1 }), start(3, 101, { kind: "x", slot: 2 })], [105, end(1, 105), start(4, 105, { kind: "x" })]);
  assert.deepEqual((laneRowsOf(model), [1, 2, 3, 4]).map((attempt) => model.bars.get(attempt).laneSlot), [0, 0, 1, 0]);
});

test("a page that opens late has the causes, the ceiling and the age of the queue from before", () => {
  const span = (from, to, cause, free) => ({ host: "a", from, to, cause, free, detail: cause });
  const past = (at, oldest_s, ceiling) => ({ at, oldest_s, ready: 1, ceiling });
  const model = fromSnapshot(nothing({
    at: 130, runs: [{ run: "r", opened_at: 95 }], hosts: [{ ...host("a", 3), ceiling: 8 }], idle: [{ host: "a", free: 1, cause: "rate", detail: "" }],
    idle_past: [span(100, 110, "claims", 2), span(110, null, "rate", 1)], waiting_past: [past(100, 4, 6), past(120, 2, 5)],
    waiting: { oldest_s: 12, ready: 1, ceiling: 5 },
  }));
  assert.deepEqual([105, 115].map((t) => model.series.blocked.get("claims").valueAt(t)), [2, 0]);
  assert.deepEqual([105, 115, 130].map((t) => model.series.blocked.get("rate").valueAt(t)), [0, 1, 1]);
  assert.deepEqual(model.idleSpans.get("a").map(({ from, to }) => [from, to]), [[100, 110], [110, null]]);
  assert.deepEqual([105, 125].map((t) => model.series.ceiling.valueAt(t)), [6, 5]);
  assert.deepEqual([105, 125].map((t) => t - model.series.since.valueAt(t)), [9, 7]);
});

test("after a restart the widths are those of the journal, or unknown, never today's", () => {
  const widths = [{ at: 100, host: "a", kind: "", was: 0, width: 2, reason: "start" }, { at: 110, host: "a", kind: "", was: 2, width: 6, reason: "up" }];
  const runs = [{ run: "r", opened_at: 95 }];
  const told = { at: 130, runs, hosts: [host("a", 6)], looks_from: 125 };
  const known = fromSnapshot(nothing({ ...told, widths, widths_total: 2, knows_past: true }));
  assert.deepEqual([96, 105, 115].map((t) => known.series.width.valueAt(t)), [0, 2, 6]);
  assert.equal(known.widthKnownFrom, -Infinity);
  assert.equal(known.idleKnownFrom, 125);
  const unknown = fromSnapshot(nothing({ ...told, knows_past: false }));
  assert.deepEqual([96, 120, 126].map((t) => unknown.series.width.valueAt(t)), [0, 0, 6]);
  assert.equal(unknown.widthKnownFrom, 125);
  const cut = fromSnapshot(nothing({ ...told, widths: widths.slice(1), widths_total: 2 }));
  assert.equal(cut.widthKnownFrom, 110);
});

test("what attempts cost is known from when each of them ended, before a snapshot too", () => {
  const model = fromSnapshot(nothing({
    at: 130, runs: [{ run: "r", opened_at: 95 }], hosts: [host("a", 3)],
    bars: { total: 2, shown: 2, attempt: [1, 2], run: ["r", "r"], task: ["a", "b"], kind: ["code", "code"], host: ["a", "a"], slot: [0, 1], queued_at: [100, 100],
      started_at: [100, 100], ended_at: [105, 120], ending: ["done", "done"], number: [1, 1], of: [1, 1], tokens: [10, 20], cost: [0.25, 0.5] },
  }));
  assert.deepEqual([101, 110, 125].map((t) => model.series.cost.valueAt(t)), [0, 0.25, 0.75]);
  assert.deepEqual([101, 110, 125].map((t) => model.series.tokens.valueAt(t)), [0, 10, 30]);
});

test("with a run chosen every figure is of that run, and what others use is theirs", () => {
  const frames = [[100, host("a", 4)], [101, start(1, 101), { ...start(2, 101, { slot: 1 }), run: "other" }], [105, { ...end(2, 105), cost: 1 }, end(1, 105)], [106, { ...start(3, 106), run: "other" }]];
  const model = fromSnapshot(nothing({ runs: [{ run: "r", opened_at: 100, counts: { ready: 2 }, total: 3 }, { run: "other", opened_at: 100, counts: { ready: 7 }, total: 9 }] }), "r");
  frames.forEach(([at, ...changes], i) => applyFrame(model, { seq: i + 1, at, changes }));
  assert.deepEqual([102, 106].map((t) => [model.series.inFlight.get("code").valueAt(t), model.series.others.valueAt(t)]), [[1, 1], [0, 1]]);
  assert.deepEqual([model.series.done.last, model.cost, model.tokens], [1, null, 3]);
  const { total, inFlight, others, ready } = totals(model);
  assert.deepEqual([total, inFlight, others, ready], [3, 0, 1, 2]);
});

test("costs are known once any attempt told its own, and follow every ending", () => {
  const begun = [[100, host("a", 3)], [101, start(1, 101), start(2, 101, { slot: 1 }), start(3, 101, { slot: 2 })], [105, end(1, 105)]];
  assert.ok(!seen(...begun).cost);
  const model = seen(...begun, [106, { ...end(2, 106), cost: 0.25 }], [107, { ...end(3, 107), cost: 0.5 }]);
  assert.deepEqual([105.5, 106, 107, 108].map((t) => model.series.cost.valueAt(t)), [0, 0.25, 0.75, 0.75]);
  assert.equal(model.tokens, 9);
});

test("spans of idleness close when the cause changes, and say what they were", () => {
  const idle = (cause, free) => ({ t: "idle", idle: cause ? [{ host: "a", free, cause, detail: cause }] : [] });
  const model = seen([100, host("a", 3), idle("claims", 2)], [105, idle("claims", 2)], [110, idle("rate", 1)], [120, idle()]);
  assert.deepEqual(model.idleSpans.get("a").map(({ from, to, cause, free }) => [from, to, cause, free]), [[100, 110, "claims", 2], [110, 120, "rate", 1]]);
  assert.equal(model.series.blocked.get("claims").valueAt(107), 2);
  assert.equal(model.series.blocked.get("claims").valueAt(111), 0);
});

test("a task told in part keeps what was known of it", () => {
  const model = seen([100, task("a", { title: "A", claims: ["write x"] })], [101, { t: "task", run: "r", task: "a", state: "running", since: 101, cause: "" }]);
  const known = [...model.tasks.values()][0];
  assert.deepEqual([known.title, known.state, known.claims], ["A", "running", ["write x"]]);
  assert.equal(model.tasksTotal, 1);
});

test("a change that a newer server tells is passed over", () => {
  assert.doesNotThrow(() => seen([100, { t: "weather", sun: true }]));
});

test("what a snapshot left out is known to be left out", () => {
  const model = fromSnapshot(nothing({
    at: 200, hosts: [host("a", 1)], tasks: { total: 48231, shown: 1, run: ["r"], task: ["t"], title: [""], kind: ["code"], state: ["ready"], priority: [2], parent: [""], needs: [[]], since: [100], cause: [""] },
    bars: { total: 99, shown: 1, attempt: [1], run: ["r"], task: ["t"], kind: ["code"], host: ["a"], slot: [0], queued_at: [150], started_at: [150], ended_at: [160], ending: ["done"], number: [1], of: [1] },
  }));
  assert.deepEqual([model.tasksTotal, model.tasks.size, model.barsTotal, model.barsKnownFrom], [48231, 1, 99, 150]);
});
