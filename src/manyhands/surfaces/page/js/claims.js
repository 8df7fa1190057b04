// The claims that most tasks wait for, and which attempts hold them.
import { h, renew } from "./dom.js";
import { listed } from "./words.js";

/** With a run chosen: what its attempts hold, and what its tasks wait for. */
export function claimsOf(model) {
	if (!model.scope) return model.claims;
	const wanted = new Set();
	for (const task of model.tasks.values()) if (task.run === model.scope && task.state === "ready") for (const claim of task.claims ?? []) wanted.add(claim.slice(claim.indexOf(" ") + 1));
	return model.claims.filter((each) => !each.runs || each.runs.includes(model.scope) || wanted.has(each.claim));
}

export function showClaims(element, model, pick) {
	const claims = claimsOf(model);
	const hot = claims.slice(0, 12);
	if (!hot.length) {
		renew(element, h("p", { class: "note" }, "No claim is held."));
		return;
	}
	const several = new Set(claims.flatMap((claim) => claim.runs ?? [])).size > 1;
	const most = Math.max(1, ...hot.map((claim) => claim.waiting));
	const rows = hot.map((claim) =>
		h("tr", { key: `${claim.mode} ${claim.claim}` },
			h("td", {}, h("a", { href: "#", class: "path", onclick: (event) => { event.preventDefault(); pick(claim.claim); } }, claim.claim), " ", h("span", { class: "quiet" }, claim.mode)),
			h("td", { class: "quiet" }, listed(claim.holders.map((holder, i) => (several && claim.runs ? `${holder} (${claim.runs[i]})` : holder)), 2)),
			h("td", { class: "num" }, claim.waiting ? h("span", { class: "heat", vars: { width: `${Math.round((claim.waiting / most) * 28)}px` } }) : "", ` ${claim.waiting}`)));
	const head = h("tr", {}, h("th", {}, "claim"), h("th", {}, "held by"), h("th", { class: "num" }, "wait"));
	const more = claims.length - hot.length;
	renew(element, h("table", { class: "rows" }, h("tbody", {}, head, rows)), more > 0 && h("p", { class: "note" }, `${hot.length} of ${claims.length} shown`));
}
