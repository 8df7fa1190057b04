import assert from "node:assert/strict";
import { test } from "node:test";
import { Rectangles, causesOf, firstVisible, gapsOf, hit, layBars, rowsOf, slotSpans } from "../../../../src/manyhands/surfaces/page/js/lanes_layout.js";
import { edge, layMarkers, layRibbon } from "../../../../src/manyhands/surfaces/page/js/ribbon_layout.js";
import { countTicks, keepNear, panBy, scaleOf, ticks, zoomAt } from "../../../../src/manyhands/surfaces/page/js/scale.js";
import { Steps, openCount } from "../../../../src/manyhands/surfaces/page/js/steps.js";
import { end, host, seen, start } from "./made.mjs";

const bar = (start, end, fields = {}) => ({ attempt: start, start, end, ending: end === null ? "" : "done", kind: "code", task: `t${start}`, queued: start, ...fields });

test("zooming keeps the time under the cursor where it is", () => {
  const scale = scaleOf(100, 200, 1000);
  for (const x of [0, 250, 999]) {
    const next = zoomAt(scale, x, 3);
    const zoomed = scaleOf(next.from, next.to, 1000);
    assert.ok(Math.abs(zoomed.t(x) - scale.t(x)) < 1e-9);
    assert.ok(Math.abs(next.to - next.from - 100 / 3) < 1e-9);
  }
  assert.deepEqual(panBy(scale, 100), { from: 110, to: 210 });
});

test("a window cannot be lost beyond what there is to see", () => {
  const kept = keepNear({ from: 1e6, to: 1e6 + 10 }, 100, 200);
  assert.equal(kept.to - kept.from, 10);
  assert.ok(kept.from <= 200);
});

test("ticks are round, in sight, and far enough apart", () => {
  for (const span of [0.5, 3, 70, 4000, 1e6]) {
    const scale = scaleOf(1000, 1000 + span, 900);
    const found = ticks(scale, 1000);
    assert.ok(found.length >= 2 && found.length <= 11, `${span} s gives ${found.length}`);
    assert.ok(found.every((tick) => tick.t >= scale.from && tick.t <= scale.to));
  }
  assert.deepEqual(countTicks(7), [0, 2, 4, 6]);
});

test("a step series knows its means whatever the number of steps", () => {
  const steps = new Steps();
  for (let t = 0; t < 1000; t++) steps.push(t, t % 2);
  const means = steps.means(0, 1000, 10);
  assert.ok(means.every((mean) => Math.abs(mean - 0.5) < 0.02));
  assert.equal(steps.means(10, 12, 1)[0], 0.5);
  assert.equal(steps.valueAt(-5), 0);
});

test("open spans are counted with those that end before those that begin at the same time", () => {
  const steps = openCount([0, 1, 2], [1, 2]);
  assert.equal(Math.max(...steps.value), 1);
});

test("ten thousand bars on nine hundred pixels become no more rectangles than pixels, and none is forgotten", () => {
  const bars = Array.from({ length: 10_000 }, (_, i) => bar(i, i + 0.9));
  const out = new Rectangles();
  layBars({ bars }, 0, scaleOf(0, 10_000, 900), 10_000, out);
  assert.ok(out.size <= 900 * 2, `${out.size}`);
  assert.equal(out.merged.reduce((sum, n) => sum + n, 0), 10_000);
});

test("a failure among merged bars is still to be seen", () => {
  const bars = Array.from({ length: 1000 }, (_, i) => bar(i, i + 0.9, i === 500 ? { ending: "failed" } : {}));
  const out = new Rectangles();
  layBars({ bars }, 0, scaleOf(0, 1000, 100), 1000, out);
  assert.equal(out.worst.filter(Boolean).length, 1);
});

test("only bars in sight are laid out, found by halving", () => {
  const bars = Array.from({ length: 1000 }, (_, i) => bar(i, i + 0.9));
  assert.equal(firstVisible(bars, 500), 500);
  const out = new Rectangles();
  layBars({ bars }, 0, scaleOf(500, 510, 900), 1000, out);
  assert.equal(out.size, 11);
});

test("a bar in flight reaches to now", () => {
  const out = new Rectangles();
  layBars({ bars: [bar(10, null)] }, 0, scaleOf(0, 100, 1000), 60, out);
  assert.deepEqual([out.x[0], out.w[0]], [100, 500]);
});

test("a slot is there only while the host is wider than it", () => {
  const widths = new Steps();
  for (const [at, value] of [[0, 1], [10, 3], [20, 2], [30, 3]]) widths.push(at, value);
  const scale = scaleOf(0, 100, 100);
  assert.deepEqual(slotSpans(widths, 0, scale, 40), [{ from: 0, to: 40 }]);
  assert.deepEqual(slotSpans(widths, 2, scale, 40), [{ from: 10, to: 20 }, { from: 30, to: 40 }]);
});

