// What an attempt printed: it grows while the attempt runs, can be searched, and can be saved.
import { ask, taskPath } from "./commands.js";
import { button, h, setText } from "./dom.js";
import { count, plainText, plural } from "./words.js";

const KEPT = 200_000; // characters; the file has the rest

export class OutputView {
	constructor() {
		this.pre = h("pre", { class: "output", tabIndex: 0, "aria-label": "Output" });
		this.found = h("span", { class: "quiet", role: "status" });
		this.search = h("input", { type: "search", placeholder: "find in the output", "aria-label": "Find in the output", oninput: () => this.find(0), onkeydown: (event) => event.key === "Enter" && this.find(1) });
		this.bar = h("div", { class: "bar" }, this.search, this.found, (this.follow = button({ "aria-pressed": "true", title: "Keep its end in sight", onclick: () => this.setFollow(!this.isFollowed) }, "follow")), button({ "data-act": "save", onclick: () => this.save() }, "save"));
		this.isFollowed = true;
		// Whoever scrolls back wants to read there.
		this.pre.addEventListener("wheel", (event) => event.deltaY < 0 && this.setFollow(false), { passive: true });
		this.show("", "", null);
	}

	/** Another task, or another attempt at it. */
	show(run, task, attempt) {
		Object.assign(this, { run, task, attempt, text: "", next: 0, at: -1 });
	}

	/** Reads on from where it is. */
	async read() {
		if (this.isReading || !this.attempt) return;
		this.isReading = true;
		const { run, task, attempt } = this;
		try {
			const more = await ask(`${taskPath(run, task)}/output?attempt=${attempt}&after=${this.next}`);
			if (this.run !== run || this.task !== task || this.attempt !== attempt || !more?.text) return;
			this.text = (this.text + more.text).slice(-KEPT);
			this.next = more.next;
		} catch {
			// No output is kept for this attempt; the pane shows what else there is.
		} finally {
			this.isReading = false;
		}
	}

	setFollow(isOn) {
		this.isFollowed = isOn;
		this.follow.setAttribute("aria-pressed", String(isOn));
		if (isOn) this.pre.scrollTop = this.pre.scrollHeight;
	}

	/** `instead` is what else is known of it. */
	draw(instead) {
		setText(this.pre, plainText(this.text) || instead);
		if (this.isFollowed) this.pre.scrollTop = this.pre.scrollHeight;
	}

	/** Selects the next place where it stands; `by` 0 begins again. */
	find(by) {
		const wanted = this.search.value.toLowerCase();
		const node = this.pre.firstChild;
		const text = (node?.data ?? "").toLowerCase();
		const places = wanted ? text.split(wanted).length - 1 : 0;
		setText(this.found, wanted ? (places ? plural(places, "place") : "not found") : "");
		if (!places) return;
		let at = text.indexOf(wanted, by ? this.at + 1 : 0);
		if (at < 0) at = text.indexOf(wanted);
		this.at = at;
		const range = document.createRange();
		range.setStart(node, at);
		range.setEnd(node, at + wanted.length);
		CSS.highlights?.set("found", new Highlight(range));
		const box = range.getBoundingClientRect();
		const frame = this.pre.getBoundingClientRect();
		this.pre.scrollTop += box.top - frame.top - frame.height / 2;
	}

	/** As a file, with all that the server has kept of it. */
	async save() {
		let text = "";
		if (this.attempt) {
			for (let next = 0, more = null; !more || (more.text && next < more.size); next = more.next) {
				more = await ask(`${taskPath(this.run, this.task)}/output?attempt=${this.attempt}&after=${next}`);
				text += more.text;
				setText(this.found, `${count(text.length)} characters read`);
			}
		}
		const link = h("a", { href: URL.createObjectURL(new Blob([text || this.pre.textContent])), download: `${this.task || "output"}.${this.attempt ?? 1}.txt` });
		link.click();
		URL.revokeObjectURL(link.href);
	}
}
