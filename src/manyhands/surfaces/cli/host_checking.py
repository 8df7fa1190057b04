"""`manyhands host check`: start each agent program once, without spending tokens, and say what is missing."""

import os

from manyhands.errors import UsageError
from manyhands.hosts.agents.landlock import landlock_version
from manyhands.hosts.agents.program_check import what_is_missing
from manyhands.hosts.agents.signing_in import says_signed_in, sign_in_hint
from manyhands.quantities import quantity
from manyhands.sources.config.agent_config import AgentHost
from manyhands.sources.config.config_types import HostConfig, OpenaiHost
from manyhands.surfaces.cli.printing import put_lines
from manyhands.surfaces.cli.settings import Settings


def check_hosts(name: str | None, settings: Settings) -> None:
    config = settings.load()
    hosts = [host for host in config.hosts if name in (None, host.name)]
    if not hosts:
        known = ", ".join(host.name for host in config.hosts)
        raise UsageError(f"there is no host `{name}`", f"the hosts are {known}")
    found = [(host.name, *_state_of(host)) for host in hosts]
    put_lines(f"{host}: {'ok' if good else 'cannot be used'}, {says}" for host, good, says in found)
    bad = [host for host, good, _ in found if not good]
    if bad:
        raise UsageError(f"{len(bad)} of {quantity(len(found), 'host')} cannot be used: {', '.join(bad)}", "see above")


def _state_of(host: HostConfig) -> tuple[bool, str]:
    if isinstance(host, OpenaiHost) and host.api_key_env and not os.environ.get(host.api_key_env, "").strip():
        return False, f"the environment variable {host.api_key_env} is not set"
    if not isinstance(host, AgentHost):
        return True, "nothing to check"
    name, program = host.agent.name, host.agent.run[:1] or (host.agent.name,)
    good, says = what_is_missing(program, host.env)
    if good and name not in ("", "acp"):  # of others nobody knows how they sign in
        signed_in = says_signed_in(name, program, {**os.environ, **host.env})
        # Not "cannot be used": a provider of its own may need no sign-in, or have its key elsewhere.
        says += "; signed in" if signed_in else f"; nobody seems to have signed in: {sign_in_hint(name)}"
    if good and host.confine != "off" and not landlock_version():
        says += "; it runs unconfined, because this kernel has no Landlock"
    return good, says
