// Pointer and wheel on a picture that can be moved and zoomed in both directions.

const MOVED = 4; // pixels before a press becomes a drag

/** `on` has: move(dx, dy), zoom(x, y, factor), hover(x, y, event), leave(), click(x, y), fit(). In pixels of the canvas. */
export function panZoom(canvas, on) {
	const pointers = new Map();
	let hasMoved = false;
	const place = (event) => {
		const box = canvas.getBoundingClientRect();
		return { x: event.clientX - box.left, y: event.clientY - box.top };
	};
	canvas.addEventListener("wheel", (event) => {
		event.preventDefault();
		const { x, y } = place(event);
		const by = event.deltaMode === 1 ? 16 : 1;
		if (event.shiftKey) on.move(event.deltaY * by, 0);
		else on.zoom(x, y, 1.0018 ** (-event.deltaY * by));
	}, { passive: false });
	canvas.addEventListener("pointerdown", (event) => {
		if (event.button > 0) return;
		canvas.setPointerCapture(event.pointerId);
		pointers.set(event.pointerId, { ...place(event), from: place(event) });
		hasMoved = pointers.size > 1;
	});
	canvas.addEventListener("pointermove", (event) => {
		const at = place(event);
		const before = pointers.get(event.pointerId);
		if (!before) {
			on.hover(at.x, at.y, event);
			return;
		}
		const other = [...pointers.entries()].find(([id]) => id !== event.pointerId)?.[1];
		pointers.set(event.pointerId, { ...at, from: before.from });
		if (other) {
			const apart = (point) => Math.hypot(point.x - other.x, point.y - other.y);
			if (apart(before) > 10 && apart(at) > 10) on.zoom((at.x + other.x) / 2, (at.y + other.y) / 2, apart(at) / apart(before));
			return;
		}
		if (!hasMoved && Math.hypot(at.x - before.from.x, at.y - before.from.y) < MOVED) return;
		hasMoved = true;
		on.leave();
		on.move(before.x - at.x, before.y - at.y);
	});
	const release = (event) => {
		const was = pointers.get(event.pointerId);
		pointers.delete(event.pointerId);
		if (event.type === "pointerup" && was && !hasMoved) on.click(was.x, was.y);
	};
	canvas.addEventListener("pointerup", release);
	canvas.addEventListener("pointercancel", release);
	canvas.addEventListener("pointerleave", () => on.leave());
	canvas.addEventListener("dblclick", () => on.fit());
}
