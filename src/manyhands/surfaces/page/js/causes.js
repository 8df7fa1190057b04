// The words for why a slot is free or a task waits, one sentence each.
import { runsOf } from "./model.js";
import { duration, wallClock } from "./words.js";

/** cause → its name in a legend, the end of a sentence about it, the texture that tells it apart without colour. */
const CAUSES = {
	"no work": ["nothing ready", "nothing more is ready", "plain"],
	needs: ["waits for other tasks", "the remaining tasks wait for other tasks", "dots"],
	claims: ["files in use", "the files that they need are in use", "rising"],
	lane: ["lane full", "the lane of that kind is full", "upright"],
	rate: ["starts spread", "starts are spread over time", "falling"],
	memory: ["no room", "memory or another resource is short", "grid"],
	paused: ["host paused", "the host is paused", "level"],
	quiet: ["quiet hours", "the host has quiet hours", "level"],
	budget: ["budget used up", "a budget is used up", "grid"],
	barrier: ["one runs alone", "a task needs the host for itself", "upright"],
	concurrency: ["limit of the run", "the run has reached its own concurrency", "level"],
	deferred: ["deferred", "the remaining tasks are deferred", "level"],
	person: ["waits for a person", "the remaining tasks wait for a person", "level"],
	rule: ["ordering rule", "an ordering rule holds them back", "dots"],
	backoff: ["waits to retry", "the remaining tasks wait to retry", "falling"],
	asks: ["no agent asks", "no agent asks for them", "dots"],
	never: ["can never run", "no host has what the remaining tasks ask for", "upright"],
	drained: ["run is stopping", "the run starts nothing more", "grid"],
	elsewhere: ["waits for a better host", "a slot on a better host is worth the wait", "dots"],
	"other runs": ["used by other runs", "other runs use them", "falling"],
	"": ["cause unknown", "the cause was not recorded", "plain"],
};

export function causeOf(cause) {
	const [label, says, texture] = CAUSES[cause] ?? [cause, cause, "rising"];
	return { label, says, texture };
}

/** How attempts end: a sign for each, so that colour is never the only difference. */
const ENDINGS = {
	done: { label: "done", sign: "" },
	failed: { label: "failed", sign: "×" },
	overloaded: { label: "overloaded", sign: "▲" },
	timed_out: { label: "timed out", sign: "◷" },
	cancelled: { label: "cancelled", sign: "⁄" },
	preempted: { label: "preempted", sign: "‹" },
	lost: { label: "lost", sign: "?" },
};

/** What an attempt met that ended as overloaded, where that was not load. */
const OVERLOADS = {
	rate: { label: "rate refused (429)", sign: "!" },
	quota: { label: "quota used up", sign: "■" },
	unreachable: { label: "not reachable", sign: "∅" },
};

export const SIGNS = { ...ENDINGS, ...OVERLOADS };

/** How an attempt ended, as it is shown: an overload by what it was. */
export const endingOf = ({ ending, overload }) => (ending === "overloaded" && overload in OVERLOADS ? overload : ending);

export const endingLabel = (bar) => SIGNS[endingOf(bar)]?.label ?? bar.ending;

/** Why it is not wider, host by host: full hosts say why their width is what it is, others what keeps them free. */
export function whyNotWider(model, now = model.at) {
	const reasons = [];
	for (const host of model.hosts.values()) {
		const inFlight = inFlightOn(model, host.host);
		const idle = model.idle.find((each) => each.host === host.host);
		const add = (cause, text) => reasons.push({ host: host.host, cause, text });
		if (host.paused) add("paused", whyPaused(host, now));
		else if (inFlight >= host.width) add("width", host.pinned != null ? "pinned" : host.why);
		else if (idle) add(idle.cause, whyFree(idle, now));
	}
	return reasons;
}

/** Why a host takes nothing, and when it is tried again. */
export const whyPaused = ({ paused, paused_until: until }, now) => `paused: ${paused}${until > now ? `; next try in ${duration(until - now)}` : ""}`;

/** What keeps slots free, whole: the cause, what is behind it, and until when. */
export function whyFree({ cause, detail, until }, now) {
	const { says } = causeOf(cause);
	if (cause === "no work" || cause === "elsewhere" || !detail) return says;
	const when = until > now ? `; the next may start in ${duration(until - now)}` : "";
	return `${NAMED.has(cause) ? `${says}: ` : ""}${detail}${when}`;
}

/** Of these the detail alone would not say what it is about. */
const NAMED = new Set(["rate", "memory"]);

export function inFlightOn(model, host) {
	let n = 0;
	for (const bar of model.inFlight.values()) if (bar.host === host) n++;
	return n;
}

/** One sentence for the top of the page. `lostAt`: when the connection went, or null. */
export function headline(model, totals, lostAt = null, now = model.at) {
	if (lostAt !== null) return `Not connected since ${wallClock(lostAt)}: the server has stopped or cannot be reached. This is what was known then.`;
	const { inFlight, width, ready } = totals;
	if (!model.hosts.size) return "No host is known yet.";
	const runs = runsOf(model);
	if (runs.length && !inFlight && runs.every((run) => run.ended_at != null)) return runs.length > 1 ? "All runs have ended." : `Run ${runs[0].run} has ended.`;
	if (!model.dispatching) return "No dispatcher is running, so nothing starts. The command that began the run continues it.";
	if (ready === 0 && inFlight === 0) return "Nothing runs and nothing is ready.";
	const reasons = whyNotWider(model, now);
	const full = reasons.filter((reason) => reason.cause === "width");
	const kept = reasons.filter((reason) => reason.cause !== "width" && reason.cause !== "no work");
	const idle = reasons.filter((reason) => reason.cause === "no work");
	const alike = (list, tell) => [...new Set(list.map((each) => each.text))].map((text) => tell(list.filter((each) => each.text === text), text));
	const parts = [
		...alike(kept, (those, why) => `${names(those)}: ${why}`).slice(0, 2),
		...alike(full, (those, why) => `${names(those)} ${those.length > 1 ? "are" : "is"} full${why && ` (${why})`}`),
	];
	if (idle.length && ready === 0 && !kept.length) parts.push("nothing more is ready");
	else if (idle.length) parts.push(`nothing ready for ${names(idle)}`);
	if (!parts.length) parts.push(inFlight >= width ? "every slot is in use" : "tasks are being started");
	return `Why not wider: ${parts.join("; ")}.`;
}

const names = (reasons) => reasons.map((reason) => reason.host).slice(0, 3).join(", ") + (reasons.length > 3 ? ` and ${reasons.length - 3} more` : "");
