"""A program called `claude` that stands in for the agent: it changes a file and says so as the agent would."""

import json
import sys
from pathlib import Path

from hosts.agents.recordings import RECORDINGS

_PROGRAM = """#!{python}
import os, pathlib, sys
if "--version" in sys.argv:
    print("2.1.0 (stand-in)")
    raise SystemExit
if sys.argv[1:] == ["auth", "status", "--json"]:
    signed_in = "ANTHROPIC_API_KEY" in os.environ or (pathlib.Path.home() / ".claude" / ".credentials.json").exists()
    print('{{"loggedIn": true}}' if signed_in else '{{"loggedIn": false}}')
    raise SystemExit(not signed_in)
said = sys.stdin.read()
lines = [line[2:] for line in said.splitlines() if line.startswith("- ")]
files = [line.split(" lines ")[0].split(" (")[0] for line in lines if " lines " in line or line.endswith(" tokens)")]
named = [word for word in said.split() if word.endswith("/") and not word.startswith("/")]
for name in files or [named[0] + "NOTES.md" if named else "NOTES.md"]:
    file = pathlib.Path(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text((file.read_text() if file.exists() else "") + "# changed by a stand-in\\n")
print(*{lines}, sep="\\n")
raise SystemExit({code})
"""


def put_claude(directory: Path) -> Path:
    """The directory to put on the PATH."""
    code, lines = RECORDINGS["claude", "ok"]
    directory.mkdir(parents=True, exist_ok=True)
    program = directory / "claude"
    text = _PROGRAM.format(python=sys.executable, lines=json.dumps(lines), code=code)
    program.write_text(text.replace(": null", ": null"))
    program.chmod(0o755)
    return directory
