// What the filter box means: `host: kind: state: file: parent: run:` and free text, each word narrowing further.

const FIELDS = ["host", "kind", "state", "file", "run", "parent"];

function parseFilter(text) {
	const terms = [];
	for (const [, field, quoted, bare] of text.matchAll(/(?:(\w+):)?(?:"([^"]*)"|(\S+))/g)) {
		const value = (quoted ?? bare ?? "").toLowerCase();
		if (field && FIELDS.includes(field.toLowerCase())) terms.push({ field: field.toLowerCase(), value });
		else terms.push({ field: "text", value: (field ? field + ":" : "").toLowerCase() + value });
	}
	return terms.filter((term) => term.value !== "");
}

/** Whether a path could be one that a claim's pattern names: `src/**` has `src/a.py`, and `a.py` finds `src/a.py`. */
export function claimHas(claim, file) {
	const pattern = claim.slice(claim.indexOf(" ") + 1).toLowerCase();
	if (pattern.includes(file)) return true;
	const literal = pattern.split(/[*?[]/, 1)[0];
	return literal !== pattern && literal !== "" && file.startsWith(literal);
}

const MATCH = {
	host: (task, value) => (task.host ?? "").toLowerCase().includes(value),
	kind: (task, value) => (task.kind ?? "").toLowerCase() === value || (task.kind ?? "").toLowerCase().startsWith(value),
	state: (task, value) => (task.state ?? "").startsWith(value),
	parent: (task, value, above) => task.task.toLowerCase() === value || above(task).includes(value),
	run: (task, value) => (task.run ?? "").toLowerCase().includes(value),
	file: (task, value) => (task.claims ?? []).some((claim) => claimHas(claim, value)),
	text: (task, value) => task.task.toLowerCase().includes(value) || (task.title ?? "").toLowerCase().includes(value),
};

/** Terms of one field are alternatives (`kind:code kind:text`); fields and words of text all have to hold.
 * `above(task)` names what a task is part of, at any height. */
export function predicate(text, above = (task) => [(task.parent ?? "").toLowerCase()]) {
	const terms = parseFilter(text);
	if (!terms.length) return null;
	const byField = new Map();
	const words = [];
	for (const term of terms) {
		if (term.field === "text") words.push(term.value);
		else byField.set(term.field, [...(byField.get(term.field) ?? []), term.value]);
	}
	return (task) => {
		for (const word of words) if (!MATCH.text(task, word)) return false;
		for (const [field, values] of byField) if (!values.some((value) => MATCH[field](task, value, above))) return false;
		return true;
	};
}

/** The text with `field:value` put in, or taken out if it is there. */
export function toggled(text, field, value) {
	const term = `${field}:${/\s/.test(value) ? `"${value}"` : value}`;
	const parts = text.split(/\s+(?=(?:[^"]*"[^"]*")*[^"]*$)/).filter(Boolean);
	return (parts.includes(term) ? parts.filter((part) => part !== term) : [...parts, term]).join(" ");
}
