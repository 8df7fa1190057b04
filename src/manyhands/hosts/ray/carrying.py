"""The driver's side of a carrier: it asks the carrier until it has answered, or is known to be dead."""

import asyncio
import contextlib
import os
from typing import Any

import manyhands
from manyhands.hosts.executors.output_text import one_line
from manyhands.hosts.ray.carrier import Superseded, Welcome

_LOOK_AGAIN_S = 0.2
_LEFT_WITHIN_S = 5.0
_DEAD_WITHIN_S = 5.0
_LOOK_FOR_DEATH_S = 0.02


class Gone(Exception):
    """The carrier is dead or did not start. The message has the reason."""


class Carrying:
    """The driver's side of one carrier."""

    def __init__(self, node: str, actor: Any, welcome: Welcome, is_own: bool) -> None:
        self.node = node
        self.is_own = is_own  # it serves one attempt only
        self.version = welcome.version
        self.found = welcome.attempts  # the attempts that it had when we came
        self.attempts: set[int] = set()
        self._actor = actor
        self._token = welcome.token

    @property
    def misfit(self) -> str:
        """The message for a node with another version; "" if it has this version."""
        if self.version == manyhands.__version__:
            return ""
        detail = f"node {self.node[:12]} has manyhands {self.version}, this is {manyhands.__version__}"
        return f"{detail}; install the same version there"

    async def ask(self, method: str, *args: Any) -> Any:
        """Ask until the carrier has answered, or raise `Gone`. All its methods may be called twice."""
        from ray.exceptions import ActorUnavailableError, RayActorError, RayTaskError

        while True:
            try:
                return await getattr(self._actor, method).remote(self._token, *args)
            except ActorUnavailableError:
                await asyncio.sleep(_LOOK_AGAIN_S)
            except RayActorError as error:
                raise Gone(short(error)) from None
            except RayTaskError as error:
                if isinstance(error.cause, Superseded):
                    # Another dispatcher leads now and has its attempts.
                    os._exit(3)
                raise

    async def take_away(self) -> None:
        with contextlib.suppress(Exception):  # dead or unreachable: then there is nothing to remove
            await asyncio.wait_for(self._actor.leave.remote(), _LEFT_WITHIN_S)
        await kill(self._actor)


async def kill(actor: Any) -> None:
    """Return when Ray reports it dead: `ray.kill` only sends a request, which is lost if this process ends soon."""
    import ray
    from ray.exceptions import ActorUnavailableError, RayActorError

    with contextlib.suppress(Exception):  # the cluster is unreachable
        ray.kill(actor)
        async with asyncio.timeout(_DEAD_WITHIN_S):
            while True:
                try:
                    await actor.__ray_ready__.remote()
                except ActorUnavailableError:
                    pass
                except RayActorError:
                    return
                await asyncio.sleep(_LOOK_FOR_DEATH_S)


def short(error: Exception) -> str:
    """The one line of Ray's long message that says what happened."""
    # Some of Ray's errors consist of several strings.
    text = "".join(error.args) if error.args and all(isinstance(one, str) for one in error.args) else str(error)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    reasons = [line for line in lines if line.startswith(("The actor died because", "ModuleNotFoundError"))]
    return one_line((reasons or lines or [type(error).__name__])[0])
