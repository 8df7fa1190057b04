"""Where the token for GitHub comes from: a variable, or `gh`, here a program that stands in for it."""

from pathlib import Path

import pytest

from manyhands.errors import UsageError
from manyhands.sources.config.github_config import GITHUB_URL
from manyhands.sources.trackers.github_token import github_token

#: It knows a token for github.com alone, and refuses to be called in another way.
GH = """#!/bin/sh
[ "$*" = "auth token --hostname github.com" ] || { echo "no oauth token found" >&2; exit 1; }
echo gho_stand_in
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    gh = tmp_path / "gh"
    gh.write_text(GH)
    gh.chmod(0o755)
    return f"{tmp_path}:/usr/bin:/bin"


def test_the_variable_goes_before_gh(path: str) -> None:
    assert github_token("MINE", GITHUB_URL, "it needs", {"PATH": path, "MINE": " abc\n"}) == "abc"


def test_gh_is_asked_if_the_variable_is_not_set(path: str) -> None:
    assert github_token("MINE", GITHUB_URL, "it needs", {"PATH": path}) == "gho_stand_in"


def test_a_token_of_one_server_is_not_sent_to_another(path: str) -> None:
    with pytest.raises(UsageError, match="it needs a token in `MINE`, which is not set"):
        github_token("MINE", "https://ghe.example.org/api/v3", "it needs", {"PATH": path})


def test_without_gh_the_next_steps_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        github_token("MINE", GITHUB_URL, "it needs", {"PATH": str(tmp_path)})
    assert "`gh auth login`, or `export MINE=…`" in str(refused.value.hint)
