// A unified diff as rows of two sides: what was there, and what is there now.

/** [{ path, rows: [{ hunk } | { left, right }] }]; a side is { n, text, kind } or null. */
export function sides(diff) {
	const files = [];
	let file = null;
	let was = 0;
	let is = 0;
	let gone = []; // removed lines that wait for what replaces them
	const settle = () => {
		for (const left of gone) file.rows.push({ left, right: null });
		gone = [];
	};
	for (const line of diff.split("\n")) {
		const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$/.exec(line);
		if (line.startsWith("diff --git ")) {
			if (file) settle();
			files.push((file = { path: pathOf(line), rows: [], isOpen: false }));
		} else if (!file) continue;
		else if (hunk) {
			settle();
			[was, is] = [Number(hunk[1]), Number(hunk[2])];
			file.isOpen = true;
			file.rows.push({ hunk: `line ${is}${hunk[3]}` });
		} else if (!file.isOpen) {
			if (/^(new|deleted) file|^Binary files/.test(line)) file.rows.push({ hunk: line });
		} else if (line.startsWith("-")) gone.push({ n: was++, text: line.slice(1), kind: "gone" });
		else if (line.startsWith("+")) file.rows.push({ left: gone.shift() ?? null, right: { n: is++, text: line.slice(1), kind: "new" } });
		else if (line.startsWith(" ")) {
			settle();
			file.rows.push({ left: { n: was++, text: line.slice(1), kind: "" }, right: { n: is++, text: line.slice(1), kind: "" } });
		}
	}
	if (file) settle();
	return files;
}

/** The new path. Git quotes names with odd characters. */
const pathOf = (line) => (/ "?b\/(.*?)"?$/.exec(line)?.[1] ?? line.slice(11));
