"""What we ask of Ray: its nodes, an actor on each that carries attempts, and room for attempts that ask for some."""

import asyncio
import contextlib
import time
from collections.abc import Callable
from typing import Any

from manyhands.hosts.ray.carrier import Carrier
from manyhands.hosts.ray.carrying import Carrying, Gone, kill, short
from manyhands.hosts.ray.demand import Demand
from manyhands.hosts.ray.fleet import Fleet
from manyhands.hosts.ray.joining import NAMESPACE
from manyhands.hosts.ray.messages import (
    AttemptPlace,
    DriverSettings,
    EndedThere,
    KeepWorkers,
    Waits,
    WorkersAre,
    decode_report,
    encode,
)
from manyhands.hosts.ray.node_placement import RayNode, WorkerSeat, pick
from manyhands.hosts.ray.ray_workers import RayWorkers

_LOOK_AGAIN_S = 0.2
_WORTH_A_WORD_S = 10.0
_NODES_KNOWN_S = 0.5
_HELD_CALLS_MAX = 10_000
#: Part of the name of a carrier that serves one attempt only.
_OWN = "attempt-"
#: Part of the name of a model worker of a host with `scaling`: `fleet-NUMBER-HOST`.
_FLEET = "fleet-"


class Cluster:
    def __init__(
        self,
        settings: DriverSettings,
        pass_on: Callable[[bytes, int | None], None],
        died: Callable[[Carrying, str], None],
        tell_workers: Callable[[WorkersAre], None],
        tell_waits: Callable[[Waits], None],
    ) -> None:
        """`pass_on` gets what carriers report and, for an ending, the attempt that it belongs to."""
        import ray

        self._settings = settings
        self._pass_on = pass_on
        self._died = died
        self._tell_workers = tell_workers
        self._tell_waits = tell_waits
        self._actors = ray.remote(Carrier)
        self._shared: dict[str, asyncio.Task[Carrying]] = {}  # by name, carriers that many attempts share
        self._workers = RayWorkers(self._alive, self._worker_at)
        self._fleets: dict[str, Fleet] = {}  # by host
        self._left: dict[str, dict[int, Carrying]] = {}  # host → workers of its fleet that existed before us
        self._listening: set[asyncio.Task[None]] = set()
        self._leaving: set[asyncio.Task[None]] = set()
        self._is_leaving = False
        self._all: set[Carrying] = set()
        self._nodes: tuple[float, list[RayNode]] = (float("-inf"), [])
        self._placing: set[int] = set()
        self._told_of: set[int] = set()  # attempts whose wait for a node was reported
        self._groups: dict[int, Any] = {}  # attempt → what Ray reserves for it
        self._own: dict[int, Carrying] = {}  # attempt → the carrier that serves it alone
        self._demand = Demand()
        self._load: dict[str, int] = {}  # attempts on their way to a node that its carrier does not have yet

    def is_placing(self, attempt: int) -> bool:
        return attempt in self._placing

    async def survey(self) -> dict[int, Carrying]:
        """Find the attempts that earlier drivers left on the nodes, and what is reserved for them."""
        import ray
        from ray.util import list_named_actors, placement_group_table
        from ray.util.placement_group import get_placement_group

        ours = f"{self._settings.journal}:"
        for row in placement_group_table().values():
            name = row["name"]
            if name.startswith(ours) and row["state"] != "REMOVED":
                self._groups[int(name.removeprefix(ours))] = get_placement_group(name)
        asked: dict[str, asyncio.Task[Carrying]] = {}
        for name in list_named_actors():
            if name.startswith(ours):
                tag, _, node = name.removeprefix(ours).rpartition(":")
                with contextlib.suppress(ValueError):  # it died meanwhile
                    actor = ray.get_actor(name, NAMESPACE)
                    if not _has_started(actor):
                        # Requested by a driver that is gone: it has no attempt, and may wait for a node without end.
                        await kill(actor)
                        continue
                    asked[tag] = asyncio.ensure_future(self._welcomed(actor, node, is_own=tag.startswith(_OWN)))
                    if not tag.startswith((_OWN, _FLEET)):
                        self._shared[name] = asked[tag]  # others that want this carrier must not ask a second time
        found: dict[int, Carrying] = {}
        answers = await asyncio.gather(*asked.values(), return_exceptions=True)
        for tag, carrying in zip(asked, answers, strict=True):
            if isinstance(carrying, Carrying):
                found.update(dict.fromkeys(carrying.found, carrying))
                if carrying.is_own:
                    self._own.update(dict.fromkeys(carrying.found, carrying))
                elif tag.startswith(_FLEET):
                    number, _, host = tag.removeprefix(_FLEET).partition("-")
                    self._left.setdefault(host, {})[int(number)] = carrying
            elif not isinstance(carrying, Gone):
                raise carrying
        return found

    def keep_workers(self, wish: KeepWorkers) -> None:
        """Keep this many model workers. Call it only after the survey."""
        fleet = self._fleets.get(wish.host)
        if fleet is None:
            fleet = self._fleets[wish.host] = Fleet(
                wish.host,
                _asked(wish.resources, wish.labels),
                lambda number: self._hired(number, wish),
                lambda carrying: self._prepared(carrying, wish),
                self._tell_workers,
            )
            for number, carrying in self._left.pop(wish.host, {}).items():
                fleet.find(number, carrying)
        fleet.want(wish.count)

    def dismiss_left(self) -> None:
        """Dismiss model workers of hosts that no longer have `scaling`."""
        for carrying in (one for numbered in self._left.values() for one in numbered.values()):
            if not carrying.attempts:
                self._let_leave(carrying)
        self._left.clear()

    async def place(self, attempt: int, place: AttemptPlace) -> Carrying:
        """A carrier on a node that has what the attempt asks for. Raises `Gone` if there is none in time."""
        self._placing.add(attempt)
        try:
            if place.fleet:
                return await self._fleets[place.fleet].place(place)
            if place.model:
                began_at = time.monotonic()
                return await self._workers.place(place, lambda: self._note_lack(attempt, began_at, place))
            if place.resources:
                return await self._reserved(attempt, place)
            node = await self._spread(attempt, place)
            self._load[node] = self._load.get(node, 0) + 1
            try:
                return await self._carrier_on(node)
            finally:
                self._load[node] -= 1
        finally:
            self._placing.discard(attempt)
            self._told_of.discard(attempt)
            self._demand.met(attempt)

    def give_back(self, attempt: int) -> None:
        from ray.util import remove_placement_group

        own = self._own.pop(attempt, None)
        if own is not None:
            self._let_leave(own)
        group = self._groups.pop(attempt, None)
        if group is not None:
            remove_placement_group(group)
        for fleet in self._fleets.values():
            fleet.adjust()

    def kept_rooms(self) -> list[int]:
        """The attempts that Ray has reserved resources for."""
        return list(self._groups)

    async def leave(self) -> None:
        self._demand.clear()
        await asyncio.gather(*(fleet.leave() for fleet in self._fleets.values()))
        for listening in self._listening:
            listening.cancel()
        self._is_leaving = True
        on_their_way = [made for made in self._shared.values() if not made.done()]  # for attempts that were stopped
        for made in on_their_way:
            made.cancel()
        await asyncio.gather(*on_their_way, return_exceptions=True)
        await asyncio.gather(*(carrying.take_away() for carrying in self._all))
        for attempt in list(self._groups):
            self.give_back(attempt)

    # Nodes

    async def _spread(self, attempt: int, place: AttemptPlace) -> str:
        began_at = time.monotonic()
        while True:
            in_flight = dict(self._load)
            for carrying in self._all:
                in_flight[carrying.node] = in_flight.get(carrying.node, 0) + len(carrying.attempts)
            node = pick(self._alive(), place.labels, in_flight)
            if node is not None:
                return node.id
            self._note_lack(attempt, began_at, place)
            await asyncio.sleep(_LOOK_AGAIN_S)

    def _note_lack(self, attempt: int, began_at: float, place: AttemptPlace) -> None:
        """Tell the autoscaler that there is no node, as it sees no reservation. Raises `Gone` in the end."""
        self._demand.wants(attempt, {"CPU": 1.0}, place.labels)
        self._check_patience(attempt, began_at, place, f"the Ray cluster has no node{_selected(place.labels)}")

    async def _reserved(self, attempt: int, place: AttemptPlace) -> Carrying:
        """Ray finds the node and reserves resources. What it cannot place yet is demand that its autoscaler sees."""
        from ray.util import placement_group, placement_group_table

        group = placement_group(
            [place.resources],
            strategy="STRICT_PACK",
            name=f"{self._settings.journal}:{attempt}",
            lifetime="detached",
            bundle_label_selector=[place.labels] if place.labels else None,
        )
        self._groups[attempt] = group
        began_at, look_s = time.monotonic(), 0.005
        why = f"no node of the Ray cluster had room for {_asked(place.resources, place.labels)}"
        while True:
            row = placement_group_table(group)
            if row["state"] == "CREATED":
                break
            self._check_patience(attempt, began_at, place, why)
            await asyncio.sleep(look_s)
            look_s = min(_LOOK_AGAIN_S, 2 * look_s)
        node = row["bundles_to_node_id"][0]
        if place.resources.get("GPU"):
            return await self._with_gpus(attempt, node, place.resources["GPU"], group)
        return await self._carrier_on(node)

    def _check_patience(self, attempt: int, began_at: float, place: AttemptPlace, why: str) -> None:
        """Raise `Gone` when the attempt has waited as long as it may, and report a longer wait."""
        waits_s = time.monotonic() - began_at
        if waits_s >= place.within_s:
            raise Gone(why)
        if waits_s >= _WORTH_A_WORD_S and attempt not in self._told_of:
            self._told_of.add(attempt)
            self._tell_waits(Waits(attempt, f"{why}; it may wait for {place.within_s:g} s"))

    def _alive(self) -> list[RayNode]:
        import ray

        at, known = self._nodes
        if time.monotonic() - at > _NODES_KNOWN_S:
            known = [RayNode(n["NodeID"], n["Labels"], n["Resources"]) for n in ray.nodes() if n["Alive"]]
            self._nodes = (time.monotonic(), known)
        return known

    # Carriers

    async def _carrier_on(self, node: str) -> Carrying:
        return await self._shared_one(node, f"node-{node[:12]}", 0)

    async def _worker_at(self, seat: WorkerSeat) -> Carrying:
        return await self._shared_one(seat.node, f"worker-{seat.number}-{seat.node[:12]}", seat.gpus)

    async def _shared_one(self, node: str, tag: str, gpus: float) -> Carrying:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        name = f"{self._settings.journal}:{tag}:{node}"
        known = self._shared.get(name)
        if known is None or (known.done() and (known.exception() is not None or known.result() not in self._all)):
            strategy = NodeAffinitySchedulingStrategy(node, soft=False)
            known = self._shared[name] = asyncio.ensure_future(self._made(node, tag, strategy, gpus))
        return await asyncio.shield(known)

    async def _with_gpus(self, attempt: int, node: str, gpus: float, group: Any) -> Carrying:
        """A carrier for this attempt alone: Ray tells only the actor that asked for GPUs which ones it has."""
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        strategy = PlacementGroupSchedulingStrategy(group)
        made = await self._made(node, f"{_OWN}{attempt}", strategy, gpus, is_own=True)
        self._own[attempt] = made
        return made

    async def _hired(self, number: int, wish: KeepWorkers) -> Carrying:
        """A carrier wherever Ray finds room for a model worker. Until then it is demand that the autoscaler sees."""
        asked = dict(wish.resources)
        tag = f"{_FLEET}{number}-{wish.host}"
        actor = self._actor(
            "",
            tag,
            num_cpus=asked.pop("CPU", 0),
            num_gpus=asked.pop("GPU", 0),
            memory=asked.pop("memory", None),
            resources=asked or None,
            label_selector=wish.labels or None,
        )
        try:
            return await self._welcomed(actor, "")
        except asyncio.CancelledError:
            await kill(actor)
            raise

    async def _prepared(self, carrying: Carrying, wish: KeepWorkers) -> str:
        if carrying.misfit:
            return carrying.misfit
        trouble = str(await carrying.ask("prepare", encode(wish.ground)))
        return f"node {carrying.node[:12]}: {trouble}" if trouble else ""

    def _let_leave(self, carrying: Carrying) -> None:
        task = asyncio.ensure_future(carrying.take_away())
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    async def _made(self, node: str, tag: str, strategy: Any, gpus: float, is_own: bool = False) -> Carrying:
        actor = self._actor(node, tag, num_cpus=0, num_gpus=gpus, scheduling_strategy=strategy)
        try:
            return await self._welcomed(actor, node, is_own)
        except asyncio.CancelledError:
            if self._is_leaving:  # otherwise it may be an older one with attempts
                await kill(actor)
            raise

    def _actor(self, node: str, tag: str, **asked: Any) -> Any:
        journal = self._settings.journal
        return self._actors.options(
            name=f"{journal}:{tag}:{node}",
            namespace=NAMESPACE,
            lifetime="detached",
            get_if_exists=True,
            max_restarts=0,
            max_concurrency=_HELD_CALLS_MAX,
            **asked,
        ).remote(node, f"{journal}-{tag}", self._settings.lease_s)

    async def _welcomed(self, actor: Any, node: str, is_own: bool = False) -> Carrying:
        from ray.exceptions import ActorUnavailableError, RayError

        while True:
            try:
                welcome = await actor.hello.remote()
                break
            except ActorUnavailableError:
                await asyncio.sleep(_LOOK_AGAIN_S)
            except RayError as error:
                where = f"on node {node[:12]}" if node else "there"
                raise Gone(f"no process could be started {where}: {short(error)}") from None
        carrying = Carrying(welcome.node or node, actor, welcome, is_own)
        self._all.add(carrying)
        task = asyncio.ensure_future(self._listen(carrying))
        self._listening.add(task)
        task.add_done_callback(self._listening.discard)
        return carrying

    async def _listen(self, carrying: Carrying) -> None:
        last = 0
        try:
            while True:
                last, contents = await carrying.ask("news", last)
                for content in contents:
                    report = decode_report(content)
                    self._pass_on(content, report.attempt if isinstance(report, EndedThere) else None)
        except Gone as why:
            self._all.discard(carrying)
            for fleet in self._fleets.values():
                fleet.note_gone(carrying)
            self._died(carrying, str(why))


def _has_started(actor: Any) -> bool:
    from ray._private.state import actors

    return bool(actors(actor._actor_id.hex()).get("State") == "ALIVE")


def _asked(resources: dict[str, float], labels: dict[str, str]) -> str:
    amounts = (
        f"{amount / 1e9:g} GB memory" if name == "memory" else f"{amount:g} {name}"
        for name, amount in resources.items()
    )
    return ", ".join(amounts) + _selected(labels)


def _selected(labels: dict[str, str]) -> str:
    return " with " + " ".join(f"{key}={value}" for key, value in labels.items()) if labels else ""
