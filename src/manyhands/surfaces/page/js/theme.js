// Light, dark, or as the system says; kept in this browser only.

const NAMES = { auto: "◐", light: "☀", dark: "☾" };

export function startTheme(button, changed) {
	const system = matchMedia("(prefers-color-scheme: dark)");
	let choice = "auto";
	try {
		choice = localStorage.getItem("manyhands-theme") ?? "auto";
	} catch {
		// A saved page may not be allowed to remember anything.
	}
	const put = () => {
		document.documentElement.dataset.theme = choice === "auto" ? (system.matches ? "dark" : "light") : choice;
		button.textContent = NAMES[choice] ?? NAMES.auto;
		button.setAttribute("aria-label", `Theme: ${choice}`);
		changed();
	};
	const next = () => {
		const names = Object.keys(NAMES);
		choice = names[(names.indexOf(choice) + 1) % names.length];
		try {
			localStorage.setItem("manyhands-theme", choice);
		} catch {
			// See above.
		}
		put();
	};
	system.addEventListener("change", put);
	button.addEventListener("click", next);
	put();
	return next;
}
