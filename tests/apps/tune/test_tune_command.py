"""`manyhands tune` on real hosts: commands that get in each other's way, and a server that refuses beyond a bound."""

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator
from typing import Any

import pytest

from hosts.executors.model_server import ModelServer, Reply, says
from surfaces.cli.console import Console, Done, argv, sh, shell_host

#: Like processes that run short of memory: with more than four at once everything takes three times as long.
NAP = """\
mkdir -p in; : > in/$$
if [ $(ls in | wc -l) -gt 4 ]; then sleep 0.75; else sleep 0.25; fi
rm in/$$
"""


def test_where_more_than_four_at_once_are_too_many_it_picks_about_four_and_writes_it(console: Console) -> None:
    config = f'# mine\n[hosts.local]\ntype = "shell" # here\nkinds = ["shell"]\n\n{shell_host(1, "other")}'
    console.config(config)
    console.plan([sh("nap", NAP), {"id": "not-here", "kind": "x", "run": ["false"]}])
    done = console.run("tune", "local", "plan.jsonl", "--write", "--output", "json")
    assert done.code == 0, done.err
    found = done.json
    assert 3 <= found["width"] <= 5, found
    assert found["low"] <= found["width"] <= found["high"]
    widths = [step["width"] for step in found["steps"]]
    assert {1, 2, 4} <= set(widths)
    assert max(widths) <= 16
    for step in found["steps"]:
        assert step["peak"] == step["width"]
        assert step["attempts"] >= max(8, 3 * step["width"])
        assert (step["failed"], step["overloads"]) == (0, 0)
    expected = found["expected"]
    assert (expected["tasks"], expected["best_width"] >= 1) == (1, True)
    assert 0.2 <= expected["best_fixed_s"] <= expected["cold_s"] < 5
    assert "must be harmless to repeat" in done.err
    width = f'type = "shell" # here\nwidth = {found["width"]}\n'
    assert (console.directory / "manyhands.toml").read_text() == config.replace('type = "shell" # here\n', width)
    assert not console.store.exists()


class Bounded(ModelServer):
    """Refuses whatever would make it hold more than `bound` at once."""

    bound = 5

    def _reply_to(self, body: dict[str, Any]) -> Reply:
        if self.now > self.bound:
            return Reply({"error": {"message": "no room"}}, status=503)
        return says("fine", after_s=0.3)  # far longer than a call costs a busy machine


@pytest.fixture
async def bounded() -> AsyncIterator[Bounded]:
    server = Bounded()
    await server.start()
    yield server
    await server.stop()


async def tune(console: Console, *arguments: str) -> Done:
    ran = await asyncio.to_thread(
        subprocess.run,
        argv(["tune", *arguments]),
        cwd=console.directory,
        env=console.env,
        capture_output=True,
        timeout=60,
    )
    return Done(ran.returncode, ran.stdout.decode(), ran.stderr.decode())


async def test_a_server_that_refuses_beyond_a_bound_ends_it_there_and_the_pick_stays_below(
    console: Console, bounded: Bounded
) -> None:
    console.config(f'[hosts.model]\ntype = "openai"\nurl = "{bounded.url}"\nmodel = "m"\n')
    console.plan([{"id": "ask", "prompt": "hello"}])
    done = await tune(console, "model", "plan.jsonl", "--output", "json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert 3 <= found["width"] <= 5
    assert "overloaded at 8" in found["why"]
    steps = {step["width"]: step for step in found["steps"]}
    assert max(steps) == 8
    assert steps[8]["overloads"] > 0
    assert steps[4]["overloads"] == 0
    assert steps[4]["tokens_per_s"] == pytest.approx(11 * steps[4]["goodput_per_s"])


def test_a_task_that_fails_by_itself_measures_nothing(console: Console) -> None:
    console.config(shell_host(1))
    console.plan([{"id": "bad", "run": ["sh", "-c", "exit 3"]}])
    done = console.run("tune", "local", "plan.jsonl")
    assert (done.code, done.out) == (1, "")
    assert "error: probe task `bad` ended as failed on host `local`" in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("gpu", "plan.jsonl"), "error: there is no host `gpu`\nhint: the hosts are local"),
        (("local", "prompts.jsonl"), "error: host `local` cannot take any task of prompts.jsonl"),
        (("local", "greedy.jsonl"), "declare no claims, so each of them needs the workspace for itself"),
    ],
)
def test_what_cannot_be_measured_is_said_before_anything_runs(
    console: Console, arguments: tuple[str, ...], said: str
) -> None:
    console.config(shell_host(1))
    console.plan([{"id": "a", "run": ["touch", "ran"]}])
    console.plan([{"id": "a", "prompt": "hello"}], "prompts.jsonl")
    console.plan([{"id": "a", "run": ["touch", "ran"], "claims": None}], "greedy.jsonl")
    done = console.run("tune", *arguments)
    assert done.code == 2
    assert said in done.err
    assert not (console.directory / "ran").exists()


def test_write_without_a_file_is_refused_before_anything_runs(console: Console) -> None:
    console.plan([{"id": "a", "run": ["touch", "ran"]}])
    done = console.run("tune", "local", "plan.jsonl", "--write")
    assert done.code == 2
    assert "there is no manyhands.toml to write a width to" in done.err
    assert not (console.directory / "ran").exists()


def test_ctrl_c_ends_it_with_what_is_known(console: Console) -> None:
    console.config(shell_host(1))
    console.plan([{"id": "nap", "run": ["sleep", "0.1"]}])
    live = console.start("tune", "local", "plan.jsonl", "--output", "json")
    live.wait_for("width 2:")
    live.interrupt()
    done = live.end()
    assert done.code == 75, done.err
    assert done.json["stopped"] is True
    assert {step["width"] for step in done.json["steps"]} >= {1, 2}
    assert done.json["width"] is not None
