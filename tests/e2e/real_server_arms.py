"""The same backlog of model calls at fixed widths and under the clutch, through the dispatcher, on one real server."""

import statistics
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import ClassVar, NamedTuple

from llama_server import LlamaServer
from manyhands.assembly import open_session
from manyhands.core.values.host import Width
from manyhands.core.values.task import Task, TaskState
from manyhands.engine.run_opening import new_name, opening
from manyhands.sources.config.config_types import Config, OpenaiHost, StoreConfig
from manyhands.sources.config.probe_config import ProbeConfig

TOKENS = 12
DRAWS = 1000


class Ran(NamedTuple):
    goodput_per_s: float
    started_at_width: int
    ended_at_width: int
    why: str


async def run_backlog(server: LlamaServer, store: Path, tasks: int, width: int | None) -> Ran:
    """`width` None: the clutch's to find, from what this store remembers."""
    host = OpenaiHost(
        name="llama",
        url=server.url,
        model=server.model,
        probe=ProbeConfig("llamacpp"),
        width=Width() if width is None else Width(width, width, width),
    )
    config = Config(store.parent, None, (host,), (), StoreConfig(dir=str(store), durability="crash"), ())
    request = {"max_tokens": TOKENS, "temperature": 0.0, "ignore_eos": True, "cache_prompt": False}
    backlog = [Task(f"t{n}", kind="text", prompt=f"tell me of {n}", args=request) for n in range(tasks)]
    async with open_session(config) as dispatcher:
        book = dispatcher.book
        began_at_width = book.hosts["llama"].width
        run = new_name(book, "calls")
        await dispatcher.submit(*opening(run, dispatcher.clock.now(), backlog))
        await dispatcher.wait_settled(run)
        records = book.runs[run].records.values()
        assert book.runs[run].counts[TaskState.DONE] == tasks, [record.last_ending for record in records][:3]
        tried = [each for record in records for each in record.history or ()]
        lasted_s = max(each.ended_at or 0.0 for each in tried) - min(each.started_at for each in tried)
        state = book.hosts["llama"]
        return Ran(tasks / lasted_s, began_at_width, state.width, state.limit.reason)


class Arms:
    """Every arm once a round, in turned order, so that whatever else the machine does falls on all of them alike."""

    FIXED: ClassVar[dict[str, int]] = {"1": 1, "2": 2, "4": 4, "8": 8}
    NAMES = ("1", "2", "4", "8", "cold", "warm")

    def __init__(self, server: LlamaServer, directory: Path, tasks: int) -> None:
        self._server = server
        self._directory = directory
        self._tasks = tasks
        self.rounds: list[dict[str, Ran]] = []

    async def learn(self, tasks: int) -> None:
        """What the warm arm remembers: one run of the clutch that knew nothing. It also warms up the server."""
        await run_backlog(self._server, self._directory / "warm", tasks, None)

    async def add_round(self) -> None:
        turned = len(self.rounds) % len(self.NAMES)
        ran: dict[str, Ran] = {}
        for name in self.NAMES[turned:] + self.NAMES[:turned]:
            store = self._directory / (name if name == "warm" else f"{name}-{len(self.rounds)}")
            ran[name] = await run_backlog(self._server, store, self._tasks, self.FIXED.get(name))
        self.rounds.append(ran)

    def goodput(self, rounds: Sequence[dict[str, Ran]] | None = None) -> dict[str, float]:
        """Of each arm against the mean of its round: the median over the rounds."""
        shares: dict[str, list[float]] = {name: [] for name in self.NAMES}
        for ran in self.rounds if rounds is None else rounds:
            mean = statistics.fmean(one.goodput_per_s for one in ran.values())
            for name, one in ran.items():
                shares[name].append(one.goodput_per_s / mean)
        return {name: statistics.median(each) for name, each in shares.items()}

    def of_best_fixed(self, name: str, rounds: Sequence[dict[str, Ran]] | None = None) -> float:
        goodput = self.goodput(rounds)
        return goodput[name] / max(goodput[fixed] for fixed in self.FIXED)

    def range_of_best_fixed(self, name: str) -> tuple[float, float]:
        """Where nine tenths of the answers lie when the rounds are drawn again and again from those there were."""
        draw = Random(1)
        found = sorted(self.of_best_fixed(name, draw.choices(self.rounds, k=len(self.rounds))) for _ in range(DRAWS))
        return found[DRAWS // 20], found[-DRAWS // 20]
