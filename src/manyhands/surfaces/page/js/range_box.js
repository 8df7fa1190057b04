// The figures of the selected stretch of time, on the page.
import { causeOf, SIGNS } from "./causes.js";
import { button, h, renew } from "./dom.js";
import { rangeFigures } from "./range.js";
import { count, duration, percent, rate } from "./words.js";

export function showRange(element, model, range, now, clear) {
	element.hidden = !range;
	if (!range) return;
	const found = rangeFigures(model, range.from, range.to, now);
	const endings = Object.entries(found.endings).map(([ending, n]) => `${count(n)} ${SIGNS[ending]?.label ?? ending}`);
	const pairs = [
		["selected", duration(found.span)],
		["started", count(found.started)],
		["ended", endings.join(", ") || "0"],
		["done a minute", rate(found.perMinute)],
		["mean in flight", `${found.meanInFlight.toFixed(1)} of ${found.meanWidth.toFixed(1)} (${percent(found.used)})`],
		["mean wait", duration(found.meanWait)],
		["changes of width", count(found.moves)],
		...found.free.slice(0, 4).map((each) => [`free: ${causeOf(each.cause).label}`, percent(each.share)]),
	];
	renew(element,
		h("div", { class: "bar" }, h("h2", {}, "Selected time"), button({ onclick: clear }, "clear")),
		h("dl", {}, pairs.map(([name, value]) => h("div", { key: name }, h("dt", {}, name), h("dd", {}, value)))),
	);
}
