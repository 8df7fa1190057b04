"""Which sessions start now, given how many may run at once. Pure: it is told what ended and says what starts.

A turn of a unit is session 1 of each arm, then session 2 of each arm, and so on. The sessions of a turn start together
if the bound has room for all of them. Otherwise they start one after the other, in the order of the unit.
"""

from collections.abc import Iterable
from typing import NamedTuple

from manyhands.apps.evals.spec.ordering import Trial, Unit


class SessionTurn(NamedTuple):
    """One session of one trial."""

    trial: Trial
    session: int  # from 1


class SessionPacer:
    def __init__(self, units: Iterable[Unit], sessions: int, at_once: int, over: Iterable[SessionTurn] = ()) -> None:
        """`over` are the sessions that ended in an earlier process; they are not started again."""
        self.at_once = at_once
        self.in_flight: dict[SessionTurn, None] = {}
        self._over = dict.fromkeys(over)
        self._sessions = sessions
        self._fresh = [unit for unit in units if self._next_session(unit) is not None]
        self._fresh.reverse()
        self._begun: list[Unit] = []  # with sessions left to do, the oldest first
        self._opened: list[SessionTurn] = []  # of a turn that did not fit as a whole: these start before anything else
        self._extra = 0  # places taken by other work

    @property
    def is_over(self) -> bool:
        return not (self.in_flight or self._opened or self._begun or self._fresh)

    @property
    def free(self) -> int:
        return self.at_once - len(self.in_flight) - self._extra

    def take_place(self) -> bool:
        """Takes a place for work that is not a session. False if no place is free."""
        if self.free < 1:
            return False
        self._extra += 1
        return True

    def give_place(self) -> None:
        self._extra -= 1

    def soon(self, count: int) -> list[SessionTurn]:
        """The sessions that start next: those of a turn that is under way, and the first ones of so many new units."""
        units = self._fresh[: -count - 1 : -1]
        return [*self._opened, *(SessionTurn(trial, 1) for unit in units for trial in unit.trials)]

    def start(self) -> list[list[SessionTurn]]:
        """What starts now, in this order; sessions in one list start together. They are in flight until `ended`."""
        started: list[list[SessionTurn]] = []
        while turns := self._next():
            self.in_flight |= dict.fromkeys(turns)
            started.append(turns)
        return started

    def put_back(self, turn: SessionTurn) -> None:
        """The session did not start after all."""
        del self.in_flight[turn]

    def ended(self, turn: SessionTurn, well: bool) -> None:
        """After a session that did not end well, the later ones of its trial do not begin."""
        self.in_flight.pop(turn, None)
        self._over[turn] = None
        if not well:
            for session in range(turn.session + 1, self._sessions + 1):
                self._over[SessionTurn(turn.trial, session)] = None

    def _next(self) -> list[SessionTurn]:
        if self._opened:
            return [self._opened.pop(0)] if self.free else []
        due = self._due()
        if due is None:
            return []
        unit, turns = due
        if self.free < min(len(turns), self.at_once):
            return []
        if unit not in self._begun:
            self._fresh.pop()
            self._begun.append(unit)
        fit = self.free
        self._opened = turns[fit:]
        return turns[:fit]

    def _due(self) -> tuple[Unit, list[SessionTurn]] | None:
        """The next turn of a unit that is under way; a new unit only if no such turn is due."""
        for unit in list(self._begun):
            session = self._next_session(unit)
            if session is None:
                self._begun.remove(unit)
            elif not any(turn.trial in unit.trials for turn in self.in_flight):
                return unit, self._turns(unit, session)
        while self._fresh:
            unit = self._fresh[-1]
            session = self._next_session(unit)
            if session is not None:
                return unit, self._turns(unit, session)
            self._fresh.pop()
        return None

    def _turns(self, unit: Unit, session: int) -> list[SessionTurn]:
        turns = [SessionTurn(trial, session) for trial in unit.trials]
        return [turn for turn in turns if turn not in self._over]

    def _next_session(self, unit: Unit) -> int | None:
        """The first session that some trial of the unit has not finished, in flight or not."""
        for session in range(1, self._sessions + 1):
            if self._turns(unit, session):
                return session
        return None
