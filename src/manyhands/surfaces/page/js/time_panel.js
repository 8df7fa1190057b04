// Time: how long it has run, how long it will, the chain of needs that decides it, and what each kind usually takes.
import { ENDED, usualTimes } from "./critical_path.js";
import { h, renew, taskHref } from "./dom.js";
import { isMine } from "./model.js";
import { kindClass, kindVars } from "./paint.js";
import { timeLeftText } from "./time_left.js";
import { count, duration, plural } from "./words.js";

const NAMED_MAX = 8;

/** kind → {done, left} */
function countKinds(model) {
	const found = new Map();
	for (const task of model.tasks.values()) {
		if (!isMine(model, task)) continue;
		if (!found.has(task.kind)) found.set(task.kind, { done: 0, left: 0 });
		if (task.state === "done") found.get(task.kind).done++;
		else if (!ENDED.has(task.state)) found.get(task.kind).left++;
	}
	return found;
}

/** `left` is what `timeLeft` says, `since` when what is shown began. */
export function showTimes(element, model, left, since, now) {
	const usual = usualTimes(model);
	const kinds = [...countKinds(model)].sort(([a], [b]) => (a < b ? -1 : 1));
	const { chain } = left ?? {};
	const names = chain?.path ?? [];
	const shown = names.slice(0, NAMED_MAX);
	renew(element,
		h("p", { key: "sum" }, [`runs for ${duration(now - since)}`, timeLeftText(left)].filter(Boolean).join(" · ")),
		names.length > 1 && h("p", { key: "chain", class: "note" }, `${plural(names.length, "task")} must follow one another, ${duration(chain.seconds)} as usual: `,
			shown.map((name, i) => [i > 0 && " → ", h("a", { key: name, href: taskHref(chain.run, name) }, name)]), names.length > shown.length && ` → ${count(names.length - shown.length)} more`),
		kinds.length > 0 && h("table", { key: "kinds", class: "rows" }, h("tbody", {},
			h("tr", { key: "" }, ["kind", "done", "left", "usual", "nine of ten within"].map((name, i) => h("th", { scope: "col", class: i ? "num" : null }, name))),
			kinds.map(([kind, { done, left: open }]) => h("tr", { key: kind },
				h("td", {}, h("span", { class: `chip${kindClass(model, kind)}`, vars: kindVars(model, kind) }, kind)),
				h("td", { class: "num" }, count(done)), h("td", { class: "num" }, count(open)),
				h("td", { class: "num" }, duration(usual.get(kind)?.[0])), h("td", { class: "num" }, duration(usual.get(kind)?.[1])))))));
}
