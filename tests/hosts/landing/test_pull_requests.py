"""Work that is pushed and becomes a pull request, instead of landing here."""

from pathlib import Path

import pytest

from github_server import TOKEN, GithubServer
from hosts.landing.project import Project, sh
from manyhands.core.values.task import TaskState
from manyhands.errors import UsageError
from manyhands.hosts.landing.repository import check_before
from manyhands.sources.config.landing_config import LandingConfig


@pytest.fixture
def remote(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    (tmp_path / "octo").mkdir()
    project.git("init", "--quiet", "--bare", str(tmp_path / "octo" / "hello.git"))
    project.git("remote", "add", "origin", str(tmp_path / "octo" / "hello.git"))
    project.config(pull_request=True)
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    return project


async def test_a_branch_is_pushed_and_a_pull_request_is_opened(
    remote: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = GithubServer()
    monkeypatch.setenv("GITHUB_API_URL", server.url)
    before = remote.git("rev-parse", "main")
    try:
        run = await remote.run(sh("a", "echo new > new.txt", title="Add a file"))
    finally:
        server.close()
    record = run.records["a"]
    assert record.state is TaskState.DONE
    assert record.last_ending is not None
    assert f"pull request {server.url}/pull/101" in record.last_ending.detail
    (pull,) = server.pulls
    assert (pull["title"], pull["base"]) == ("a: Add a file", "main")
    bare = tmp_path / "octo" / "hello.git"
    assert remote.git("show", f"{pull['head']}:new.txt", at=bare) == "new"
    assert remote.git("rev-parse", "main") == before, "nothing lands here"
    assert remote.branches() == []


async def test_what_is_refused_stays_on_its_branch(remote: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    server = GithubServer()
    monkeypatch.setenv("GITHUB_API_URL", server.url)
    server.refusals = [(422, {}, {"message": "Validation Failed"})]
    try:
        run = await remote.run(sh("a", "echo new > new.txt", attempts=1))
    finally:
        server.close()
    ending = run.records["a"].last_ending
    assert run.records["a"].state is TaskState.FAILED
    assert ending is not None
    assert "no pull request was opened" in ending.detail
    assert "422 Validation Failed" in ending.detail
    assert len(remote.branches()) == 1


def test_what_could_not_be_opened_is_refused_before_anything_runs(
    remote: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    landing, tasks = LandingConfig(pull_request=True), [sh("a", "true")]
    check_before(remote.directory, landing, tasks)
    monkeypatch.delenv("GITHUB_TOKEN")
    monkeypatch.setenv("GITHUB_API_URL", "http://127.0.0.1:9")  # no `gh` has a token for it
    with pytest.raises(UsageError, match="needs a token in `GITHUB_TOKEN`"):
        check_before(remote.directory, landing, tasks)
    remote.git("remote", "remove", "origin")
    with pytest.raises(UsageError, match="needs a remote `origin`"):
        check_before(remote.directory, landing, tasks)
