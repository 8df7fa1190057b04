// Builders for the tests of the page's modules.
import { applyFrame, fromSnapshot } from "../../../../src/manyhands/surfaces/page/js/model.js";

export const nothing = (fields = {}) => ({
  seq: 0, at: 100, version: "t", command: false, runs: [], hosts: [], tasks: { total: 0, shown: 0 }, bars: { total: 0, shown: 0 },
  widths: [], widths_total: 0, idle: [], claims: [], waiting: { oldest_s: 0, ready: 0 }, tokens: { in: 0, out: 0 }, cost: null, ...fields,
});

export const host = (name, width, fields = {}) => ({ t: "host", host: name, kinds: ["*"], width, pinned: null, why: "", ceiling: null, paused: null, lanes: [], ...fields });
export const task = (name, fields = {}) => ({ t: "task", run: "r", task: name, title: "", kind: "code", state: "ready", priority: 2, parent: "", needs: [], since: 100, cause: "", claims: [], ...fields });
export const start = (attempt, at, fields = {}) => ({ t: "start", attempt, run: "r", task: `t${attempt}`, kind: "code", host: "a", slot: 0, queued_at: 100, at, number: 1, of: 1, claims: [], ...fields });
export const end = (attempt, at, ending = "done") => ({ t: "end", attempt, at, ending, detail: "", tokens_in: 1, tokens_out: 2 });

/** A model that has seen these frames: [at, ...changes]. */
export function seen(...frames) {
  const model = fromSnapshot(nothing({ runs: [{ run: "r", opened_at: 100, ended_at: null, counts: {}, total: 0 }] }));
  frames.forEach(([at, ...changes], i) => applyFrame(model, { seq: i + 1, at, changes }));
  return model;
}
