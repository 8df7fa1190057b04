// The whole view in the address: what it shows can be sent to someone.

export const VIEWS = { overview: "Overview", graph: "Graph", runs: "Runs", hosts: "Hosts", log: "Log", evals: "Evals", inbox: "Inbox" };

export const START = { show: "overview", task: null, run: "", filter: "", rows: "slots", follow: true, fit: true, from: null, to: null, range: null, replay: null };

const time = (t) => (Math.round(t * 100) / 100).toString();

export function toHash(view) {
	const query = [];
	const put = (name, value) => query.push(`${name}=${encodeURIComponent(value).replace(/%(3A|2F)/g, decodeURIComponent)}`);
	if (view.show !== START.show) put("show", view.show);
	if (view.run) put("run", view.run);
	if (view.filter) put("filter", view.filter);
	if (view.rows !== START.rows) put("rows", view.rows);
	if (!view.follow) {
		if (view.fit) put("view", "fit");
		else put("view", `${time(view.from)}~${time(view.to)}`);
	} else if (!view.fit && view.from !== null) put("last", time(view.to - view.from));
	if (view.replay !== null) put("replay", Number.isFinite(view.replay) ? time(view.replay) : "end");
	if (view.range) put("range", `${time(view.range.from)}~${time(view.range.to)}`);
	const path = view.task ? `task/${encodeURIComponent(view.task.run)}/${encodeURIComponent(view.task.task)}` : "";
	return `#/${path}${query.length ? "?" + query.join("&") : ""}`;
}

export function fromHash(hash) {
	const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
	const view = { ...START };
	const task = path.match(/^task\/([^/]+)\/(.+)$/);
	if (task) view.task = { run: decoded(task[1]), task: decoded(task[2]) };
	const given = new URLSearchParams(query);
	if (Object.hasOwn(VIEWS, given.get("show") ?? "")) view.show = given.get("show");
	view.run = given.get("run") ?? "";
	view.filter = given.get("filter") ?? "";
	if (["slots", "kinds"].includes(given.get("rows"))) view.rows = given.get("rows");
	const shown = given.get("view");
	if (shown === "fit") view.follow = false;
	else if (shown) Object.assign(view, span(shown), { follow: false, fit: false });
	const last = Number(given.get("last"));
	if (last > 0) Object.assign(view, { fit: false, from: 0, to: last });
	if (given.get("range")) view.range = span(given.get("range"));
	const replay = given.get("replay");
	if (replay === "end") view.replay = Infinity;
	else if (replay !== null && Number(replay) >= 0) view.replay = Number(replay);
	if (view.from !== null && !(view.to > view.from)) Object.assign(view, { from: null, to: null, fit: true });
	if (view.range && !(view.range.to > view.range.from)) view.range = null;
	return view;
}

function span(text) {
	const [from, to] = text.split("~").map(Number);
	return { from, to };
}

function decoded(text) {
	try {
		return decodeURIComponent(text);
	} catch {
		return text; // a stray % in an address that someone typed
	}
}
