// Holds the view and the model together, and decides what is drawn when.
import { headline } from "./causes.js";
import { BulkBar } from "./bulk.js";
import { showClaims } from "./claims.js";
import { $, isCalm, setText } from "./dom.js";
import { EditTask } from "./edit_task.js";
import { showFigures } from "./figures.js";
import { predicate, toggled } from "./filter.js";
import { Lanes } from "./lanes.js";
import { showEndings, showKinds, showStates } from "./legends.js";
import { Meter } from "./meter.js";
import { emptyModel, keyOf, runsOf, totals } from "./model.js";
import { NowCards, usualOf } from "./now_cards.js";
import { OutcomeBox } from "./outcome_box.js";
import { Paint } from "./paint.js";
import { showRange } from "./range_box.js";
import { fillReaders, sentence } from "./readers.js";
import { Ribbon } from "./ribbon.js";
import { keepNear, scaleOf } from "./scale.js";
import { Tab } from "./tab.js";
import { TaskPage } from "./task_page.js";
import { TasksTable } from "./tasks_table.js";
import { timeLeft, timeLeftText } from "./time_left.js";
import { showTimes } from "./time_panel.js";
import { Tree, progressBar, STATES } from "./tree.js";
import { fromHash, toHash } from "./view_url.js";
import { Views } from "./views.js";
import { count, duration, plural, shownOf } from "./words.js";

const NO_TOKEN = "Read only: this browser does not hold the token. Open the address that manyhands prints on a terminal, or /?token=… with the word in the file `token` of the store.";
const READS_ONLY = "Read only: this page reads the store. The page of `manyhands serve` takes commands.";
const TIMES_EVERY_S = 3;
const EVERY_MS = { cards: 250, panels: 1000, readers: 5000 };

export class App {
	constructor(command) {
		this.model = emptyModel();
		this.source = null;
		this.view = fromHash(location.hash);
		this.hover = null;
		this.isDirty = true;
		this.paint = new Paint();
		this.ribbon = new Ribbon($("ribbon"), this.paint);
		this.lanes = new Lanes($("lanes"), this.paint);
		this.meter = new Meter($("meter"), command);
		this.cards = new NowCards($("cards"), $("cards-note"), $("now-count"), $("fan"), (bar) => this.openTask(bar.run, bar.task));
		this.tree = new Tree($("tree"), (node) => this.pickNode(node), (task) => this.openTask(task.run, task.task));
		this.table = new TasksTable($("table"), $("tasks-shown"), (task) => this.openTask(task.run, task.task));
		this.outcome = new OutcomeBox($("outcome"), (task) => this.openTask(task.run, task.task), (filter) => this.setFilter(filter), (run) => this.chooseRun?.(run));
		this.tab = new Tab();
		this.bulk = new BulkBar($("bulk"), (said) => setText($("bulk-said"), said));
		this.taskPage = new TaskPage($("task"), () => this.closeTask(), new EditTask($("edit")));
		this.lastAt = { cards: 0, panels: 0, readers: -5e3 };
		// In ms: how long frames took, how old their events were, and when the first picture was drawn.
		this.timings = { redraw: [], lag: [], first: null };
		this.arrived = [];
		this.steps = []; // of the panels, still to be drawn
		this.views = new Views(this);
		this.views.show();
		this.setFilter(this.view.filter);
		addEventListener("hashchange", () => this.fromUrl());
		addEventListener("resize", () => this.dirty());
		requestAnimationFrame((at) => this.frame(at));
	}

	// The sink of a source

	takeModel(model) {
		this.model = model;
		this.lastAt.panels = (this.frameAt ?? 0) - EVERY_MS.panels + 50; // what runs is seen before the rest is built
		this.dirty();
	}

	changed(model, frame) {
		for (const change of frame?.changes ?? []) if (change.at) keep(this.arrived, change.at);
		this.dirty();
	}

