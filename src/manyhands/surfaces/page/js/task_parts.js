// The parts of a task's pane that only show what is known: what it is, what it needs, its attempts, its story.
import { endingLabel, endingOf, SIGNS } from "./causes.js";
import { taskPath } from "./commands.js";
import { ENDED } from "./critical_path.js";
import { button, h, taskHref } from "./dom.js";
import { keyOf } from "./model.js";
import { duration, listed, liveText, money, short, wallClock } from "./words.js";

const NAMED_MAX = 12;

/** Fields of a plan that say what is done, then those that bound it; in this order. */
const WORK = ["prompt", "run", "call", "args", "model", "check"];
const BOUNDS = ["save", "keep", "host", "workspace", "timeout", "attempts", "resources", "labels", "env", "app", "reply_to"];

const isGiven = (value) => value != null && value !== "" && value !== false && !(typeof value === "object" && !Object.keys(value).length);

const asText = (value) => {
	if (typeof value === "string") return value;
	if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value.map((each) => (/[\s'"$;|&<>]/.test(each) ? `'${each.replaceAll("'", "'\\''")}'` : each)).join(" ");
	return JSON.stringify(value, null, 1);
};

/** What the task is: the prompt or command, its check, and what bounds it. */
export function whatItIs(plan) {
	if (!plan) return [];
	const work = WORK.filter((name) => isGiven(plan[name]));
	const bounds = BOUNDS.filter((name) => isGiven(plan[name]));
	return [
		h("h3", { key: "task" }, "Task"),
		h("dl", { key: "plan", class: "plan" },
			work.map((name) => [h("dt", { key: `${name}?` }, name), h("dd", { key: name }, h("pre", { tabIndex: 0, "aria-label": name }, asText(plan[name])))]),
			bounds.map((name) => [h("dt", { key: `${name}?` }, name), h("dd", { key: name }, asText(plan[name]))])),
	];
}

/** What it needs, what needs it, and what it claims. */
export function uses(model, record, detail, holders = []) {
	const needs = record.needs ?? detail?.plan?.needs ?? [];
	const claims = detail?.claims ?? record.claims ?? [];
	const neededBy = [];
	for (const task of model.tasks.values()) if (task.run === record.run && task.needs?.includes(record.task)) neededBy.push(task.task);
	const links = (names) => names.slice(0, NAMED_MAX).map((name) => [h("a", { key: name, href: taskHref(record.run, name) }, name), ` (${model.tasks.get(keyOf(record.run, name))?.state ?? "never submitted"}) `]);
	const part = (key, title, names) => names.length > 0 && [
		h("h3", { key }, title),
		h("p", { key: `${key} list` }, links(names), names.length > NAMED_MAX && `and ${names.length - NAMED_MAX} more`),
	];
	return [
		part("needs", "Needs", needs),
		part("needed", "Needed by", neededBy),
		claims.length > 0 && [h("h3", { key: "claims" }, "Claims"), h("p", { key: "claims list", class: "path" }, claims.join(" · "))],
		holders.length > 0 && h("p", { key: "held" }, "Waits for files that others hold: ", holders.slice(0, NAMED_MAX).map(({ holder, claim }) => [h("a", { key: holder.task, href: taskHref(holder.run, holder.task) }, holder.task), ` (${claim}) `])),
	];
}

/** The files that its latest attempt left; a copy that was kept can be saved. */
export function filesLeft(detail) {
	const files = detail?.attempts?.at(-1)?.artefacts ?? [];
	if (!files.length) return [];
	const copyOf = (path) => `${taskPath(detail.run, detail.task)}/artefact?attempt=${detail.attempts.length}&path=${encodeURIComponent(path)}`;
	const rows = files.map((file) => h("li", { key: file.path, class: "path", title: `SHA-256 ${file.sha256}` },
		file.copy ? h("a", { href: copyOf(file.path), download: "" }, file.path) : file.path, ` (${short(file.size_bytes)} bytes)`, file.copy && " · copy kept"));
	return [h("h3", { key: "files" }, "Files"), h("ul", { key: "files list" }, rows)];
}

/** What its attempts want remembered, the latest attempt first. */
export function notesLeft(detail) {
	const notes = [...(detail?.attempts ?? [])].reverse().flatMap((attempt) => attempt.notes ?? []);
	if (!notes.length) return [];
	return [h("h3", { key: "notes" }, "Notes"), h("ul", { key: "notes list" }, notes.map((note, place) => h("li", { key: place }, note)))];
}

/** `pick(number)` shows the output of that attempt; `ticking(element, bar)` is told of what is in flight. */
export function attemptsTable(bars, detail, shown, now, pick, ticking) {
	if (!bars.length) return h("p", { class: "note", key: "attempts list" }, "None yet.");
	const heads = ["#", "host", "ending", "ran", "tokens", "cost", "detail"];
	const rows = bars.map((bar) => {
		const told = detail?.attempts?.find((each) => each.attempt === bar.attempt);
		const ending = bar.end === null ? "running" : `${SIGNS[endingOf(bar)]?.sign ?? ""} ${endingLabel(bar)}`.trim();
		const exit = told?.exit_code ? `exit ${told.exit_code}` : "";
		const live = bar.end === null ? bar.live : null;
		const tokens = live?.tokens || (told ? told.tokens_in + told.tokens_out : bar.tokens);
		const cost = live?.cost ?? told?.cost ?? bar.cost;
		const ran = h("td", { "data-ticks": bar.end === null }, duration((bar.end ?? now) - bar.start));
		if (bar.end === null) ticking(ran, bar);
		return h("tr", { key: bar.attempt },
			h("td", {}, button({ class: "plain", "aria-pressed": String(shown === bar.number), title: `Show the output of attempt ${bar.number}`, onclick: () => pick(bar.number) }, String(bar.number))),
			h("td", {}, bar.host), h("td", {}, ending), ran,
			h("td", { class: "num" }, tokens ? short(tokens) : ""), h("td", { class: "num" }, cost != null ? money(cost) : ""),
			h("td", { class: "detail" }, bar.detail || told?.detail || exit));
	});
	return h("table", { class: "rows", key: "attempts list" }, h("tbody", {}, h("tr", { key: "" }, heads.map((name) => h("th", { scope: "col", class: name === "tokens" || name === "cost" ? "num" : null }, name))), rows));
}

export function storyList(lines) {
	if (!lines.length) return h("p", { class: "note", key: "story list" }, "Nothing has happened to it yet.");
	return h("ol", { class: "story-list", key: "story list" }, lines.map((line) => h("li", {}, h("time", {}, wallClock(line.at)), line.text)));
}

/** The story without a journal: what the picture knows. */
export function storyFrom(bars, record) {
	const lines = [];
	for (const bar of bars) {
		if (!lines.length) lines.push({ at: bar.queued, text: "became ready" });
		lines.push({ at: bar.start, text: `attempt ${bar.number} started on ${bar.host}` });
		if (bar.end !== null) lines.push({ at: bar.end, text: `attempt ${bar.number} ended: ${endingLabel(bar)}${bar.detail ? `, ${bar.detail}` : ""}` });
	}
	if (record.since && ENDED.has(record.state)) lines.push({ at: record.since, text: [record.state, record.cause].filter(Boolean).join(": ") });
	return lines;
}

/** Why it is in its state. */
export function reasons(record, detail, bar, now) {
	if (record.state === "running" && bar) return [`runs on ${bar.host} as attempt ${bar.number}`, liveText(bar, now)].filter(Boolean);
	if (detail?.why?.length) return detail.never ? [`can never run: ${detail.why[0]}`, ...detail.why.slice(1)] : detail.why;
	if (record.cause) return [record.cause];
	if (record.state === "done" && bar) return [`done on ${bar.host} by attempt ${bar.number} in ${duration(bar.end - bar.start)}`];
	if (record.state === "blocked") return [`needs ${listed(record.needs ?? [], 5)}`];
	return [record.state];
}
