import assert from "node:assert/strict";
import { test } from "node:test";
import { applyFrame, fromSnapshot } from "../../../../src/manyhands/surfaces/page/js/model.js";
import { groups, mainRun, outcomeOf, verdict } from "../../../../src/manyhands/surfaces/page/js/outcome.js";
import { Tab, tabState, titleOf } from "../../../../src/manyhands/surfaces/page/js/tab.js";
import { end, host, nothing, start, task } from "./made.mjs";

const ran = (counts, ended_at = 110) => {
  const total = Object.values(counts).reduce((a, b) => a + b, 0);
  const model = fromSnapshot(nothing({ runs: [{ run: "r", opened_at: 100, ended_at, counts, total }] }));
  const tasks = [task("t1", { state: "done" }), task("t2", { state: "failed", cause: "exit code 3", needs: ["t1"] }), task("t3", { state: "skipped", cause: "it needs t2, which failed", needs: ["t2"] })];
  applyFrame(model, { seq: 1, at: 101, changes: [host("a", 2), ...tasks, start(1, 101), start(2, 104)] });
  applyFrame(model, { seq: 2, at: 110, changes: [end(1, 104), { ...end(2, 110), cost: 0.5 }] });
  return model;
};

test("a run has an outcome once it has ended, or as soon as a task has failed", () => {
  assert.equal(outcomeOf(ran({ done: 1, running: 2 }, null), 110), null);
  const going = outcomeOf(ran({ done: 1, failed: 1, running: 1 }, null), 120);
  assert.deepEqual([verdict(going), going.tookS, tabState(going, 1)], ["1 failed so far", 20, "failed"]);
  const over = outcomeOf(ran({ done: 1, failed: 1, skipped: 1 }), 500);
  assert.deepEqual([verdict(over), over.tookS, over.alone, over.chain, over.ideal, over.cost], ["1 of 3 failed", 10, 9, 9, 9, 0.5]);
  assert.equal(verdict(outcomeOf(ran({ done: 1, cancelled: 1, skipped: 1 }), 500)), "2 of 3 were cancelled or skipped");
  assert.equal(verdict(outcomeOf(ran({ done: 3 }), 500)), "all done");
  assert.equal(tabState(outcomeOf(ran({ done: 3 }), 500), 0), "done");
});

test("while a run is open, what is in flight counts as far as it has come", () => {
  const model = ran({ done: 1, failed: 1, running: 2 }, null);
  applyFrame(model, { seq: 3, at: 111, changes: [start(3, 112), start(4, 113)] });
  const { alone, tookS } = outcomeOf(model, 130);
  assert.deepEqual([alone, tookS], [9 + 18 + 17, 30]);
});

test("what was skipped is told by the task that it is due to, however far away", () => {
  const model = ran({ done: 1, failed: 1, skipped: 2 });
  applyFrame(model, { seq: 3, at: 111, changes: [task("t4", { state: "skipped", needs: ["t3"] })] });
  assert.deepEqual(outcomeOf(model, 500).skipped.map((group) => [group.cause, group.tasks.map((each) => each.task)]), [["because t2 failed", ["t3", "t4"]]]);
});

test("failures that differ only in numbers have one cause, and the most frequent comes first", () => {
  const failed = (name, cause) => task(name, { state: "failed", cause });
  const found = groups([failed("a", "exit code 3"), failed("b", "timed out after 10 s"), failed("c", "timed out after 12 s"), failed("d", "")]);
  assert.deepEqual(found.map((group) => [group.cause, group.tasks.map((each) => each.task)]), [
    ["timed out after 10 s", ["b", "c"]], ["exit code 3", ["a"]], ["no cause was recorded", ["d"]],
  ]);
});


test("of several runs the open one that fails comes first, and every other failed one is told of", () => {
  const run = (name, opened_at, ended_at, counts) => ({ run: name, opened_at, ended_at, counts, total: Object.values(counts).reduce((a, b) => a + b, 0) });
  const told = (...runs) => {
    const model = fromSnapshot(nothing({ runs }));
    const outcome = outcomeOf(model, 200);
    const title = titleOf(outcome, { inFlight: runs.some((each) => !each.ended_at) ? 3 : 0, width: 11 });
    return [mainRun(model).run, outcome?.others.map((other) => other.run.run), title, tabState(outcome, 0)];
  };
  const older = run("a", 100, null, { failed: 3, running: 2 });
  const newer = run("b", 110, null, { running: 1 });
  assert.deepEqual(told(older, newer), ["a", [], "✗ 3 failed so far · 3 of 11 · manyhands", "failed"]);
  const stopped = run("b", 110, 150, { done: 6, cancelled: 4 });
  assert.deepEqual(told({ ...older, ended_at: 140 }, stopped), ["b", ["a"], "✗ 3 of 5 failed · manyhands", "failed"]);
  assert.deepEqual(told({ ...older, ended_at: 140 }, newer), ["a", [], "✗ 3 of 5 failed · 3 of 11 · manyhands", "failed"]);
  assert.deepEqual(told({ ...older, ended_at: 105 }, stopped), ["b", [], "⁄ 4 of 10 were cancelled or skipped · manyhands", "stopped"]); // "a" had ended before it began
});

test("while another tab is in front the browser tells once of every run that ends, if it may", () => {
  const said = [];
  globalThis.Notification = class { static permission = "granted"; constructor(text) { said.push(text); } };
  globalThis.document = { hidden: true };
  const open = { run: "a", ended_at: null, counts: { running: 1 }, total: 2 };
  const ended = { ...open, ended_at: 5, counts: { done: 2 } };
  const other = { run: "b", ended_at: null, counts: {}, total: 1 };
  const tab = new Tab();
  for (const runs of [[ended], [open, other], [ended, other], [ended, other], [ended, { ...other, ended_at: 9, counts: { failed: 1 } }]]) tab.tell(runs);
  assert.deepEqual(said, ["a: all done", "b: 1 of 1 failed"]);
  Notification.permission = "default";
  tab.tell([open]);
  tab.tell([ended]);
  assert.equal(said.length, 2);
});
