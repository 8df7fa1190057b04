"""The one place that runs git: never through a shell, in English, without the user's hooks, waiting for locks."""

import os
import re
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from manyhands.errors import ManyhandsError, Unavailable, UsageError

#: How long to wait for a lock of another git. A person's `git status` is short; a checkout takes seconds.
LOCK_PATIENCE_S = 30.0
#: The last pattern is about a worktree that another git is making or removing now.
_CONTENTION = re.compile(rb"\.lock': File exists|could not lock config file|failed to read worktrees/")
CEILING = "GIT_CEILING_DIRECTORIES"
#: Of git's variables, only the committer and the place of the user's configuration are passed on.
_KEPT = re.compile(r"GIT_(AUTHOR|COMMITTER)_(NAME|EMAIL)|GIT_CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)")
_SETTINGS = (
    "core.hooksPath=/dev/null",  # the user's hooks are for the user's own commands
    "core.fsmonitor=false",  # its daemon would outlive us and hold our locks
    "core.quotePath=false",
    "core.packedRefsTimeout=30000",
    "core.filesRefLockTimeout=30000",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "i18n.commitEncoding=UTF-8",
    "commit.gpgSign=false",
)


class GitFailed(ManyhandsError):
    """Git refused something that should have worked. Its message is in `stderr`."""

    def __init__(self, arguments: tuple[str, ...], code: int, stderr: bytes) -> None:
        self.stderr = stderr.decode(errors="replace").strip()
        said = " ".join(self.stderr.split())[-300:] or f"it exited with {code}"
        super().__init__(f"git {arguments[0]} failed: {said}", "run the command by hand to see more, then try again")


class Git:
    """Git in one directory. `held` are descriptors of locks, which its processes keep until they have ended."""

    def __init__(self, directory: Path, held: tuple[int, ...] = (), env: Mapping[str, str] | None = None) -> None:
        self.directory = directory
        self._held = held
        self._env = dict(env or {})

    def at(self, directory: Path) -> "Git":
        return Git(directory, self._held, self._env)

    def below(self, directory: Path) -> "Git":
        """A git that does not search parent directories: if a repository is gone, it must not find the outer one."""
        return Git(self.directory, self._held, {**self._env, CEILING: str(directory)})

    def holding(self, *descriptors: int) -> "Git":
        return Git(self.directory, (*self._held, *descriptors), self._env)

    def as_someone(self) -> "Git":
        """A git that has a name to commit with even if the configuration has none."""
        if self.ask("-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT") is not None:
            return self
        name = {"NAME": "manyhands", "EMAIL": "manyhands@localhost"}
        env = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in name.items()}
        return Git(self.directory, self._held, {**self._env, **env})

    def __call__(
        self, *arguments: str, given: bytes | None = None, codes: tuple[int, ...] = (0,), index: Path | None = None
    ) -> bytes:
        """Run git and return what it printed. Raises `GitFailed` unless it exits with one of `codes`."""
        deadline = time.monotonic() + LOCK_PATIENCE_S
        wait_s = 0.02
        while True:
            done = self._run(arguments, given, index)
            if done.returncode in codes:
                return done.stdout
            if not _CONTENTION.search(done.stderr) or time.monotonic() > deadline:
                raise GitFailed(arguments, done.returncode, done.stderr)
            time.sleep(wait_s)
            wait_s = min(0.5, wait_s * 2)

    def ask(self, *arguments: str) -> str | None:
        """One line of output; None if git has no answer."""
        done = self._run(arguments, None, None)
        return os.fsdecode(done.stdout).removesuffix("\n") if done.returncode == 0 else None

    def line(self, *arguments: str, given: bytes | None = None, index: Path | None = None) -> str:
        return os.fsdecode(self(*arguments, given=given, index=index)).removesuffix("\n")

    def names(self, *arguments: str) -> list[str]:
        """Paths, from a command that ends each with a NUL."""
        return [os.fsdecode(name) for name in self(*arguments).split(b"\0") if name]

    def _run(
        self, arguments: tuple[str, ...], given: bytes | None, index: Path | None
    ) -> subprocess.CompletedProcess[bytes]:
        settings = [word for setting in _SETTINGS for word in ("-c", setting)]
        env = {**scrubbed(os.environ), **self._env, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"}
        if index is not None:
            env["GIT_INDEX_FILE"] = str(index)
        try:
            return subprocess.run(
                ["git", "--no-pager", "--literal-pathspecs", *settings, *arguments],
                cwd=self.directory,
                env=env,
                input=b"" if given is None else given,
                capture_output=True,
                pass_fds=self._held,
                # Ctrl-C in the terminal, or killing the dispatcher, never interrupts git.
                start_new_session=True,
                check=False,
            )
        except OSError as error:
            if not self.directory.is_dir():
                raise UsageError(f"directory `{self.directory}` does not exist") from None
            if isinstance(error, FileNotFoundError):
                raise UsageError("git is not installed", "worktrees need git 2.38 or newer") from None
            raise Unavailable(f"git cannot be started: {error}", "try again later") from None


def scrubbed(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environ.items() if not name.startswith("GIT_") or _KEPT.fullmatch(name)}
