import assert from "node:assert/strict";
import { test } from "node:test";
import { compare, gridOfModel, meanWidth, readGrid } from "../../../../src/manyhands/surfaces/page/js/compared_runs.js";
import { niceTicks, parts } from "../../../../src/manyhands/surfaces/page/js/host_charts.js";
import { hostCharts, limitsOf, readingOf, valueAt } from "../../../../src/manyhands/surfaces/page/js/host_series.js";
import { armMean, evalCells, narrowing } from "../../../../src/manyhands/surfaces/page/js/eval_table.js";
import { logLines } from "../../../../src/manyhands/surfaces/page/js/log_lines.js";
import * as words from "../../../../src/manyhands/surfaces/page/js/words.js";
import { end, host, seen, start, task } from "./made.mjs";

const GB = 2 ** 30;
const worked = () => seen(
  [100, host("a", 2), host("b", 1), task("t1"), task("t2"), task("t3"), start(1, 100), start(2, 100, { slot: 1 })],
  [110, end(1, 110), { ...end(2, 110, "overloaded"), overload: "rate", detail: "429" }, { t: "width", at: 110, host: "a", kind: "", was: 2, width: 1, reason: "refused" }],
  [120, start(3, 120), { t: "gauge", host: "a", at: 120, memory_used_bytes: 3 * GB, memory_total_bytes: 8 * GB, requests_left: 5, requests_per_minute: 60 }],
);

test("a host over time has its width, what ran, how it ended, what it used, and its memory", () => {
  const charts = hostCharts(worked(), "a", 100, 130);
  const lines = new Map(charts.flatMap((chart) => chart.lines.map((line) => [`${chart.name} ${line.name}`, line])));
  assert.deepEqual([...lines.keys()], ["Width width", "Width in flight", "Success done", "Refused (429) refused", "Tokens tokens", "Memory a", "Requests left a"]);
  assert.deepEqual([105, 112].map((at) => valueAt(lines.get("Width width"), at)), [2, 1]);
  assert.deepEqual([105, 112, 125].map((at) => valueAt(lines.get("Width in flight"), at)), [2, 0, 1]);
  assert.equal(valueAt(lines.get("Success done"), 111), 50);
  assert.ok(Math.max(...lines.get("Refused (429) refused").points.map(([, value]) => value)) > 0);
  assert.deepEqual(lines.get("Memory a").points, [[120, 3]]); // it holds until the end
  assert.equal(valueAt(lines.get("Memory a"), 119), null);
  assert.deepEqual(hostCharts(worked(), "", 100, 130)[0].lines[0].points.at(-1), [110, 2]);
});

test("a refused connection is neither a 429 nor an overload", () => {
  const model = seen([100, host("a", 1), task("t1"), start(1, 100)], [110, { ...end(1, 110, "overloaded"), overload: "unreachable" }]);
  const charts = new Map(hostCharts(model, "a", 100, 130).map((chart) => [chart.name, chart.lines[0].points.map(([, value]) => value)]));
  assert.equal(Math.max(...charts.get("Refused (429)")), 0);
  assert.ok(Math.max(...charts.get("Not reachable")) > 0);
  assert.match(logLines(model).lines.at(-1).text, /^not reachable after/);
});

test("what nobody knows is not drawn: times without attempts, and memory that was read long ago", () => {
  const model = seen([100, host("a", 1), task("t1"), task("t2"), start(1, 100), { t: "gauge", host: "a", at: 100, memory_used_bytes: GB, memory_total_bytes: GB }], [101, end(1, 101)], [900, start(2, 900)], [901, end(2, 901)]);
  const charts = new Map(hostCharts(model, "a", 100, 1000).map((chart) => [chart.name, chart.lines[0]]));
  assert.equal(parts(charts.get("Success").points).length, 2);
  assert.equal(valueAt(charts.get("Success"), 500), null);
  assert.deepEqual(charts.get("Memory").points, [[100, 1], [160, null]]);
  assert.deepEqual([readingOf(model, "a", 150)?.at, readingOf(model, "a", 900)], [100, null]);
});

