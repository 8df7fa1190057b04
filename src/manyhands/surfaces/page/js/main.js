// Starts the page: from the recording in it, if it has one, else from the live stream.
import { AddTask } from "./add_task.js";
import { App } from "./app.js";
import { ask, askSlowly, order } from "./commands.js";
import { $, button, h, renew, setText } from "./dom.js";
import { fillHelp, listenToKeys } from "./keys.js";
import { readRecording } from "./recording.js";
import { ReplayBar } from "./replay.js";
import { AXIS_H } from "./ribbon.js";
import { panBy, zoomAt } from "./scale.js";
import { LiveSource, RecordedSource } from "./source.js";
import { startTheme } from "./theme.js";
import { timeline } from "./timeline.js";
import { showTip } from "./tip.js";
import { toHash, VIEWS } from "./view_url.js";
import { count } from "./words.js";

const embedded = document.getElementById("recording");
const app = new App(send);
globalThis.manyhands = app; // for the console and tests

const STATUS = { reading: "reading the journal", live: "live", lost: "not connected", replay: "replay", saved: "saved run" };
const sink = {
	model: (model) => {
		app.takeModel(model);
		showStatus();
	},
	changed: (model, frame) => app.changed(model, frame),
	state: (state) => {
		app.status = state;
		$("status").dataset.state = state;
		showStatus();
	},
};

function showStatus() {
	const isReadOnly = app.status === "live" && app.model.seq > 0 && !app.model.command;
	setText($("status"), STATUS[app.status] + (isReadOnly ? ", read only" : ""));
}

async function send(method, path, body) {
	try {
		await order(method, path, body);
		notice("");
	} catch (error) {
		notice(error.message);
	}
}

/** Why these tasks wait. Without an answer the table says nothing more, and asks again soon. */
async function whyOf(run, ids) {
	try {
		const query = new URLSearchParams({ run, ids: ids.join(), limit: "100" });
		return (await ask(`/api/v1/tasks?${query}`)).tasks;
	} catch {
		return [];
	}
}

function notice(text, ...more) {
	renew($("notice"), text, more);
	$("notice").hidden = !text;
	saidUnknown = "";
}

let saidUnknown = "";

/** An address may name a run that is not in this store, or not yet. */
function tellUnknownRun() {
	const { run } = app.view;
	const isUnknown = Boolean(run) && app.model.seq > 0 && !app.model.runs.has(run);
	if (isUnknown && saidUnknown !== run) {
		notice(`There is no run ${run} here. `, h("a", { href: toHash({ ...app.view, run: "", replay: null }), onclick: (event) => (event.preventDefault(), chooseRun(run)) }, "Show all runs"));
		saidUnknown = run;
	} else if (!isUnknown && saidUnknown) notice("");
}

let replayBar = null;
app.onReplayed = () => {
	replayBar?.update();
	const { source, view } = app;
	if (embedded || view.replay === null || source.wanted !== null) return;
	// A moment at its end stays at its end, however far it had been read.
	const moment = source.isWhole && source.now >= source.last ? Infinity : source.now - source.first;
	if (moment === view.replay || (source.isPlaying && Math.abs(moment - view.replay) < source.speed)) return;
	view.replay = moment;
	app.keepAddress();
};

function startLive() {
	app.source?.close();
	replayBar = null;
	$("replay").hidden = true;
	app.taskPage.isServed = true;
	app.table.ask = whyOf;
	app.source = new LiveSource(sink, app.view.run);
}

function startRecorded(source, state, leave) {
	app.source?.close();
	app.table.ask = null;
	app.taskPage.isServed = false; // the server would tell of now, not of the moment shown
	app.source = source;
	sink.state(state);
	replayBar = new ReplayBar($("replay"), source, leave);
	replayBar.update();
}

/** From its start, or to a moment of it (in seconds). It can be watched while the rest is being read. */
async function replayRun(run, moment = null) {
	const known = app.model.runs.get(run);
	let source = null;
	notice("");
	sink.state("reading");
	try {
		const response = await askSlowly(`/api/v1/runs/${encodeURIComponent(run)}/recording`);
		await readRecording(response, (begun) => {
			source = new RecordedSource(sink, begun, known?.ended_at ?? app.model.at);
			Object.assign(app.view, { run, replay: moment ?? 0 });
			startRecorded(source, "replay", () => leaveReplay());
			app.setFit();
			if (moment === null) source.play();
			else source.wanted = source.first + moment;
		}, (frames) => {
			source.add(frames);
			return !source.isClosed;
		});
		source?.whole();
	} catch (error) {
		notice(`cannot replay ${run}: ${error.message}`);
		if (!source) startLive();
	}
}

function leaveReplay() {
	app.view.replay = null;
	startLive();
	app.setFit();
}

const RUNS_WITH_BUTTONS = 4;
let asksToCancel = "";
const addTask = new AddTask($("add"));

/** Asked for twice: it stops whatever runs. */
function cancelRun({ run }) {
	if (asksToCancel === run) send("POST", `/api/v1/runs/${encodeURIComponent(run)}/cancel`, { why: "cancelled on the page" });
	asksToCancel = asksToCancel === run ? "" : run;
	showRuns();
}

