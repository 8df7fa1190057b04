"""How to add an extra, or upgrade, in the way in which this manyhands was installed: uv tool, pipx or pip."""

import sys
from pathlib import Path
from typing import NamedTuple


class Installation(NamedTuple):
    tool: str  # "uv tool", "pipx" or "pip"
    source: str = "manyhands"  # its name, or the directory of a checkout
    is_editable: bool = False

    def command(self, extra: str = "", upgrade: bool = False) -> str:
        import shlex

        wanted = shlex.quote(f"{self.source}[{extra}]" if extra else self.source)
        editable = "--editable " if self.is_editable else ""
        # Of a program that is there already, pipx changes nothing unless it is forced.
        again = {"pipx": "--force ", "pip": "--upgrade " if upgrade else ""}.get(self.tool, "--upgrade " * upgrade)
        return f"{self.tool} install {again}{editable}{wanted}"


def find_installation(prefix: Path) -> Installation:
    """The tools leave a file of their own in the environment that they make."""
    # Here: only hints need these, and they take longer to load than most commands take.
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import unquote, urlsplit

    tool = "pip"
    if (prefix / "uv-receipt.toml").exists():
        tool = "uv tool"
    elif (prefix / "pipx_metadata.json").exists():
        tool = "pipx"
    try:
        told = json.loads(distribution("manyhands").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError, OSError):
        told = {}
    place = urlsplit(str(told.get("url", "")))
    if place.scheme != "file" or "dir_info" not in told:
        return Installation(tool)
    return Installation(tool, unquote(place.path), bool(told["dir_info"].get("editable")))


def install_hint(extra: str) -> str:
    """The command that adds an extra here."""
    return find_installation(Path(sys.prefix)).command(extra)


def upgrade_hint() -> str:
    """The command that upgrades manyhands here."""
    return find_installation(Path(sys.prefix)).command(upgrade=True)
