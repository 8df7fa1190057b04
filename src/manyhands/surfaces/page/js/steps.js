// A number that changes in steps over time, with its integral, so that any mean is two searches away.

/** The first index whose value is above `limit`, in an array that only rises. */
export function firstAbove(sorted, limit) {
	let low = 0;
	let high = sorted.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (sorted[middle] > limit) high = middle;
		else low = middle + 1;
	}
	return low;
}

export class Steps {
	constructor() {
		this.at = [];
		this.value = [];
		this.area = []; // integral up to at[i]
	}

	get last() {
		return this.value.length ? this.value[this.value.length - 1] : 0;
	}

	/** From `at` on it is `value`. A late value counts from the end of the series. */
	push(at, value) {
		const n = this.at.length;
		if (n === 0) {
			this.at.push(at);
			this.value.push(value);
			this.area.push(0);
			return;
		}
		const before = this.at[n - 1];
		if (value === this.value[n - 1]) return;
		if (at <= before) {
			this.value[n - 1] = value;
			return;
		}
		this.at.push(at);
		this.value.push(value);
		this.area.push(this.area[n - 1] + this.value[n - 1] * (at - before));
	}

	add(at, change) {
		this.push(at, this.last + change);
	}

	indexAt(t) {
		return firstAbove(this.at, t) - 1;
	}

	valueAt(t) {
		const i = this.indexAt(t);
		return i < 0 ? 0 : this.value[i];
	}

	areaUpTo(t, i = this.indexAt(t)) {
		return i < 0 ? 0 : this.area[i] + this.value[i] * (t - this.at[i]);
	}

	/** The mean within each of `count` equal stretches of [from, to]; one walk, however many steps there are. */
	means(from, to, count) {
		const out = new Float64Array(count);
		if (!this.at.length) return out;
		const each = (to - from) / count;
		let i = this.indexAt(from);
		let before = this.areaUpTo(from, i);
		for (let k = 0; k < count; k++) {
			const end = from + each * (k + 1);
			const was = i;
			while (i + 1 < this.at.length && this.at[i + 1] <= end) i++;
			const area = this.areaUpTo(end, i);
			// Between steps it is exact, so that a calm line stays one line.
			out[k] = i !== was ? (area - before) / each : i < 0 ? 0 : this.value[i];
			before = area;
		}
		return out;
	}

	max(from, to) {
		let i = Math.max(0, this.indexAt(from));
		let most = 0;
		for (; i < this.at.length && this.at[i] <= to; i++) most = Math.max(most, this.value[i]);
		return most;
	}
}

/** How many of the spans [starts[i], ends[i]) are open, over time; both arrays sorted. */
export function openCount(starts, ends) {
	const steps = new Steps();
	let open = 0;
	let e = 0;
	for (let s = 0; s < starts.length; s++) {
		while (e < ends.length && ends[e] <= starts[s]) steps.push(ends[e++], --open);
		steps.push(starts[s], ++open);
	}
	while (e < ends.length) steps.push(ends[e++], --open);
	return steps;
}
