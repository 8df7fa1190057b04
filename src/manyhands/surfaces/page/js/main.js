// Starts the page: from the recording in it, if it has one, else from the live stream.
import { App } from "./app.js";
import { ask, order } from "./commands.js";
import { $, button, h, setText } from "./dom.js";
import { fillHelp, listenToKeys } from "./keys.js";
import { ReplayBar } from "./replay.js";
import { AXIS_H } from "./ribbon.js";
import { panBy, zoomAt } from "./scale.js";
import { LiveSource, RecordedSource } from "./source.js";
import { startTheme } from "./theme.js";
import { timeline } from "./timeline.js";

const embedded = document.getElementById("recording");
const app = new App(send);
globalThis.manyhands = app; // for the console and tests

const STATUS = { live: "live", lost: "not connected", replay: "replay", saved: "saved run" };
const sink = {
	model: (model) => app.takeModel(model),
	changed: (model, frame) => app.changed(model, frame),
	state: (state) => {
		setText($("status"), STATUS[state]);
		$("status").dataset.state = state;
	},
};

async function send(method, path, body) {
	try {
		await order(method, path, body);
		notice("");
	} catch (error) {
		notice(error.message);
	}
}

function notice(text) {
	setText($("notice"), text);
	$("notice").hidden = !text;
}

let replayBar = null;
app.onReplayed = () => replayBar?.update();

function startLive() {
	app.source?.close();
	replayBar = null;
	$("replay").hidden = true;
	app.taskPage.isServed = true;
	app.source = new LiveSource(sink, app.view.run);
}

function startRecorded(recording, state, leave) {
	app.source?.close();
	app.taskPage.isServed = false; // the server would tell of now, not of the moment shown
	app.source = new RecordedSource(sink, recording);
	sink.state(state);
	replayBar = new ReplayBar($("replay"), app.source, leave);
	replayBar.update();
}

async function replayRun(run) {
	try {
		const recording = await ask(`/api/v1/runs/${encodeURIComponent(run)}/recording`);
		startRecorded(recording, "replay", startLive);
		app.setFit();
		app.source.play();
	} catch (error) {
		notice(`cannot replay ${run}: ${error.message}`);
	}
}

/** The runs there are, and what can be done with the one that is shown. */
function showRuns() {
	const runs = [...app.model.runs.values()];
	const told = runs.map((run) => `${run.run}|${run.ended_at}|${run.draining}`).join() + app.model.command + app.view.run + replayBar;
	if (told === showRuns.told) return;
	showRuns.told = told;
	const names = [...new Set([...runs.map((run) => run.run), app.view.run].filter(Boolean))];
	$("run").replaceChildren(h("option", { value: "" }, runs.length === 1 ? names[0] : "all runs"), ...(names.length > 1 || app.view.run ? names.map((name) => h("option", { value: name, selected: name === app.view.run }, name)) : []));
	const run = runs.find((each) => each.run === app.view.run) ?? (runs.length === 1 ? runs[0] : runs.at(-1));
	$("run-tools").replaceChildren();
	$("exports").replaceChildren();
	if (!run || embedded) return;
	const path = `/api/v1/runs/${encodeURIComponent(run.run)}`;
	if (!replayBar) $("run-tools").append(button({ title: `Play ${run.run} again from its start`, onclick: () => replayRun(run.run) }, "replay"));
	if (app.model.command && run.ended_at == null) {
		const verb = run.draining ? "resume" : "pause";
		$("run-tools").append(button({ title: `${verb} run ${run.run}`, onclick: () => send("POST", `${path}/${verb}`) }, verb));
	}
	$("exports").append(
		h("a", { href: `${path}/export.html`, download: `${run.run}.html` }, `save ${run.run} as one page`),
		h("a", { href: `${path}/export.trace.json`, download: `${run.run}.trace.json` }, "as Chrome trace"));
}
app.onPanels = showRuns;

for (const [name, canvas] of [["ribbon", $("ribbon")], ["lanes", $("lanes")]]) {
	timeline(canvas, AXIS_H, {
		scale: () => app.scale,
		gutter: () => app.gutter,
		window: (span) => app.setWindow(span),
		range: (range) => app.setRange(range),
		fit: () => app.setFit(),
		hover: (x, y, event) => showTip(app.tipFor(name, x, y), event),
		leave: hideTip,
		click: (x, y) => {
			const bar = name === "lanes" && app.lanes.hit(app.scale, app.now, x, y).bar;
			if (bar) app.openTask(bar.run, bar.task);
		},
	});
}

function showTip(lines, event) {
	const tip = $("tip");
	tip.hidden = !lines;
	if (!lines) return;
	tip.replaceChildren(...lines.map((line, i) => h("div", {}, i ? line : h("b", {}, line))));
	const left = event.clientX + 14 + tip.offsetWidth > innerWidth ? event.clientX - tip.offsetWidth - 14 : event.clientX + 14;
	tip.style.left = `${Math.max(6, left)}px`;
	tip.style.top = `${Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 6)}px`;
}

function hideTip() {
	$("tip").hidden = true;
	if (app.hover !== null) app.dirty();
	app.hover = null;
}

const zoom = (factor) => app.setWindow(zoomAt(app.scale, app.view.follow ? app.scale.width : app.scale.width / 2, factor));
const cycleTheme = startTheme($("theme"), () => {
	app.paint.read();
	$("legend-causes").told = null;
	app.changedView();
});
const flipRows = () => app.setRows(app.view.rows === "slots" ? "kinds" : "slots");
const help = () => $("keys").showModal();
listenToKeys({
	zoom,
	pan: (share) => app.setWindow(panBy(app.scale, share * app.scale.width)),
	fit: () => app.setFit(),
	follow: () => app.setFollow(),
	filter: () => $("filter").focus(),
	step: (by) => app.table.step(by) && app.dirty(),
	enter: () => {
		const [run, task] = (app.table.here ?? "").split("\n");
		return task ? app.openTask(run, task) : false;
	},
	rows: flipRows,
	play: () => (replayBar ? replayBar.toggle() : false),
	theme: cycleTheme,
	help,
	escape: () => (app.view.task ? app.closeTask() : app.view.range ? app.setRange(null) : app.setFilter("")),
});
fillHelp($("keys"));
const on = (id, act) => $(id).addEventListener("click", act);
on("zoom-in", () => zoom(1.4));
on("zoom-out", () => zoom(1 / 1.4));
on("fit", () => app.setFit());
on("follow", () => app.setFollow());
on("rows-slots", () => app.setRows("slots"));
on("rows-kinds", () => app.setRows("kinds"));
on("help", help);
$("filter").addEventListener("input", () => app.setFilter($("filter").value));
$("run").addEventListener("change", () => {
	app.view.run = $("run").value;
	app.changedView();
	if (!embedded) startLive();
});

if (embedded) startRecorded(JSON.parse(embedded.textContent), "saved");
else startLive();
if (app.view.task) app.openTask(app.view.task.run, app.view.task.task);