	get now() {
		const ends = runsOf(this.model).map((run) => run.ended_at);
		// Once everything has ended time stands still: a finished run is not squeezed to the left.
		if (ends.length && !totals(this.model).inFlight && ends.every((at) => at != null)) return Math.max(...ends);
		return this.source ? this.source.now : 0;
	}

	get origin() {
		const { startedAt } = this.model;
		return Number.isFinite(startedAt) ? startedAt : this.now;
	}

	/** The time in sight. */
	get span() {
		const { view, now } = this;
		const first = Math.min(this.firstShown, now - 1);
		if (view.fit) return { from: first, to: now + (now - first) * 0.004 };
		if (view.follow) return { from: now - (view.to - view.from), to: now };
		return { from: view.from, to: view.to };
	}

	/** Of several runs, show the open ones; runs that ended long ago are further left. */
	get firstShown() {
		const runs = runsOf(this.model);
		const open = runs.filter((run) => run.ended_at == null);
		const last = runs.reduce((most, run) => Math.max(most, run.opened_at), -Infinity);
		const first = open.length ? Math.min(...open.map((run) => run.opened_at)) : last;
		return Number.isFinite(first) ? first : this.origin;
	}

	get gutter() {
		return innerWidth < 600 ? 40 : 44;
	}

	get scale() {
		return this.scaleFor(this.boxWidth);
	}

	/** The time in sight on so many pixels. */
	scaleFor(width) {
		const { from, to } = this.span;
		return scaleOf(from, to, Math.max(50, (width ?? 0) - this.gutter));
	}

	// The view

	dirty() {
		this.isDirty = true;
	}

	setWindow(span) {
		const kept = keepNear(span, this.origin, this.now);
		const isAtNow = this.view.follow && kept.to >= this.now;
		Object.assign(this.view, kept, { fit: false, follow: isAtNow });
		this.changedView();
	}

	setFit() {
		Object.assign(this.view, { fit: true, follow: true, from: null, to: null });
		this.changedView();
	}

	setFollow() {
		const { from, to } = this.span;
		const isOn = this.view.follow;
		Object.assign(this.view, isOn ? { from, to, fit: false, follow: false } : { from, to, follow: true });
		this.changedView();
	}

	setShow(show) {
		this.view.show = show;
		this.views.show();
		this.changedView();
	}

	setRange(range) {
		this.view.range = range;
		this.changedView();
	}

	setRows(rows) {
		this.view.rows = rows;
		this.changedView();
	}

	setFilter(text) {
		this.view.filter = text;
		if ($("filter").value !== text) $("filter").value = text;
		const matches = predicate(text, (task) => above(this.model, task));
		this.isShownTask = matches;
		this.isShown = matches && ((bar) => matches(this.model.tasks.get(keyOf(bar.run, bar.task)) ?? bar));
		this.changedView();
	}

	toggleFilter(field, value) {
		this.setFilter(toggled(this.view.filter, field, value));
	}

	/** A run, or what hangs below an epic. */
	pickNode({ run, task }) {
		const wanted = task ? toggled("", "parent", task) : toggled("", "run", run);
		this.setFilter(this.view.filter === wanted ? "" : wanted);
	}

	openTask(run, task) {
		this.view.task = { run, task };
		this.table.here = keyOf(run, task);
		this.taskPage.show(this.model, this.now, run, task);
		this.changedView();
	}

	closeTask() {
		this.view.task = null;
		this.taskPage.hide();
		this.changedView();
	}

	/** Browsers bear only so many changes of an address. */
	keepAddress() {
		this.urlTimer ??= setTimeout(() => {
			this.urlTimer = null;
			history.replaceState(null, "", toHash(this.view));
		}, 200);
	}

	changedView() {
		this.keepAddress();
		this.lastAt.panels = 0;
		this.dirty();
	}

	fromUrl() {
		const view = fromHash(location.hash);
		const { task } = view;
		Object.assign(this.view, view);
		this.views.show();
		this.setFilter(view.filter);
		if (task) this.openTask(task.run, task.task);
		else if (this.taskPage.shown) this.closeTask();
	}

