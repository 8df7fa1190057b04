"""Model workers on the nodes of a cluster: prompts are computed there, by a worker on each GPU."""

from pathlib import Path

import pytest

from hosts.ray_host.ray_stage import RayCluster
from llama_server import cached_model
from manyhands.hosts.executors import process_table
from surfaces.cli.console import Console

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ray")]


def test_prompts_are_computed_by_model_workers_that_have_a_gpu_each(cluster: RayCluster, tmp_path: Path) -> None:
    console = Console(tmp_path)
    models = "".join(f'[models.{name}]\npath = "{cached_model()}"\ncontext = 512\n' for name in ("one", "two"))
    console.config(
        f'{models}[hosts.far]\ntype = "ray"\naddress = "{cluster.address}"\nmodels = ["one", "two"]\nwidth = 6\n'
    )
    console.plan(
        [
            {
                "id": f"{model}-{n}",
                "kind": "text",
                "prompt": "hello",
                "args": {"model": model, "max_tokens": 4},
                "check": ["sh", "-c", 'echo "$CUDA_VISIBLE_DEVICES" >> "gpus-$0"', model],
            }
            for n in range(3)
            for model in ("one", "two")
        ]
    )
    done = console.run("run", "plan.jsonl")
    assert done.code == 0, done.err
    records = console.book().runs["plan-1"].records
    assert [records[f"one-{n}"].history[-1].ending.tokens_out for n in range(3)] == [4, 4, 4]
    # Each model was asked of the worker that has it: on one GPU, and not on the same.
    gpus = [set((tmp_path / f"gpus-{model}").read_text().split()) for model in ("one", "two")]
    assert sorted(gpus, key=sorted) == [{"0"}, {"1"}]
    assert [process for process in process_table.processes() if _is_worker_of(process.pid, tmp_path)] == []


def _is_worker_of(pid: int, directory: Path) -> bool:
    try:
        return str(directory) in Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return False


def test_a_model_that_is_not_configured_is_refused_before_anything_runs(tmp_path: Path) -> None:
    console = Console(tmp_path)
    console.config('[hosts.far]\ntype = "ray"\nmodels = ["one"]\n')
    console.plan([{"id": "a", "kind": "text", "prompt": "hello"}])
    done = console.run("run", "plan.jsonl")
    assert done.code == 2
    assert "there is no model for this host" in done.err
