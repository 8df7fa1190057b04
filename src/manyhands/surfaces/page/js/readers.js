// What canvases show, as a table and a sentence for those who do not see them.
import { h, renew } from "./dom.js";
import { inOrder, usualOf } from "./now_cards.js";
import { duration, plural } from "./words.js";

export function fillReaders(table, model, now) {
	const head = h("tr", {}, ["task", "kind", "host", "attempt", "running for", "usual"].map((name) => h("th", { scope: "col" }, name)));
	const rows = inOrder(model).slice(0, 200).map((bar) =>
		h("tr", { key: bar.attempt }, [bar.task, bar.kind, bar.host, `${bar.number} of ${Math.max(bar.of, bar.number)}`, duration(now - bar.start), duration(usualOf(model, bar).usual)].map((text) => h("td", {}, text))));
	renew(table, h("caption", {}, "Attempts in flight"), h("tbody", {}, head, rows));
}

export function sentence(totals, headline) {
	return `${plural(totals.inFlight, "attempt")} in flight of width ${totals.width}. ${headline}`;
}
