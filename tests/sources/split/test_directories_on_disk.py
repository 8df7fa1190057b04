import itertools
import os
from pathlib import Path

import pytest

from manyhands.errors import UsageError
from manyhands.sources.split.directory_source import read_directory
from manyhands.sources.split.split_types import SplitSettings
from manyhands.sources.split.splitting import split
from manyhands.sources.split.walking import find_files
from sources.split.trees import budget, git, is_sound, write_files


def test_ignored_binary_linked_and_vcs_files_are_left_out_and_counted(tmp_path: Path):
    write_files(
        tmp_path,
        {
            ".gitignore": "*.log\nbuild/\n!keep.log\n",
            "src/.gitignore": "secret.*\n",
            "src/a.py": "a = 1\n",
            "src/secret.py": "",
            "a.log": "",
            "keep.log": "",
            "build/x.py": "",
            "picture.png": b"\x89PNG\0\0",
            ".git/config": "",
            "env/pyvenv.cfg": "",
            "env/lib.py": "",
        },
    )
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "same.py").symlink_to(tmp_path / "src/a.py")
    found = find_files(tmp_path)
    assert sorted(found.size_of) == [".gitignore", "keep.log", "src/.gitignore", "src/a.py"]
    assert found.left_out == {"links": 2, "binary files": 1, "virtual environments": 1}
    assert "a.log" in find_files(tmp_path, gitignore=False).size_of


def test_include_and_exclude_are_read(tmp_path: Path):
    write_files(tmp_path, {"src/a.py": "", "src/b.ts": "", "docs/c.py": ""})
    assert sorted(find_files(tmp_path, include=["*.py"]).size_of) == ["docs/c.py", "src/a.py"]
    assert sorted(find_files(tmp_path, include=["*.py"], exclude=["docs/"]).size_of) == ["src/a.py"]


def test_a_bad_pattern_is_refused_and_a_bad_line_of_gitignore_is_passed_over(tmp_path: Path):
    write_files(tmp_path, {".gitignore": "!\nb.py\n", "a.py": "", "b.py": ""})
    assert "b.py" not in find_files(tmp_path).size_of
    with pytest.raises(UsageError, match="`!` is not a file pattern"):
        find_files(tmp_path, exclude=["!"])


def test_links_in_a_circle_end(tmp_path: Path):
    write_files(tmp_path, {"a/b/c.py": "x = 1\n"})
    (tmp_path / "a/b/up").symlink_to(tmp_path / "a")
    (tmp_path / "a/self").symlink_to(tmp_path / "a/self")
    code = read_directory(tmp_path)
    assert code.source.paths == ("a/b/c.py",)


def test_pipes_are_not_opened(tmp_path: Path):
    write_files(tmp_path, {"a.py": ""})
    os.mkfifo(tmp_path / "pipe")
    found = find_files(tmp_path)
    assert list(found.size_of) == ["a.py"]
    assert found.left_out == {"pipes, sockets and devices": 1}


@pytest.mark.parametrize(("name", "said"), [("nowhere", "does not exist"), ("file", "is not a directory")])
def test_a_path_that_is_no_directory_is_refused_by_name(tmp_path: Path, name: str, said: str):
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=f"{name}` {said}"):
        read_directory(tmp_path / name)


def test_an_empty_directory_is_refused_with_what_was_left_out(tmp_path: Path):
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(UsageError, match="has no files to split") as refused:
        read_directory(tmp_path)
    assert refused.value.hint == "left out: 1 links"


def test_without_git_or_any_known_language_there_is_a_tree_and_a_note(tmp_path: Path):
    write_files(tmp_path, {f"{place}/{i}.zig": "const x = 1;\n" * 100 for place in "abc" for i in range(4)})
    code = read_directory(tmp_path)
    tree = split(code.source, budget(1_500), code.read, code.notes)
    is_sound(tree, code.source)
    assert len(list(tree.leaves())) == 3
    assert any("no history to learn from" in note for note in tree.notes)


def test_what_changed_together_in_git_ends_up_together(tmp_path: Path):
    names = ("ant", "bee", "cat")
    write_files(tmp_path, {f"{place}/{name}.txt": "x" * 400 for place in ("code", "check") for name in names})
    git(tmp_path, "init")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "all")
    for _ in range(2):
        for name in names:
            for place in ("code", "check"):
                with (tmp_path / place / f"{name}.txt").open("a") as file:
                    file.write("y")
            git(tmp_path, "commit", "-am", name)
    code = read_directory(tmp_path)
    assert len(code.source.commits) == 7
    tree = split(code.source, budget(210), code.read)
    assert {leaf.files for leaf in tree.leaves()} == {(f"check/{name}.txt", f"code/{name}.txt") for name in names}


def test_history_is_relative_to_a_directory_inside_the_repository(tmp_path: Path):
    write_files(tmp_path, {"inner/a b.txt": "1", "inner/ü.txt": "1", "outer.txt": "1"})
    git(tmp_path, "init")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "all")
    source = read_directory(tmp_path / "inner").source
    assert source.paths == ("a b.txt", "ü.txt")
    assert source.commits == ((0, 1),)


def test_one_file_of_two_megabytes_is_split_between_its_functions(tmp_path: Path):
    function = "def f{}():\n" + "    x = 'some text to fill the line'\n" * 50 + "\n\n"
    text = "".join(function.format(i) for i in range(1_100))
    write_files(tmp_path, {"large.py": text, "small.py": "import large\n"})
    assert len(text) > 2_000_000
    code = read_directory(tmp_path)
    tree = split(code.source, SplitSettings(), code.read)
    is_sound(tree, code.source)
    lines = text.splitlines()
    ranges = sorted(part for leaf in tree.leaves() for part in leaf.ranges)
    assert len(ranges) >= 13
    assert ranges[0].first_line == 1
    assert ranges[-1].last_line == len(lines)
    assert all(one.last_line + 1 == other.first_line for one, other in itertools.pairwise(ranges))
    assert all(lines[part.first_line - 1].startswith("def ") for part in ranges)
    assert all(leaf.tokens <= 40_000 for leaf in tree.leaves())
    assert max(leaf.depth for leaf in tree.leaves()) <= 2


def test_one_endless_line_stays_a_leaf_that_says_so(tmp_path: Path):
    write_files(tmp_path, {"min.js": "x" * 2_000_000})
    code = read_directory(tmp_path)
    tree = split(code.source, SplitSettings(), code.read)
    assert [node.reason.split(":")[0] for node in tree.nodes] == ["oversize"]


def test_a_large_class_is_split_between_its_methods(tmp_path: Path):
    method = "    def m{}(self):\n" + "        pass  # and some more\n" * 20 + "\n"
    write_files(tmp_path, {"one.py": "class A:\n" + "".join(method.format(i) for i in range(200))})
    code = read_directory(tmp_path)
    tree = split(code.source, budget(5_000), code.read)
    is_sound(tree, code.source)
    lines = (tmp_path / "one.py").read_text().splitlines()
    firsts = sorted(part.first_line for leaf in tree.leaves() for part in leaf.ranges)
    assert len(firsts) > 5
    assert all(lines[first - 1].startswith("    def ") for first in firsts[1:])
