"""The journal as one SQLite file: `journal.db` in a directory of its own, with `lock` and `wake` beside it."""

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

from manyhands.core.events import AnyEvent
from manyhands.engine.store.contract import codec, stored_rows
from manyhands.engine.store.contract.journal import Durability
from manyhands.engine.store.contract.samples import SAMPLES_KEPT_S, SeriesSample
from manyhands.engine.store.sqlite import sqlite_faults, sqlite_schema
from manyhands.engine.store.sqlite.lock import DirectoryLock
from manyhands.engine.store.sqlite.wake import WakeSocket, wake
from manyhands.errors import StoreBroken, UsageError
from manyhands.store_directory import make_store_directory

FILE = "journal.db"
#: Others hold the write lock for one commit; the longest is a submit of a million tasks.
LOCK_TIMEOUT_S = 10.0
#: Between tries for the write lock. SQLite's own waits grow to 100 ms: beside a dispatcher that
#: commits without pause an asker then waited up to 6 s for a gap.
LOCK_RETRY_S = 0.0003
#: 16 MB of write-ahead log between checkpoints: measured 1.3–2 × faster than the default 4 MB, little more above.
CHECKPOINT_PAGES = 4000
#: A large transaction blows the log up; it is cut back to this.
LOG_BYTES_MAX = 64 << 20
#: How many rows a reader takes at once. It lets go of the file in between: a long read holds up no checkpoint.
ROWS_AT_ONCE = 64

# NORMAL syncs at checkpoints only: a commit is then in the kernel's hands, which kill -9 does not reach.
_SYNCHRONOUS: dict[Durability, str] = {"crash": "NORMAL", "power": "FULL"}


class SqliteReader:
    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def read(self, after: int = 0) -> Iterator[tuple[int, AnyEvent]]:
        with sqlite_faults.named(self._path):
            last = _last(self._connection, self._path)

        def fetch(done: int, last: int) -> list[stored_rows.Row]:
            with sqlite_faults.named(self._path):
                return self._connection.execute(
                    "SELECT seq, crc, body FROM batch WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?",
                    (done, last, ROWS_AT_ONCE),
                ).fetchall()

        return stored_rows.events_of(fetch, after, last, self._path)

    def latest_snapshot(self) -> tuple[int, bytes] | None:
        with sqlite_faults.named(self._path):
            newest_first = self._connection.execute("SELECT DISTINCT seq FROM snapshot ORDER BY seq DESC").fetchall()
            for (seq,) in newest_first:
                data = self._snapshot(seq)
                if data is not None:
                    return seq, data
        return None

    def _snapshot(self, seq: int) -> bytes | None:
        parts = self._connection.execute(
            "SELECT parts, crc, body FROM snapshot WHERE seq = ? ORDER BY part", (seq,)
        ).fetchall()
        return stored_rows.snapshot_of(seq, parts)

    def requests(self) -> list[tuple[int, AnyEvent]]:
        with sqlite_faults.named(self._path):
            waiting = self._connection.execute("SELECT id, crc, body FROM request ORDER BY id").fetchall()
        return stored_rows.requests_of(waiting, self._path)

    def close(self) -> None:
        self._connection.close()


class SqliteJournal(SqliteReader):
    is_shared = False  # its lock goes with its holder, on this machine
    strangers_s = 0.0

    def __init__(
        self, connection: sqlite3.Connection, path: Path, lock: DirectoryLock, wake_socket: WakeSocket
    ) -> None:
        super().__init__(connection, path)
        self._lock = lock
        self._wake = wake_socket
        with sqlite_faults.named(path):
            self.last = _last(connection, path)
        import hashlib  # here: reading needs no digests

        self.identity = hashlib.sha256(f"{path}:{path.stat().st_ino}".encode()).hexdigest()[:16]

    def append(self, events: Iterable[AnyEvent], answered: Sequence[int] = ()) -> int:
        last = self.last

        def counted() -> Iterator[stored_rows.Row]:
            nonlocal last
            for row in stored_rows.rows_of(events, last):
                last = row[0]
                yield row

        with sqlite_faults.named(self._path), _transaction(self._connection):
            self._connection.executemany("INSERT INTO batch VALUES (?, ?, ?)", counted())
            if answered:
                self._connection.executemany("DELETE FROM request WHERE id = ?", ((id,) for id in answered))
        self.last = last
        return last

    def save_snapshot(self, seq: int, data: bytes) -> None:
        with sqlite_faults.named(self._path), _transaction(self._connection):
            self._connection.execute("DELETE FROM snapshot WHERE seq = ?", (seq,))
            self._connection.executemany(
                "INSERT INTO snapshot VALUES (?, ?, ?, ?, ?)", stored_rows.snapshot_parts(seq, data)
            )
            self._connection.execute(
                "DELETE FROM snapshot WHERE seq NOT IN (SELECT DISTINCT seq FROM snapshot ORDER BY seq DESC LIMIT 2)"
            )

    def wake_fileno(self) -> int:
        return self._wake.fileno()

    def clear_wake(self) -> None:
        self._wake.clear()

    def watch(self, kept: Callable[[float], None], cut_off: Callable[[], None]) -> None:
        pass

    def give_up(self) -> None:
        pass

    def close(self) -> None:
        self._wake.close()
        super().close()
        self._lock.release()


class SqliteRequests:
    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self.heard = False  # is a dispatcher there that was woken by the last request?

    def ask(self, event: AnyEvent) -> int:
        body = codec.encode([event])
        with sqlite_faults.named(self._path), _transaction(self._connection):
            number = self._connection.execute(
                "INSERT INTO request (crc, body) VALUES (?, ?)", (codec.checksum(body, 0), body)
            ).lastrowid
        self.heard = wake(self._path.parent)
        return number or 0

    def close(self) -> None:
        self._connection.close()


