// Time to pixels and back, and what zooming and panning do to the stretch of time shown.

const SHORTEST_S = 0.05;

export function scaleOf(from, to, width) {
	const perSecond = width / Math.max(1e-9, to - from);
	return {
		from,
		to,
		width,
		perSecond,
		x: (t) => (t - from) * perSecond,
		t: (x) => from + x / perSecond,
	};
}

/** The window after zooming by `factor` (above 1: closer) with the time under `x` staying there. */
export function zoomAt(scale, x, factor) {
	const at = scale.t(x);
	const span = Math.max(SHORTEST_S, (scale.to - scale.from) / factor);
	const part = x / scale.width;
	return { from: at - span * part, to: at + span * (1 - part) };
}

export function panBy(scale, pixels) {
	const by = pixels / scale.perSecond;
	return { from: scale.from + by, to: scale.to + by };
}

/** Keeps a window where there is something to see: within the known times, with half a window to spare. */
export function keepNear({ from, to }, first, last) {
	const span = Math.min(to - from, Math.max(SHORTEST_S, (last - first) * 4 + 10));
	const middle = (from + to) / 2;
	const centre = Math.min(Math.max(middle, first), last);
	return { from: centre - span / 2, to: centre + span / 2 };
}

const STEPS_S = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];

/** Round times about `apart` pixels from each other, counted from `origin`. */
export function ticks(scale, origin, apart = 90) {
	const wanted = apart / scale.perSecond;
	const step = STEPS_S.find((each) => each >= wanted) ?? Math.ceil(wanted / 86400) * 86400;
	const out = [];
	for (let k = Math.ceil((scale.from - origin) / step); origin + k * step <= scale.to; k++) {
		out.push({ t: origin + k * step, since: k * step, step });
	}
	return out;
}

/** Whole numbers for an axis that ends at `most`: at most `count` of them besides zero. */
export function countTicks(most, count = 4) {
	const rough = Math.max(1, most / count);
	const power = 10 ** Math.floor(Math.log10(rough));
	const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
	const out = [];
	for (let value = 0; value <= most; value += step) out.push(value);
	return out;
}
