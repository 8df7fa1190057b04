"""From what an agent prints to its ending: one table for all of them."""

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hosts.agents.playback import events_of, play, recorded
from hosts.agents.recordings import RECORDINGS, SESSION
from manyhands.core.values.ending import Ending, EndingKind, Overload
from manyhands.hosts.agents.adapter import Errand
from manyhands.hosts.agents.agent_events import AgentSession, Denied, Does, RefusalKind, Retrying, Returned, Says
from manyhands.hosts.agents.described_agent import KNOWN, described
from manyhands.hosts.agents.refusal_texts import refusal

#: 2027-01-15 08:00:00 UTC.
NOW = 1_800_000_000.0
OVER, FAILED = EndingKind.OVERLOADED, EndingKind.FAILED
#: mode → kind, and which of its marks are set.
EXPECTED: dict[str, tuple[EndingKind, set[str]]] = {
    "ok": (EndingKind.DONE, set()),
    "closed": (OVER, {"quota"}),
    "rate": (OVER, {"rate_limited"}),
    "busy": (OVER, set()),
    "drop": (OVER, set()),
    "auth": (OVER, {"needs_person"}),
    "billing": (OVER, {"quota", "needs_person"}),
    "permanent": (FAILED, {"permanent"}),
    "limit": (FAILED, {"permanent"}),
    "cut": (FAILED, set()),
}


def marks(ending: Ending) -> set[str]:
    return {name for name in ("quota", "rate_limited", "needs_person", "permanent") if getattr(ending, name)}


@pytest.mark.parametrize(("agent", "mode"), RECORDINGS, ids=" ".join)
def test_each_way_to_end_is_called_what_it_is(agent: str, mode: str) -> None:
    exit_code, lines = RECORDINGS[agent, mode]
    ending = play(agent, lines, exit_code, NOW)
    assert (ending.kind, marks(ending)) == EXPECTED[mode.split()[0]], ending
    if ending.kind is EndingKind.DONE and mode == "ok":
        expected = (1200, 7) if agent == "aider" else (120, 7)
        assert (ending.tokens_in, ending.tokens_out) == expected
        assert ending.cost == (0.25 if agent in ("claude", "opencode", "aider") else None)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("connect ECONNREFUSED 127.0.0.1:8000", RefusalKind.UNREACHABLE),
        ("Cannot connect to host localhost:8000", RefusalKind.UNREACHABLE),
        ("read ECONNRESET", RefusalKind.BUSY),
        ("503 connection refused by the pool", RefusalKind.BUSY),
    ],
)
def test_a_server_that_is_not_there_is_told_from_one_that_is_busy(text: str, kind: RefusalKind) -> None:
    assert refusal(text, NOW).kind is kind


def test_aider_says_that_nobody_answered() -> None:
    ending = play("aider", ["litellm.APIConnectionError: OpenAIException - Connection error."], 0, NOW)
    assert ending.overload is Overload.UNREACHABLE


@pytest.mark.parametrize("agent", ["claude", "codex", "opencode"])
def test_a_closed_account_says_until_when(agent: str) -> None:
    exit_code, lines = RECORDINGS[agent, "closed"]
    ending = play(agent, lines, exit_code, NOW)
    assert ending.retry_after_s == (3659.0 if agent == "codex" else 3600.0)  # in words it is a whole minute
    assert ending.detail.startswith("closed until 09:00 (")


def test_an_account_that_is_closed_for_days_says_the_day() -> None:
    exit_code, lines = RECORDINGS["codex", "closed for days"]
    ending = play("codex", lines, exit_code, NOW)
    assert ending.retry_after_s == 2 * 86_400.0 + 59
    assert ending.detail == "closed until Jan 17, 08:00 (usage limit)"


def test_what_an_agent_does_is_told_in_the_same_words() -> None:
    events = events_of("claude", RECORDINGS["claude", "ok"][1], 0, NOW)
    wrote = Does("Write", ("/w/a.py",), runs=True)
    assert events[:4] == [AgentSession(SESSION), wrote, Returned(), Says("All done.")]
    assert Does("write", ("/w/a.py",)) in events_of("opencode", RECORDINGS["opencode", "ok"][1], 0, NOW)
    assert Does("command", (), "cat notes", runs=True) in events_of("codex", RECORDINGS["codex", "ok"][1], 0, NOW)
    assert any(isinstance(event, Retrying) for event in events_of("codex", RECORDINGS["codex", "rate"][1], 1, NOW))
    assert play("gemini", RECORDINGS["gemini", "ok"][1], 0, NOW).result == "All done."


def test_tokens_are_known_while_it_runs_and_counted_once() -> None:
    usage = {"input_tokens": 40, "cache_read_input_tokens": 10, "output_tokens": 3}
    said = {"type": "assistant", "message": {"id": "m1", "content": [{"type": "text", "text": "Hm."}], "usage": usage}}
    answers = [said, said, said | {"message": said["message"] | {"id": "m2"}}]  # type: ignore[operator]
    lines = [json.dumps(answer) for answer in answers]
    assert (play("claude", lines, 1, NOW).tokens_in, play("claude", lines, 1, NOW).tokens_out) == (100, 6)
    closed = play("claude", [*lines, *RECORDINGS["claude", "ok"][1]], 0, NOW)
    assert (closed.tokens_in, closed.tokens_out) == (120, 7), "the closing event has the sum"


