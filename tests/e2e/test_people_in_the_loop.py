"""Twelve agents whose work a person approves, sends back, rejects and answers, while the dispatcher is killed.

Nothing is lost, nothing lands unapproved or twice, and nothing is asked twice. Kills are placed by the journal.
"""

import json
import os
import random
import signal
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from hosts.landing.conftest import project
from hosts.landing.project import ENV, Project
from journal_kills import LOOK_EVERY_S, PATIENCE_S, last_event
from manyhands.core import events as ev
from manyhands.core.state import Run
from manyhands.core.values.question import QuestionKind, Verdict
from manyhands.core.values.task import TERMINAL
from manyhands.engine.store.store_opening import open_reader
from manyhands.sources.config.config_reading import load_config
from manyhands.surfaces.verbs.approval_verbs import say_to_task
from manyhands.surfaces.verbs.request_verbs import ask
from manyhands.surfaces.verbs.store_view import View
from surfaces.cli.console import Console, Live

__all__ = ["project"]

SOAK = bool(os.environ.get("MANYHANDS_SOAK"))
SEED = int(os.environ.get("MANYHANDS_SEED", "1"))
KILLS, EVENTS_OF_A_LIFE = (20, 9) if SOAK else (3, 25)
STAND_IN = Path(__file__).with_name("stand_in_agent.py")

APPROVED = [f"approved-{n}" for n in range(4)]
SENT_BACK = [f"back-{n}" for n in range(2)]
FREE = [f"free-{n}" for n in range(4)]
CAREFUL = [*APPROVED, *SENT_BACK, "rejected", "asks"]
QUESTION = "which colour?"


class Person:
    """Looks at what waits, and says one thing to each. What is acknowledged once must never be asked for again."""

    def __init__(self, project: Project) -> None:
        self._config = load_config(project.directory, environ={})
        self._store = project.store
        self.said: dict[tuple[str, str], str] = {}

    def look(self) -> Run | None:
        if not last_event(self._store):
            return None  # it is being made
        view = View(self._config)
        run = view.book.runs.get("plan-1")
        for record in [] if run is None else run.records.values():
            if record.question is None:
                continue
            id, question = record.task.id, record.question
            about = (id, question.commit if question.kind is QuestionKind.APPROVAL else question.text)
            assert about not in self.said, f"it was told `{self.said[about]}`, and asks again"
            verb, words = self._saying(id, question.kind)
            ask(View(self._config), say_to_task(view, verb, id, "plan-1", words, "Ann"))
            self.said[about] = verb
        return run

    def _saying(self, task: str, kind: QuestionKind) -> tuple[str, str]:
        if kind is QuestionKind.QUESTION:
            return "answer", "blue"
        if task == "rejected":
            return "reject", "not wanted"
        is_new = task in SENT_BACK and (task, "send-back") not in [(id, verb) for (id, _), verb in self.said.items()]
        return ("send-back", "more of it") if is_new else ("approve", "")


def prepare(project: Project) -> Console:
    console = Console(project.directory)
    console.env |= ENV
    run = json.dumps([sys.executable, str(STAND_IN)])
    console.config(
        f'[hosts.claude]\ntype = "agent"\nwidth = 4\nagent = {{ name = "claude", run = {run} }}\n'
        f'env = {{ HOME = "{console.directory / "home"}" }}\n[landing]\napprove_kinds = ["careful"]\n'
    )
    tasks = []
    for id in [*CAREFUL, *FREE]:
        prompt = f"ask: {QUESTION}" if id == "asks" else f"make {id}"
        fields = {"id": id, "kind": "careful" if id in CAREFUL else "code", "prompt": prompt}
        fields |= {"workspace": "worktree", "check": ["test", "-s", "{id}.txt"]}
        tasks.append({**fields, "claims": {"write": [f"{id}.txt"]}})
    console.plan(tasks)
    return console


def journal(project: Project) -> list[ev.AnyEvent]:
    with closing(open_reader(project.store)) as reader:
        return [event for _, event in reader.read()]


def assert_nothing_landed_unapproved(project: Project) -> None:
    landed = project.landed()  # first: the approval was on disk before
    judged = [event for event in journal(project) if isinstance(event, ev.WorkJudged)]
    assert len(landed) == len(set(landed)), "something landed twice"
    assert set(landed) & set(CAREFUL) <= {event.task for event in judged if event.verdict is Verdict.APPROVED}
    assert "rejected" not in landed


def live_until(live: Live, project: Project, person: Person, number: int | None) -> bool:
    """Let it run, with the person at work. True: the journal has that event; False: the run rests or has ended."""
    deadline = time.monotonic() + PATIENCE_S
    while live.process.poll() is None:
        if number is not None and last_event(project.store) >= number:
            return True
        person.look()
        assert time.monotonic() < deadline, live.err
        time.sleep(LOOK_EVERY_S)
    return False


@pytest.mark.slow
@pytest.mark.campaign("people who decide, while the dispatcher is killed", KILLS, "kills")
def test_a_person_decides_about_twelve_agents_while_the_dispatcher_is_killed(project: Project) -> None:
    rng = random.Random(SEED)
    console = prepare(project)
    person = Person(project)
    kills, run = 0, None
    while run is None or any(record.state not in TERMINAL for record in run.records.values()):
        live = console.start("run", "plan.jsonl")
        number = last_event(project.store) + rng.randrange(1, EVENTS_OF_A_LIFE) if kills < KILLS else None
        if live_until(live, project, person, number):
            live.process.send_signal(signal.SIGKILL)
            kills += 1
        live.process.wait()
        assert_nothing_landed_unapproved(project)
        run = person.look()
    assert kills == KILLS

    assert {id for id, record in run.records.items() if record.state != "done"} == {"rejected"}
    assert sorted(project.landed()) == sorted({*CAREFUL, *FREE} - {"rejected"})
    for id in SENT_BACK:
        began, continued = project.read(f"{id}.txt").splitlines()
        assert began.startswith(f"session-of-{id} began: make {id} ")
        assert continued.startswith(f"session-of-{id} resumed: ")
        assert continued.endswith("sends it back: more of it")
    half, rest = project.read("asks.txt").splitlines()
    assert half == "half"
    assert rest == f"session-of-asks resumed: You asked: {QUESTION} A person answered: blue"
    told = [event for event in journal(project) if isinstance(event, ev.AttemptEnded) and event.ending.asks]
    asked = [event.ending.asks.commit or event.ending.asks.text for event in told if event.ending.asks]
    assert len(asked) == len(set(asked)) == len(person.said), "something was asked twice"
    verbs = sorted(person.said.values())
    assert verbs == sorted(["answer", "reject", *["send-back"] * 2, *["approve"] * 7])
    assert project.worktrees() == []
    assert project.changes() == ""
