"""Decides which dispatcher leads: one row with a token and the time it expires, by the database's clock.

The row alone decides. The leader renews it. Once it has run out, the first dispatcher to ask gets it with a new token,
and nothing can be written with the old token. The leader also holds an advisory lock, which tells those that stand
by, without polling, that the leader's connection is gone.
"""

import os
import sys
import time
from pathlib import Path
from typing import NamedTuple

from psycopg import errors

from manyhands.engine.store.postgres import postgres_faults
from manyhands.engine.store.postgres.database_link import Connection, DatabaseLink, connect
from manyhands.engine.store.postgres.database_place import DatabasePlace, place_of
from manyhands.errors import LeaseLost, StoreBroken, StoreBusy

#: A dead leader is replaced after at most this long. A leader that is cut off stops its attempts after the same time.
LEASE_S = 3.0
RENEW_S = 1.0
#: The time that attempts of a leader on another machine have to die, once its lease has run out there.
KILL_S = 2.0
#: How long a stand-by waits in the server before it checks whether it should stop.
_SLICE_S = 1.0
_RENEW = "UPDATE lease SET expires_at = clock_timestamp() + make_interval(secs => %s) WHERE token = %s"


class Lead(NamedTuple):
    token: int
    until: float  # in seconds since boot: nobody else can lead before
    strangers_s: float  # attempts of a former leader on another machine may still live for this long


class LeaderStanding(NamedTuple):
    token: int
    holder: str
    left_s: float  # 0 or below: it has run out


def boot_time_s() -> float:
    """Seconds since boot, sleep included. Unlike the monotonic clock it advances while the machine is suspended."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def holder() -> str:
    return f"process {os.getpid()} on {os.uname().nodename}"


def machine() -> str:
    """The pid namespace of this process. An attempt can be killed only from inside its namespace."""
    if sys.platform != "linux":
        return os.uname().nodename
    return f"{Path('/proc/sys/kernel/random/boot_id').read_text().strip()} {os.readlink('/proc/self/ns/pid')}"


def standing(connection: Connection) -> LeaderStanding:
    row = connection.execute(
        "SELECT token, holder,"
        " coalesce(extract(epoch FROM nullif(expires_at, '-infinity') - clock_timestamp()), 0)::float8 FROM lease"
    ).fetchone()
    assert row is not None, "the row of the lease is made with its table"
    return LeaderStanding(*row)


def take(place: DatabasePlace) -> Lead:
    """Takes the lead. Waits for a lease whose leader is gone, and refuses while the leader is connected."""
    with postgres_faults.named(place), connect(place) as connection:
        before: LeaderStanding | None = None
        while True:
            lead = _take(connection)
            if lead is not None:
                return lead
            now = standing(connection)
            renewed = before is not None and (now.token != before.token or now.left_s > before.left_s)
            if renewed or _is_connected(connection, place):
                raise StoreBusy(
                    f"the journal in `{place}` is led by {now.holder}",
                    "`manyhands add` gives it tasks, `manyhands serve` stands by to take over; or wait until it ends",
                )
            before = now
            time.sleep(min(max(now.left_s, 0.0) + 0.01, 0.5))


def _take(connection: Connection) -> Lead | None:
    asked_at = boot_time_s()
    with connection.transaction():
        former = connection.execute(
            "SELECT machine, extract(epoch FROM clock_timestamp() - nullif(taken_at, '-infinity'))::float8 FROM lease"
            " WHERE expires_at <= clock_timestamp() FOR UPDATE"
        ).fetchone()
        if former is None:
            return None
        row = connection.execute(
            "UPDATE lease SET token = token + 1, holder = %s, machine = %s, taken_at = clock_timestamp(),"
            " expires_at = clock_timestamp() + make_interval(secs => %s) RETURNING token",
            (holder(), machine(), LEASE_S),
        ).fetchone()
    assert row is not None
    was_on, led_s = former
    if led_s is None:
        strangers_s = 0.0  # nobody has led before
    elif was_on == machine():
        strangers_s = LEASE_S + KILL_S - led_s  # the attempts of its own predecessor had all the time that it led
    else:
        strangers_s = LEASE_S + KILL_S
    return Lead(int(row[0]), asked_at + LEASE_S, max(0.0, strangers_s))


def renew(connection: Connection, place: DatabasePlace, token: int) -> float:
    """Until when, in seconds since boot, nobody else can lead."""
    asked_at = boot_time_s()
    if connection.execute(_RENEW, (LEASE_S, token)).rowcount == 0:
        raise lost(connection, place)
    return asked_at + LEASE_S


def release(connection: Connection, token: int) -> None:
    connection.execute("UPDATE lease SET expires_at = '-infinity' WHERE token = %s", (token,))


def lost(connection: Connection, place: DatabasePlace) -> LeaseLost:
    return LeaseLost(
        f"this dispatcher no longer leads the journal in `{place}`: {standing(connection).holder} took over"
        f" after this one was silent for {LEASE_S:g} s",
        "it has written nothing since and has stopped its attempts; start it again to stand by",
    )


def hold_bell(connection: Connection, place: DatabasePlace) -> bool:
    """Take the advisory lock, held as long as this connection lasts. False if someone else has it."""
    row = connection.execute("SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", (_bell(place),)).fetchone()
    return row is not None and row[0] is True


def _is_connected(connection: Connection, place: DatabasePlace) -> bool:
    """Is the leader connected? Its process may be stopped even so."""
    if hold_bell(connection, place):
        _let_go(connection, place)
        return False
    return True


def _let_go(connection: Connection, place: DatabasePlace) -> None:
    connection.execute("SELECT pg_advisory_unlock(hashtextextended(%s, 0))", (_bell(place),))


def _bell(place: DatabasePlace) -> str:
    return f"manyhands {place.project} leader"


class PostgresStandBy:
    """Waits for the lead without polling: the server tells it when the leader's connection is gone."""

    def __init__(self, place: DatabasePlace) -> None:
        self._link = DatabaseLink(place, patience_s=_SLICE_S)

    def wait(self) -> bool:
        """Can the lead be taken now? Returns within a few seconds."""
        try:
            return self._link.run(self._wait)
        except StoreBroken:
            return False  # nobody leads while the server is away

    def _wait(self, connection: Connection, _again: bool) -> bool:
        place = self._link.place
        left_s = standing(connection).left_s
        if left_s > 0:
            # At most until the lease ends: a stopped leader keeps its connection open.
            wait_ms = max(1, round(min(left_s, _SLICE_S) * 1000))
            connection.execute("SELECT set_config('lock_timeout', %s, false)", (str(wait_ms),))
            try:
                connection.execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", (_bell(place),))
            except errors.LockNotAvailable:
                return standing(connection).left_s <= 0
            _let_go(connection, place)
            left_s = standing(connection).left_s
            time.sleep(min(max(left_s, 0.0), _SLICE_S))
        return left_s <= _SLICE_S

    def close(self) -> None:
        self._link.close()


def open_stand_by(url: str) -> PostgresStandBy:
    return PostgresStandBy(place_of(url))