	// Drawing

	frame(at) {
		const calm = isCalm();
		if (this.source?.advance) {
			this.source.advance(Math.min(0.25, (at - (this.frameAt ?? at)) / 1000));
			this.onReplayed?.();
		}
		this.frameAt = at;
		// Time itself moves the picture, but only a pixel is worth a redraw.
		const moved = Math.abs(this.now - (this.drawnNow ?? 0)) * this.scale.perSecond;
		if (this.views.part) this.drawPart();
		else if (this.model.hosts.size && (this.isDirty || moved > 0.7)) this.drawTime(calm);
		if (at - this.lastAt.cards > EVERY_MS.cards || this.model.isFresh) this.drawNow(at);
		if (at - this.lastAt.panels > EVERY_MS.panels) {
			this.lastAt.panels = at;
			this.steps = this.panelSteps(at);
		}
		this.steps.shift()?.();
		this.model.isFresh = false;
		requestAnimationFrame((next) => this.frame(next));
	}

	/** A view other than the overview. */
	drawPart() {
		this.views.part.draw?.(this.isDirty);
		this.isDirty = false;
		if (this.model.hosts.size) this.timings.first ??= performance.now();
	}

	drawTime(calm) {
		const began = performance.now();
		this.isDirty = false;
		this.boxWidth = $("ribbon-box").clientWidth;
		const { model, now, scale, gutter, firstShown: origin } = this;
		this.drawnNow = now;
		const isNarrow = innerWidth < 600;
		const isMoving = this.ribbon.draw(model, scale, now, gutter, isNarrow ? 170 : 230, origin, calm);
		this.lanes.draw(model, scale, now, gutter, {
			rows: this.view.rows, heightWanted: Math.max(200, innerHeight - 480, isNarrow ? 0 : $("cards").offsetHeight - 330), isShown: this.isShown, hover: this.hover,
			selected: this.view.task ? keyOf(this.view.task.run, this.view.task.task) : this.table.here,
			range: this.view.range, perSecond: scale.perSecond, origin,
		});
		if (isMoving) this.dirty();
		keep(this.timings.redraw, performance.now() - began);
		for (const at of this.arrived) keep(this.timings.lag, Date.now() - at * 1000);
		this.arrived.length = 0;
		this.timings.first ??= performance.now();
		$("ribbon").dataset.width = String(model.series.width.last);
		$("ribbon").dataset.inFlight = String(totals(model).inFlight);
	}

	drawNow(at) {
		this.lastAt.cards = at;
		const { model, now } = this;
		const all = totals(model);
		setText($("big-in-flight"), count(all.inFlight));
		setText($("big-width"), count(all.width));
		setText($("headline"), headline(model, all, this.source?.lostAt, now));
		progressBar($("progress"), all.counts);
		const told = STATES.filter((state) => all.counts[state]).map((state) => `${count(all.counts[state])} ${state}`);
		const began = this.firstShown;
		const elapsed = all.total && now > began ? [`for ${duration(now - began)}`] : [];
		setText($("counts"), [...told, `of ${plural(all.total, "task")}`, ...elapsed, this.left].filter(Boolean).join(" · "));
		setText($("others"), all.others ? `${count(all.others)} more by other runs` : "");
		if (!this.views.part) {
			this.meter.update(model, now);
			this.cards.update(model, now, this.isShown);
			this.cards.drawFan(model, this.ribbon, $("ribbon"));
		}
		this.taskPage.update(model, now);
	}

	/** All that follows the picture by a second, in steps: with thousands of tasks each takes a few milliseconds, and a frame has one of them. */
	panelSteps(at) {
		const { model, now } = this;
		const part = this.views.part;
		return [
			() => {
				this.outcome.update(model, now, this.taskPage.isServed);
				this.tab.update(this.outcome.outcome, totals(model), [...model.runs.values()]);
			},
			() => this.table.update(model, this.isShownTask, now),
			...(part ? [() => part.update(model, now, this.isShownTask)] : [() => this.tree.update(model), () => this.drawOverview()]),
			() => this.drawFoot(at),
		];
	}

