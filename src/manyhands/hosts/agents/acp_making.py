"""Makes processes that speak ACP: for one attempt, or for several that share it."""

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from manyhands.core.commands import StartAttempt
from manyhands.hosts.agents.acp_process import ERRORS_OF_ALL, AcpProcess
from manyhands.hosts.agents.acp_wire import AcpWire
from manyhands.hosts.agents.adapter import Adapter
from manyhands.hosts.agents.agent_settings import AgentSettings
from manyhands.hosts.agents.confinement import confined, make_own_places, rights_for, rights_in, shared_places
from manyhands.hosts.agents.described_agent import KNOWN
from manyhands.hosts.agents.settings_files import with_settings
from manyhands.hosts.executors.asking import resuming_variables
from manyhands.hosts.executors.attempt_steps import CommandSearch, refusal_of
from manyhands.hosts.executors.process import MakeProcess, ProcessGroup, marker_of, shared_marker, spawn_gated
from manyhands.hosts.executors.process_source import MARKER
from manyhands.hosts.executors.process_table import Census
from manyhands.hosts.executors.said_ending import report_variables
from manyhands.hosts.executors.template import environment

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC


class _Circumstances(Struct, frozen=True):
    env: dict[str, str]
    cwd: Path
    marker: str
    temporary: Path
    errors: int
    make: Callable[[MakeProcess], object] | None


class AcpMaking:
    """Raises CannotStart where there can be no process."""

    def __init__(self, settings: AgentSettings, census: Census) -> None:
        self._settings = settings
        self._census = census
        self._known = _known(settings.run)
        self._commands = CommandSearch()

    def alone(self, order: StartAttempt, directory: Path, place: Path, errors: int) -> AcpProcess:
        settings, temporary = self._settings, Path(tempfile.mkdtemp(prefix="mh-"))
        env = environment(order, directory, None, settings.env) | report_variables(directory) | resuming_variables(True)
        make = None
        if settings.confine != "off":
            own = [*self.own_places(env), directory, temporary]
            make = confined(rights_for(settings.confine, order.task, place, own, env, settings.hide))
        marker = marker_of(settings.journal, order.attempt)
        return self._spawned(_Circumstances(env, place, marker, temporary, errors, make))

    def shared(self, order: StartAttempt, root: Path, place: Path) -> AcpProcess:
        """All that share it work below `root`; what is only about one attempt is not in its environment."""
        settings, temporary = self._settings, Path(tempfile.mkdtemp(prefix="mh-"))
        env = environment(order, temporary, None, settings.env)
        env = {name: value for name, value in env.items() if not name.startswith("MANYHANDS_") or name == MARKER}
        make = None
        if settings.confine != "off":
            own = [*self.own_places(env), temporary]
            make = confined(rights_in(shared_places(root, place), own, env, settings.hide))
        errors = os.open(temporary / ERRORS_OF_ALL, _NEW_FILE, 0o600)
        try:
            marker = shared_marker(settings.journal)
            return self._spawned(_Circumstances(env, root, marker, temporary, errors, make))
        finally:
            os.close(errors)

    def own_places(self, env: Mapping[str, str]) -> list[Path]:
        """Where the program keeps its conversations and settings: of a program that is known, those of its name."""
        home = Path(env.get("HOME", "/"))
        if self._known is not None:
            return make_own_places(self._known.own, home)
        name = Path(self._settings.run[0]).name
        return [home / place / name for place in (".config", ".local/share", ".local/state")] + [home / f".{name}"]

    def _spawned(self, here: _Circumstances) -> AcpProcess:
        settings, env = self._settings, {**here.env, "TMPDIR": str(here.temporary)}
        argv = [argument.replace("{model}", settings.model) for argument in (*settings.run, *settings.args)]

        def spawn(wire: AcpWire) -> ProcessGroup:
            return spawn_gated(
                argv,
                env=env,
                cwd=here.cwd,
                marker=here.marker,
                grace_s=settings.grace_s,
                census=self._census,
                input=str(wire.fifo),
                output=wire.output,
                errors=here.errors,
                make=here.make,
            )

        try:
            if self._known is not None:
                env |= with_settings(self._known.settings, here.temporary, env)
            self._commands.find(argv[0], "run", here.cwd, env)
            return AcpProcess(spawn, here.temporary)
        except BaseException as error:
            shutil.rmtree(here.temporary, ignore_errors=True)
            if isinstance(error, OSError | ValueError):
                raise refusal_of(error, argv) from error
            raise


def _known(run: Sequence[str]) -> Adapter | None:
    """What is known of the program besides that it speaks ACP."""
    for word in run:
        name = Path(word).name.removesuffix("-acp").removesuffix("-agent")
        if name in KNOWN:
            return KNOWN[name]
    return None
