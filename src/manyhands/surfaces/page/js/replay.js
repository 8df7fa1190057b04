// The controls of a recording: play, speed, and a slider over the whole of it.
import { button, h, setText } from "./dom.js";
import { SPEEDS } from "./source.js";
import { clock, percent } from "./words.js";

export class ReplayBar {
	constructor(element, source, leave) {
		this.source = source;
		this.button = button({ id: "play", onclick: () => this.toggle() }, "play");
		this.slider = h("input", { type: "range", min: "0", max: "1000", step: "1", "aria-label": "Moment of the recording", oninput: () => this.seek() });
		this.speed = h("select", { "aria-label": "Speed", onchange: () => (source.speed = Number(this.speed.value)) },
			SPEEDS.map((each) => h("option", { value: String(each), selected: each === source.speed }, `${each} ×`)));
		this.when = h("span", { class: "when" });
		element.hidden = false;
		element.replaceChildren(this.button, this.slider, this.when, this.speed, ...(leave ? [button({ onclick: leave }, "back to live")] : []));
	}

	toggle() {
		if (this.source.isPlaying) this.source.pause();
		else this.source.play();
		this.update();
	}

	seek() {
		const { first, end } = this.source;
		this.source.pause();
		this.source.goTo(first + ((end - first) * Number(this.slider.value)) / 1000);
		this.update();
	}

	update() {
		const { first, last, end, now, isPlaying, isWhole } = this.source;
		setText(this.button, isPlaying ? "pause" : "play");
		if (document.activeElement !== this.slider || isPlaying) this.slider.value = String(end > first ? Math.round(((now - first) / (end - first)) * 1000) : 1000);
		const read = isWhole ? "" : ` · reading the journal: ${percent((last - first) / Math.max(1e-9, end - first))}`;
		const text = `${clock(now - first)} of ${clock(end - first)}${read}`;
		setText(this.when, text);
		this.slider.setAttribute("aria-valuetext", text);
	}
}
