"""The configs in the guides load, and run against real parts: llama.cpp with Beads, Redis, and the model worker."""

import json
import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
from PIL import Image

from llama_server import LlamaServer
from manyhands.core.state import Record
from manyhands.sources.config.config_reading import load_config
from surfaces.cli.console import Console, console
from worker.tiny_image_models import WIDTH, write_image_model

__all__ = ["console"]

GUIDES = sorted((Path(__file__).parents[1] / "docs" / "guides").glob("*.md"))
FILE = re.compile(
    r"^```(?:toml|python)\n# (manyhands\.toml|embeddings\.toml|pipeline\.py)\n(.*?)^```", re.MULTILINE | re.DOTALL
)


def files_of(guide: Path) -> dict[str, str]:
    return dict(FILE.findall(guide.read_text()))


@pytest.mark.parametrize("guide", [guide for guide in GUIDES if files_of(guide)], ids=lambda guide: guide.stem)
def test_the_config_of_a_guide_loads(guide: Path, tmp_path: Path) -> None:
    (tmp_path / "manyhands.toml").write_text(files_of(guide)["manyhands.toml"])
    config = load_config(tmp_path, environ={})
    assert config.hosts
    assert config.core_hosts()


def test_the_pipeline_of_the_guide_works_through_a_stream(console: Console, redis_url: str) -> None:
    from redis import Redis

    guide = next(guide for guide in GUIDES if guide.stem == "pipeline")
    files = files_of(guide)
    console.write("pipeline.py", files["pipeline.py"])
    console.config(re.sub(r"\{ (stream|type)", rf'{{ url = "{redis_url}", \1', files["manyhands.toml"]))
    with Redis.from_url(redis_url, decode_responses=True) as redis:
        for number in range(3):
            redis.xadd("items", {"url": f"https://example.org/{number}", "app": "search"})
        live = console.start("serve", "--port", "0")
        deadline = time.monotonic() + 120
        while not _is_done(redis) or redis.xlen("results") < 3:
            assert time.monotonic() < deadline, live.err
            assert live.process.poll() is None, live.err
            time.sleep(0.05)
    live.process.terminate()
    assert live.end().code == 0
    records = next(iter(console.book().runs.values())).records.values()
    assert [(str(one.state), one.last_ending and one.last_ending.result) for one in records] == [
        ("done", '{"length": 21}')
    ] * 3


def test_the_pipeline_of_the_guide_embeds_images_and_texts(console: Console, redis_url: str) -> None:
    from redis import Redis

    guide = next(guide for guide in GUIDES if guide.stem == "pipeline")
    write_image_model(console.directory / "models" / "clip", "clip")
    (console.directory / "photos").mkdir()
    Image.new("RGB", (60, 80), "red").save(console.directory / "photos" / "cat.jpg")
    config = files_of(guide)["embeddings.toml"]
    console.write("embeddings.toml", re.sub(r"\{ (stream|type)", rf'{{ url = "{redis_url}", \1', config))
    entries = re.findall(r"^redis-cli XADD items '\*' task '(.*)'$", guide.read_text(), re.MULTILINE)
    assert len(entries) == 2
    with Redis.from_url(redis_url, decode_responses=True) as redis:
        for entry in entries:
            redis.xadd("items", {"task": entry})
        live = console.start("serve", "--config", "embeddings.toml", "--port", "0")
        live.wait_until(lambda: redis.xlen("vectors") == 2, "two vectors")
    live.process.terminate()
    assert live.end().code == 0
    widths = [len(json.loads(one.last_ending.result)[0]) for one in _records(console) if one.last_ending]
    assert widths == [WIDTH, WIDTH]


