// What the tab of the browser tells of a run while another one is in front: its title, its icon and a notification.
import { verdict } from "./outcome.js";

/** State → the icon's colour and sign. Signs differ, so that colour is never the only difference. */
const ICONS = {
	running: ["#0a66a8", "M10 7l14 9-14 9z"],
	failed: ["#c2410c", "M8 8l16 16M24 8L8 24"],
	done: ["#00795a", "M7 17l6 6 12-14"],
	idle: ["#626b74", "M7 16h18"],
};

export function tabState(outcome, inFlight) {
	if (outcome?.counts.failed) return "failed";
	if (inFlight) return "running";
	return outcome?.isOver ? "done" : "idle";
}

export class Tab {
	constructor() {
		this.state = "";
		this.wasOver = null;
	}

	update(outcome, totals) {
		const parts = [];
		if (outcome) parts.push(`${outcome.counts.failed ? "✗" : "✓"} ${verdict(outcome)}`);
		if (totals.inFlight) parts.push(`${totals.inFlight} of ${totals.width}`);
		const title = [...parts, "manyhands"].join(" · ");
		if (document.title !== title) document.title = title;
		this.draw(tabState(outcome, totals.inFlight));
		this.tell(outcome);
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

	/** Once, when a run ends while nobody looks, if the browser was told to allow it. */
	tell(outcome) {
		const isOver = Boolean(outcome?.isOver);
		const hasEnded = this.wasOver === false && isOver;
		this.wasOver = isOver;
		if (hasEnded && document.hidden && globalThis.Notification?.permission === "granted") new Notification(`${outcome.run.run}: ${verdict(outcome)}`);
	}
}
