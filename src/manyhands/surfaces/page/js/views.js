// The views of the page: one is in sight, and only that one is drawn.
import { $, h, renew } from "./dom.js";
import { EvalsView } from "./evals_view.js";
import { Graph } from "./graph.js";
import { HostsView } from "./hosts_view.js";
import { InboxView } from "./inbox_view.js";
import { LogView } from "./log_view.js";
import { RunsView } from "./runs_view.js";
import { showTip } from "./tip.js";
import { VIEWS, toHash } from "./view_url.js";

export class Views {
	constructor(app) {
		this.app = app;
		this.parts = {
			graph: new Graph($("graph"), $("graph-of"), $("graph-tools"), $("graph-said"), app.paint, (task) => app.openTask(task.run, task.task), showTip),
			runs: new RunsView({
				list: $("runs"), table: $("grid"), about: $("grid-about"), note: $("grid-note"), selects: [$("compare-a"), $("compare-b")],
				compareBox: $("compare-box"), facts: $("compare-facts"), differences: $("compare-tasks"),
			}, (run) => app.chooseRun?.(run), () => app.taskPage.isServed),
			hosts: new HostsView({ select: $("host"), table: $("hosts"), box: $("charts"), moves: $("moves"), said: $("charts-said") }, app.paint, () => ({ scale: app.scaleFor($("charts").clientWidth), gutter: app.gutter, now: app.now, origin: app.firstShown })),
			evals: new EvalsView({
				select: $("eval"), scorers: $("eval-scorer"), about: $("eval-about"), note: $("eval-note"), table: $("eval-table"), lifts: $("eval-lifts"), transcripts: $("transcripts"),
			}, () => app.taskPage.isServed),
			inbox: new InboxView({ list: $("inbox"), about: $("inbox-about"), note: $("inbox-note") }, () => app.taskPage.isServed),
			log: new LogView($("log"), $("log-about"), () => app.firstShown),
		};
	}

	/** The one in sight; null for the overview, which the app draws itself. */
	get part() {
		return this.parts[this.app.view.show] ?? null;
	}

	/** Puts the view of the address in sight. */
	show() {
		const { view } = this.app;
		for (const element of document.querySelectorAll("[data-show]")) element.hidden = element.dataset.show !== view.show;
		renew($("views"), Object.entries(VIEWS).map(([name, title], i) => h("a", {
			key: name, href: toHash({ ...view, show: name, task: null }), title: `${title} (${i + 1})`, "aria-current": name === view.show ? "page" : null,
			onclick: (event) => (event.preventDefault(), this.app.setShow(name)),
		}, title)));
	}
}