test("what limits a host is told with when it opens", () => {
  const model = worked();
  assert.deepEqual(limitsOf(model, "a", 121, words), ["5 requests left of 60 a minute"]);
  Object.assign(model.hosts.get("b"), { paused: "usage limit", paused_until: 721, closed: true });
  assert.match(limitsOf(model, "b", 121, words)[0], /^closed by its account: usage limit, opens at .* \(in 10 m 00 s\)$/);
});

test("axes have a few round numbers", () => {
  assert.deepEqual(niceTicks(7), [0, 5]);
  assert.deepEqual(niceTicks(0.3), [0, 0.1, 0.2, 0.30000000000000004].filter((each) => each <= 0.3));
});

test("the log has every start, end and move, with the slots as they were", () => {
  const { lines, total } = logLines(worked());
  assert.equal(total, 6);
  assert.deepEqual(lines.map((line) => [line.what, line.lane, line.task, line.strip]), [
    ["start", "a/1", "t1", "┬·"], ["start", "a/2", "t2", "│┬"], ["end", "a/1", "t1", "┴│"], ["end", "a/2", "t2", "·┴"], ["width", "a", "", "··"], ["start", "a/1", "t3", "┬·"],
  ]);
  assert.equal(lines[3].text, "rate refused (429) after 10 s: 429");
});

test("two runs are compared task by task, what came out differently first", () => {
  const run = (name) => ({ run: name, opened_at: 0, ended_at: 10, busy_s: 25, counts: {} });
  const grid = readGrid({
    runs: [run("one"), run("two")], total: 3,
    tasks: [
      { task: "same", cells: [["done", 1, 1, null], ["done", 1.5, 1, null]] },
      { task: "slower", cells: [["done", 1, 1, null], ["done", 9, 1, null]] },
      { task: "worse", cells: [["done", 1, 1, null], ["failed", 1, 3, 0.5]] },
      { task: "new", cells: [null, ["done", 1, 1, null]] },
    ],
  });
  assert.deepEqual(compare(grid, "one", "two").map((row) => [row.task, row.isOther, row.by]), [["worse", true, 0], ["new", true, null], ["slower", false, 8], ["same", false, 0.5]]);
  assert.equal(meanWidth(grid.runs[0], 99), 2.5);
  const alone = gridOfModel(worked(), 130);
  assert.deepEqual(alone.tasks.map((row) => [row.task, row.cells[0].took, row.cells[0].tries]), [["t1", 10, 1], ["t2", 10, 1], ["t3", 10, 1]]);
  assert.deepEqual([alone.runs[0].attempts, alone.runs[0].busy_s, alone.runs[0].tokens], [3, 30, 6]);
});

test("an eval is a table of means so far, and an interval that narrows", () => {
  const trial = (arm, name, replication, score) => ({ arm, case: name, replication, run: "", state: score === null ? "missing" : "scored", scores: score === null ? {} : { right: score } });
  const found = { arms: ["a", "b"], cases: ["x", "y"], trials: [trial("a", "x", 1, 1), trial("a", "x", 2, 0), trial("a", "y", 1, null), trial("b", "x", 1, 1)] };
  const cells = evalCells(found, "right");
  assert.deepEqual([cells.get("x").get("a").mean, cells.get("x").get("a").scored, cells.get("y").get("a").mean, cells.get("y").get("a").planned], [0.5, 2, null, 1]);
  assert.deepEqual([armMean(found, "a", "right"), armMean(found, "b", "right"), armMean(found, "c", "right")], [0.5, 1, null]);
  const drawn = narrowing([{ scored: 2, mean: 1, low: null, high: null }, { scored: 4, mean: 0.5, low: -0.5, high: 1.5 }], 100, 50);
  assert.match(drawn.line, /^M50.0 .*L100.0 /);
  assert.match(drawn.band, /^M100.0 .*Z$/);
  assert.equal(narrowing([], 100, 50), null);
});
