// Where changes come from: the live stream, or a recording played at any speed. Both end in the same reducer.
import { applyFrame, fromSnapshot } from "./model.js";

const BARS_KEPT = 150_000; // a page that stays open for days begins anew with what a snapshot has
const RETRY_MS = [500, 1000, 2000, 5000];

export class LiveSource {
	/** `sink` is told: model(model), changed(model, frame), state("live" | "lost" | "refused"). */
	constructor(sink, run = "", address = "/api/v1/stream") {
		this.sink = sink;
		this.run = run;
		this.address = address;
		this.model = null;
		this.failures = 0;
		this.clockAhead = 0; // the server's clock against ours
		this.lostAt = null; // when the connection went
		this.open();
	}

	open() {
		const query = new URLSearchParams();
		if (this.run) query.set("run", this.run);
		if (this.lastId) query.set("after", this.lastId);
		const stream = (this.stream = new EventSource(query.size ? `${this.address}?${query}` : this.address));
		stream.addEventListener("open", () => this.found());
		stream.addEventListener("snapshot", (event) => {
			this.failures = 0;
			this.lastId = event.lastEventId;
			const snapshot = JSON.parse(event.data);
			this.clockAhead = snapshot.at - Date.now() / 1000;
			this.model = fromSnapshot(snapshot, this.run);
			this.found();
			this.sink.model(this.model);
		});
		stream.addEventListener("changes", (event) => {
			if (!this.model) return;
			this.failures = 0;
			this.lastId = event.lastEventId;
			const frame = JSON.parse(event.data);
			// A frame can only be late: the least delay is the best guess of the clocks' difference.
			this.clockAhead = Math.max(this.clockAhead, frame.at - Date.now() / 1000);
			applyFrame(this.model, frame);
			this.sink.changed(this.model, frame);
			if (this.model.bars.size > BARS_KEPT) this.renew();
		});
		stream.addEventListener("error", () => {
			this.lostAt ??= this.now;
			this.sink.state("lost");
			if (stream.readyState !== EventSource.CLOSED) return; // it comes back by itself, with Last-Event-ID
			const wait = RETRY_MS[Math.min(this.failures++, RETRY_MS.length - 1)];
			this.timer = setTimeout(() => this.open(), wait);
		});
	}

	found() {
		this.lostAt = null;
		this.sink.state("live");
	}

	renew() {
		this.stream.close();
		this.lastId = "";
		this.open();
	}

	/** Without a connection, or without a dispatcher, time stands still. */
	get now() {
		if (this.lostAt !== null) return this.lostAt;
		if (this.model?.dispatching === false) return this.model.at;
		return this.model ? Math.max(this.model.at, Date.now() / 1000 + this.clockAhead) : Date.now() / 1000;
	}

	close() {
		clearTimeout(this.timer);
		this.stream.close();
	}
}

export const SPEEDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

export class RecordedSource {
	/** `recording` is whole, or a beginning to which frames are added. Then `expected` is when it should end. */
	constructor(sink, recording, expected = null) {
		this.sink = sink;
		this.run = recording.run ?? "";
		this.snapshot = recording.snapshot;
		this.frames = recording.frames;
		this.isWhole = expected === null;
		this.expected = expected ?? -Infinity;
		this.first = this.frames[0]?.at ?? this.snapshot.at;
		this.speed = 10;
		this.isPlaying = false;
		this.wanted = null; // a moment to go to as soon as it has come
		this.restart();
		if (this.isWhole) this.seek(this.last);
	}

	/** The last moment there is so far. */
	get last() {
		return this.frames.at(-1)?.at ?? this.snapshot.at;
	}

	/** Where the slider ends. */
	get end() {
		return Math.max(this.last, this.isWhole ? -Infinity : this.expected);
	}

	add(frames) {
		this.frames.push(...frames);
		if (this.wanted !== null) this.goTo(this.wanted);
	}

	whole() {
		this.isWhole = true;
		this.goTo(this.wanted ?? this.now);
	}

	restart() {
		this.next = 0;
		this.now = this.first;
		this.model = fromSnapshot(structuredClone(this.snapshot), this.run);
		this.sink.model(this.model);
	}

	/** To any moment; backwards means from the start again. */
	seek(at) {
		const to = Math.min(this.last, Math.max(this.first, at));
		if (to < this.now) this.restart();
		this.now = to;
		this.catchUp();
	}

	/** To a moment that may be still to come. */
	goTo(at) {
		this.seek(at);
		this.wanted = at > this.last && !this.isWhole ? at : null;
	}

	catchUp() {
		let frame = null;
		while (this.next < this.frames.length && this.frames[this.next].at <= this.now) {
			frame = this.frames[this.next++];
			applyFrame(this.model, frame);
		}
		this.sink.changed(this.model, frame);
	}

	/** `seconds` have passed for whoever watches. */
	advance(seconds) {
		if (!this.isPlaying) return;
		this.now = Math.min(this.last, this.now + seconds * this.speed);
		this.catchUp();
		if (this.now >= this.last && this.isWhole) this.isPlaying = false;
	}

	play() {
		this.wanted = null;
		if (this.now >= this.last && this.isWhole) this.seek(this.first);
		this.isPlaying = true;
	}

	pause() {
		this.isPlaying = false;
	}

	close() {
		this.isPlaying = false;
		this.isClosed = true;
	}
}
