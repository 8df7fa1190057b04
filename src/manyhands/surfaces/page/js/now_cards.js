// The attempts in flight, a card each, in the order of the ribbon's right edge; the fan joins the two.
import { h, keyed, setText, svg, taskHref } from "./dom.js";
import { kindClass, kindVars } from "./paint.js";
import { clock, duration, listed, liveText, plainText, shownOf } from "./words.js";
import { keyOf, mineInFlight } from "./model.js";

const CARDS_MAX = 120;
const STYLES = { dense: 7, tight: 11, many: 25 }; // less room each

/** Stacked as the ribbon stacks them: by kind, the oldest at the bottom. */
export function inOrder(model) {
	const place = new Map(model.kinds.map((kind, i) => [kind, i]));
	return mineInFlight(model).sort((a, b) => place.get(a.kind) - place.get(b.kind) || a.start - b.start || a.attempt - b.attempt);
}

export function usualOf(model, bar) {
	const lane = model.hosts.get(bar.host)?.lanes?.find((each) => each.kind === bar.kind);
	return { usual: lane?.usual_s ?? null, late: lane?.p90_s ?? (lane?.usual_s ? lane.usual_s * 2 : null) };
}

export class NowCards {
	constructor(list, note, count, fan, open) {
		Object.assign(this, { list, note, count, fan, open });
	}

	update(model, now, isShown) {
		const bars = inOrder(model).reverse();
		const shown = bars.slice(0, CARDS_MAX);
		for (const [style, from] of Object.entries(STYLES)) this.list.classList.toggle(`is-${style}`, bars.length >= from);
		setText(this.count, bars.length ? String(bars.length) : "");
		if (!bars.length) this.sayEmpty(model);
		else if (this.empty) {
			this.empty.remove();
			this.empty = null;
		}
		keyed(this.list, shown, (bar) => bar.attempt, (bar) => this.make(model, bar), (card, bar) => this.fill(card, model, bar, now, isShown));
		setText(this.note, shown.length < bars.length ? shownOf(shown.length, bars.length) : "");
	}

	sayEmpty(model) {
		if (!this.empty) this.list.before((this.empty = h("p", { class: "empty" })));
		const reason = model.idle.find((each) => each.cause !== "no work") ?? model.idle[0];
		setText(this.empty, reason?.detail ? `Nothing is in flight: ${reason.detail}` : "Nothing is in flight.");
	}

	make(model, bar) {
		const task = model.tasks.get(keyOf(bar.run, bar.task));
		const parts = {
			for: h("span", { class: "for" }),
			pace: h("i"),
			usual: h("u"),
			where: h("span", { class: "small grow" }),
			held: h("span", { class: "small extra" }),
			live: h("div", { class: "out live" }),
			out: h("div", { class: "out" }),
		};
		const card = h(
			"li",
			{ class: `card${kindClass(model, bar.kind)}`, vars: kindVars(model, bar.kind), "data-attempt": String(bar.attempt), onclick: () => this.open(bar) },
			h("div", { class: "line" },
				h("a", { class: "id", href: taskHref(bar.run, bar.task), onclick: (event) => event.preventDefault() }, bar.task),
				h("span", { class: "title" }, task?.title ?? ""), h("span", { class: "small at" }, bar.host), parts.for),
			h("div", { class: "pace" }, parts.pace, parts.usual),
			h("div", { class: "line" }, parts.where, parts.held),
			parts.live,
			parts.out,
		);
		card.parts = parts;
		return card;
	}

	fill(card, model, bar, now, isShown) {
		const { parts } = card;
		const elapsed = Math.max(0, now - bar.start);
		const { usual, late } = usualOf(model, bar);
		const isLate = late !== null && elapsed > late;
		const full = usual ? Math.max(usual * 1.5, elapsed) : 0;
		setText(parts.for, clock(elapsed));
		parts.pace.style.width = usual ? `${(elapsed / full) * 100}%` : "0";
		parts.usual.hidden = !usual;
		if (usual) parts.usual.style.left = `${(usual / full) * 100}%`;
		const pace = !usual ? "first attempt of its kind here" : isLate ? `${(elapsed / usual).toFixed(1)} × the usual ${duration(usual)}` : `usual ${duration(usual)}`;
		const attempt = bar.number > 1 ? ` · attempt ${bar.number} of ${Math.max(bar.of, bar.number)}` : "";
		setText(parts.where, `${bar.kind} on ${bar.host}${attempt} · ${pace}`);
		const held = bar.claims.filter((claim) => !claim.startsWith("read ")).map((claim) => claim.slice(claim.indexOf(" ") + 1));
		setText(parts.held, held.length ? `✎ ${listed(held, 1)}` : "");
		const live = liveText(bar, now);
		setText(parts.live, live);
		parts.live.hidden = !live;
		setText(parts.out, plainText(bar.line));
		parts.out.hidden = !bar.line || bar.line === bar.live?.line;
		card.classList.toggle("is-late", isLate);
		card.classList.toggle("is-dim", Boolean(isShown && !isShown(bar)));
		card.setAttribute("title", bar.claims.length ? `holds ${listed(bar.claims, 6)}` : "");
	}

	/** From each unit at the ribbon's right edge to its card. */
	drawFan(model, ribbon, canvas) {
		const fan = this.fan;
		fan.replaceChildren();
		if (!ribbon.edge || getComputedStyle(fan).display === "none") return;
		const box = fan.getBoundingClientRect();
		const from = canvas.getBoundingClientRect();
		const x0 = Math.min(0, from.left + ribbon.edge.x - box.left);
		for (const [i, bar] of inOrder(model).entries()) {
			const card = this.list.byKey?.get(bar.attempt);
			if (!card) continue;
			const to = card.getBoundingClientRect();
			if (i > 60) break;
			const a = from.top - box.top + ribbon.edge.y(i + 1);
			const b = from.top - box.top + ribbon.edge.y(i);
			const top = to.top - box.top + 2;
			const bottom = to.bottom - box.top - 2;
			const w = box.width;
			const d = `M${x0} ${a}C${w * 0.55} ${a} ${w * 0.35} ${top} ${w} ${top}V${bottom}C${w * 0.35} ${bottom} ${w * 0.55} ${b} ${x0} ${b}Z`;
			fan.append(svg("path", { d, fill: kindVars(model, bar.kind)["--c"], "fill-opacity": ".16" }));
		}
	}
}
