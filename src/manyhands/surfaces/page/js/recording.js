// Reads a recording while the server still writes it. Its first line has the snapshot, and every frame is a line.

/** `begun({run, snapshot, frames: []})` comes first, then `more(frames)`; returns true for as long as it is wanted. */
export async function readRecording(response, begun, more) {
	const decoder = new TextDecoder();
	let rest = "";
	let isBegun = false;
	for await (const piece of pieces(response.body.getReader())) {
		const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
		rest = lines.pop();
		if (!lines.length) continue;
		if (!isBegun) {
			begun(JSON.parse(`${lines.shift()}]}`));
			isBegun = true;
		}
		// The last line closes the list.
		const frames = lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line.replace(/,$/, "")));
		if (more(frames) === false) return;
	}
}

async function* pieces(reader) {
	for (;;) {
		const { done, value } = await reader.read();
		if (done) return;
		yield value;
	}
}
