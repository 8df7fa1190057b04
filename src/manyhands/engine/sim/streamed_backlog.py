"""A backlog too long to hold in memory. Blocks are drawn when there is room for them, and dropped when they end."""

from collections.abc import Iterable
from random import Random

from manyhands.core.book import Book
from manyhands.core.commands import StartAttempt
from manyhands.core.events import Input, RunOpened, RunPutAway, TasksSubmitted
from manyhands.core.values.provenance import Origin, Purpose
from manyhands.core.values.task import TaskState
from manyhands.engine.sim.hosts.simulated_host import Job
from manyhands.engine.sim.scenario import Scenario, ScenarioStage, a_task, check_kinds, first_of

#: How many tasks wait beyond those that have room, as a share of the slots. More would be spread over more runs.
RESERVE = 0.1


class StreamedBacklog:
    """Every block is a run. When all of it has ended it is dropped, so memory holds only what is under way."""

    def __init__(self, scenario: Scenario, stage: ScenarioStage, slots: int) -> None:
        (self._backlog,) = scenario.backlog
        self._scenario = scenario
        self._stage = stage
        self._slots = slots
        self._random = Random(scenario.seed)
        self._mix = stage.models[first_of(scenario, self._backlog.like)]
        self._jobs: dict[str, dict[str, Job]] = {}  # by run and task
        self.submitted = 0
        self.waiting = 0
        self.done = 0  # of the blocks that were dropped

    @property
    def tasks(self) -> int:
        return self._backlog.tasks

    def arrive(self, book: Book, at: float, settled: list[str]) -> Iterable[Input]:
        """Drops finished blocks and returns the blocks that are needed now."""
        events: list[Input] = []
        for run in settled:
            self.done += book.runs[run].counts[TaskState.DONE]
            del self._jobs[run]
            events.append(RunPutAway(at, run))
        settled.clear()
        self.waiting = sum(run.counts[TaskState.READY] for run in book.runs.values())
        wanted = self._slots - len(book.running) + RESERVE * self._slots
        while self.waiting < wanted and self.submitted < self.tasks:
            events += self._next_block(at)
        return events

    def job_for(self, order: StartAttempt) -> Job:
        return self._jobs[order.run][order.task.id]

    def _next_block(self, at: float) -> list[Input]:
        run = f"block-{self.submitted // self._backlog.block + 1}"
        last = min(self.tasks, self.submitted + self._backlog.block)
        draw, random = self._mix.draw, self._random
        jobs = {f"t{number}": draw(random) for number in range(self.submitted + 1, last + 1)}
        check_kinds({job.kind for job in jobs.values()}, self._stage.hosts)
        self._jobs[run] = jobs
        self.waiting += len(jobs)
        self.submitted = last
        tasks = tuple(a_task(id, job) for id, job in jobs.items())
        opened = RunOpened(at, run, self._scenario.seed, purpose=Purpose.SIMULATION)
        return [opened, TasksSubmitted(at, run, tasks, Origin.PLAN)]
