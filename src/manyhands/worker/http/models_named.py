"""Finds the model of a request: the one it names, or the only one that does the requested task."""

from manyhands.worker.backends.backend import ModelTask
from manyhands.worker.http.bodies import BadBody, Body
from manyhands.worker.loop.worker_loop import WorkerLoop
from manyhands.worker.values.item_answers import WrongTask


def model_for(engine: WorkerLoop, body: Body, *tasks: ModelTask) -> str:
    name = body.get("model")
    fitting = [each.name for each in engine.descriptions() if each.task in tasks and each.modality == "text"]
    if name is None or name == "":
        if len(fitting) == 1:
            return fitting[0]
        there = f"use one of {', '.join(fitting)}" if fitting else "this worker hosts none for this task"
        raise BadBody(f"`model` is missing; {there}")
    if not isinstance(name, str):
        raise BadBody("`model` must be a string")
    description = engine.description(name)
    if description.modality != "text":
        raise WrongTask(f"`{name}` is a part of a model", 'name the model, and set `"modality": "image"`')
    if description.task not in tasks:
        there = f"use {' or '.join(f'`{each}`' for each in fitting)}" if fitting else "this worker hosts none that does"
        raise WrongTask(f"model `{name}` does {description.task}, not {' or '.join(tasks)}", there)
    return name
