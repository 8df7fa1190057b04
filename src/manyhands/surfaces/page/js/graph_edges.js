// The edges of the graph: needs run from left to right between the boxes, waits for files in arcs around them.

/** All needs of one look in one path: from the right side of what is needed to the left side of what needs it. */
export function strokeNeeds(c, edges, style, width, alpha) {
	if (!edges.length) return;
	c.strokeStyle = style;
	c.lineWidth = width;
	c.globalAlpha = alpha;
	c.beginPath();
	for (const { from, to } of edges) {
		const x0 = from.x + from.w;
		const y0 = from.y + from.h / 2;
		const y1 = to.y + to.h / 2;
		const bend = Math.max(20, (to.x - x0) / 2);
		c.moveTo(x0, y0);
		c.bezierCurveTo(x0 + bend, y0, to.x - bend, y1, to.x, y1);
	}
	c.stroke();
	c.globalAlpha = 1;
}

/** Waits for files: dashed, with a dot at the task that waits. */
export function strokeHeld(c, edges, style, width) {
	if (!edges.length) return;
	c.strokeStyle = c.fillStyle = style;
	c.lineWidth = width;
	c.setLineDash([3 * width, 2.5 * width]);
	c.beginPath();
	for (const { from, to } of edges) {
		const [x0, y0, ...rest] = heldArc(from, to);
		c.moveTo(x0, y0);
		c.bezierCurveTo(...rest);
	}
	c.stroke();
	c.setLineDash([]);
	for (const { from, to } of edges) {
		const [x, y] = heldArc(from, to).slice(-2);
		c.beginPath();
		c.arc(x, y, 2.5 * width, 0, 7);
		c.fill();
	}
}

/** A curve as [x0, y0, cx0, cy0, cx1, cy1, x1, y1]: boxes of one column are joined on their right, all others above. */
export function heldArc(from, to) {
	if (Math.abs(to.x - from.x) < from.w) {
		const [x0, y0, x1, y1] = [from.x + from.w, from.y + from.h / 2, to.x + to.w, to.y + to.h / 2];
		const out = Math.max(x0, x1) + 20 + Math.min(60, Math.abs(y1 - y0) * 0.15);
		return [x0, y0, out, y0, out, y1, x1, y1];
	}
	const [x0, x1] = [from.x + from.w / 2, to.x + to.w / 2];
	const top = Math.min(from.y, to.y) - 14 - Math.min(60, Math.abs(x1 - x0) * 0.12);
	return [x0, from.y, x0, top, x1, top, x1, to.y];
}
