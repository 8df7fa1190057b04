"""What must hold after every event. Tests and simulations check it after each one."""

from collections import Counter
from itertools import combinations

from manyhands.core.book import Book
from manyhands.core.claims import conflict
from manyhands.core.values.task import TaskState


def violations(book: Book) -> list[str]:
    """Everything that is wrong with the book; empty if it is sound."""
    return [*_bounds(book), *_claims(book), *_counts(book), *_needs(book), *_waiting(book)]


def _bounds(book: Book) -> list[str]:
    wrong: list[str] = []
    for host in book.hosts.values():
        if (len(host.running) < host.width) != (host.name in book.with_room):
            wrong.append(f"{host.name} has {len(host.running)} of {host.width} but the book is wrong about its room")
        if not host.running and not any(lane.in_flight for lane in host.lanes.values()):
            continue
        # After a cut more may be in flight than the new width, but nothing may have started since.
        newest = max((one.started_at for one in host.running.values()), default=-1.0)
        started_under = [one.width_before for one in host.running.values() if one.started_at == newest]
        if len(host.running) > max([host.width, *started_under]):
            wrong.append(f"{host.name} has {len(host.running)} in flight and width {host.width}")
        in_lane = Counter(one.record.task.kind for one in host.running.values())
        for kind, lane in host.lanes.items():
            if in_lane[kind] != lane.in_flight:
                wrong.append(f"lane {kind} of {host.name} counts {lane.in_flight}, runs {in_lane[kind]}")
            # A learned width may fall below the number in flight. A width in the config binds every start.
            is_fixed = kind in host.host.lanes
            if is_fixed and lane.in_flight > host.host.lanes[kind] and newest > host.configured_at:
                wrong.append(f"lane {kind} of {host.name} has {lane.in_flight} of {lane.width}")
        alone = [one for one in host.running.values() if one.record.task.barrier]
        together = {one.record.barrier for one in host.running.values()}
        if alone and len(host.running) > 1 and (True in together or len(together) > 1):
            wrong.append(f"{alone[0]} needs {host.name} alone, but {len(host.running)} run there")
    for run in book.runs.values():
        if run.concurrency is not None and run.in_flight > run.concurrency:
            newest = max((one.started_at for one in book.running.values() if one.record.run == run.name), default=-1.0)
            if newest > run.bounded_at:
                wrong.append(f"run {run.name} has {run.in_flight} of {run.concurrency}")
        for parent, n in run.children_in_flight.items():
            if n > run.parent_bounds[parent]:
                wrong.append(f"parent {parent} has {n} of {run.parent_bounds[parent]}")
    return wrong


def _claims(book: Book) -> list[str]:
    return [
        f"{one} and {other} hold conflicting claims"
        for one, other in combinations(book.running.values(), 2)
        if conflict(one.claims, other.claims)
    ]


def _counts(book: Book) -> list[str]:
    wrong: list[str] = []
    running = Counter(one.record.run for one in book.running.values())
    for run in book.runs.values():
        of_kind = Counter((record.task.kind, record.state) for record in run.records.values())
        counts: Counter[TaskState] = Counter()
        for (_, state), n in of_kind.items():
            counts[state] += n
        if {state: n for state, n in run.counts.items() if n} != counts:
            wrong.append(f"run {run.name} counts {dict(run.counts)}, has {dict(counts)}")
        told = {(kind, state): n for kind, by_state in run.counts_of_kind.items() for state, n in by_state.items() if n}
        if told != of_kind:
            wrong.append(f"run {run.name} counts {told} by kind, has {dict(of_kind)}")
        if not running[run.name] == run.in_flight == counts[TaskState.RUNNING]:
            wrong.append(f"run {run.name} counts {run.in_flight} in flight, has {running[run.name]}")
    return wrong


def _needs(book: Book) -> list[str]:
    wrong: list[str] = []
    for run in book.runs.values():
        for record in run.records.values():
            unmet = reopened = 0
            for need in record.task.needs:
                met = run.records.get(need)
                if met is None or met.state is not TaskState.DONE:
                    unmet += 1
                    # A need that was done may be wanted again after a task that needs it has started.
                    reopened += met is not None and met.wanted_at > 0.0
            if record.waits_for != unmet:
                wrong.append(f"{record.task.id} waits for {record.waits_for}, {unmet} needs are open")
            if unmet:
                has_started = record.state in (TaskState.RUNNING, TaskState.DONE)
                if record.state is TaskState.READY or (has_started and unmet > reopened):
                    wrong.append(f"{record.task.id} is {record.state} with {unmet} needs open")
    return wrong


def _waiting(book: Book) -> list[str]:
    """Everything that is ready has exactly one place from which it will be started, and nothing else has one."""
    ready = book.ready
    places = dict(Counter(id(entry[3]) for group in ready.groups.values() for entry in group.queue))
    wrong: list[str] = []
    for run in book.runs.values():
        for record in run.records.values():
            has = places.get(id(record), 0)
            if has != (record.state is TaskState.READY or record.held):
                wrong.append(f"{record.task.id} is {record.state} and has {has} places among the ready")
    for group in ready.groups.values():
        if (group.order is None) == (group.parked_on is None):
            wrong.append(f"the group of {group.head.task.id} is both parked and in line, or neither")
    wrong += [
        f"{host.name} is reserved for nobody"
        for host in book.hosts.values()
        if host.kept_for and not host.kept_for.queue
    ]
    wrong += [f"claims are reserved for nobody: {group.key}" for group in ready.reservations if not group.queue]
    return wrong
