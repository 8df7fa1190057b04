// The figures of a stretch of time: what ended in it, how full the width was, and what kept the rest free.
import { endingOf } from "./causes.js";
import { isMine } from "./model.js";

export function rangeFigures(model, from, to, now) {
	const end = Math.min(to, now);
	const span = Math.max(0, end - from);
	const endings = {};
	let started = 0;
	let ended = 0;
	let waited = 0;
	for (const bar of model.bars.values()) {
		if (!isMine(model, bar)) continue;
		if (bar.start >= from && bar.start < to) {
			started++;
			waited += bar.start - bar.queued;
		}
		if (bar.end !== null && bar.end >= from && bar.end < to) {
			ended++;
			const ending = endingOf(bar);
			endings[ending] = (endings[ending] ?? 0) + 1;
		}
	}
	const { width, inFlight, blocked } = model.series;
	const widthArea = width.areaUpTo(end) - width.areaUpTo(from);
	let busyArea = 0;
	for (const steps of inFlight.values()) busyArea += steps.areaUpTo(end) - steps.areaUpTo(from);
	const free = [];
	for (const [cause, steps] of blocked) {
		const area = steps.areaUpTo(end) - steps.areaUpTo(from);
		if (area > 0) free.push({ cause, slotSeconds: area, share: widthArea > 0 ? area / widthArea : 0 });
	}
	free.sort((a, b) => b.slotSeconds - a.slotSeconds);
	return {
		span,
		started,
		ended,
		endings,
		perMinute: span > 0 ? ((endings.done ?? 0) * 60) / span : 0,
		meanInFlight: span > 0 ? busyArea / span : 0,
		meanWidth: span > 0 ? widthArea / span : 0,
		used: widthArea > 0 ? busyArea / widthArea : 0,
		meanWait: started ? waited / started : null,
		moves: model.widths.filter((move) => move.at >= from && move.at < to).length,
		free,
	};
}
