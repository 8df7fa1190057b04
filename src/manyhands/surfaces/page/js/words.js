// Numbers and times as people read them.

export function duration(seconds) {
	if (seconds == null || !Number.isFinite(seconds)) return "–";
	const s = Math.max(0, seconds);
	if (s < 1) return `${Math.round(s * 1000)} ms`;
	if (s < 10) return `${s.toFixed(1)} s`;
	if (s < 60) return `${Math.round(s)} s`;
	const whole = Math.round(s);
	if (whole < 3600) return `${Math.floor(whole / 60)} m ${String(whole % 60).padStart(2, "0")} s`;
	if (whole < 86400) return `${Math.floor(whole / 3600)} h ${String(Math.floor((whole % 3600) / 60)).padStart(2, "0")} m`;
	return `${Math.floor(whole / 86400)} d ${Math.floor((whole % 86400) / 3600)} h`;
}

/** Elapsed time that ticks without changing its width: 0:07, 12:40, 1:02:03. */
export function clock(seconds) {
	const whole = Math.max(0, Math.floor(seconds));
	const tail = String(whole % 60).padStart(2, "0");
	if (whole < 3600) return `${Math.floor(whole / 60)}:${tail}`;
	return `${Math.floor(whole / 3600)}:${String(Math.floor((whole % 3600) / 60)).padStart(2, "0")}:${tail}`;
}

/** The label of a tick: time since the start, as fine as the ticks are apart. */
export function sinceStart(since, step) {
	const sign = since < 0 ? "−" : "";
	const s = Math.abs(since);
	if (step < 1) return `${sign}${Math.floor(s / 60)}:${(s % 60).toFixed(step < 0.1 ? 2 : 1).padStart(step < 0.1 ? 5 : 4, "0")}`;
	if (s >= 86400) return `${sign}${Math.floor(s / 86400)} d ${clock(s % 86400)}`;
	return sign + clock(s + 0.5);
}

export const count = (n) => Math.round(n).toLocaleString("en-GB");

export const plural = (n, one, many = one + "s") => `${count(n)} ${n === 1 ? one : many}`;

export const percent = (share) => `${Math.round(share * 100)} %`;

export function rate(perMinute) {
	if (perMinute >= 100) return count(perMinute);
	return perMinute >= 10 ? perMinute.toFixed(0) : perMinute.toFixed(1);
}

export function short(n) {
	if (n < 10_000) return count(n);
	if (n < 1e6) return `${(n / 1e3).toFixed(n < 1e5 ? 1 : 0)} k`;
	return `${(n / 1e6).toFixed(1)} M`;
}

export const money = (cost) => cost.toFixed(cost < 1 ? 4 : 2);

export function wallClock(at) {
	return new Date(at * 1000).toLocaleTimeString("en-GB");
}

/** "200 of 48,231 shown": a list that is cut always says so. */
export function shownOf(shown, total) {
	return shown < total ? `${count(shown)} of ${count(total)} shown` : `${count(total)} shown`;
}

export function listed(items, most = 3) {
	const shown = items.slice(0, most).join(", ");
	return items.length > most ? `${shown} and ${items.length - most} more` : shown;
}

const ESCAPES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-_])/g;

/** What a program printed, as a terminal would leave it: without colours, and with the last of what a line was written over with. */
export function plainText(text) {
	return text.replace(ESCAPES, "").replace(/\r+\n/g, "\n").replace(/[^\n]*\r(?=[^\n])/g, "").replace(/\r/g, "");
}

const SILENT_S = 60;

/** What an attempt in flight says of itself: its last tool, what it has used, and for how long it has been silent. */
export function liveText({ live }, now) {
	if (!live) return "";
	const silent = live.alive_at ? now - live.alive_at : 0;
	const said = [plainText(live.does), live.tokens && `${short(live.tokens)} tokens`, live.cost != null && money(live.cost)];
	return [...said, silent >= SILENT_S && `silent for ${duration(silent)}`].filter(Boolean).join(" · ");
}
