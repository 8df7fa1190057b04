"""A machine that runs coding agents against an account they all share.

An agent thinks, which is a call that uses the account's budgets, then works on the machine's cores, turn after turn.
Its program tries a refused call again by itself before it gives up. An account may end the sessions above a number that
it allows at once, and it may close for hours when a quota is used up; sessions are then resumed where they stopped.
"""

import heapq
from random import Random

from msgspec import Struct

from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.widths import Reading
from manyhands.engine.sim.hosts.simulated_host import NEVER, Finished, Job, Share, log_normal, pick

STARTS_UP_S = 2.0
ENDED_AFTER_S = 4.0  # a session too many lives so long
GIVES_UP_AFTER = 4  # calls that were refused one after another
LIFE_S = (120.0, 1200.0)


class AgentShare(Share, frozen=True):
    seconds: float  # mean, on an idle machine


class Agents(Struct, frozen=True):
    mix: tuple[AgentShare, ...]
    cores: int = 8
    memory_gb: float = 32.0
    agent_gb: float = 0.5
    turn_s: float = 30.0
    thinking: float = 0.7  # share of a turn
    turn_tokens: float = 20_000.0
    requests_per_minute: float = 60.0
    tokens_per_minute: float = 1_200_000.0
    saved_s: float = 60.0  # of both budgets
    sessions_max: int = 0  # what is started above is ended within seconds; 0: any number
    quota_tokens: float = 0.0  # in a window; 0: the account never closes
    quota_window_s: float = 5 * 3600.0
    seconds_sigma: float = 0.6
    shows_retries: bool = True  # the programs say when a call was refused and they ask again


class _Session(Struct):
    job: Job
    turns: int
    refused: int = 0
    is_working: bool = False
    has_shown: bool = False


class AgentsHost:
    def __init__(self, parameters: Agents) -> None:
        self.parameters = parameters
        self.overloads = 0
        self.kills = 0
        self.shows_output = True
        self._requests = parameters.requests_per_minute / 60 * parameters.saved_s
        self._tokens = parameters.tokens_per_minute / 60 * parameters.saved_s
        self._refilled_at = 0.0
        self._window_from = 0.0
        self._quota = parameters.quota_tokens
        self._sessions: dict[int, _Session] = {}
        self._due: list[tuple[float, int, Ending | None]] = []  # None: its next step
        self._shown: list[int] = []
        self._asked_again = 0  # calls that were refused since the last reading, and are repeated

    def first_outputs(self, now: float) -> list[int]:
        shown, self._shown = self._shown, []
        return shown

    def draw(self, random: Random, kind: str = "") -> Job:
        share = pick(random, self.parameters.mix, kind)
        seconds = log_normal(random, share.seconds, self.parameters.seconds_sigma)
        return Job(share.kind, work=1.0, seconds=min(LIFE_S[1], max(LIFE_S[0], seconds)))

    def submit(self, now: float, attempt: int, job: Job, first: bool = True) -> None:
        parameters = self.parameters
        if first:
            job.progress = 0.0
        is_one_too_many = 0 < parameters.sessions_max <= len(self._sessions)
        self._sessions[attempt] = _Session(job, max(2, round(job.seconds / parameters.turn_s)))
        if is_one_too_many:
            self._end(now + ENDED_AFTER_S, attempt, Ending(EndingKind.OVERLOADED, "529 overloaded"))
        else:
            heapq.heappush(self._due, (now + STARTS_UP_S, attempt, None))

    def cancel(self, now: float, attempt: int) -> None:
        self._sessions.pop(attempt, None)

    def next_event_at(self) -> float:
        while self._due and self._due[0][1] not in self._sessions:
            heapq.heappop(self._due)
        return self._due[0][0] if self._due else NEVER

    def advance(self, now: float) -> list[Finished]:
        finished: list[Finished] = []
        while self.next_event_at() <= now:
            at, attempt, ending = heapq.heappop(self._due)
            if ending is None:
                self._step(at, attempt)
            else:
                del self._sessions[attempt]
                finished.append(Finished(at, attempt, ending))
        return finished

    def reading(self, now: float) -> Reading | None:
        parameters = self.parameters
        each = int(parameters.agent_gb * 1e9)
        asked_again, self._asked_again = self._asked_again, 0
        return Reading(
            at=now,
            source="local",
            memory_total_bytes=int(parameters.memory_gb * 1e9),
            memory_used_bytes=each * len(self._sessions),
            attempt_bytes=dict.fromkeys(self._sessions, each),
            cores=parameters.cores,
            busy_cores=float(min(parameters.cores, self._working())),
            asked_again=asked_again if parameters.shows_retries else None,
        )

    def _working(self) -> int:
        return sum(session.is_working for session in self._sessions.values())

    def _step(self, at: float, attempt: int) -> None:
        session, parameters = self._sessions[attempt], self.parameters
        if session.is_working:
            session.is_working = False
            session.job.progress += 1 / session.turns
            if session.job.progress > 1 - 1e-6:
                self._end(at, attempt, Ending(EndingKind.DONE))
                return
        elif session.has_shown and session.refused == 0:  # it has thought
            session.is_working = True
            crowded = max(1.0, self._working() / parameters.cores)
            takes_s = (1 - parameters.thinking) * parameters.turn_s * crowded
            heapq.heappush(self._due, (at + takes_s, attempt, None))
            return
        self._call(at, attempt, session)

    def _call(self, at: float, attempt: int, session: _Session) -> None:
        parameters = self.parameters
        self._refill(at)
        if parameters.quota_tokens and self._quota < parameters.turn_tokens:
            opens_s = self._window_from + parameters.quota_window_s - at
            closed = Ending(EndingKind.OVERLOADED, "usage limit reached", quota=True, retry_after_s=opens_s)
            self._end(at, attempt, closed)
        elif self._requests >= 1 and self._tokens >= parameters.turn_tokens:
            self._requests -= 1
            self._tokens -= parameters.turn_tokens
            self._quota -= parameters.turn_tokens
            session.refused = 0
            if not session.has_shown:
                session.has_shown = True
                self._shown.append(attempt)
            heapq.heappush(self._due, (at + parameters.thinking * parameters.turn_s, attempt, None))
        elif session.refused == GIVES_UP_AFTER:
            self._end(at, attempt, Ending(EndingKind.OVERLOADED, "429 too many requests", rate_limited=True))
        else:
            session.refused += 1
            self._asked_again += 1
            heapq.heappush(self._due, (at + 2.0**session.refused, attempt, None))

    def _end(self, at: float, attempt: int, ending: Ending) -> None:
        self.overloads += ending.kind is EndingKind.OVERLOADED
        heapq.heappush(self._due, (at, attempt, ending))

    def _refill(self, at: float) -> None:
        parameters = self.parameters
        passed_s, self._refilled_at = at - self._refilled_at, at
        per_s = parameters.requests_per_minute / 60
        self._requests = min(per_s * parameters.saved_s, self._requests + passed_s * per_s)
        per_s = parameters.tokens_per_minute / 60
        self._tokens = min(per_s * parameters.saved_s, self._tokens + passed_s * per_s)
        if parameters.quota_tokens and at >= self._window_from + parameters.quota_window_s:
            self._window_from = at  # a window begins with its first call
            self._quota = parameters.quota_tokens
