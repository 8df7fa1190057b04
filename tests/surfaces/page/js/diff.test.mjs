import assert from "node:assert/strict";
import { test } from "node:test";
import { sides } from "../../../../src/manyhands/surfaces/page/js/diff_layout.js";

const DIFF = `diff --git a/a.txt b/a.txt
index 1..2 100644
--- a/a.txt
+++ b/a.txt
@@ -3,4 +3,4 @@ def f():
 same
-old one
-old two
+new one
 end
diff --git a/blob b/blob
new file mode 100644
Binary files /dev/null and b/blob differ
`;

test("removed lines stand beside those that replace them, with their numbers", () => {
  const [text, blob] = sides(DIFF);
  assert.equal(text.path, "a.txt");
  const shown = text.rows.map((row) => row.hunk ?? [row.left && [row.left.n, row.left.text], row.right && [row.right.n, row.right.text]]);
  assert.deepEqual(shown, [
    "line 3 def f():",
    [[3, "same"], [3, "same"]],
    [[4, "old one"], [4, "new one"]],
    [[5, "old two"], null],
    [[6, "end"], [5, "end"]],
  ]);
  assert.deepEqual(blob.rows.map((row) => row.hunk), ["new file mode 100644", "Binary files /dev/null and b/blob differ"]);
});

test("a line that looks like a header inside a hunk is a line", () => {
  const [file] = sides("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n--- a\n+++ b\n");
  assert.deepEqual(file.rows.slice(1).map(({ left, right }) => [left?.text, right?.text]), [["-- a", "++ b"]]);
  assert.deepEqual(sides(""), []);
});
