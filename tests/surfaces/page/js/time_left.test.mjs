import assert from "node:assert/strict";
import { test } from "node:test";
import { timeLeft, timeLeftText } from "../../../../src/manyhands/surfaces/page/js/time_left.js";
import { host, seen, start, task } from "./made.mjs";

const lanes = [{ kind: "code", usual_s: 10, p90_s: 20, in_flight: 2 }];
const running = (id) => task(id, { state: "running" });

test("the time left ranges from all as usual to all slow, shared by what runs at once", () => {
  const tasks = [running("t1"), running("t2"), task("t3"), task("t4"), task("t5", { state: "done" }), task("t6", { state: "deferred" })];
  const model = seen([100, host("a", 2, { lanes }), ...tasks], [101, start(1, 101), start(2, 101, { slot: 1 })]);
  const range = (at) => (({ from, to }) => [from, to])(timeLeft(model, at));
  assert.deepEqual(range(106), [15, 35]);
  assert.equal(timeLeftText(timeLeft(model, 106)), "15 s to 35 s left");
  assert.deepEqual(range(200), [10, 20]);
});

test("what must follow one another takes its time, however many could run at once", () => {
  const tasks = [running("t1"), running("t2"), task("t3", { needs: ["t1"] }), task("t4", { needs: ["t3"] })];
  const model = seen([100, host("a", 2, { lanes }), ...tasks], [101, start(1, 101), start(2, 101, { slot: 1 })]);
  const { from, to, chain } = timeLeft(model, 106);
  assert.deepEqual([from, to, chain.path], [25, 55, ["t1", "t3", "t4"]]);
});

test("nothing is promised while nothing runs, or of a kind that nobody knows", () => {
  assert.equal(timeLeft(seen([100, host("a", 2, { lanes }), task("t1")]), 101), null);
  const model = seen([100, host("a", 2, { lanes }), running("t1"), task("new", { kind: "art" })], [101, start(1, 101)]);
  assert.equal(timeLeft(model, 102), null);
  assert.equal(timeLeftText(null), "");
});
