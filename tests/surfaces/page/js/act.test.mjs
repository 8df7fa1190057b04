import assert from "node:assert/strict";
import { test } from "node:test";
import { taskOf } from "../../../../src/manyhands/surfaces/page/js/add_task.js";
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
