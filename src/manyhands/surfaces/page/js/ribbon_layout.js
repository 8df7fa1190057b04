// The ribbon as stacked layers, one value for each pixel column: what runs, by kind, then what is free and why.

/** Free without work is not the same as free but blocked. */
const NO_WORK = new Set(["no work", ""]);

export function layRibbon(series, kinds, scale, now, idleKnownFrom = -Infinity) {
	const columns = Math.max(0, Math.min(Math.ceil(scale.width), Math.round(scale.x(now))));
	const to = scale.t(columns);
	const means = (steps) => (columns && steps ? steps.means(scale.from, to, columns) : new Float64Array(columns));
	const width = means(series.width);
	const base = new Float64Array(columns);
	const layers = [];
	const stack = (type, name, values) => {
		const top = new Float64Array(columns);
		let any = false;
		for (let i = 0; i < columns; i++) {
			top[i] = base[i] + values[i];
			any ||= values[i] > 0.001;
		}
		if (any) layers.push({ type, name, bottom: base.slice(), top });
		base.set(top);
	};
	for (const kind of kinds) if (series.inFlight.has(kind)) stack("kind", kind, means(series.inFlight.get(kind)));
	if (series.others) stack("others", "", means(series.others));
	for (const [cause, steps] of series.blocked) {
		if (NO_WORK.has(cause)) continue;
		const values = means(steps);
		// An idle list is as old as its frame: what has started since is no longer free.
		for (let i = 0; i < columns; i++) values[i] = Math.max(0, Math.min(values[i], width[i] - base[i]));
		stack("blocked", cause, values);
	}
	// Before anyone looked, what was free had a cause that nobody knows.
	const unknown = Math.min(columns, Math.floor(scale.x(idleKnownFrom)));
	if (unknown > 0) stack("blocked", "", width.map((value, i) => (i < unknown ? Math.max(0, value - base[i]) : 0)));
	// Before its first value there is no ceiling that anyone knows of.
	const ceilingFrom = Math.max(0, Math.ceil(scale.x(series.ceiling.at[0] ?? Infinity)));
	const ceiling = ceilingFrom < columns ? means(series.ceiling) : null;
	return { columns, width, layers, ceiling, ceilingFrom, most: mostOf(width, base) };
}

function mostOf(...lists) {
	let most = 1;
	for (const list of lists) for (const value of list) if (value > most) most = value;
	return most;
}

/** Corner points of a layer's edge: a new one only where the value moves, so that a calm ribbon is a few lines. */
export function edge(values, y, first = 0) {
	const points = [];
	let last = NaN;
	for (let i = first; i < values.length; i++) {
		if (values[i] === last) continue;
		if (i > first) points.push([i, y(last)]);
		points.push([i, y(values[i])]);
		last = values[i];
	}
	if (values.length) points.push([values.length, y(last)]);
	return points;
}

/** The longest stretch of columns in which the values are at least `least`. */
export function widest(values, least) {
	let best = { from: 0, size: 0 };
	let from = 0;
	for (let i = 0; i <= values.length; i++) {
		if (values[i] >= least) continue;
		if (i - from > best.size) best = { from, size: i - from };
		from = i + 1;
	}
	return best;
}

/** The moves in sight as markers; those too close to tell apart share one. */
export function layMarkers(widths, scale, apart = 9) {
	const markers = [];
	for (const move of widths) {
		if (move.at < scale.from || move.at > scale.to) continue;
		const x = scale.x(move.at);
		const last = markers[markers.length - 1];
		if (last && x - last.x < apart) last.moves.push(move);
		else markers.push({ x, moves: [move] });
	}
	for (const marker of markers) marker.sign = signOf(marker.moves);
	return markers;
}

/** Up, down or both; moves of a whole host count before those of a lane. */
function signOf(moves) {
	const ofHosts = moves.filter((move) => !move.kind);
	let up = false;
	let down = false;
	for (const move of ofHosts.length ? ofHosts : moves) {
		up ||= move.width > move.was;
		down ||= move.width < move.was;
	}
	return { up, down, isLane: !ofHosts.length };
}

export function moveText(move) {
	const what = move.kind ? `lane ${move.kind} of ${move.host}` : move.host;
	return `${what} ${move.was} → ${move.width}: ${move.reason}`;
}
