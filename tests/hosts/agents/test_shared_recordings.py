"""No recorded refusal of a real program is ever taken for success, and each is called what it is."""

import datetime
import json
from pathlib import Path

import pytest

from hosts.agents.playback import play
from manyhands.core.values.ending import Ending, EndingKind

SHARED = Path(__file__).parents[4] / "shared" / "data" / "agents"
if not SHARED.is_dir():
    SHARED = Path("/work/shared/data/agents")
CELLS = sorted(path.parent.name for path in SHARED.glob("*/result.json")) if SHARED.is_dir() else []
NOW = datetime.datetime(2026, 11, 16, 13, 57, 20, tzinfo=datetime.UTC).timestamp()

pytestmark = pytest.mark.skipif(not CELLS, reason="the shared recordings of real agents are not here")


def ending_of(cell: str) -> tuple[Ending, dict[str, object]]:
    result = json.loads((SHARED / cell / "result.json").read_text())
    agent = cell.partition(".")[0].replace("claudesub", "claude")
    stdout = SHARED / cell / "stdout"
    lines = stdout.read_text(errors="replace").splitlines() if stdout.exists() else []
    return play(agent, lines, result["rc"], NOW), result


@pytest.mark.parametrize("cell", CELLS)
def test_done_means_that_the_task_was_done(cell: str) -> None:
    ending, result = ending_of(cell)
    mode = cell.partition(".")[2]
    if ending.kind is EndingKind.DONE:
        assert result["rc"] == 0
        assert result["wrote"] == "hello there"
    elif mode in ("ok", "rate@2", "overload@1") or "warm" in mode:
        assert result["wrote"] is None or result["rc"] != 0, ending


@pytest.mark.parametrize("cell", [cell for cell in CELLS if ending_of(cell)[1]["ended"] is None])
def test_each_refusal_is_called_what_it_is(cell: str) -> None:
    ending, _ = ending_of(cell)
    agent, _, mode = cell.partition(".")
    said = (ending.kind, ending.rate_limited, ending.quota, ending.needs_person, ending.permanent)
    over = EndingKind.OVERLOADED
    match mode:
        case "rate":
            assert said == (over, True, False, False, False), ending.detail
        case "overload" | "error":
            assert said == (over, False, False, False, False), ending.detail
        case "drop":
            expected = EndingKind.DONE if agent == "claude" else over
            assert ending.kind is expected, ending.detail
        case "auth":
            assert said == (over, False, False, True, False), ending.detail
        case "context":
            assert said == (EndingKind.FAILED, False, False, False, True), ending.detail
        case "quota":
            assert said == (over, False, True, True, False), ending.detail
        case "usage" if agent == "claude":  # with a key there is no reset, and nothing tells it from a plain 429
            assert said == (over, True, False, False, False), ending.detail
        case "usage":
            assert said == (over, False, True, False, False), ending.detail
            if agent != "gemini":
                assert ending.retry_after_s is not None
                assert 3500 < ending.retry_after_s < 3700
                assert ending.detail.startswith("closed until 14:57 (")
        case _ if ".SIG" in cell:
            assert ending.kind is EndingKind.FAILED


def test_usage_and_cost_are_those_of_the_program() -> None:
    seen = {cell: ending_of(cell)[0] for cell in CELLS if cell.endswith(".ok")}
    assert {cell: (e.tokens_in, e.tokens_out) for cell, e in seen.items()} == {
        "aider.ok": (725, 10),
        "claude.ok": (2400, 68),
        "claudesub.ok": (2400, 68),
        "codex.ok": (2400, 68),
        "gemini.ok": (2400, 68),
        "opencode.ok": (2400, 68),
        "qwen.ok": (2400, 68),
    }
    assert seen["claude.ok"].cost == 0.0119
    assert all(ending.session for cell, ending in seen.items() if cell != "aider.ok")
    assert seen["gemini.ok"].result == "I have done what you asked."
