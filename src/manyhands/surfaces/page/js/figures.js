// Throughput, queue age and cost: the number now, and its line over the time in sight.
import { h, renew, svg } from "./dom.js";
import { totals } from "./model.js";
import { count, duration, money, rate, short } from "./words.js";

const POINTS = 90;

export function throughput(done, from, to, points = POINTS) {
	const out = [];
	const each = (to - from) / points;
	const window = Math.max(each, (to - from) / 12); // a few tasks a minute should not look like a comb
	for (let i = 0; i <= points; i++) {
		const t = from + each * i;
		const start = Math.max(from, t - window);
		out.push(t > start ? ((done.valueAt(t) - done.valueAt(start)) * 60) / (t - start) : 0);
	}
	return out;
}

const sampled = (from, to, valueAt) => Array.from({ length: POINTS + 1 }, (_, i) => valueAt(from + ((to - from) * i) / POINTS));

function line(values, colour) {
	const most = Math.max(1e-9, ...values);
	const points = values.map((value, i) => `${((i / (values.length - 1)) * 200).toFixed(1)} ${(42 - (value / most) * 38).toFixed(1)}`);
	const picture = svg("svg", { viewBox: "0 0 200 44", preserveAspectRatio: "none", "aria-hidden": "true" });
	picture.append(
		svg("path", { d: `M0 42L${points.join("L")}L200 42Z`, fill: colour, "fill-opacity": ".14" }),
		svg("path", { d: `M${points.join("L")}`, fill: "none", stroke: colour, "stroke-width": "1.6", "vector-effect": "non-scaling-stroke" }),
	);
	return picture;
}

export function showFigures(element, model, from, now) {
	const { series } = model;
	const perMinute = throughput(series.done, from, now);
	const back = Math.max(1, Math.min(60, now - from));
	const last = ((series.done.last - series.done.valueAt(now - back)) * 60) / back;
	const age = (t) => {
		const since = series.since.valueAt(t);
		return since && t - since;
	};
	const { ready } = totals(model);
	const oldest = ready ? age(now) : 0;
	const figure = (value, label, picture) => h("div", { class: "figure" }, h("div", {}, h("b", {}, value), h("span", {}, label)), picture);
	const { cost, tokens } = model;
	renew(element,
		figure(`${rate(last)}/min`, `done · ${count(series.done.last)} so far`, line(perMinute, "var(--good)")),
		figure(oldest ? duration(oldest) : "–", `oldest waits · ${count(ready)} ready`, line(sampled(from, now, age), "var(--warn)")),
		figure(cost ? money(cost) : short(tokens), cost ? `cost · ${short(tokens)} tokens` : "tokens in and out", line(sampled(from, now, (t) => (cost ? series.cost : series.tokens).valueAt(t)), "var(--accent)")),
	);
}
