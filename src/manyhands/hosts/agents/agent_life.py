"""The signs of life of one attempt of an agent, for whoever looks while it runs."""

import time
from pathlib import Path

from manyhands.hosts.agents.agent_tally import AgentTally
from manyhands.hosts.agents.agent_words import doing
from manyhands.hosts.executors.live_facts import LiveFacts
from manyhands.hosts.executors.live_file import LiveFile


class AgentLife:
    def __init__(self, directory: Path, idle_s: float) -> None:
        self._alive_at = time.time()
        self._idle_s = idle_s
        self._tally = AgentTally()
        self._file = LiveFile(directory, self._facts)

    def heard(self, tally: AgentTally) -> None:
        self._alive_at = time.time()
        self._tally = tally
        self._file.changed()

    def saw(self, at: float) -> None:
        """It computed or printed something at this moment of the monotonic clock."""
        self._alive_at = max(self._alive_at, time.time() - (time.monotonic() - at))
        self._file.changed()

    def close(self) -> None:
        self._file.close()

    def _facts(self) -> LiveFacts:
        tally, used = self._tally, self._tally.used
        return LiveFacts(
            alive_at=self._alive_at,
            idle_s=self._idle_s,
            does=doing(tally.last_tool) if tally.last_tool is not None else "",
            tokens_in=used.tokens_in,
            tokens_out=used.tokens_out,
            cost=used.cost,
            retries=tally.retries,
        )
