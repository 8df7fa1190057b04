"""Questions about which tasks wait for which. Every walk is iterative: a chain may be a million tasks long.

`needs` maps a task to the tasks it waits for. A task that is not a key needs nothing. Answers depend only on the
order of the mapping.
"""

from collections.abc import Iterator, Mapping, Sequence

Needs = Mapping[str, Sequence[str]]


def find_cycle(needs: Needs) -> list[str] | None:
    """Tasks of which each needs the next and the last needs the first. None if there is no cycle."""
    return next(cycles(needs), None)


def cycles(needs: Needs) -> Iterator[list[str]]:
    """Cycles that have no task in common. Breaking all of them may uncover others behind them."""
    finished: set[str] = set()
    for start in needs:
        if start in finished:
            continue
        path = [start]
        depth_of = {start: 0}
        told: list[int] = []  # depths on the path that are part of a reported cycle, rising
        ahead = [iter(needs[start])]
        while ahead:
            task = next(ahead[-1], None)
            if task is None:
                ahead.pop()
                left = path.pop()
                finished.add(left)
                del depth_of[left]
                if told and told[-1] == len(path):
                    told.pop()
            elif task in depth_of:
                depth = depth_of[task]
                if not told or told[-1] < depth:
                    told.extend(range(depth, len(path)))
                    yield path[depth:]
            elif task not in finished and task in needs:
                depth_of[task] = len(path)
                path.append(task)
                ahead.append(iter(needs[task]))


def chain_lengths(needs: Needs) -> dict[str, int]:
    """For each task that occurs, how many tasks the longest chain of needs up to it has, itself included.

    Given dependents instead of needs, it is the longest chain that waits for the task. Tasks on a cycle, and tasks
    behind one, are left out.
    """
    waits_for = {task: len(its_needs) for task, its_needs in needs.items()}
    dependents = dependents_of(needs)
    length = {task: 1 for task in (*dependents, *needs) if not waits_for.get(task)}
    order = list(length)
    for task in order:  # grows as it is walked
        for dependent in dependents.get(task, ()):
            length[dependent] = max(length.get(dependent, 0), length[task] + 1)
            waits_for[dependent] -= 1
            if not waits_for[dependent]:
                order.append(dependent)
    return {task: length[task] for task in order}


def dependents_of(needs: Needs) -> dict[str, list[str]]:
    """The same graph in the other direction: a task → the tasks that need it."""
    dependents: dict[str, list[str]] = {}
    for task, its_needs in needs.items():
        for need in its_needs:
            dependents.setdefault(need, []).append(task)
    return dependents
