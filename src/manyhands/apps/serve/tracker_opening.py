"""Opens the issues on GitHub and the Markdown files that `[[backlogs]]` names."""

from collections.abc import Mapping
from pathlib import Path

from manyhands.sources.config.config_types import BacklogConfig
from manyhands.sources.config.github_config import GithubConfig
from manyhands.sources.trackers.github_api import GithubApi
from manyhands.sources.trackers.github_token import github_token
from manyhands.sources.trackers.github_tracker import GithubTracker
from manyhands.sources.trackers.issue_tracker import IssueTracker
from manyhands.sources.trackers.markdown_tracker import MarkdownTracker


def open_tracker(row: BacklogConfig, workspace: Path, environ: Mapping[str, str]) -> IssueTracker:
    if row.github is None:
        return MarkdownTracker(workspace / row.markdown)
    github = row.github
    return GithubTracker(open_github(github, environ), github.repository, github.label, github.url)


def open_github(github: GithubConfig, environ: Mapping[str, str]) -> GithubApi:
    token = github_token(github.token_env, github.url, f"the issues of {github.repository} need", environ)
    return GithubApi(github.repository, token, github.url)