def test_gemini_says_on_its_standard_error_that_it_asks_again() -> None:
    reader = KNOWN["gemini"].reader()
    assert reader.hears_errors
    assert reader.warned("Attempt 2 failed: Resource has been exhausted") == [
        Retrying("Attempt 2 failed: Resource has been exhausted")
    ]
    assert reader.warned("Suggested retry after 2s.") == []


def test_the_reason_of_qwen_ends_where_its_advice_begins() -> None:
    ending = play("qwen", RECORDINGS["qwen", "billing"][1], 0, NOW)
    assert ending.detail == "the account cannot pay: 429 You exceeded your current quota"
    assert ending.retry_after_s is None


def test_too_many_tokens_in_a_minute_are_not_too_many_for_the_context() -> None:
    """Some services say it with the same words; the status tells the two apart."""
    busy = _result("API Error: Too many tokens, please wait before trying again.", 429)
    assert marks(play("claude", [busy], 1, NOW)) == {"rate_limited"}
    short = _result("API Error: Server is temporarily limiting requests (not your usage limit)", 429)
    assert marks(play("claude", [short], 1, NOW)) == {"rate_limited"}
    assert marks(play("claude", [_result("API Error: Too many tokens", 400)], 1, NOW)) == {"permanent"}


def _result(text: str, status: int) -> str:
    fields = {"type": "result", "subtype": "success", "is_error": True, "api_error_status": status, "result": text}
    return json.dumps(fields)


def test_a_good_closing_event_does_not_make_up_for_a_bad_exit() -> None:
    assert play("claude", RECORDINGS["claude", "ok"][1], 1, NOW).kind is FAILED


def test_a_refused_permission_is_told() -> None:
    lines = RECORDINGS["claude", "ok"][1]
    closing = json.loads(lines[-1]) | {"permission_denials": [{"tool_name": "Bash"}]}
    assert Denied("Bash") in events_of("claude", [*lines[:-1], json.dumps(closing)], 0, NOW)


@pytest.mark.parametrize("agent", KNOWN)
def test_prompts_are_on_no_command_line(agent: str) -> None:
    errand = Errand(prompt_file="/a/prompt.txt", model="m", session="s-1", args=("--extra",), turns=3)
    launch = KNOWN[agent].launch(errand)
    assert launch.by_stdin or "/a/prompt.txt" in launch.argv
    assert "m" in launch.argv
    assert "--extra" in launch.argv
    assert ("s-1" in launch.argv) is KNOWN[agent].resumes
    plain = KNOWN[agent].launch(Errand(prompt_file="/a/prompt.txt"))
    assert "" not in plain.argv


def test_a_described_agent_has_its_fields_filled_in() -> None:
    adapter = described(("my-agent", "--file", "{prompt_file}", "--model={model}"), "claude")
    launch = adapter.launch(Errand(prompt_file="/p", model="m{session}"))
    assert launch.argv == ("my-agent", "--file", "/p", "--model=m")
    assert not launch.by_stdin
    assert described(("other",), "exit").launch(Errand(prompt_file="/p")).by_stdin


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
ALL_LINES = [(agent, line) for (agent, _), (_, lines) in RECORDINGS.items() for line in lines]
ALL_LINES += [
    (agent, line)
    for agent, modes in recorded().items()
    if agent in KNOWN
    for recording in modes.values()
    for line in recording["lines"]
]


def _spoilt(event: Any, path: list[int], value: Any) -> Any:
    """The event with the value in some place of it."""
    if not path or not isinstance(event, dict | list) or not event:
        return value
    if isinstance(event, list):
        place = path[0] % len(event)
        return [_spoilt(one, path[1:], value) if n == place else one for n, one in enumerate(event)]
    name = list(event)[path[0] % len(event)]
    return event | {name: _spoilt(event[name], path[1:], value)}


@settings(deadline=None)
@given(
    st.sampled_from(ALL_LINES), st.lists(st.integers(0, 9), min_size=1, max_size=4), json_values, st.integers(-64, 255)
)
def test_an_event_with_anything_in_any_place_never_raises(
    said: tuple[str, str], path: list[int], value: Any, exit_code: int
) -> None:
    agent, line = said
    try:
        line = json.dumps(_spoilt(json.loads(line), path, value))
    except ValueError:
        line = line[: path[0]] + str(value)
    ending = play(agent, [line, line], exit_code, NOW)
    assert min(ending.tokens_in, ending.tokens_out) >= 0
    assert ending.cost is None or 0 <= ending.cost < math.inf


@settings(deadline=None)
@given(st.sampled_from(list(KNOWN)), st.lists(st.text(max_size=60) | json_values.map(json.dumps), max_size=5))
def test_no_line_ever_raises_and_none_makes_done_without_an_answer(agent: str, lines: list[str]) -> None:
    ending = play(agent, lines, 0, NOW)
    assert ending.kind is not EndingKind.DONE
