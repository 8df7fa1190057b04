"""GitHub issues as a backlog, against a server that keeps to the documentation of GitHub's API."""

from collections.abc import Iterator

import pytest

from github_server import TOKEN, GithubServer
from manyhands.errors import HostUnreachable, ManyhandsError, Unavailable
from manyhands.sources.beads.issue_changes import Block, Claim, Close, ReleaseIssue
from manyhands.sources.trackers.github_api import GithubApi
from manyhands.sources.trackers.github_tracker import GithubTracker, fenced


@pytest.fixture
def server() -> Iterator[GithubServer]:
    started = GithubServer()
    yield started
    started.close()


class Now:
    at = 1_800_000_000.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def now() -> Now:
    return Now()


@pytest.fixture
def tracker(server: GithubServer, now: Now) -> Iterator[GithubTracker]:
    api = GithubApi(server.repository, TOKEN, server.url, now)
    found = GithubTracker(api, server.repository, "agent", server.url)
    found.begin("me")
    yield found
    api.close()


def test_every_page_is_read_and_what_is_unchanged_is_not_sent_again(
    server: GithubServer, tracker: GithubTracker
) -> None:
    for number in range(1, 251):
        server.add(number)
    assert len(tracker.load().issues) == 250
    assert [status for *_, status in server.asked] == [200, 200, 200]
    server.asked.clear()
    server.issues[150]["title"] = "Changed"
    assert tracker.load().issues["issue-150"].title == "Changed"
    assert [status for *_, status in server.asked] == [304, 200, 304]


def test_an_issue_says_what_its_task_is_by_title_body_and_labels(server: GithubServer, tracker: GithubTracker) -> None:
    server.add(1, "Fix the parser", "It fails on `a: b`.", ("agent", "bug", "P1"))
    server.add(2, body=None)
    server.add(3, labels=("bug",))
    server.add(4, labels=("agent", "agent:failed"))
    server.add(5)
    server.issues[5]["pull_request"] = {"url": "…"}
    server.add(6)
    server.issues[6]["title"] = None  # what no server should send
    beads = tracker.load()
    assert {id: issue.status for id, issue in beads.issues.items()} == {
        "issue-1": "open",
        "issue-2": "open",
        "issue-4": "blocked",
    }
    first = beads.issues["issue-1"]
    assert (first.title, first.description, first.priority) == ("Fix the parser", "It fails on `a: b`.", 1)
    assert first.labels == ("agent", "bug", "P1")
    assert ["issue 6 cannot be read" in problem.message for problem in beads.problems] == [True]


def test_an_issue_is_claimed_commented_and_closed_once(server: GithubServer, tracker: GithubTracker) -> None:
    server.add(1)
    assert tracker.apply([Claim("issue-1", "me")])[0].holds
    assert server.labels(1) == ["agent", "agent:working"]
    close = Close("issue-1", "me", "all @octocat ```tests``` pass")
    tracker._comment("1", "Done", close.summary, "me")  # and then the dispatcher died
    assert tracker.apply([close])[0].holds
    assert (server.issues[1]["state"], server.issues[1]["state_reason"]) == ("closed", "completed")
    assert server.labels(1) == ["agent"]
    (comment,) = server.comments[1]
    assert comment["body"].startswith("**Done** by manyhands.\n\n````\nall @octocat ```tests``` pass\n````")
    assert not tracker.apply([Claim("issue-1", "me")])[0].holds


def test_a_failure_is_told_and_may_be_taken_back(server: GithubServer, tracker: GithubTracker) -> None:
    server.add(1)
    tracker.apply([Claim("issue-1", "me"), Block("issue-1", "me", "exit code 3")])
    assert server.labels(1) == ["agent", "agent:failed"]
    assert "exit code 3" in server.comments[1][0]["body"]
    assert tracker.apply([ReleaseIssue("issue-1", "me")])[0].holds
    assert server.labels(1) == ["agent"]


def test_one_issue_that_cannot_be_changed_does_not_hinder_the_others(
    server: GithubServer, tracker: GithubTracker
) -> None:
    server.add(2)
    gone, changed = tracker.apply([Claim("issue-1", "me"), Claim("issue-2", "me")])
    assert (gone.holds, changed.holds) == (False, True)
    assert "404 Not Found" in gone.why


@pytest.mark.parametrize(
    ("status", "headers", "message", "wait_s"),
    [
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1800000120"}, "API rate limit exceeded", 120),
        (429, {"retry-after": "7"}, "Too many", 7),
        (403, {"retry-after": "30"}, "You have exceeded a secondary rate limit", 30),
        (403, {}, "You have exceeded a secondary rate limit. Please wait.", 60),
    ],
)
def test_a_limit_is_kept_without_asking_again(
    server: GithubServer,
    tracker: GithubTracker,
    now: Now,
    status: int,
    headers: dict[str, str],
    message: str,
    wait_s: float,
) -> None:
    server.add(1)
    date = {"date": "Fri, 15 Jan 2027 08:00:00 GMT"}  # which is `now`
    server.refusals = [(status, headers | date, {"message": message})]
    with pytest.raises(Unavailable, match="too many requests") as refused:
        tracker.load()
    assert refused.value.hint == f"it is asked again in {wait_s} s"
    now.at += wait_s - 0.5
    with pytest.raises(Unavailable):
        tracker.load()
    assert len(server.asked) == 1
    now.at += 1
    assert list(tracker.load().issues) == ["issue-1"]


@pytest.mark.parametrize(
    ("answer", "kind", "says"),
    [
        ((401, {}, {"message": "Bad credentials"}), Unavailable, "the token is not accepted"),
        ((502, {}, {}), HostUnreachable, "502"),
        ((301, {"location": "http://127.0.0.1:1/"}, {}), Unavailable, "the repository has moved"),
        ((200, {}, {"not": "a list"}), Unavailable, "something else than a list"),
    ],
)
def test_what_goes_wrong_is_named_without_the_token(
    server: GithubServer, tracker: GithubTracker, answer: tuple[int, dict[str, str], object], kind: type, says: str
) -> None:
    server.refusals = [answer]
    with pytest.raises(kind) as error:
        tracker.load()
    assert isinstance(error.value, ManyhandsError)
    assert says in error.value.message
    assert TOKEN not in f"{error.value.message}{error.value.hint}"
    assert len(server.asked) == 1


def test_a_server_that_is_gone_can_be_waited_for(tracker: GithubTracker, server: GithubServer) -> None:
    server.close()
    with pytest.raises(HostUnreachable, match="cannot be reached"):
        tracker.load()


def test_text_of_agents_stays_text() -> None:
    assert fenced("a ```` b") == "`````\na ```` b\n`````"