class SqliteSeries:
    """Samples over time, on a connection of their own: whoever keeps them need not be in step with the journal."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def keep(self, sample: SeriesSample) -> None:
        at_ms = round(sample.at * 1000)
        with sqlite_faults.named(self._path), _transaction(self._connection):
            body = msgspec.msgpack.encode(sample)
            self._connection.execute("INSERT OR REPLACE INTO sample VALUES (?, ?)", (at_ms, body))
            self._connection.execute("DELETE FROM sample WHERE at_ms < ?", (at_ms - round(SAMPLES_KEPT_S * 1000),))

    def read(self, since: float = 0.0) -> list[SeriesSample]:
        """From `since` on, oldest first."""
        with sqlite_faults.named(self._path):
            rows = self._connection.execute(
                "SELECT body FROM sample WHERE at_ms >= ? ORDER BY at_ms", (round(since * 1000),)
            ).fetchall()
        return [msgspec.msgpack.decode(body, type=SeriesSample) for (body,) in rows]

    def close(self) -> None:
        self._connection.close()


def open_journal(directory: Path, durability: Durability = "power") -> SqliteJournal:
    """The journal in `directory`, made if it is not there yet, held until it is closed or the process ends."""
    directory = directory.absolute()
    _make(directory)
    with ExitStack() as undo:
        lock = DirectoryLock(directory)
        undo.callback(lock.release)
        path = directory / FILE
        with sqlite_faults.opening(path):
            connection = _connect(path, "rwc")
            undo.callback(connection.close)
            _write_ahead(connection, path)
            sqlite_schema.prepare(connection, path)
            _tune(connection, durability)
        wake_socket = WakeSocket(directory)
        undo.callback(wake_socket.close)
        journal = SqliteJournal(connection, path, lock, wake_socket)
        undo.pop_all()
    return journal


def open_requests(directory: Path, durability: Durability = "power") -> SqliteRequests:
    """The way to leave requests; takes no lock, and works while a dispatcher runs or none does."""
    connection, path = _open_existing(directory, "rw")
    with sqlite_faults.named(path):
        _tune(connection, durability)
    return SqliteRequests(connection, path)


def open_series(directory: Path) -> SqliteSeries:
    """The samples of the journal there; a power cut may take the last ones."""
    connection, path = _open_existing(directory, "rw")
    with sqlite_faults.named(path):
        _tune(connection, "crash")
    return SqliteSeries(connection, path)


def open_reader(directory: Path) -> SqliteReader:
    """A view of the journal; takes no lock and changes nothing."""
    # Where SQLite may not make the files it shares with writers and there are none, no one is writing.
    still = not os.access(directory, os.W_OK) and not (directory / f"{FILE}-wal").exists()
    return SqliteReader(*_open_existing(directory, "ro&immutable=1" if still else "ro"))


def _open_existing(directory: Path, mode: str) -> tuple[sqlite3.Connection, Path]:
    path = directory.absolute() / FILE
    nothing = UsageError(f"there is no journal in `{directory}`", "`manyhands run PLAN` begins one")
    if not path.exists():
        raise nothing
    with sqlite_faults.opening(path):
        connection = _connect(path, mode)
        try:
            if not sqlite_schema.is_current(connection, path):
                raise nothing
        except BaseException:
            connection.close()
            raise
    return connection, path


def _make(directory: Path) -> None:
    try:
        if make_store_directory(directory):
            _sync(directory.parent)
    except OSError as error:
        raise StoreBroken(
            f"cannot make the journal's directory `{directory}`: {error.strerror}",
            "choose one that this user can write to",
        ) from error


def _sync(directory: Path) -> None:
    """The name of a new directory must survive a power cut as its contents do."""
    fd = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.as_uri()}?mode={mode}",
        uri=True,
        timeout=LOCK_TIMEOUT_S,
        isolation_level=None,
        check_same_thread=False,
    )


def _write_ahead(connection: sqlite3.Connection, path: Path) -> None:
    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode != "wal":
        raise StoreBroken(
            f"the file system of `{path}` cannot share memory between processes, which the journal needs",
            "keep the journal on a local disk",
        )


def _tune(connection: sqlite3.Connection, durability: Durability) -> None:
    connection.execute(f"PRAGMA synchronous = {_SYNCHRONOUS[durability]}")
    connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
    connection.execute(f"PRAGMA journal_size_limit = {LOG_BYTES_MAX}")
    connection.execute("PRAGMA busy_timeout = 0")  # `_begin` does the waiting


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    _begin(connection)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.rollback()
        raise


def _begin(connection: sqlite3.Connection) -> None:
    """Take the write lock at once, where waiting for it is possible."""
    deadline = time.monotonic() + LOCK_TIMEOUT_S
    while True:
        try:
            connection.execute("BEGIN IMMEDIATE")
            return
        except sqlite3.OperationalError as error:
            if not error.sqlite_errorname.startswith("SQLITE_BUSY") or time.monotonic() > deadline:
                raise
        time.sleep(LOCK_RETRY_S)


def _last(connection: sqlite3.Connection, path: Path) -> int:
    last, kept = connection.execute(
        "SELECT coalesce((SELECT max(seq) FROM batch), 0), coalesce((SELECT max(seq) FROM snapshot), 0)"
    ).fetchone()
    if last < kept:
        raise stored_rows.damaged(path, f"event {last + 1}", f"events up to {kept} are missing")
    return int(last)
