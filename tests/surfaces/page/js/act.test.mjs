import assert from "node:assert/strict";
import { test } from "node:test";
import { taskOf } from "../../../../src/manyhands/surfaces/page/js/add_task.js";
import { howMany } from "../../../../src/manyhands/surfaces/page/js/bulk.js";
import { claimsOf } from "../../../../src/manyhands/surfaces/page/js/claims.js";
import { fromSnapshot } from "../../../../src/manyhands/surfaces/page/js/model.js";
import { nothing } from "./made.mjs";
import { outcomeText } from "../../../../src/manyhands/surfaces/page/js/runs_table.js";

test("a task from the form has only the fields that were filled in", () => {
  assert.deepEqual(taskOf({ id: " a ", kind: "", command: "make test", needs: "b, c,", priority: "1", prompt: " " }), { id: "a", run: ["sh", "-c", "make test"], needs: ["b", "c"], priority: 1 });
  assert.deepEqual(taskOf({ id: "p", prompt: "Say hello" }), { id: "p", prompt: "Say hello" });
});

test("a run in a list says how it came out, or how far it is", () => {
  assert.equal(outcomeText({ ended_at: 1, counts: { done: 3 }, total: 3 }), "all done");
  assert.equal(outcomeText({ ended_at: 1, counts: { done: 1, failed: 2, skipped: 1 }, total: 4 }), "2 failed, 1 skipped");
  assert.equal(outcomeText({ ended_at: null, counts: { done: 1, failed: 1, ready: 8 }, total: 10 }), "1 of 10 done, 1 failed");
});

test("a press that does not act on all that match says so before", () => {
  assert.deepEqual([howMany("retry", 12), howMany("cancel", 1, "task"), howMany("retry", 400), howMany("retry", 1234)], ["retry 12", "cancel 1 task", "retry 400", "retry the first 400 of 1,234"]);
});

test("with a run chosen only the claims are shown that it holds or waits for", () => {
  const claims = [{ claim: "a", mode: "write", holders: ["x"], runs: ["one"], waiting: 0 }, { claim: "b", mode: "write", holders: ["y"], runs: ["two"], waiting: 1 }, { claim: "c", mode: "write", holders: ["z"], runs: ["two"], waiting: 0 }];
  const tasks = { total: 1, shown: 1, run: ["one"], task: ["t"], kind: ["k"], state: ["ready"], claims: [["write b"]] };
  const names = (run) => claimsOf(fromSnapshot(nothing({ claims, tasks }), run)).map((each) => each.claim).join();
  assert.deepEqual([names("one"), names("two"), names("")], ["a,b", "b,c", "a,b,c"]);
});
