"""The journal as one SQLite file: `journal.db` in a directory of its own, with `lock`, `wake` and a mark beside it."""

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import msgspec

from manyhands.core.events import AnyEvent
from manyhands.engine.store.contract import codec, stored_rows
from manyhands.engine.store.contract.env_vault import EnvVault
from manyhands.engine.store.contract.journal import Durability, UnreadableRequest
from manyhands.engine.store.contract.samples import SAMPLES_KEPT_S, SeriesSample, readable
from manyhands.engine.store.sqlite import journal_checks, row_chain, sqlite_faults, sqlite_schema
from manyhands.engine.store.sqlite.high_water_mark import HighWaterMark, Kept, MarkFile, sync_names, this_boot
from manyhands.engine.store.sqlite.idle_checkpoint import IdleCheckpoint, is_all_moved
from manyhands.engine.store.sqlite.lock import DirectoryLock
from manyhands.engine.store.sqlite.wake import WakeSocket, wake
from manyhands.errors import StoreBroken, UsageError
from manyhands.store_directory import make_store_directory

FILE = "journal.db"
#: Other processes hold the write lock for one commit. The longest commit submits a million tasks.
LOCK_TIMEOUT_S = 10.0
#: The time between tries for the write lock. SQLite's own waits grow to 100 ms, and then a request waited up to 6 s
#: for a gap between the commits of a busy dispatcher.
LOCK_RETRY_S = 0.0003
#: 16 MB of write-ahead log between checkpoints: 1.3–2 × faster than the default of 4 MB. More gained little.
CHECKPOINT_PAGES = 4000
#: A large transaction makes the log grow. Afterwards it is truncated to this size.
LOG_BYTES_MAX = 64 << 20
#: How many rows a reader takes at once. It releases the file in between, so that a long read delays no checkpoint.
ROWS_AT_ONCE = 64

# NORMAL syncs only at checkpoints. Until then the kernel holds the commit, and it survives kill -9.
_SYNCHRONOUS: dict[Durability, str] = {"crash": "NORMAL", "power": "FULL"}


class SqliteReader:
    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def read(self, after: int = 0) -> Iterator[tuple[int, AnyEvent]]:
        with sqlite_faults.named(self._path):
            last = _last(self._connection, self._path)
            _, before = row_chain.row_before(self._connection, after)
            follows = row_chain.ChainCheck(row_chain.since_of(self._connection, self._path), before)

        def fetch(done: int, last: int) -> list[stored_rows.StoredRow]:
            with sqlite_faults.named(self._path):
                return self._connection.execute(
                    "SELECT seq, crc, body FROM batch WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?",
                    (done, last, ROWS_AT_ONCE),
                ).fetchall()

        return stored_rows.events_of(fetch, after, last, self._path, follows)

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

    def requests(self) -> list[tuple[int, AnyEvent | UnreadableRequest]]:
        with sqlite_faults.named(self._path):
            waiting = self._connection.execute("SELECT id, crc, body FROM request ORDER BY id").fetchall()
        return stored_rows.requests_of(waiting, self._path)

    def check_pages(self) -> None:
        with sqlite_faults.named(self._path):
            journal_checks.check_pages(self._connection, self._path)

    def close(self) -> None:
        self._connection.close()


class SqliteJournal(SqliteReader):
    is_shared = False  # its lock ends with its holder, on this machine
    strangers_s = 0.0

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        lock: DirectoryLock,
        wake_socket: WakeSocket,
        marks: MarkFile,
        durability: Durability,
    ) -> None:
        super().__init__(connection, path)
        self._lock = lock
        self._wake = wake_socket
        self._marks = marks
        self._synced = durability == "power"
        with sqlite_faults.named(path):
            self.last = _last(connection, path)
            _, self._crc = row_chain.row_before(connection, self.last)
        # A crash may have come between the last commit and its mark. Whether it is synced is not known.
        marks.note_event(self.last, self._crc, synced=False)
        self._idle = IdleCheckpoint(path, marks)
        import hashlib  # imported here, because reading needs no digests

        self.identity = hashlib.sha256(f"{path}:{path.stat().st_ino}".encode()).hexdigest()[:16]

    def append(self, events: Iterable[AnyEvent], answered: Sequence[int] = ()) -> int:
        last, crc = self.last, self._crc

        def link(body: bytes, number: int) -> int:
            nonlocal last, crc
            last, crc = number, row_chain.linked(body, number, crc)
            return crc

        with sqlite_faults.named(self._path), _transaction(self._connection):
            rows = stored_rows.rows_of(events, last, link)
            self._connection.executemany("INSERT INTO batch VALUES (?, ?, ?)", rows)
            if answered:
                self._connection.executemany("DELETE FROM request WHERE id = ?", ((id,) for id in answered))
        self.last, self._crc = last, crc
        self._marks.note_event(last, crc, synced=self._synced)
        self._idle.stir()
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
        self._idle.close()
        # Where the disk fails, the mark stays behind, which is always right.
        with suppress(sqlite3.Error, OSError, StoreBroken):
            if is_all_moved(self._connection):
                self._marks.note_synced(self.last, self._crc)
        super().close()
        self._marks.close()
        self._lock.release()


class SqliteRequests:
    def __init__(self, connection: sqlite3.Connection, path: Path, durability: Durability) -> None:
        self._connection = connection
        self._path = path
        self._synced = durability == "power"
        self.heard = False  # did the last request wake a dispatcher?

    def ask(self, event: AnyEvent) -> int:
        body = codec.encode([EnvVault(self._path.parent).sealed_event(event)])
        with sqlite_faults.named(self._path), _transaction(self._connection):
            number = self._connection.execute(
                "INSERT INTO request (crc, body) VALUES (?, ?)", (codec.checksum(body, 0), body)
            ).lastrowid
        assert number is not None
        self._mark(number)
        self.heard = wake(self._path.parent)
        return number

    def _mark(self, number: int) -> None:
        marks = MarkFile(journal_checks.mark_path(self._path), writes=True)
        with closing(marks):
            marks.note_request(number, synced=self._synced)
            if self._synced:
                marks.sync()

    def close(self) -> None:
        self._connection.close()


