// Pointer and wheel on the ribbon and the lanes: zoom at the cursor, pan, pinch, and select a stretch of time.
import { panBy, zoomAt } from "./scale.js";

const MOVED = 4; // pixels before a press becomes a drag

/**
 * `on` has: scale(), gutter(), window(span), range(span | null), hover(x, y, event), leave(), click(x, y), fit().
 * Coordinates handed on are from the left end of the time axis.
 */
export function timeline(canvas, axisH, on) {
	const pointers = new Map();
	let drag = null;
	const place = (event) => {
		const box = canvas.getBoundingClientRect();
		return { x: event.clientX - box.left - on.gutter(), y: event.clientY - box.top, h: box.height };
	};

	canvas.addEventListener("wheel", (event) => {
		event.preventDefault();
		const { x } = place(event);
		const scale = on.scale();
		const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
		const by = event.deltaMode === 1 ? 16 : 1;
		if (isSideways) on.window(panBy(scale, (event.deltaX || event.deltaY) * by));
		else on.window(zoomAt(scale, Math.max(0, x), 1.0018 ** (-event.deltaY * by)));
	}, { passive: false });

	canvas.addEventListener("pointerdown", (event) => {
		if (event.button > 0) return;
		canvas.setPointerCapture(event.pointerId);
		pointers.set(event.pointerId, event);
		const { x, y, h } = place(event);
		drag = { x, y, scale: on.scale(), isRange: event.shiftKey || y > h - axisH, hasMoved: false };
	});

	canvas.addEventListener("pointermove", (event) => {
		const { x, y } = place(event);
		if (!pointers.has(event.pointerId)) {
			on.hover(x, y, event);
			return;
		}
		const before = pointers.get(event.pointerId);
		pointers.set(event.pointerId, event);
		if (pointers.size === 2) {
			pinch(before, event);
			return;
		}
		if (!drag || (!drag.hasMoved && Math.abs(x - drag.x) < MOVED)) return;
		drag.hasMoved = true;
		on.leave();
		if (drag.isRange) {
			const [from, to] = [drag.scale.t(drag.x), drag.scale.t(x)].sort((a, b) => a - b);
			on.range({ from, to });
		} else on.window(panBy(drag.scale, drag.x - x));
	});

	function pinch(before, event) {
		const other = [...pointers.entries()].find(([id]) => id !== event.pointerId)[1];
		const was = Math.abs(before.clientX - other.clientX);
		const is = Math.abs(event.clientX - other.clientX);
		const middle = (event.clientX + other.clientX) / 2 - canvas.getBoundingClientRect().left - on.gutter();
		if (was > 10 && is > 10) on.window(zoomAt(on.scale(), middle, is / was));
		drag = null;
	}

	const release = (event) => {
		pointers.delete(event.pointerId);
		if (event.type === "pointerup" && drag && !drag.hasMoved) {
			const { x, y } = place(event);
			if (drag.isRange) on.range(null);
			else on.click(x, y);
		}
		drag = null;
	};
	canvas.addEventListener("pointerup", release);
	canvas.addEventListener("pointercancel", release);
	canvas.addEventListener("pointerleave", () => on.leave());
	canvas.addEventListener("dblclick", () => on.fit());
}
