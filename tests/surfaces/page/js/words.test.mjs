import assert from "node:assert/strict";
import { test } from "node:test";
import { headline } from "../../../../src/manyhands/surfaces/page/js/causes.js";
import { throughput } from "../../../../src/manyhands/surfaces/page/js/figures.js";
import { claimHas, predicate, toggled } from "../../../../src/manyhands/surfaces/page/js/filter.js";
import { applyFrame, fromSnapshot, totals } from "../../../../src/manyhands/surfaces/page/js/model.js";
import { kindPlace } from "../../../../src/manyhands/surfaces/page/js/paint.js";
import { rangeFigures } from "../../../../src/manyhands/surfaces/page/js/range.js";
import { readRecording } from "../../../../src/manyhands/surfaces/page/js/recording.js";
import { RecordedSource } from "../../../../src/manyhands/surfaces/page/js/source.js";
import { sortTasks } from "../../../../src/manyhands/surfaces/page/js/tasks_table.js";
import { treeOf, visible } from "../../../../src/manyhands/surfaces/page/js/tree_layout.js";
import { START, fromHash, toHash } from "../../../../src/manyhands/surfaces/page/js/view_url.js";
import { clock, duration, liveText, plainText, shownOf, sinceStart } from "../../../../src/manyhands/surfaces/page/js/words.js";
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

test("the next try of a host that is closed is counted from now, not from when it was said", () => {
  const model = seen([100, host("a", 1, { paused: "it accepts nothing (no answer)", paused_until: 160 })]);
  assert.match(headline(model, { ...totals(model), ready: 1 }, null, 130), /a: paused: it accepts nothing \(no answer\); next try in 30 s\.$/);
  assert.match(headline(model, { ...totals(model), ready: 1 }, null, 170), /\(no answer\)\.$/);
});

test("with a run chosen the headline is about what keeps that run", () => {
  const idle = [{ host: "a", free: 1, cause: "claims", detail: "x waits", runs: { r: { cause: "never", detail: "1 task can never run" } } }];
  const model = fromSnapshot(nothing({ runs: [{ run: "r", opened_at: 100, ended_at: null, counts: { ready: 1 }, total: 1 }], hosts: [host("a", 1)], idle }), "r");
  assert.equal(headline(model, totals(model)), "Why not wider: a: 1 task can never run.");
  const all = fromSnapshot(nothing({ runs: [{ run: "r", opened_at: 100, ended_at: null, counts: { ready: 1 }, total: 1 }], hosts: [host("a", 1)], idle }));
  assert.equal(headline(all, totals(all)), "Why not wider: a: x waits.");
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
  assert.deepEqual(visible(nodes, () => false).rows.map((row) => row.name), ["epic", "only-a-name", "without a parent"]);
  const open = visible(nodes, () => true).rows.map((row) => row.leaf?.task ?? row.name);
  assert.deepEqual(open, ["epic", "sub", "a", "b", "only-a-name", "c", "without a parent", "alone"]);
  assert.deepEqual(visible(nodes, () => true, 2).left, 6);
});

test("an epic of the same name in several runs stands once below each", () => {
  const tasks = ["one", "two", "three"].flatMap((run) => [task("epic", { run }), task("a", { run, parent: "epic", state: "done" })]);
  const nodes = treeOf(tasks);
  assert.deepEqual(nodes.map((node) => [node.name, node.total, node.ended]), [["three", 2, 1], ["two", 2, 1], ["one", 2, 1]]);
  assert.deepEqual(nodes[0].nodes.map((node) => [node.name, node.depth, node.run]), [["epic", 1, "three"]]);
});

test("what a program printed for a terminal is plain text here", () => {
  const text = "\x1b[1;31mred\x1b[0m and \x1b]8;;http://x\x07a link\x1b]8;;\x07\r\n10 %\r20 %\r30 %\nend\r";
  assert.equal(plainText(text), "red and a link\n30 %\nend");
});

test("a recording that is still being written can be played already", async () => {
  const frame = (seq, at, ...changes) => JSON.stringify({ seq, at, changes });
  const text = `{"run":"r","snapshot":${JSON.stringify(nothing())},"frames":[\n${frame(1, 100, host("a", 1))},\n${frame(2, 110, start(1, 110))},\n${frame(3, 120, end(1, 120))}\n],"truncated":false}`;
  const sink = { model: () => {}, changed: () => {} };
  const bytes = new TextEncoder().encode(text);
  const cuts = [text.indexOf("frames") + 20, text.length - 90, text.length];
  const seen = [];
  let source = null;
  const stream = new ReadableStream({
    pull(controller) {
      if (source) seen.push([source.last, source.model.inFlight.size, source.end]);
      const from = controller.at ?? 0;
      const to = cuts.shift();
      controller.at = to;
      if (to === undefined) controller.close();
      else controller.enqueue(bytes.slice(from, to));
    },
  }, { highWaterMark: 0 });
  await readRecording({ body: stream }, (begun) => {
    source = new RecordedSource(sink, begun, 120);
    source.goTo(115);
  }, (frames) => source.add(frames));
  source.whole();
  assert.deepEqual(seen.map(([last]) => last), [100, 110, 120]);
  assert.deepEqual(seen.map((each) => each[2]), [120, 120, 120]);
  assert.deepEqual([source.now, source.model.inFlight.size], [115, 1]);
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

test("an attempt in flight says what it does, what it has used and for how long it has been silent", () => {
  const live = { does: "edit src/a.py", tokens: 12345, cost: 0.25, alive_at: 100 };
  assert.equal(liveText({ live }, 130), "edit src/a.py · 12.3 k tokens · 0.2500");
  assert.equal(liveText({ live: { does: "", tokens: 0, cost: null, alive_at: 100 } }, 340), "silent for 4 m 00 s");
  assert.equal(liveText({}, 340), "");
});

test("a kind keeps its colour when others come, whatever is shown, and ten are apart", () => {
  const kinds = ["code", "text", "review", "lint", "plan", "shell", "python", "eval", "docs", "fix"];
  const model = seen([100, host("a", 2, { kinds: ["zebra", "code"] })]);
  const places = new Map();
  for (const [n, kind] of kinds.entries()) {
    applyFrame(model, { seq: n + 2, at: 101 + n, changes: [task(`t${n}`, { kind })] });
    places.set(kind, kindPlace(model, kind));
    for (const [earlier, place] of places) assert.equal(kindPlace(model, earlier), place, `${earlier} after ${kind}`);
  }
  assert.equal(new Set(places.values()).size, 10);
  const later = fromSnapshot(nothing({ kinds, tasks: { total: 1, shown: 1, run: ["r"], task: ["t"], kind: ["fix"], state: ["ready"] } }), "r");
  for (const [kind, place] of places) assert.equal(kindPlace(later, kind), place);
});
