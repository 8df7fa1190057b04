// An eval as a table of cases and arms, and the line of an interval that narrows. Data in, data out.

/** case → arm → {mean, scored, planned, trials}: the mean score so far of every cell. */
export function evalCells({ arms, cases, trials }, scorer) {
	const cells = new Map(cases.map((name) => [name, new Map(arms.map((arm) => [arm, { mean: null, scored: 0, planned: 0, trials: [] }]))]));
	for (const trial of trials) {
		const cell = cells.get(trial.case).get(trial.arm);
		cell.planned++;
		cell.trials.push(trial);
		const score = trial.scores[scorer];
		if (score == null) continue;
		cell.mean = ((cell.mean ?? 0) * cell.scored + score) / (cell.scored + 1);
		cell.scored++;
	}
	return cells;
}

/** The mean of an arm over its scored trials; null before the first. */
export function armMean({ trials }, arm, scorer) {
	const scores = trials.filter((trial) => trial.arm === arm).map((trial) => trial.scores[scorer]).filter((score) => score != null);
	return scores.length ? scores.reduce((a, b) => a + b, 0) / scores.length : null;
}

/** The interval over the number of scored trials, as points of an SVG path: {band, line, zero} with the ends of both axes {least, most, last}, in a box of w × h. */
export function narrowing(points, w, h) {
	if (!points.length) return null;
	const values = points.flatMap(({ mean, low, high }) => [mean, low ?? mean, high ?? mean]);
	const [least, most] = [Math.min(0, ...values), Math.max(0, ...values)];
	const y = (value) => (h - 3 - ((value - least) / (most - least || 1)) * (h - 6)).toFixed(1);
	const last = points.at(-1).scored;
	const x = (scored) => ((scored / last) * w).toFixed(1);
	const known = points.filter((point) => point.low !== null);
	const band = known.length ? `M${known.map((point) => `${x(point.scored)} ${y(point.high)}`).join("L")}L${[...known].reverse().map((point) => `${x(point.scored)} ${y(point.low)}`).join("L")}Z` : "";
	return { least, most, last, band, line: `M${points.map((point) => `${x(point.scored)} ${y(point.mean)}`).join("L")}`, zero: y(0) };
}
