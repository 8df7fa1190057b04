"""How well do leaves hold whole changes, and how steady are they, beside directories and Louvain?

Judged by commits that no method has seen: the share of them whose files are all in one leaf. `moved` is the share of
files in another leaf once the hundred commits after the learned ones are learned too. The real graph is read from the
file named as the argument, or from `../shared/data/split/django.json.gz`; Louvain needs networkx (`pip install -e
'.[peers]'`). What is missing is said and left out. The standard library of this Python has no history: its row shows
shape and time alone, reading included.
"""

import gzip
import json
import sys
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from record import record

from manyhands.sources.split.directories import directory_groups
from manyhands.sources.split.directory_source import read_directory
from manyhands.sources.split.packing import pack
from manyhands.sources.split.split_figures import SplitFigures, figures_of, inside_one_leaf, moved_files
from manyhands.sources.split.split_types import Source, SplitSettings, Subplan, Tree, make_source, node_id
from manyhands.sources.split.splitting import split
from manyhands.sources.split.tie_weights import all_ties

QUESTION = "split_quality"
GRAPH = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "split" / "django.json.gz"
Method = Callable[[Source, SplitSettings], Tree]


def source_of(graph: dict[str, Any], commits: list[list[int]]) -> Source:
    paths = [path for path, _ in graph["files"]]
    imports = ((paths[a], paths[b], 1.0) for a, b in graph["imports"])
    return make_source(map(tuple, graph["files"]), imports, ([paths[i] for i in commit] for commit in commits))


def flat_tree(groups: list[list[int]], source: Source, settings: SplitSettings) -> Tree:
    """Leaves under one root, for methods that are compared by their leaves alone."""
    tokens = source.tokens
    leaves = [
        Subplan(id=node_id(files), name="", parent="root", files=files, tokens=sum(tokens[i] for i in group), depth=1)
        for group in groups
        for files in [tuple(source.paths[i] for i in group)]
    ]
    children = tuple(leaf.id for leaf in leaves)
    root = Subplan(id="root", name="", parent=None, children=children, tokens=sum(tokens), depth=0)
    return Tree(root="root", settings=settings, nodes=(root, *leaves))


def by_directory(source: Source, settings: SplitSettings) -> Tree:
    everything = list(range(len(source.paths)))
    return flat_tree(
        directory_groups(everything, source.paths, source.tokens, settings.budget_tokens), source, settings
    )


def by_louvain(source: Source, settings: SplitSettings) -> Tree:
    """Communities within communities until they fit; then small ones are packed as ours are."""
    import networkx

    tokens, ties, budget = source.tokens, all_ties(source), settings.budget_tokens
    graph = networkx.Graph()
    graph.add_nodes_from(range(len(source.paths)))
    graph.add_weighted_edges_from((a, b, weight) for (a, b), weight in ties.items())
    waiting, leaves = [sorted(graph)], []
    while waiting:
        files = waiting.pop()
        if len(files) == 1 or sum(tokens[i] for i in files) <= budget:
            leaves.append(files)
            continue
        found = networkx.community.louvain_communities(graph.subgraph(files), seed=1)
        halves = [files[: len(files) // 2], files[len(files) // 2 :]]
        waiting.extend(sorted(map(sorted, found)) if len(found) > 1 else halves)
    return flat_tree(pack(leaves, source.paths, tokens, ties, budget), source, settings)


def shown(
    tree: str, method: str, figures: SplitFigures, inside: float | None, moved: float | None, took_s: float
) -> None:
    held = "" if inside is None else f"{inside:.1%}"
    stayed = "" if moved is None else f"{moved:.1%}"
    leaves = f"{figures.leaves} ({figures.leaves / figures.leaves_min:.2f}×)"
    band = f"{figures.size_cv:.2f} / {figures.in_band:.2f}"
    print(f"{tree:10} {method:10} {leaves:>14} {band:>12} {figures.depth:>6} {held:>8} {stayed:>7} {took_s:>6.1f} s")


def measure(graph: dict[str, Any], name: str, method: Method, settings: SplitSettings) -> None:
    source = source_of(graph, graph["commits_train"])
    began_at = time.process_time()
    tree = method(source, settings)
    took_s = time.process_time() - began_at
    paths = [path for path, _ in graph["files"]]
    inside = inside_one_leaf(tree, [[paths[i] for i in commit] for commit in graph["commits_test"]])
    later = method(source_of(graph, graph["commits_test"][-100:] + graph["commits_train"]), settings)
    moved = moved_files(tree, later, source)
    figures = figures_of(tree)
    shown(graph["repo"].rpartition("/")[2], name, figures, inside, moved, took_s)
    params = {"tree": graph["repo"], "commit": graph["commit"][:10], "method": name, "budget": settings.budget_tokens}
    for what, value, unit in (
        ("inside one leaf", inside, "share of commits"),
        ("moved", moved, "share of files"),
        ("leaves", figures.leaves / figures.leaves_min, "times the least"),
        ("size CV", figures.size_cv, "ratio"),
        ("time", took_s, "s"),
    ):
        record(QUESTION, params | {"what": what}, value, unit)


def main() -> None:
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else GRAPH
    settings = SplitSettings()
    print(
        f"{'tree':10} {'method':10} {'leaves':>14} {'CV / band':>12} {'depth':>6} {'inside':>8} {'moved':>7} {'CPU':>8}"
    )
    methods: list[tuple[str, Method]] = [("directory", by_directory), ("louvain", by_louvain), ("manyhands", split)]
    if file.exists():
        graph = json.loads(gzip.decompress(file.read_bytes()))
        for name, method in methods:
            try:
                measure(graph, name, method, settings)
            except ImportError as error:
                print(f"{name}: left out, {error}")
    else:
        print(f"{file} is not here: nothing to judge leaves by")
    began_at = time.process_time()
    library = Path(sysconfig.get_path("stdlib"))
    code = read_directory(library, include=["*.py"], exclude=["site-packages/", "test/", "idlelib/"])
    tree = split(code.source, settings, code.read)
    shown("stdlib", "manyhands", figures_of(tree), None, None, time.process_time() - began_at)


if __name__ == "__main__":
    main()
