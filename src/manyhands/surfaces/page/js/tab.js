// What the tab of the browser tells of a run while another one is in front: its title, its icon and a notification.
import { verdict } from "./outcome.js";

/** State → the icon's colour and sign. Signs differ, so that colour is never the only difference. */
const ICONS = {
	running: ["#0a66a8", "M10 7l14 9-14 9z"],
	failed: ["#c2410c", "M8 8l16 16M24 8L8 24"],
	done: ["#00795a", "M7 17l6 6 12-14"],
	stopped: ["#626b74", "M22 7L10 25"],
	idle: ["#626b74", "M7 16h18"],
};

/** What looks worst of all runs that are told of; failures, then what still runs. */
const failing = (outcome) => (outcome?.counts.failed ? outcome : outcome?.others[0]);

export function tabState(outcome, inFlight) {
	if (failing(outcome)) return "failed";
	if (inFlight) return "running";
	if (!outcome?.isOver) return "idle";
	return outcome.bad ? "stopped" : "done";
}

/** The title of the page. */
export function titleOf(outcome, { inFlight, width }) {
	const worst = failing(outcome) ?? outcome;
	const sign = worst?.counts.failed ? "✗" : worst?.bad ? "⁄" : "✓";
	return [worst && `${sign} ${verdict(worst)}`, inFlight && `${inFlight} of ${width}`, "manyhands"].filter(Boolean).join(" · ");
}

export class Tab {
	constructor() {
		this.state = "";
		this.open = new Set(); // the runs that were open when it last looked
	}

	update(outcome, totals, runs) {
		const title = titleOf(outcome, totals);
		if (document.title !== title) document.title = title;
		this.draw(tabState(outcome, totals.inFlight));
		this.tell(runs);
	}

	draw(state) {
		if (state === this.state) return;
		this.state = state;
		const [colour, path] = ICONS[state];
		const picture = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="${colour}"/><path d="${path}" fill="${state === "running" ? "#fff" : "none"}" stroke="#fff" stroke-width="4"/></svg>`;
		let link = document.querySelector("link[rel=icon]");
		if (!link) document.head.append((link = Object.assign(document.createElement("link"), { rel: "icon" })));
		link.dataset.state = state;
		link.href = `data:image/svg+xml,${encodeURIComponent(picture)}`;
	}

	/** Once for each run that ends while nobody looks, if the browser was told to allow it. */
	tell(runs) {
		const ended = runs.filter((run) => run.ended_at != null && this.open.has(run.run));
		this.open = new Set(runs.filter((run) => run.ended_at == null).map((run) => run.run));
		if (!document.hidden || globalThis.Notification?.permission !== "granted") return;
		for (const run of ended) new Notification(`${run.run}: ${verdict({ run, isOver: true, counts: run.counts ?? {} })}`);
	}
}
