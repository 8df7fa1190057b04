// A host over time, or all hosts together: width, attempts, endings, tokens, cost and memory. Data in, data out.
import { openCount } from "./steps.js";

const BUCKETS = 90;
const NEAR = 7;
/** These say nothing about how well a host works. */
const NEUTRAL = new Set(["cancelled", "preempted"]);
const GB = 2 ** 30;
/** Probes read about once a second, and every tenth second of a long past is kept. */
const READING_HOLDS_S = 60;

/** What happened on `host` ("": on all) from `from` to `to`, as charts: [{name, unit, lines: [{name, points: [[at, value]], isStepped}]}]. */
/** A point without a value (null) ends a line: what came after it is unknown. */
export function hostCharts(model, host, from, to) {
	const bars = [...model.bars.values()].filter((bar) => (!host || bar.host === host) && (bar.end ?? to) >= from && bar.start <= to);
	const width = host ? model.series.widthOf.get(host) : model.series.width;
	const starts = Float64Array.from(bars.map((bar) => bar.start)).sort();
	const ends = Float64Array.from(bars.filter((bar) => bar.end !== null).map((bar) => bar.end)).sort();
	const buckets = bucketsOf(bars, from, to);
	const perMinute = 60 / Math.max(1e-9, buckets.each);
	const line = (name, value) => ({ name, points: buckets.list.map((bucket) => [bucket.at, value(bucket)]) });
	const charts = [
		{ name: "Width", unit: "", lines: [{ name: "width", points: stepPoints(width, from, to), isStepped: true }, { name: "in flight", points: stepPoints(openCount(starts, ends), from, to), isStepped: true, isFilled: true }] },
		{ name: "Success", unit: "%", most: 100, lines: [line("done", ({ done, counted }) => (counted ? (100 * done) / counted : null))] },
		{ name: "Refused (429)", unit: "/min", lines: [line("refused", ({ refused }) => refused * perMinute)] },
		...(bars.some((bar) => bar.overload === "unreachable") ? [{ name: "Not reachable", unit: "/min", lines: [line("not reachable", ({ unreachable }) => unreachable * perMinute)] }] : []),
		{ name: "Tokens", unit: "/min", lines: [line("tokens", ({ tokens }) => tokens * perMinute)] },
	];
	if (bars.some((bar) => bar.cost != null)) charts.push({ name: "Cost", unit: "/min", lines: [line("cost", ({ cost }) => cost * perMinute)] });
	return [...charts, ...gaugeCharts(model, host, from, to)];
}

function bucketsOf(bars, from, to) {
	const each = (to - from) / BUCKETS;
	const list = Array.from({ length: BUCKETS }, (_, i) => ({ at: from + (i + 0.5) * each, done: 0, counted: 0, refused: 0, unreachable: 0, tokens: 0, cost: 0 }));
	for (const bar of bars) {
		if (bar.end === null || bar.end < from || bar.end > to) continue;
		const bucket = list[Math.min(BUCKETS - 1, Math.floor((bar.end - from) / each))];
		bucket.counted += NEUTRAL.has(bar.ending) ? 0 : 1;
		bucket.done += bar.ending === "done" ? 1 : 0;
		bucket.refused += bar.overload === "rate" ? 1 : 0;
		bucket.unreachable += bar.overload === "unreachable" ? 1 : 0;
		bucket.tokens += bar.tokens;
		bucket.cost += bar.cost ?? 0;
	}
	return { list: list.map((bucket, i) => ({ at: bucket.at, ...sums(list.slice(Math.max(0, i - NEAR), i + 1)) })), each: each * (NEAR + 1) };
}

/** A few attempts a minute should not look like a comb: each point is of the buckets just before it too. */
function sums(buckets) {
	const found = { done: 0, counted: 0, refused: 0, unreachable: 0, tokens: 0, cost: 0 };
	for (const bucket of buckets) for (const name of Object.keys(found)) found[name] += bucket[name];
	return found;
}

/** The values of a step series in sight, one at its left edge too. */
function stepPoints(steps, from, to) {
	if (!steps?.at.length) return [];
	const points = steps.at[0] <= from ? [[from, steps.valueAt(from)]] : [];
	for (let i = Math.max(0, steps.indexAt(from)); i < steps.at.length && steps.at[i] <= to; i++) if (steps.at[i] >= from) points.push([steps.at[i], steps.value[i]]);
	return points;
}

/** Memory is of a machine: of all hosts together each has its own line. */
function gaugeCharts(model, host, from, to) {
	const rows = [...model.gauges].filter(([name]) => !host || name === host).map(([name, list]) => [name, list.filter((row) => row.at >= from && row.at <= to)]);
	const lines = (field, by) => rows.map(([name, list]) => ({ name, points: withGaps(list.filter((row) => row[field] != null).map((row) => [row.at, row[field] / by]), to) })).filter(({ points }) => points.length);
	const total = Math.max(0, ...rows.flatMap(([, list]) => list.map((row) => row.memory_total_bytes ?? 0))) / GB;
	return [
		{ name: "Memory", unit: " GB", most: total || undefined, lines: lines("memory_used_bytes", GB) },
		{ name: "Requests left", unit: "", lines: lines("requests_left", 1) },
		{ name: "Tokens left", unit: "", lines: lines("tokens_left", 1) },
		{ name: "Queue of the server", unit: "", lines: lines("waiting", 1) },
	].filter((chart) => chart.lines.length);
}

/** What was read holds for a while; after that nobody knows. */
function withGaps(points, to) {
	return points.flatMap(([at, value], i) => ((points[i + 1]?.[0] ?? to) > at + READING_HOLDS_S ? [[at, value], [at + READING_HOLDS_S, null]] : [[at, value]]));
}

/** The newest reading of a host, unless it is too old to tell of now. */
export function readingOf(model, host, now) {
	const last = (model.gauges.get(host) ?? []).at(-1);
	return last && now <= last.at + READING_HOLDS_S ? last : null;
}

/** The value of a line at a moment; null before its first, and where it is unknown. */
export function valueAt({ points }, at) {
	let low = 0;
	let high = points.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (points[middle][0] > at) high = middle;
		else low = middle + 1;
	}
	return low ? points[low - 1][1] : null;
}

/** What limits a host now, in words: what closed it and until when, what its server leaves it, and its own pace. */
export function limitsOf(model, host, now, words) {
	const known = model.hosts.get(host) ?? {};
	const last = readingOf(model, host, now) ?? {};
	const told = [];
	if (known.paused) {
		const until = known.paused_until ? `, opens at ${words.wallClock(known.paused_until)} (in ${words.duration(known.paused_until - now)})` : known.needs_person ? ", until a person has seen to it" : "";
		told.push(`${known.closed ? "closed by its account" : "paused"}: ${known.paused}${until}`);
	}
	if (last.requests_left != null) told.push(`${words.count(last.requests_left)} requests left${last.requests_per_minute ? ` of ${words.count(last.requests_per_minute)} a minute` : ""}`);
	if (last.tokens_left != null) told.push(`${words.short(last.tokens_left)} tokens left${last.tokens_per_minute ? ` of ${words.short(last.tokens_per_minute)} a minute` : ""}`);
	const idle = model.idle.find((each) => each.host === host && each.cause === "rate");
	if (idle) told.push(`starts are spread: ${idle.detail}${idle.until > now ? `; the next in ${words.duration(idle.until - now)}` : ""}`);
	return told;
}