test("gaps are where a slot was there and empty, cut by cause", () => {
  const row = { bars: [bar(10, 20), bar(40, null)] };
  const scale = scaleOf(0, 100, 1000);
  const gaps = gapsOf(row, [{ from: 0, to: 60 }], scale, 60);
  assert.deepEqual(gaps, [{ from: 0, to: 10 }, { from: 20, to: 40 }]);
  const idle = [{ from: 5, to: 25, cause: "claims", detail: "" }, { from: 25, to: null, cause: "rate", detail: "" }];
  const causes = causesOf(gaps, idle, scale, 60).map(({ x, w, cause }) => [x, w, cause]);
  assert.deepEqual(causes, [[0, 50, ""], [50, 50, "claims"], [200, 50, "claims"], [250, 150, "rate"]]);
});

test("rows stand by host and slot, or by host and kind", () => {
  const model = seen([100, host("a", 3), host("b", 1)], [101, start(1, 101), start(2, 101, { slot: 1, kind: "text" })], [103, end(1, 103)]);
  const slots = rowsOf(model, "slots", 500, scaleOf(100, 120, 900)).rows;
  assert.deepEqual(slots.filter((row) => row.type === "slot").map((row) => row.host + row.slot), ["a0", "a1", "a2", "b0"]);
  const kinds = rowsOf(model, "kinds", 500, scaleOf(100, 120, 900)).rows;
  assert.deepEqual(kinds.filter((row) => row.type === "head").map((row) => row.host + row.kind), ["acode", "atext"]);
});

test("slots that are not there in the time shown take no room", () => {
  const model = seen([100, host("a", 3)], [101, start(1, 101, { slot: 2 })], [103, end(1, 103)], [110, host("a", 1)]);
  const shown = (from, to) => rowsOf(model, "slots", 500, scaleOf(from, to, 900)).rows.filter((row) => row.type === "slot").length;
  assert.deepEqual([shown(100, 120), shown(111, 120)], [3, 1]);
});

test("a point finds the bar under it", () => {
  const model = seen([100, host("a", 2)], [101, start(1, 101)], [103, end(1, 103)], [110, start(2, 110)]);
  const scale = scaleOf(100, 120, 1000);
  const { rows } = rowsOf(model, "slots", 500, scale);
  const y = rows[1].y + 2;
  assert.equal(hit(rows, scale, 120, scale.x(102), y).bar.attempt, 1);
  assert.equal(hit(rows, scale, 120, scale.x(106), y).bar, null);
  assert.equal(hit(rows, scale, 120, scale.x(115), y).bar.attempt, 2);
});

test("the ribbon is as thick as the width, filled by what runs, and the rest of it explained", () => {
  const model = seen(
    [100, host("a", 4), { t: "idle", idle: [{ host: "a", free: 4, cause: "no work", detail: "" }] }],
    [110, start(1, 110), start(2, 110, { slot: 1, kind: "text" }), { t: "idle", idle: [{ host: "a", free: 2, cause: "claims", detail: "" }] }],
  );
  const laid = layRibbon(model.series, model.kinds, scaleOf(100, 120, 200), 120);
  assert.equal(laid.columns, 200);
  assert.ok(laid.width.every((width) => width === 4));
  const at = (type, column) => laid.layers.filter((layer) => layer.type === type).reduce((sum, layer) => sum + layer.top[column] - layer.bottom[column], 0);
  assert.deepEqual([at("kind", 50), at("blocked", 50)], [0, 0]);
  assert.deepEqual([Math.round(at("kind", 150)), Math.round(at("blocked", 150))], [2, 2]);
});

test("a calm ribbon is a few points", () => {
  assert.equal(edge(new Float64Array(900).fill(3), (value) => value).length, 2);
});

test("moves too close to tell apart share a marker and none is lost", () => {
  const moves = [10, 10.1, 50, 90].map((at, i) => ({ at, host: "a", kind: i === 3 ? "code" : "", was: 2, width: i === 1 ? 1 : 3, reason: "x" }));
  const markers = layMarkers(moves, scaleOf(0, 100, 500));
  assert.deepEqual(markers.map((marker) => marker.moves.length), [2, 1, 1]);
  assert.deepEqual(markers[0].sign, { up: true, down: true, isLane: false });
  assert.equal(markers[2].sign.isLane, true);
});

test("no ceiling is drawn before one is known", () => {
  const model = seen([100, { ...host("a", 4), ceiling: null, pinned: null }], [110, { t: "waiting", oldest_s: 0, ready: 1, ceiling: 3 }]);
  const laid = layRibbon(model.series, model.kinds, scaleOf(100, 120, 200), 120);
  assert.equal(laid.ceilingFrom, 100);
  assert.deepEqual(edge(laid.ceiling, (value) => value, laid.ceilingFrom)[0], [100, 3]);
  assert.equal(layRibbon(model.series, model.kinds, scaleOf(90, 105, 200), 105).ceiling, null);
});
