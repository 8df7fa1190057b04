// Asks of the server, and orders to it. An order is only said to be done once the server has it on disk.

const TRIES = 12;

const refused = (status, message) => Object.assign(new Error(message), { status });

async function answered(response) {
	const isJson = (response.headers.get("content-type") ?? "").includes("json");
	const body = isJson ? await response.json() : null;
	if (!response.ok) throw refused(response.status, body?.error ? [body.error, body.hint].filter(Boolean).join(" — ") : `the server answered ${response.status}`);
	return body;
}

/** The server makes slow answers for a few clients at a time; otherwise we ask again a little later. */
async function fetched(path) {
	for (let tries = 1; ; tries++) {
		const response = await fetch(path, { headers: { accept: "application/json" } });
		if (response.status !== 429 || tries >= TRIES) return response;
		await new Promise((done) => setTimeout(done, 1000));
	}
}

export const ask = async (path) => answered(await fetched(path));

/** An answer that is read as it comes. */
export async function askSlowly(path) {
	const response = await fetched(path);
	return response.ok ? response : answered(response);
}

export async function order(method, path, body = {}) {
	const headers = { accept: "application/json", "content-type": "application/json" };
	return answered(await fetch(path, { method, headers, body: JSON.stringify(body) }));
}

export const taskPath = (run, task) => `/api/v1/tasks/${encodeURIComponent(run)}/${encodeURIComponent(task)}`;