function chooseRun(run) {
	Object.assign(app.view, { run: app.view.run === run ? "" : run, replay: null });
	app.changedView();
	if (!embedded) startLive();
}
app.chooseRun = chooseRun;

/** What can be done with a run that is open. */
function toolsOf(run, whom) {
	const verb = run.draining ? "resume" : "pause";
	return [
		button({ key: `cancel ${run.run}`, class: "danger", onclick: () => cancelRun(run) }, asksToCancel === run.run ? `really cancel ${run.run}?` : `cancel${whom}`),
		button({ key: `pause ${run.run}`, title: `${verb} run ${run.run}`, onclick: () => send("POST", `/api/v1/runs/${encodeURIComponent(run.run)}/${verb}`) }, verb + whom),
	];
}

/** The runs there are, and what can be done with those that are shown. */
function showRuns() {
	const runs = [...app.model.runs.values()];
	const open = runs.filter((run) => run.ended_at == null && !run.draining);
	const told = asksToCancel + runs.map((run) => `${run.run}|${run.ended_at}|${run.draining}`).join() + app.model.command + app.view.run + replayBar;
	if (told === showRuns.told) return;
	showRuns.told = told;
	const names = [...new Set([...runs.map((run) => run.run), app.view.run].filter(Boolean))];
	renew($("run"), h("option", { key: "", value: "" }, runs.length === 1 ? names[0] : "all runs"),
		(names.length > 1 || app.view.run) && names.map((name) => h("option", { key: name, value: name }, name)));
	if (document.activeElement !== $("run")) $("run").value = app.view.run;
	const run = app.view.run ? app.model.runs.get(app.view.run) : runs.at(-1);
	const tools = [];
	const exports = [];
	if (run && !embedded) {
		const path = `/api/v1/runs/${encodeURIComponent(run.run)}`;
		const whom = app.view.run || runs.length === 1 ? "" : ` ${run.run}`; // beside "all runs" a button says whom it acts on
		if (!replayBar) tools.push(button({ key: "replay", title: `Play ${run.run} again from its start`, onclick: () => replayRun(run.run) }, `replay${whom}`));
		const acting = app.model.command ? (app.view.run ? [run] : runs).filter((each) => each.ended_at == null).reverse() : [];
		for (const each of acting.slice(0, RUNS_WITH_BUTTONS)) tools.push(...toolsOf(each, whom && ` ${each.run}`));
		if (acting.length > RUNS_WITH_BUTTONS) tools.push(h("span", { key: "more", class: "quiet" }, `choose a run to act on ${count(acting.length - RUNS_WITH_BUTTONS)} more`));
		if (app.model.command && !app.view.run && open.length > 1) tools.push(button({ key: "pause all", "data-all": true, onclick: () => open.forEach((each) => send("POST", `/api/v1/runs/${encodeURIComponent(each.run)}/pause`)) }, "pause all"));
		if (!replayBar && run.ended_at == null && globalThis.Notification?.permission === "default") tools.push(button({ key: "tell", title: "The browser tells you when a run ends while you look elsewhere", onclick: () => Notification.requestPermission().then(() => ((showRuns.told = ""), showRuns())) }, "tell me at the end"));
		if (app.model.command && !replayBar) tools.push(button({ key: "add", onclick: () => addTask.open(app.view.run) }, "add a task"));
		exports.push(
			h("a", { href: `${path}/export.html`, download: `${run.run}.html` }, `save ${run.run} as one page`),
			h("a", { href: `${path}/export.trace.json`, download: `${run.run}.trace.json` }, "as Chrome trace"),
			h("a", { href: `${path}/export.log.jsonl`, download: `${run.run}.log.jsonl` }, "as log"));
	}
	renew($("run-tools"), tools);
	renew($("exports"), exports);
}
app.onPanels = () => {
	tellUnknownRun();
	showRuns();
};

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

function hideTip() {
	$("tip").hidden = true;
	if (app.hover !== null) app.dirty();
	app.hover = null;
}

const zoom = (factor) => app.views.part?.zoom ? app.views.part.zoom(factor) : app.setWindow(zoomAt(app.scale, app.view.follow ? app.scale.width : app.scale.width / 2, factor));
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
	fit: () => (app.views.part?.fit ? app.views.part.fit() : app.setFit()),
	follow: () => app.setFollow(),
	show: (place) => place <= Object.keys(VIEWS).length && app.setShow(Object.keys(VIEWS)[place - 1]),
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
	Object.assign(app.view, { run: $("run").value, replay: null });
	app.changedView();
	if (!embedded) startLive();
});

if (embedded) startRecorded(new RecordedSource(sink, JSON.parse(embedded.textContent)), "saved");
else {
	startLive();
	if (app.view.run && app.view.replay !== null) replayRun(app.view.run, app.view.replay);
}
if (app.view.task) app.openTask(app.view.task.run, app.view.task.task);
