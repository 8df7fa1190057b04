"""Which model a request means: the one it names, or the only one that does what is asked."""

from manyhands.models.backends.interface import Task
from manyhands.models.engine.answers import WrongTask
from manyhands.models.engine.engine import Engine
from manyhands.models.server.bodies import BadRequest, Body


def model_for(engine: Engine, body: Body, *tasks: Task) -> str:
    name = body.get("model")
    fitting = [each.name for each in engine.descriptions() if each.task in tasks]
    if name is None or name == "":
        if len(fitting) == 1:
            return fitting[0]
        raise BadRequest(f"`model` is missing; there is {', '.join(fitting) or 'none that does this'}")
    if not isinstance(name, str):
        raise BadRequest("`model` must be a string")
    description = engine.description(name)
    if description.task not in tasks:
        there = ", ".join(f"`{each}`" for each in fitting) or "no model here does"
        raise WrongTask(f"model `{name}` does not {' or '.join(tasks)} but {description.task}", there)
    return name
