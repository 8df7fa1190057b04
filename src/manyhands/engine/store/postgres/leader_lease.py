"""Who leads: one row with a token and a time it holds until, by the database's clock.

The row alone decides. Whoever leads renews it; once it has run out, whoever comes first takes it and gets a new token;
with the old one nothing can be written any more. An advisory lock held beside it tells those who stand by, without
polling, that the leader's connection has gone.
"""

import os
import time
from pathlib import Path
from typing import NamedTuple

from psycopg import errors

from manyhands.engine.store.postgres import postgres_faults
from manyhands.engine.store.postgres.database_link import Connection, DatabaseLink, connect
from manyhands.engine.store.postgres.database_place import DatabasePlace, place_of
from manyhands.errors import LeaseLost, StoreBroken, StoreBusy

#: A leader that has died is followed after this long at the most, and one that is cut off stops its attempts then.
LEASE_S = 3.0
RENEW_S = 1.0
#: For the attempts of a leader on another machine to die in, once its lease has run out there.
KILL_S = 2.0
#: How long a stand-by sits in the server before it looks whether it should stop.
_SLICE_S = 1.0
_RENEW = "UPDATE lease SET expires_at = clock_timestamp() + make_interval(secs => %s) WHERE token = %s"


class Lead(NamedTuple):
    token: int
    until: float  # in seconds since boot: nobody else can lead before
    strangers_s: float  # what a former leader on another machine ran may still live for this long


class LeaderStanding(NamedTuple):
    token: int
    holder: str
    left_s: float  # 0 or below: it has run out


def boot_time_s() -> float:
    """Seconds since boot, those asleep included: unlike the monotonic clock it goes on in a suspended machine."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def holder() -> str:
    return f"process {os.getpid()} on {os.uname().nodename}"


def machine() -> str:
    """The space of process ids this is in: from within it, and from nowhere else, an attempt can be killed."""
    return f"{Path('/proc/sys/kernel/random/boot_id').read_text().strip()} {os.readlink('/proc/self/ns/pid')}"


def standing(connection: Connection) -> LeaderStanding:
    row = connection.execute(
        "SELECT token, holder,"
        " coalesce(extract(epoch FROM nullif(expires_at, '-infinity') - clock_timestamp()), 0)::float8 FROM lease"
    ).fetchone()
    assert row is not None, "the row of the lease is made with its table"
    return LeaderStanding(*row)


def take(place: DatabasePlace) -> Lead:
    """Waits for a lease whose leader has gone, and refuses while one is there."""
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
                    "`manyhands add` hands it tasks, `manyhands serve` stands by to take over; or wait for it",
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
        strangers_s = LEASE_S + KILL_S - led_s  # those of its own predecessor had all the time it led
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
        f"this dispatcher leads the journal in `{place}` no longer: {standing(connection).holder} took over"
        f" after nothing was heard of this one for {LEASE_S:g} s",
        "it wrote nothing since and has stopped what it ran; start it again to stand by",
    )


def hold_bell(connection: Connection, place: DatabasePlace) -> bool:
    """Hold the advisory lock for as long as this connection lasts; False while someone else does."""
    row = connection.execute("SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", (_bell(place),)).fetchone()
    return row is not None and row[0] is True


def _is_connected(connection: Connection, place: DatabasePlace) -> bool:
    """Whether the leader's connection is there; it may be stopped all the same."""
    if hold_bell(connection, place):
        _let_go(connection, place)
        return False
    return True


def _let_go(connection: Connection, place: DatabasePlace) -> None:
    connection.execute("SELECT pg_advisory_unlock(hashtextextended(%s, 0))", (_bell(place),))


def _bell(place: DatabasePlace) -> str:
    return f"manyhands {place.project} leader"


class PostgresStandBy:
    """Waits for the lead without asking for it again and again: it is told when the leader's connection goes."""

    def __init__(self, place: DatabasePlace) -> None:
        self._link = DatabaseLink(place, patience_s=_SLICE_S)

    def wait(self) -> bool:
        """Returns within a few seconds: whether the lead may be had now."""
        try:
            return self._link.run(self._wait)
        except StoreBroken:
            return False  # nobody leads while the server is away

    def _wait(self, connection: Connection, _again: bool) -> bool:
        place = self._link.place
        left_s = standing(connection).left_s
        if left_s > 0:
            # To the lease's end at the most: a leader may be stopped, with its connection open.
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