	drawPanels(at) {
		this.lastAt.panels = at;
		for (const step of this.panelSteps(at)) step();
	}

	drawFoot(at) {
		const { model, now } = this;
		setText($("matches"), this.isShownTask ? $("tasks-shown").textContent.split(" · ")[0] : "");
		setText($("access"), this.taskPage.isServed && !model.command ? (model.takesCommands ? NO_TOKEN : READS_ONLY) : "");
		setText($("version"), model.version ? `manyhands ${model.version} · event ${count(model.seq)}` : "");
		this.onPanels?.();
		if (at - this.lastAt.readers > EVERY_MS.readers) {
			this.lastAt.readers = at;
			const all = totals(model);
			fillReaders($("readers"), model, now);
			const text = sentence(all, headline(model, all, this.source?.lostAt, now));
			setText($("said"), text);
			$("ribbon").setAttribute("aria-label", `Width over time. ${text}`);
			$("lanes").setAttribute("aria-label", "Lanes: attempts over time, host by host. The table of tasks has the same.");
		}
	}

	/** With thousands of tasks the longest chain takes a while to find, and it moves slowly. */
	time(now) {
		this.timedAt = now;
		this.times = timeLeft(this.model, now);
		this.left = timeLeftText(this.times);
	}

	drawOverview() {
		const { model, now, view } = this;
		this.bulk.update(this.isShownTask && this.table.list, this.taskPage.isServed && model.command);
		if (now - (this.timedAt ?? -Infinity) >= TIMES_EVERY_S || now < this.timedAt) this.time(now);
		showTimes($("times"), model, this.times, this.firstShown, now);
		showClaims($("claims"), model, (claim) => this.toggleFilter("file", claim));
		showFigures($("figures"), model, this.firstShown, now);
		showKinds($("legend-kinds"), model, view.filter, (kind) => this.toggleFilter("kind", kind));
		showEndings($("legend-causes"), model, this.lanes.causes, this.paint);
		showStates($("states"), totals(model).counts, view.filter, (state) => this.toggleFilter("state", state));
		showRange($("range"), model, view.range, now, () => this.setRange(null));
		this.showNotes();
		for (const name of ["slots", "kinds"]) $(`rows-${name}`).setAttribute("aria-pressed", String(view.rows === name));
		$("follow").setAttribute("aria-pressed", String(view.follow));
	}

	/** Says what is left out. */
	showNotes() {
		const { model } = this;
		const notes = [];
		if (model.bars.size < model.barsTotal) notes.push(`attempts: ${shownOf(model.bars.size, model.barsTotal)}`);
		if (model.widths.length < model.widthsTotal) notes.push(`width moves: ${shownOf(model.widths.length, model.widthsTotal)}`);
		if (this.lanes.hidden) notes.push(`${count(this.lanes.hidden)} more slots are not drawn`);
		setText($("lanes-note"), notes.join(" · "));
	}

	tipFor(which, x, y) {
		const { model, scale, now } = this;
		if (which === "ribbon") return x < 0 || scale.t(x) > now ? null : this.ribbon.tip(model, x, y, scale.t(x));
		const found = this.lanes.hit(scale, now, x, y);
		const before = this.hover;
		this.hover = found.bar?.attempt ?? null;
		if (before !== this.hover) this.dirty();
		return x < 0 ? null : this.lanes.tip(model, found, now, found.bar && usualOf(model, found.bar).usual);
	}
}

/** The epics that a task is part of, from its own upwards. */
function above(model, task) {
	const found = [];
	for (let at = task; at?.parent && found.length < 12; at = model.tasks.get(keyOf(at.run, at.parent))) found.push(at.parent.toLowerCase());
	return found;
}

function keep(list, value) {
	list.push(value);
	if (list.length > 2000) list.splice(0, 1000);
}
