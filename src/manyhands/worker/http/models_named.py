"""Which model a request means: the one it names, or the only one that does what is asked."""

from manyhands.worker.backends.backend import Task
from manyhands.worker.http.bodies import BadBody, Body
from manyhands.worker.loop.worker_loop import WorkerLoop
from manyhands.worker.values.item_answers import WrongTask


def model_for(engine: WorkerLoop, body: Body, *tasks: Task) -> str:
    name = body.get("model")
    fitting = [each.name for each in engine.descriptions() if each.task in tasks]
    if name is None or name == "":
        if len(fitting) == 1:
            return fitting[0]
        raise BadBody(f"`model` is missing; there is {', '.join(fitting) or 'none that does this'}")
    if not isinstance(name, str):
        raise BadBody("`model` must be a string")
    description = engine.description(name)
    if description.task not in tasks:
        there = ", ".join(f"`{each}`" for each in fitting) or "no model here does"
        raise WrongTask(f"model `{name}` does not {' or '.join(tasks)} but {description.task}", there)
    return name
