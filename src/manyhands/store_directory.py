"""The directory of a store, which manyhands makes and keeps out of git.

It holds the journal, a token and what attempts printed. An agent that types `git add -A` must take none of it.
"""

from pathlib import Path

_IGNORE_ALL = "# manyhands made this directory: nothing in it belongs in a commit.\n*\n"


def make_store_directory(directory: Path) -> bool:
    """Whether it had to be made. A directory that was there before is left as it is: it may be more than a store."""
    if directory.is_dir():
        return False
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)  # for its owner alone
    (directory / ".gitignore").write_text(_IGNORE_ALL)
    return True
