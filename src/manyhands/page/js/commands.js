// Asks of the server, and orders to it. An order is only said to be done once the server has it on disk.

export class Refused extends Error {}

async function answered(response) {
	const isJson = (response.headers.get("content-type") ?? "").includes("json");
	const body = isJson ? await response.json() : null;
	if (!response.ok) throw new Refused(body?.error ? [body.error, body.hint].filter(Boolean).join(" — ") : `the server answered ${response.status}`);
	return body;
}

export async function ask(path) {
	return answered(await fetch(path, { headers: { accept: "application/json" } }));
}

export async function order(method, path, body = {}) {
	const headers = { accept: "application/json", "content-type": "application/json" };
	return answered(await fetch(path, { method, headers, body: JSON.stringify(body) }));
}

export const taskPath = (run, task) => `/api/v1/tasks/${encodeURIComponent(run)}/${encodeURIComponent(task)}`;
