"""A real tree at 40,000 tokens a leaf, judged by commits that the split has not seen."""

import gzip
import json
import time

import pytest

from manyhands.sources.split.graph_file import read_graph
from manyhands.sources.split.split_figures import figures_of, inside_one_leaf, moved_files
from manyhands.sources.split.split_types import Source, SplitSettings, make_source
from manyhands.sources.split.splitting import split
from sources.split.trees import DJANGO, is_sound

pytestmark = pytest.mark.skipif(not DJANGO.exists(), reason=f"{DJANGO} is not here")


@pytest.fixture(scope="module")
def graph() -> dict:
    return json.loads(gzip.decompress(DJANGO.read_bytes()))


def _with_commits(graph: dict, commits: list[list[int]]) -> Source:
    paths = [path for path, _ in graph["files"]]
    imports = ((paths[a], paths[b], 1.0) for a, b in graph["imports"])
    return make_source(map(tuple, graph["files"]), imports, ([paths[i] for i in commit] for commit in commits))


def test_leaves_are_few_even_within_budget_and_hold_whole_changes(graph: dict):
    source = read_graph(DJANGO)
    began_at = time.process_time()  # busy neighbours do not count
    tree = split(source, SplitSettings())
    took_s = time.process_time() - began_at
    is_sound(tree, source)
    figures = figures_of(tree)
    paths = [path for path, _ in graph["files"]]
    newer = [[paths[i] for i in commit] for commit in graph["commits_test"]]
    assert inside_one_leaf(tree, newer) >= 0.35
    assert figures.leaves <= 1.25 * figures.leaves_min
    assert figures.size_cv <= 0.30
    assert figures.in_band >= 0.95
    assert not [leaf for leaf in tree.leaves() if len(leaf.files) > 1 and leaf.tokens > 40_000]
    assert 4 <= figures.depth <= 7
    assert took_s <= 15


def test_a_hundred_newer_commits_leave_most_files_where_they_are(graph: dict):
    source = read_graph(DJANGO)
    before = split(source, SplitSettings())
    # They are listed newest first, so the last hundred follow right after those that were learned.
    for newer in (graph["commits_test"][-100:], graph["commits_test"][:100]):
        after = split(_with_commits(graph, newer + graph["commits_train"]), SplitSettings())
        assert moved_files(before, after, source) <= 0.10
