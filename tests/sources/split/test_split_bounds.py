"""Budget and number of files bound every leaf. Bounds that contradict each other are refused with what works."""

import itertools
import random
import re
from pathlib import Path

import pytest

from manyhands.errors import UsageError
from manyhands.sources.split.directory_source import CodeBase, read_directory
from manyhands.sources.split.split_types import Tree
from manyhands.sources.split.splitting import split
from manyhands.sources.split.symbols import LINES_MIN
from sources.split.trees import a_source, budget, is_sound, write_files

#: 301 tokens in 121 lines.
FILE = "x = 12345\n" * 120 + "abc\n"


def _code(root: Path, count: int) -> CodeBase:
    return read_directory(write_files(root, {f"d{i % 12:02}/f{i:04}.py": FILE for i in range(count)}))


def _split(code: CodeBase, tokens: int, **more: int) -> Tree:
    tree = split(code.source, budget(tokens, **more), code.read)
    is_sound(tree, code.source)
    return tree


@pytest.mark.parametrize(
    ("count", "bounds", "works"),
    [
        (6, {"tokens": 250, "min_files": 6}, 1_806),
        (6, {"tokens": 250, "min_files": 5}, 1_806),
        (1_536, {"tokens": 300, "min_files": 8}, 2_408),
        (1_536, {"tokens": 1, "min_files": 8, "max_depth": 4}, 2_408),
        (6, {"tokens": 1}, 100),
    ],
)
def test_a_budget_too_small_for_the_tree_is_refused_with_the_smallest_that_works(
    tmp_path: Path, count: int, bounds: dict[str, int], works: int
):
    code = _code(tmp_path, count)
    with pytest.raises(UsageError) as refused:
        _split(code, **bounds)
    assert f"a budget of {bounds['tokens']:,} tokens is too small" in refused.value.message
    assert int(re.search(r"--budget (\d+)", refused.value.hint)[1]) == works
    tree = _split(code, **(bounds | {"tokens": works}))
    assert all(leaf.tokens <= works for leaf in tree.leaves())
    with pytest.raises(UsageError):
        _split(code, **(bounds | {"tokens": works - 1}))


def test_leaves_have_at_least_min_files_where_they_fit(tmp_path: Path):
    code = _code(tmp_path, 1_536)
    for min_files in (5, 8):
        tree = _split(code, 2_500, min_files=min_files, max_depth=4)
        assert min(len(leaf.files) for leaf in tree.leaves()) >= min_files
        assert not any(leaf.ranges for leaf in tree.leaves())


def test_leaves_of_small_directories_have_enough_files_too(tmp_path: Path):
    """12 files in a directory, and 8 fill a leaf: what is left over of each goes to others."""
    names = [f"d{i}/e{j}/f{k}.py" for i in range(16) for j in range(8) for k in range(12)]
    code = read_directory(write_files(tmp_path, dict.fromkeys(names, FILE)))
    tree = _split(code, 2_500, min_files=8)
    assert {len(leaf.files) for leaf in tree.leaves()} == {8}
    assert not [note for note in tree.notes if "fewer than" in note]


@pytest.mark.parametrize("seed", range(8))
def test_where_a_leaf_has_too_few_files_no_other_could_give_or_take_any(seed: int):
    """Sizes and imports are drawn. What is said in the note is all there is, and each of it is stuck."""
    draw = random.Random(seed)
    names = [f"{draw.choice('abcdef')}/{draw.choice('xyz')}/{i:03}.py" for i in range(240)]
    source = a_source(
        {name: draw.choice((800, 2_000, 4_000, 9_000, 20_000)) for name in names},
        imports=[tuple(draw.sample(names, 2)) for _ in range(200)],
    )
    tree = split(source, budget(8_000, min_files=4))
    is_sound(tree, source)
    tokens = dict(zip(source.paths, source.tokens, strict=True))
    leaves = list(tree.leaves())
    few = [leaf for leaf in leaves if len(leaf.files) < 4]
    said = [note for note in tree.notes if "fewer than 4 files" in note]
    assert [int(note.split()[0]) for note in said] == ([len(few)] if few else [])
    for leaf in few:
        room = 8_000 - leaf.tokens
        donors = [other for other in leaves if len(other.files) > 4]
        gifts = sorted(tokens[file] for other in donors for file in sorted(other.files, key=tokens.get)[:1])
        assert sum(gifts[: 4 - len(leaf.files)]) > room or len(gifts) < 4 - len(leaf.files)


def test_leaves_that_cannot_have_enough_files_are_named(tmp_path: Path):
    large, small = "#" * 2_800, "#" * 800  # 700 and 200 tokens: two large ones are over the budget
    files = {f"{place}/large.py": large for place in "abcdefgh"} | {f"z/{i}.py": small for i in range(2)}
    tree = split((code := read_directory(write_files(tmp_path, files))).source, budget(1_300, min_files=2), code.read)
    assert [note for note in tree.notes if "fewer" in note] == [
        "6 leaves have fewer than 2 files: b/large.py (1); c/large.py (1); d/large.py (1); e/large.py (1);"
        " f/large.py (1); and 1 more"
    ]


def test_one_large_file_among_small_ones_is_cut_whatever_min_files_says(tmp_path: Path):
    write_files(tmp_path, {"large.py": FILE * 20})
    tree = _split(_code(tmp_path, 100), 2_500, min_files=4)
    pieces = [leaf for leaf in tree.leaves() if leaf.ranges]
    assert {leaf.files for leaf in pieces} == {("large.py",)}
    assert len(pieces) == 3
    assert all(len(leaf.files) >= 4 for leaf in tree.leaves() if not leaf.ranges)


def test_a_file_is_not_cut_below_a_sensible_number_of_lines(tmp_path: Path):
    """Long lines: 2,500 bytes each. What cannot be cut stays over the budget and says so."""
    line = "y" * 2_499 + "\n"
    write_files(tmp_path, {"few.txt": line * (2 * LINES_MIN - 1), "many.txt": line * 100, "code.py": FILE * 400})
    tree = _split(read_directory(tmp_path), 10_000)
    lines_of = {(part.file, part.last_line - part.first_line + 1) for leaf in tree.leaves() for part in leaf.ranges}
    assert min(count for _, count in lines_of) >= LINES_MIN
    over = {leaf.files[0]: leaf.reason.split(":")[0] for leaf in tree.leaves() if leaf.tokens > 10_000}
    assert over == {"few.txt": "oversize", "many.txt": "few_lines"}


@pytest.mark.parametrize("most", [1, 3, 7])
def test_no_leaf_has_more_than_max_files_and_leaves_are_still_full(most: int):
    names = [f"{place}/{i:02}.py" for place in "abc" for i in range(40)]
    source = a_source({name: 40 * (1 + i % 9) for i, name in enumerate(names)}, imports=itertools.pairwise(names))
    tree = split(source, budget(10_000, max_files=most))
    counts = [len(leaf.files) for leaf in tree.leaves()]
    assert sum(counts) == 120
    assert max(counts) == most
    assert len(counts) <= 2 * -(-120 // most)


def test_one_large_file_does_not_keep_its_many_neighbours_together():
    source = a_source({"large.py": 30_000} | {f"small{i}.py": 40 for i in range(20)})
    tree = split(source, budget(10_000, max_files=5))
    assert max(len(leaf.files) for leaf in tree.leaves()) <= 5


def test_more_files_at_least_than_at_most_are_refused():
    with pytest.raises(UsageError, match="`--max-files` is 2, but `--min-files` is 3"):
        split(a_source({"a.py": 4}), budget(10, min_files=3, max_files=2))
