import assert from "node:assert/strict";
import { test } from "node:test";
import { headline } from "../../../../src/manyhands/surfaces/page/js/causes.js";
import { throughput } from "../../../../src/manyhands/surfaces/page/js/figures.js";
import { claimHas, predicate, toggled } from "../../../../src/manyhands/surfaces/page/js/filter.js";
import { totals } from "../../../../src/manyhands/surfaces/page/js/model.js";
import { rangeFigures } from "../../../../src/manyhands/surfaces/page/js/range.js";
import { RecordedSource } from "../../../../src/manyhands/surfaces/page/js/source.js";
import { sortTasks } from "../../../../src/manyhands/surfaces/page/js/tasks_table.js";
import { treeOf, visible } from "../../../../src/manyhands/surfaces/page/js/tree_layout.js";
import { START, fromHash, toHash } from "../../../../src/manyhands/surfaces/page/js/view_url.js";
import { clock, duration, shownOf, sinceStart } from "../../../../src/manyhands/surfaces/page/js/words.js";
import { end, host, nothing, seen, start, task } from "./made.mjs";

test("a filter narrows by field and by text, and alternatives of a field widen it", () => {
  const one = task("fix-login", { kind: "code", state: "running", host: "gpu-1", title: "Fix the login", claims: ["write src/auth/**"] });
  const is = (text) => predicate(text)(one);
  for (const text of ["login", "kind:code", "state:run", "host:gpu", "file:src/auth/a.py", "file:auth", "kind:text kind:code", "fix kind:code"]) assert.equal(is(text), true, text);
  for (const text of ["logout", "kind:text", "state:done", "host:api", "file:src/db", "fix kind:text"]) assert.equal(is(text), false, text);
  assert.equal(predicate("  "), null);
});

test("a claim on a folder has the files below it", () => {
  assert.ok(claimHas("write src/a/**", "src/a/b.py"));
  assert.ok(!claimHas("write src/a/**", "src/b.py"));
});

test("a term is put into the filter and taken out again", () => {
  assert.equal(toggled("fix", "kind", "code"), "fix kind:code");
  assert.equal(toggled("fix kind:code", "kind", "code"), "fix");
});

test("the address holds the view, and gives it back", () => {
  const views = [
    START,
    { ...START, filter: "kind:code a b", rows: "kinds", run: "night ly" },
    { ...START, follow: false, fit: false, from: 1763200000.25, to: 1763200100.5, range: { from: 1763200010, to: 1763200020 } },
    { ...START, task: { run: "r/1", task: "a b/c?" } },
    { ...START, follow: false },
  ];
  for (const view of views) assert.deepEqual(fromHash(toHash(view)), view, toHash(view));
  assert.deepEqual(fromHash("#/?view=5~1&range=x~y&rows=odd"), { ...START, follow: false });
  assert.doesNotThrow(() => fromHash("#/task/%E0%A4%A/x%"));
});

test("the page says in one sentence why it is not wider", () => {
  const full = seen([100, host("a", 1, { why: "trying what more width buys" }), start(1, 100), { t: "waiting", oldest_s: 1, ready: 5 }]);
  assert.equal(headline(full, totals(full)), "Why not wider: a is full (trying what more width buys).");
  const kept = seen([100, host("a", 2), start(1, 100), { t: "waiting", oldest_s: 1, ready: 5 }, { t: "idle", idle: [{ host: "a", free: 1, cause: "claims", detail: "" }] }]);
  assert.equal(headline(kept, totals(kept)), "Why not wider: a: the files that they need are in use.");
  const idle = seen([100, host("a", 2), start(1, 100), { t: "idle", idle: [{ host: "a", free: 1, cause: "no work", detail: "" }] }]);
  assert.equal(headline(idle, totals(idle)), "Why not wider: nothing more is ready.");
});

test("a selected range tells what ended in it and how full it was", () => {
  const model = seen([100, host("a", 2)], [100, start(1, 100), start(2, 100, { slot: 1 })], [105, end(1, 105)], [110, end(2, 110, "failed")]);
  const found = rangeFigures(model, 100, 110, 200);
  assert.deepEqual(found.endings, { done: 1 });
  assert.equal(found.started, 2);
  assert.equal(found.meanInFlight, 1.5);
  assert.equal(found.used, 0.75);
  assert.equal(rangeFigures(model, 100, 111, 200).endings.failed, 1);
});

test("a tree has epics within epics, counts everything once, and keeps what has no parent", () => {
  const tasks = [task("epic"), task("sub", { parent: "epic" }), task("a", { parent: "sub", state: "done" }), task("b", { parent: "sub", state: "deferred" }), task("c", { parent: "only-a-name" }), task("alone")];
  const nodes = treeOf(tasks);
  assert.deepEqual(nodes.map((node) => [node.name, node.total, node.ended]), [["epic", 4, 1], ["only-a-name", 1, 0], ["without a parent", 1, 0]]);
  assert.equal(nodes[0].nodes[0].counts.deferred, 1);
  assert.deepEqual(visible(nodes, () => true, 2).left, 2);
});

test("a recording plays at its speed, goes to any moment and back, through the same reducer", () => {
  const told = [];
  const sink = { model: (model) => told.push(model), changed: () => {} };
  const frames = [{ seq: 1, at: 100, changes: [host("a", 1)] }, { seq: 2, at: 110, changes: [start(1, 110)] }, { seq: 3, at: 120, changes: [end(1, 120)] }];
  const source = new RecordedSource(sink, { snapshot: nothing(), frames });
  assert.equal(source.model.inFlight.size, 0);
  source.seek(111);
  assert.equal(source.model.inFlight.size, 1);
  source.play();
  source.speed = 2;
  source.advance(2);
  assert.equal(source.now, 115);
  source.advance(20);
  assert.equal(source.model.bars.get(1).ending, "done");
  assert.equal(source.isPlaying, false);
  source.seek(105);
  assert.equal(source.model.bars.size, 0);
});

test("running tasks come first, done ones last", () => {
  const sorted = sortTasks([task("a", { state: "done" }), task("b", { state: "running" }), task("c")], "state", false);
  assert.deepEqual(sorted.map((each) => each.task), ["b", "c", "a"]);
});

test("throughput is by the minute", () => {
  const model = seen([100, host("a", 1)], ...Array.from({ length: 60 }, (_, i) => [100 + i, start(i, 100 + i), end(i, 100 + i + 0.5)]));
  const line = throughput(model.series.done, 100, 160);
  assert.ok(Math.abs(line.at(-1) - 60) < 3, `${line.at(-1)}`);
});

test("numbers and times read as people write them, and a cut is said", () => {
  assert.deepEqual([0.25, 5.25, 42, 125, 7260, 90000].map(duration), ["250 ms", "5.3 s", "42 s", "2 m 05 s", "2 h 01 m", "1 d 1 h"]);
  assert.deepEqual([clock(7.9), clock(3723)], ["0:07", "1:02:03"]);
  assert.equal(sinceStart(90, 30), "1:30");
  assert.equal(shownOf(10000, 48231), "10,000 of 48,231 shown");
});
