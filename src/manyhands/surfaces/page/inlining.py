"""The modules of the page as one script, and the page as one HTML file that needs nothing else.

The modules keep to two forms, `import { … } from "./name.js"` and `export` before a declaration, so that making
functions of them takes no parser.
"""

import re
from pathlib import Path

FOLDER = Path(__file__).parent
IMPORT = re.compile(r'^import \{ ([^}]+) \} from "\./(\w+)\.js";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let) ([\w$]+))", re.MULTILINE)
#: A saved page makes no requests, whatever the recording contains.
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"


def single_page(recording_json: str) -> str:
    """`recording_json` is a recording as `/api/v1/runs/RUN/recording` gives it."""
    page = (FOLDER / "index.html").read_text(encoding="utf-8")
    style = (FOLDER / "style.css").read_text(encoding="utf-8")
    # Within a script element only `<` could end it or begin a comment.
    recording = recording_json.replace("<", "\\u003c")
    page = re.sub(r'<link rel="icon"[^>]*>\n', "", page)
    page = _put(page, '<link rel="stylesheet" href="/static/style.css">', f"<style>\n{style}</style>")
    page = _put(page, '<script type="module" src="/static/page.js"></script>', "")
    page = _put(page, "<title>", f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n<title>')
    embedded = f'<script type="application/json" id="recording">{recording}</script>'
    return _put(page, "</body>", f'{embedded}\n<script type="module">\n{joined_modules()}</script>\n</body>')


def joined_modules() -> str:
    """All modules as one script. Each is a function that comes after the modules it imports."""
    sources = {path.stem: path.read_text(encoding="utf-8") for path in (FOLDER / "js").glob("*.js")}
    joined: list[str] = []
    done: set[str] = set()

    def add(name: str) -> None:
        if name in done:
            return
        done.add(name)
        for _, imported in IMPORT.findall(sources[name]):
            add(imported)
        joined.append(_as_function(name, sources[name]))

    add("main")
    return "\n".join(joined)


def _as_function(name: str, source: str) -> str:
    exported = EXPORT.findall(source)
    body = EXPORT.sub("", IMPORT.sub(_taken_from, source))
    if left := re.search(r"^(?:import|export)\b.*", body, re.MULTILINE):
        raise ValueError(f"js/{name}.js has a form that cannot be put into one file: {left[0]}")
    return f"const in_{name} = (() => {{\n{body}return {{ {', '.join(exported)} }};\n}})();"


def _taken_from(found: re.Match[str]) -> str:
    return f"const {{ {found[1].replace(' as ', ': ')} }} = in_{found[2]};"


def _put(page: str, place: str, text: str) -> str:
    if page.count(place) != 1:
        raise ValueError(f"index.html has `{place}` {page.count(place)} times, not once")
    return page.replace(place, text)
