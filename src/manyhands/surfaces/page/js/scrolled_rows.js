// A table of any length of which only the rows in sight are built.
import { h, renew } from "./dom.js";

const SPARE = 6; // rows above and below

export class ScrolledRows {
	/** `make(item, index)` gives a row, with a key of its own. */
	constructor(element, rowH, make) {
		Object.assign(this, { element, rowH, make, items: [] });
		const spacer = () => h("tr", { class: "spacer" }, h("td"));
		[this.before, this.after] = [spacer(), spacer()];
		this.head = h("thead");
		this.body = h("tbody");
		this.table = h("table", {}, this.head, this.body);
		element.append(this.table);
		element.addEventListener("scroll", () => this.draw());
	}

	/** `heads`: what stands above each column, as words or elements. */
	set(heads, items) {
		this.items = items;
		renew(this.head, h("tr", {}, heads.map((name, i) => h("th", { scope: "col", key: i }, name))));
		for (const spacer of [this.before, this.after]) spacer.firstChild.colSpan = heads.length;
		this.table.setAttribute("aria-rowcount", String(items.length + 1));
		this.draw();
		requestAnimationFrame(() => this.draw()); // it may have grown
	}

	draw() {
		const { element, rowH, items } = this;
		const top = Math.max(0, Math.min(items.length, Math.floor(element.scrollTop / rowH)) - SPARE);
		const bottom = Math.min(items.length, top + Math.ceil((element.clientHeight || 480) / rowH) + 2 * SPARE);
		this.before.firstChild.style.height = `${top * rowH}px`;
		this.after.firstChild.style.height = `${(items.length - bottom) * rowH}px`;
		renew(this.body, this.before, items.slice(top, bottom).map((item, i) => this.make(item, top + i)), this.after);
	}
}
