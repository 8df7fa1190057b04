// What the keyboard does, and the page that says so.
import { button, h } from "./dom.js";

const TOLD = [
	["W S  or wheel", "zoom in and out, at the cursor"],
	["A D  ← →  or drag", "move back and forth in time"],
	["F", "fit: all of it"],
	[".", "follow the latest events"],
	["/", "filter: host: kind: state: file: parent: or text"],
	["J K", "next and previous task"],
	["Enter", "open the selected task"],
	["G", "rows by slot or by kind"],
	["1 … 7", "overview, graph, runs, hosts, log, evals, inbox"],
	["Space", "play and pause a replay"],
	["Shift + drag", "select a range of time (or drag on the axis)"],
	["T", "theme: light, dark, or that of the system"],
	["Esc", "close, or clear the selection"],
];

/** `on` maps a name to what to do; keys typed into a field are left alone. */
export function listenToKeys(on) {
	const bound = {
		w: () => on.zoom(1.4), s: () => on.zoom(1 / 1.4), "+": () => on.zoom(1.4), "-": () => on.zoom(1 / 1.4),
		a: () => on.pan(-0.15), d: () => on.pan(0.15), ArrowLeft: () => on.pan(-0.15), ArrowRight: () => on.pan(0.15),
		f: on.fit, ".": on.follow, "/": on.filter, j: () => on.step(1), k: () => on.step(-1), Enter: on.enter,
		...Object.fromEntries([1, 2, 3, 4, 5, 6, 7].map((place) => [place, () => on.show(place)])), g: on.rows, " ": on.play, t: on.theme, "?": on.help, Escape: on.escape,
	};
	document.addEventListener("keydown", (event) => {
		if (event.ctrlKey || event.metaKey || event.altKey) return;
		const target = event.target;
		if (event.key === "Escape") {
			if (target.matches?.("input")) target.blur();
			on.escape();
			return;
		}
		if (target.matches?.("input, select, textarea")) return;
		if ((event.key === "Enter" || event.key === " ") && target.matches?.("button, a, summary")) return;
		const act = bound[event.key.length === 1 ? event.key.toLowerCase() : event.key];
		if (!act) return;
		if (act() !== false) event.preventDefault();
	});
}

export function fillHelp(dialog) {
	dialog.append(
		h("h2", {}, "Keys"),
		h("dl", {}, TOLD.flatMap(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])),
		button({ onclick: () => dialog.close() }, "Close"),
	);
}
