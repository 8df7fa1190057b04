// The words beside the pointer.
import { $, h } from "./dom.js";

/** null hides it. */
export function showTip(lines, event) {
	const tip = $("tip");
	tip.hidden = !lines;
	if (!lines) return;
	tip.replaceChildren(...lines.map((line, i) => h("div", {}, i ? line : h("b", {}, line))));
	const left = event.clientX + 14 + tip.offsetWidth > innerWidth ? event.clientX - tip.offsetWidth - 14 : event.clientX + 14;
	tip.style.left = `${Math.max(6, left)}px`;
	tip.style.top = `${Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 6)}px`;
}
