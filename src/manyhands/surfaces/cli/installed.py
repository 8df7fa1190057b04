"""`manyhands --version`: the version, and which extras are installed."""

from importlib.util import find_spec

from manyhands import __version__

#: extra → a package that only this extra brings
EXTRAS = {
    "split": "tree_sitter",
    "evals": "scipy",
    "models": "onnxruntime",
    "torch": "torch",
    "routes": "redis",
    "postgres": "psycopg",
    "ray": "ray",
    "mcp": "mcp",
    "acp": "acp",
}


def version_text() -> str:
    found = [extra for extra, package in EXTRAS.items() if find_spec(package) is not None]
    missing = [extra for extra in EXTRAS if extra not in found]
    lines = [f"manyhands {__version__}", f"extras: {', '.join(found) or 'none'}"]
    if missing:
        lines.append(f"not installed: {', '.join(missing)}")
    return "\n".join(lines) + "\n"