def test_the_boxes_of_the_guide_work_through_beads(console: Console, llama_server: LlamaServer) -> None:
    """A llama.cpp server stands in for the three boxes."""
    guide = next(guide for guide in GUIDES if guide.stem == "ollama-and-beads")
    config = re.sub(r'url = "[^"]*"', f'url = "{llama_server.url}"', files_of(guide)["manyhands.toml"])
    config = re.sub(r'model = "[^"]*"', f'model = "{llama_server.model}"', config)
    console.config(config.replace('probe = "ollama"', 'probe = "llamacpp"'))
    (console.directory / ".beads").mkdir()
    now = "2026-11-01T10:00:00Z"
    rows = [
        {"id": f"shop-{label}", "title": f"Say something about {label}", "status": "open", "priority": 1}
        | {"issue_type": "task", "labels": [label], "created_at": now, "updated_at": now}
        for label in ("design", "docs", "parser")
    ]
    console.write(".beads/issues.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    live = console.start("serve", "--port", "0")
    file = console.directory / ".beads/issues.jsonl"
    live.wait_until(lambda: file.read_text().count('"status":"closed"') == 3, "three closed issues")
    live.process.terminate()
    assert live.end().code == 0
    records = next(iter(console.book().runs.values())).records
    hosts = {id: record.history[-1].host for id, record in records.items() if record.history}
    assert hosts == {"shop-design": "reasoning", "shop-docs": "text", "shop-parser": "code"}
    assert sorted(path.name for path in (console.directory / "answers").iterdir()) == [
        f"{id}.md" for id in sorted(hosts)
    ]


#: Adds a line to each file that its prompt lets it change.
AGENT = """#!{python}
import pathlib, sys
changeable = sys.argv[2].split("Change only these files:\\n")[1].split("\\n\\n")[0]
for line in changeable.splitlines():
    with pathlib.Path(line[2:].split(" (")[0]).open("a") as file:
        file.write("# uses the new logger\\n")
"""


@pytest.mark.slow
def test_the_subplans_of_the_guide_land_as_one_commit_each(console: Console) -> None:
    guide = next(guide for guide in GUIDES if guide.stem == "subplans")
    [block] = re.findall(r"^```sh\n(.*?)^```", guide.read_text(), re.MULTILINE | re.DOTALL)
    modules = [f"src/{package}/{name}.py" for package in ("shop", "cart", "mail") for name in ("a", "b", "c", "d")]
    for module in modules:
        console.directory.joinpath(module).parent.mkdir(parents=True, exist_ok=True)
        console.write(module, "import logging\n" * 1_000)
    _git(console, "init", "-q")
    _git(console, "add", "-A")
    _git(console, "commit", "-q", "-m", "first")
    programs = console.directory / ".git" / "programs"
    programs.mkdir()
    for name, text in (("claude", AGENT.format(python=sys.executable)), ("manyhands", MANYHANDS)):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    env = console.env | IDENTITY | {"PATH": f"{programs}:{console.env['PATH']}"}
    typed = subprocess.run(["sh", "-ec", block], cwd=console.directory, env=env, capture_output=True, text=True)
    assert typed.returncode == 0, typed.stderr
    tasks = tomllib.loads((console.directory / "change.toml").read_text())["task"]
    assert len(tasks) > 1
    commits = _git(console, "log", "--format=%H", "--reverse").split()[1:]
    changed = [_git(console, "show", "--format=", "--name-only", commit).split() for commit in commits]
    assert sorted(changed) == sorted(sorted(task["claims"]["write"]) for task in tasks), "one commit a leaf"
    assert sorted(file for files in changed for file in files) == sorted(modules)
    assert all((console.directory / module).read_text().endswith("# uses the new logger\n") for module in modules)


MANYHANDS = f"""#!/bin/sh
exec {sys.executable} -m manyhands "$@"
"""
IDENTITY = {
    f"GIT_{who}_{what}": f"{who.lower()}@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
}


def _git(console: Console, *arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments],
        cwd=console.directory,
        env=console.env | IDENTITY,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def _records(console: Console) -> list[Record]:
    return list(next(iter(console.book().runs.values())).records.values())


def _is_done(redis: object) -> bool:
    groups = redis.xinfo_groups("items")  # type: ignore[attr-defined]
    return bool(groups) and groups[0]["entries-read"] == 3 and groups[0]["pending"] == 0
