"""A worker as a host: the dispatcher starts it, tasks name their models, and it ends when the run has finished."""

import json
from pathlib import Path

import psutil
import pytest
from PIL import Image

from llama_server import cached_model
from surfaces.cli.console import Console
from worker.http.live_worker import Worker
from worker.tiny_image_models import WIDTH, write_image_model

#: All tests use the same worker process.
pytestmark = pytest.mark.xdist_group("model-worker")


@pytest.fixture
def console(tmp_path: Path) -> Console:
    return Console(tmp_path)


def config(minilm: Path, **host: object) -> str:
    lines = [
        "[models.minilm]",
        f'path = "{minilm}"',
        "[models.random]",
        f'path = "{cached_model()}"',
        "context = 512",
        "[hosts.gpu]",
        'type = "worker"',
        "width = 4",
        *(f"{name} = {json.dumps(value)}" for name, value in host.items()),
    ]
    return "\n".join(lines) + "\n"


def test_tasks_are_answered_and_embedded_by_the_models_they_name(console: Console, minilm: Path) -> None:
    console.config(config(minilm, model="minilm", threads=1))
    chat = {"model": "random", "max_tokens": 4}
    tasks = [{"id": f"embed-{number}", "kind": "text", "prompt": f"text {number}"} for number in range(8)]
    tasks.append({"id": "chat", "kind": "text", "prompt": "hello", "args": chat})
    tasks.append({"id": "nobody", "kind": "text", "prompt": "hello", "args": {"model": "nobody"}})
    console.plan(tasks)
    done = console.run("run", "plan.jsonl")
    assert done.code == 1, done.err
    records = console.book().runs["plan-1"].records
    ending_of = {name: record.history[-1].ending for name, record in records.items()}
    assert {str(ending_of[f"embed-{number}"].kind) for number in range(8)} == {"done"}
    assert len(json.loads(ending_of["embed-3"].result)[0]) == 384
    assert (str(ending_of["chat"].kind), ending_of["chat"].tokens_out) == ("done", 4)
    assert str(ending_of["nobody"].kind) == "failed"
    assert "names model `nobody` in its `args`; host `gpu` has `minilm`, `random`" in ending_of["nobody"].detail
    assert len(records["nobody"].history) == 1  # another try could not help
    assert [each.pid for each in psutil.process_iter(["cmdline"]) if str(console.directory) in _line(each)] == []


def _line(process: psutil.Process) -> str:
    return " ".join(process.info["cmdline"] or ())


def test_a_task_embeds_an_image_that_its_prompt_names(console: Console) -> None:
    folder = write_image_model(console.directory / "clip", "clip")
    (console.directory / "photos").mkdir()
    Image.new("RGB", (60, 80), "red").save(console.directory / "photos" / "red.png")
    model = f'[models.clip]\npath = "{folder}"\nimages_from = ["photos"]\n'
    console.config(model + '[hosts.gpu]\ntype = "worker"\nwidth = 1\nthreads = 1\n')
    image = {"model": "clip", "modality": "image"}
    console.plan([{"id": "seen", "kind": "image", "prompt": "photos/red.png", "args": image}])
    done = console.run("run", "plan.jsonl")
    assert done.code == 0, done.err
    ending = console.book().runs["plan-1"].records["seen"].history[-1].ending
    assert len(json.loads(ending.result)[0]) == WIDTH


def test_a_worker_that_runs_already_is_used_by_its_url(console: Console, worker: Worker) -> None:
    before = worker.figure("items_total", "minilm")
    console.config(f'[hosts.gpu]\ntype = "worker"\nurl = "{worker.url}"\nmodel = "minilm"\nwidth = 2\n')
    console.plan([{"id": "a", "kind": "text", "prompt": "hello"}])
    done = console.run("run", "plan.jsonl")
    assert done.code == 0, done.err
    assert worker.figure("items_total", "minilm") == before + 1


def test_a_host_whose_model_is_not_configured_is_refused_before_anything_runs(console: Console, minilm: Path) -> None:
    console.config(config(minilm, models=["minilm", "smoll"]))
    console.plan([{"id": "a", "kind": "text", "prompt": "hello"}])
    done = console.run("run", "plan.jsonl")
    assert done.code == 2
    assert "`smoll`" in done.err or "smoll" in done.err
    assert "must be a model of [models.…]" in done.err
