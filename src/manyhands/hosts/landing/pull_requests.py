"""Work that people merge on GitHub: its branch is pushed, and a pull request is opened. Nothing lands here."""

import re
from collections.abc import Mapping
from functools import lru_cache

from manyhands.errors import UsageError
from manyhands.hosts.landing.git import Git
from manyhands.sources.config.github_config import GITHUB_URL
from manyhands.sources.trackers.github_api import GithubApi, RequestRefused
from manyhands.sources.trackers.github_token import github_token

REMOTE = "origin"
TOKEN = "GITHUB_TOKEN"
#: `git@github.com:OWNER/REPO.git`, `https://github.com/OWNER/REPO`.
_REPOSITORY = re.compile(r"[/:]([\w.-]+/[\w.-]+?)(?:\.git)?/?$")


def check_pull_requests(git: Git, environ: Mapping[str, str]) -> None:
    """Refuse before anything runs what could not be pushed or opened afterwards."""
    _repository(git, environ)
    _token(environ)


def propose(git: Git, commit: str, branch: str, target: str, message: str, environ: Mapping[str, str]) -> str:
    """Push the commit as this branch and open a pull request. Returns its address. Git uses the person's own rights."""
    repository, token = _repository(git, environ), _token(environ)
    git("push", "--quiet", REMOTE, f"{commit}:refs/heads/{branch}")
    title, _, text = message.strip().partition("\n")
    api = _api(repository, token, _url(environ))
    asked = {"title": title, "body": text.strip(), "head": branch, "base": target}
    try:
        opened = api.send("POST", "/pulls", asked)
    except RequestRefused as refused:
        raise UsageError(
            f"`{branch}` is pushed, but no pull request was opened: {refused}",
            f"the token in {TOKEN} must be able to write pull requests of {repository}",
        ) from None
    return str(opened.get("html_url") or f"{repository}#{opened.get('number', '?')}")


@lru_cache(maxsize=8)
def _api(repository: str, token: str, url: str) -> GithubApi:
    return GithubApi(repository, token, url)


def _repository(git: Git, environ: Mapping[str, str]) -> str:
    if environ.get("GITHUB_REPOSITORY"):
        return environ["GITHUB_REPOSITORY"]
    url = git.ask("remote", "get-url", REMOTE)
    if url is None:
        raise UsageError(
            f"`[landing] pull_request` needs a remote `{REMOTE}`, and this repository has none",
            f"`git remote add {REMOTE} git@github.com:OWNER/REPO.git`",
        )
    found = _REPOSITORY.search(url)
    if found is None:
        raise UsageError(
            f"`{REMOTE}` names no repository of GitHub that can be told by its address",
            "set the variable GITHUB_REPOSITORY to OWNER/REPO",
        )
    return found[1]


def _token(environ: Mapping[str, str]) -> str:
    return github_token(TOKEN, _url(environ), "`[landing] pull_request` needs", environ)


def _url(environ: Mapping[str, str]) -> str:
    return environ.get("GITHUB_API_URL") or GITHUB_URL