class SqliteSeries:
    """Samples over time, on their own connection, so that writing them never waits for the journal."""

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
        """The samples from `since` on, oldest first."""
        with sqlite_faults.named(self._path):
            rows = self._connection.execute(
                "SELECT body FROM sample WHERE at_ms >= ? ORDER BY at_ms", (round(since * 1000),)
            ).fetchall()
        return readable(body for (body,) in rows)

    def close(self) -> None:
        self._connection.close()


def open_journal(directory: Path, durability: Durability = "power") -> SqliteJournal:
    """Holds the journal in `directory` until it is closed or the process ends. Creates it if needed."""
    directory = directory.absolute()
    _make(directory)
    with ExitStack() as undo:
        lock = DirectoryLock(directory)
        undo.callback(lock.release)
        path = directory / FILE
        with sqlite_faults.opening(path):
            marks = _checked(path)
            undo.callback(marks.close)
            connection = _connect(path, "rwc")
            undo.callback(connection.close)
            _write_ahead(connection, path)
            sqlite_schema.prepare(connection, path)
            _tune(connection, durability)
        wake_socket = WakeSocket(directory)
        undo.callback(wake_socket.close)
        journal = SqliteJournal(connection, path, lock, wake_socket, marks, durability)
        undo.pop_all()
    return journal


def _checked(path: Path) -> MarkFile:
    """The mark of the journal there, once the journal is known to be whole. Both may have to be made first."""
    found = HighWaterMark()
    if not path.exists() or not path.stat().st_size:
        journal_checks.check_absent(path)
        # For its owner alone; SQLite gives the files that it makes beside it the same mode.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    else:
        with closing(_connect(path, "ro")) as looking:
            version = sqlite_schema.version_of(looking, path)
            if version == sqlite_schema.VERSION:
                journal_checks.check_end(looking, path)
            elif version == 0:
                journal_checks.check_absent(path)
            else:  # of an older manyhands, which kept no mark
                number, crc = row_chain.row_before(looking, _last(looking, path))
                found = HighWaterMark(number, crc, boot=this_boot())
            journal_checks.check_pages(looking, path)
    place = journal_checks.mark_path(path)
    # Before the tables are brought up to date: from then on a journal without a mark is one that has lost it.
    marks = MarkFile(place, writes=True) if place.exists() else MarkFile.make(place, found)
    marks.read(Kept.EVENTS)
    return marks


def open_requests(directory: Path, durability: Durability = "power") -> SqliteRequests:
    """Opens the place for requests. It takes no lock and works whether a dispatcher runs or not."""
    connection, path = _open_existing(directory, "rw")
    with sqlite_faults.named(path):
        _tune(connection, durability)
    return SqliteRequests(connection, path, durability)


def open_series(directory: Path) -> SqliteSeries:
    """The samples beside the journal. A power cut may lose the last ones."""
    connection, path = _open_existing(directory, "rw")
    with sqlite_faults.named(path):
        _tune(connection, "crash")
    return SqliteSeries(connection, path)


def open_reader(directory: Path) -> SqliteReader:
    """Opens the journal for reading. It takes no lock and changes nothing."""
    # If SQLite cannot create the files that it shares with writers, and they do not exist, nobody is writing.
    still = not os.access(directory, os.W_OK) and not (directory / f"{FILE}-wal").exists()
    return SqliteReader(*_open_existing(directory, "ro&immutable=1" if still else "ro"))


@contextmanager
def reading_unchecked(directory: Path) -> Iterator[SqliteReader]:
    """A copy of a journal that may be damaged, made for this: its end is not compared with anything."""
    path = directory / FILE
    with sqlite_faults.opening(path), closing(_connect(path, "rw")) as connection:
        sqlite_schema.prepare(connection, path)
        yield SqliteReader(connection, path)


def exists(directory: Path) -> bool:
    """Whether there is a journal, or was one whose file is lost."""
    path = directory / FILE
    return path.exists() or journal_checks.mark_path(path).exists()


def _open_existing(directory: Path, mode: str) -> tuple[sqlite3.Connection, Path]:
    path = directory.absolute() / FILE
    nothing = UsageError(f"there is no journal in `{directory}`", "`manyhands run PLAN` begins one")
    if not path.exists():
        journal_checks.check_absent(path)
        raise nothing
    with sqlite_faults.opening(path), ExitStack() as undo:
        connection = _connect(path, "ro" if mode == "rw" else mode)
        undo.callback(connection.close)
        if not sqlite_schema.is_current(connection, path):
            journal_checks.check_absent(path)
            raise nothing
        journal_checks.check_end(connection, path)
        if mode == "rw":
            connection = _connect(path, mode)
        else:
            undo.pop_all()
    return connection, path


def _make(directory: Path) -> None:
    try:
        if make_store_directory(directory):
            sync_names(directory.parent)
    except OSError as error:
        raise StoreBroken(
            f"cannot create the journal's directory `{directory}`: {error.strerror}",
            "choose one that this user can write to",
        ) from error


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    journal_checks.check_files(path)
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
    connection.execute("PRAGMA busy_timeout = 0")  # `_begin` waits instead


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
    """Take the write lock at the start of a transaction, where it is still possible to wait for it."""
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
