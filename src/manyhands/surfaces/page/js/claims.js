// The claims that most tasks wait for, and which attempts hold them.
import { h, renew } from "./dom.js";
import { listed } from "./words.js";

export function showClaims(element, model, pick) {
	const hot = model.claims.slice(0, 12);
	if (!hot.length) {
		renew(element, h("p", { class: "note" }, "No claim is held."));
		return;
	}
	const most = Math.max(1, ...hot.map((claim) => claim.waiting));
	const rows = hot.map((claim) =>
		h("tr", { key: `${claim.mode} ${claim.claim}` },
			h("td", {}, h("a", { href: "#", class: "path", onclick: (event) => { event.preventDefault(); pick(claim.claim); } }, claim.claim), " ", h("span", { class: "quiet" }, claim.mode)),
			h("td", { class: "quiet" }, listed(claim.holders, 2)),
			h("td", { class: "num" }, claim.waiting ? h("span", { class: "heat", vars: { width: `${Math.round((claim.waiting / most) * 28)}px` } }) : "", ` ${claim.waiting}`)));
	const head = h("tr", {}, h("th", {}, "claim"), h("th", {}, "held by"), h("th", { class: "num" }, "wait"));
	const more = model.claims.length - hot.length;
	renew(element, h("table", { class: "rows" }, h("tbody", {}, head, rows)), more > 0 && h("p", { class: "note" }, `${hot.length} of ${model.claims.length} shown`));
}
