// Several runs side by side, and two of them compared. Data in, data out.
import { mainRun } from "./outcome.js";

/** A cell as the server tells it, by name. */
const cellOf = (told) => told && { state: told[0], took: told[1], tries: told[2], cost: told[3] };

/** {runs, tasks: [{task, title, kind, cells}], total} from what the server answered. */
export function readGrid({ runs, tasks, total }) {
	return { runs, total, tasks: tasks.map((row) => ({ ...row, cells: row.cells.map(cellOf) })) };
}

/** The same from what the page knows itself: of a saved run that is one column. */
export function gridOfModel(model, now) {
	const run = mainRun(model);
	if (!run) return { runs: [], tasks: [], total: 0 };
	const cells = new Map();
	const sums = { attempts: 0, busy_s: 0, tokens: 0, cost: null };
	for (const bar of model.bars.values()) {
		if (bar.run !== run.run) continue;
		const cell = cells.get(bar.task) ?? { took: 0, tries: 0, cost: null };
		const took = (bar.end ?? now) - bar.start;
		cells.set(bar.task, { took: cell.took + took, tries: cell.tries + 1, cost: added(cell.cost, bar.cost) });
		Object.assign(sums, { attempts: sums.attempts + 1, busy_s: sums.busy_s + took, tokens: sums.tokens + bar.tokens, cost: added(sums.cost, bar.cost) });
	}
	const tasks = [...model.tasks.values()].filter((task) => task.run === run.run)
		.map(({ task, title, kind, state }) => ({ task, title, kind, cells: [{ took: null, tries: 0, cost: null, ...cells.get(task), state }] }));
	return { runs: [{ ...run, ...sums }], tasks, total: tasks.length };
}

const added = (sum, more) => (more == null ? sum : (sum ?? 0) + more);

export const tookOf = (run, now) => (run.ended_at ?? now) - run.opened_at;

/** How wide a run was on average. */
export const meanWidth = (run, now) => (tookOf(run, now) > 0 ? run.busy_s / tookOf(run, now) : 0);

/** The tasks of two runs, those that came out differently first, then by how much longer or shorter they took. */
export function compare(grid, first, second) {
	const [a, b] = [first, second].map((name) => grid.runs.findIndex((run) => run.run === name));
	const rows = grid.tasks.filter((row) => row.cells[a] || row.cells[b]).map((row) => {
		const [before, after] = [row.cells[a] ?? null, row.cells[b] ?? null];
		const both = before?.took != null && after?.took != null;
		return { ...row, before, after, by: both ? after.took - before.took : null, isOther: before?.state !== after?.state };
	});
	return rows.sort((x, y) => y.isOther - x.isOther || Math.abs(y.by ?? 0) - Math.abs(x.by ?? 0));
}
