"""The same code base makes the same tree: in whatever order it is found, whatever the hash seed."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

from manyhands.sources.split.splitting import split
from manyhands.sources.split.tree_file import tree_as_json
from sources.split.trees import a_source, budget


def _a_graph(seed: int) -> dict[str, list]:
    rng = random.Random(seed)
    files = [[f"{rng.choice('abc')}/{rng.choice('xyz')}/{i}.py", rng.randrange(0, 30_000)] for i in range(200)]
    imports = [[rng.randrange(200), rng.randrange(200)] for _ in range(400)]
    commits = [rng.sample(range(200), rng.randrange(2, 6)) for _ in range(300)]
    return {"files": files, "imports": imports, "commits_train": commits}


def _shuffled(graph: dict[str, list], seed: int) -> dict[str, list]:
    rng = random.Random(seed)
    order = list(range(len(graph["files"])))
    rng.shuffle(order)
    place = {old: new for new, old in enumerate(order)}
    imports = [[place[a], place[b]] for a, b in graph["imports"]]
    commits = [rng.sample([place[i] for i in commit], len(commit)) for commit in graph["commits_train"]]
    rng.shuffle(imports)
    rng.shuffle(commits)
    return {"files": [graph["files"][i] for i in order], "imports": imports, "commits_train": commits}


_PROGRAM = """
import sys
from pathlib import Path
from manyhands.sources.split.graph_file import read_graph
from manyhands.sources.split.split_types import SplitSettings
from manyhands.sources.split.splitting import split
from manyhands.sources.split.tree_file import tree_as_json
sys.stdout.buffer.write(tree_as_json(split(read_graph(Path(sys.argv[1])), SplitSettings(budget_tokens=20_000))))
"""


def test_shuffled_input_and_another_hash_seed_make_the_same_bytes(tmp_path: Path):
    graph = _a_graph(7)
    answers = set()
    for seed in (0, 1, 2):
        file = tmp_path / f"{seed}.json"
        file.write_text(json.dumps(_shuffled(graph, seed) if seed else graph))
        environment = os.environ | {"PYTHONHASHSEED": str(seed)}
        done = subprocess.run([sys.executable, "-c", _PROGRAM, file], capture_output=True, env=environment, check=True)
        answers.add(done.stdout)
    assert len(answers) == 1
    assert len(json.loads(answers.pop())["nodes"]) > 20


def test_commits_to_judge_by_are_not_read(tmp_path: Path):
    from manyhands.sources.split.graph_file import read_graph

    graph = _a_graph(3)
    plain, more = tmp_path / "plain.json", tmp_path / "more.json"
    plain.write_text(json.dumps(graph))
    more.write_text(json.dumps(graph | {"commits_test": [[0, 1, 2], ["not even numbers"]], "repo": "x"}))
    assert read_graph(plain) == read_graph(more)


def test_a_tree_and_its_json_agree():
    tree = split(a_source({f"{i}.py": 4_000 for i in range(30)}), budget(4_000))
    document = json.loads(tree_as_json(tree))
    fields = {"id", "parent", "children", "files", "ranges", "tokens", "strategy", "reason"}
    assert all(fields <= set(node) for node in document["nodes"])
    assert document["root"] == document["nodes"][0]["id"]
    assert sorted(file for node in document["nodes"] for file in node["files"]) == sorted(f"{i}.py" for i in range(30))
