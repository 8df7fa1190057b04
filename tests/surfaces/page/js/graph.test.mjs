import assert from "node:assert/strict";
import { test } from "node:test";
import { heldArc } from "../../../../src/manyhands/surfaces/page/js/graph_edges.js";
import { blocking, mayMeet } from "../../../../src/manyhands/surfaces/page/js/claim_conflicts.js";
import { criticalPath, wholeTimes } from "../../../../src/manyhands/surfaces/page/js/critical_path.js";
import { fitView, layGraph, neighbour } from "../../../../src/manyhands/surfaces/page/js/graph_layout.js";
import { end, host, seen, start, task } from "./made.mjs";

const open = () => false;
const closed = () => true;

test("a task stands right of all that it needs, and no two stand on each other", () => {
  const tasks = Array.from({ length: 400 }, (_, i) => task(`t${i}`, { needs: i % 5 ? [`t${i - 1}`, `t${Math.floor(i / 2)}`].filter((need) => need !== `t${i}`) : [] }));
  const { nodes, edges, nodeOf, width, height } = layGraph(tasks, open);
  assert.equal(nodes.length, 400);
  assert.ok(edges.length > 400);
  for (const { from, to } of edges) assert.ok(from.x + from.w < to.x, `${from.name} before ${to.name}`);
  const places = new Set(nodes.map((node) => `${node.x},${node.y}`));
  assert.equal(places.size, 400);
  assert.ok(nodes.every((node) => node.x >= 0 && node.y >= 0 && node.x + node.w <= width && node.y + node.h <= height));
  assert.equal(nodeOf.get("t7").tasks[0].task, "t7");
});

test("a closed epic is one node with the edges of its tasks, and epics that need each other have a place too", () => {
  const tasks = [task("a1", { parent: "a" }), task("b1", { parent: "b", needs: ["a1"] }), task("a2", { parent: "a", needs: ["b1"] }), task("c", { needs: ["a2", "a1"] })];
  const laid = layGraph(tasks, closed);
  assert.deepEqual(laid.nodes.map((node) => [node.name, node.tasks.length]), [["a", 2], ["b", 1], ["c", 1]]);
  assert.deepEqual(laid.edges.map(({ from, to, count }) => [from.name, to.name, count]), [["a", "b", 1], ["b", "a", 1], ["a", "c", 2]]);
  assert.equal(new Set(laid.nodes.map((node) => node.x)).size, 2);
  const half = layGraph(tasks, (epic) => epic === "a");
  assert.deepEqual(half.nodes.map((node) => node.name), ["a", "b1", "c"]);
});

test("an epic inside a closed epic is hidden with it, and an epic that is a task itself too", () => {
  const tasks = [task("top"), task("mid", { parent: "top" }), task("leaf", { parent: "mid" }), task("other")];
  assert.deepEqual(layGraph(tasks, (epic) => epic === "top").nodes.map((node) => node.name), ["top", "other"]);
  assert.deepEqual(layGraph(tasks, (epic) => epic === "mid").nodes.map((node) => node.name), ["top", "mid", "other"]);
});

test("all of it fits, and the arrow keys follow needs", () => {
  const laid = layGraph([task("a"), task("b"), task("c", { needs: ["a"] }), task("d", { needs: ["b"] })], open);
  const view = fitView(laid, 800, 400);
  for (const node of laid.nodes) assert.ok((node.x - view.x) * view.k >= 0 && (node.x + node.w - view.x) * view.k <= 800);
  const at = (name) => laid.nodeOf.get(name);
  assert.equal(neighbour(laid.nodes, null, "right").name, "a");
  assert.equal(neighbour(laid.nodes, at("a"), "right").name, "c");
  assert.equal(neighbour(laid.nodes, at("c"), "left").name, "a");
  assert.equal(neighbour(laid.nodes, at("c"), "down").name, "d");
  assert.equal(neighbour(laid.nodes, at("c"), "right").name, "c");
});

test("the critical path is the chain that takes longest, however long it is, and a ring does not catch it", () => {
  const tasks = [task("a"), task("b", { needs: ["a"] }), task("c", { needs: ["a"] }), task("d", { needs: ["b", "c"] }), task("e")];
  const times = { a: 1, b: 5, c: 2, d: 1, e: 6 };
  assert.deepEqual(criticalPath(tasks, ({ task: name }) => times[name]), { seconds: 7, path: ["a", "b", "d"] });
  const chain = Array.from({ length: 5000 }, (_, i) => task(`c${i}`, { needs: i ? [`c${i - 1}`] : [] }));
  assert.equal(criticalPath(chain, () => 1).path.length, 5000);
  assert.equal(criticalPath([task("a", { needs: ["b"] }), task("b", { needs: ["a"] }), task("x", { needs: ["gone"] })], ({ task: name }) => (name === "x" ? 3 : 1)).seconds, 3);
  assert.deepEqual(criticalPath([], () => 1), { seconds: 0, path: [] });
});

test("what has ended took what it took, and what is to come takes as long as usual", () => {
  const lanes = [{ kind: "code", usual_s: 8, p90_s: 10 }];
  const model = seen([100, host("a", 2, { lanes }), task("t1", { state: "done" }), task("t2", { state: "running" }), task("t3", { kind: "new" }), start(1, 100), start(2, 103)], [103, end(1, 103)]);
  const times = wholeTimes(model, "r", 105);
  assert.deepEqual([...model.tasks.values()].map(times), [3, 8, 8]);
});

test("claims meet as the scheduler has it: a path holds what is below it, and readers share", () => {
  for (const [a, b] of [["src/a.py", "src/a.py"], ["src", "src/a.py"], ["src/**", "src/x/y.py"], ["src/*.py", "src/a.py"], ["a/*/c", "a/b/*"], ["db:main", "db:main"], ["src/", "src"]]) assert.ok(mayMeet(a, b) && mayMeet(b, a), `${a} and ${b}`);
  for (const [a, b] of [["src/a.py", "src/b.py"], ["src/*.py", "src/x/a.py"], ["db:main", "db"], ["src/*.py", "src/a.rs"]]) assert.ok(!mayMeet(a, b) && !mayMeet(b, a), `${a} and ${b}`);
  const runs = (name, ...claims) => task(name, { state: "running", claims });
  const waits = (name, ...claims) => task(name, { claims });
  const found = blocking([runs("h1", "write src/app"), runs("h2", "read docs/x.md", "append log"), waits("w1", "read src/app/main.py"), waits("w2", "read docs/x.md"), waits("w3", "append log"), waits("w4", "write log", "write src"), waits("w5", "write **/*.md")]);
  assert.deepEqual(found.map(({ holder, waiter }) => [holder.task, waiter.task]), [["h1", "w1"], ["h2", "w4"], ["h1", "w4"], ["h1", "w5"], ["h2", "w5"]]);
});

test("a wait for files goes around the boxes between the two, in one row and in one column", () => {
  const box = (x, y) => ({ x, y, w: 148, h: 24 });
  const middle = ([x0, y0, a, b, p, q, x1, y1]) => [(x0 + 3 * a + 3 * p + x1) / 8, (y0 + 3 * b + 3 * q + y1) / 8];
  for (const far of [200, 2000]) {
    assert.ok(middle(heldArc(box(0, 100), box(far, 100)))[1] < 95);
    assert.ok(middle(heldArc(box(far, 100), box(0, 100)))[1] < 95);
    assert.ok(middle(heldArc(box(0, 100), box(0, 100 + far)))[0] > 155);
  }
});
