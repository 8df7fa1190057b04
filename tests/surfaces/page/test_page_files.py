"""The static files: their weight, that they ask for nothing elsewhere, and that they become one file."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from manyhands.surfaces.api.page_files import PageFiles
from manyhands.surfaces.page.inlining import FOLDER, joined_modules, single_page

TRAVELS_MAX_BYTES = 120_000
TESTS = Path(__file__).parent / "js"


def shipped() -> list[Path]:
    return [path for path in FOLDER.rglob("*") if path.suffix in (".html", ".css", ".js", ".svg", ".json")]


def test_no_more_than_120_kB_of_the_page_travel() -> None:
    assert 40_000 < PageFiles().travelling_bytes <= TRAVELS_MAX_BYTES


def test_nothing_names_an_address_elsewhere() -> None:
    found = {address for path in shipped() for address in re.findall(r"https?://[^\s\"'`)]+", path.read_text())}
    assert found <= {"http://www.w3.org/2000/svg"}  # a name, not an address


def test_the_page_has_no_inline_script_or_style_for_a_strict_policy() -> None:
    page = (FOLDER / "index.html").read_text()
    assert re.findall(r"<style|style=|\son\w+=|<script(?! type=\"module\" src=)", page) == []
    scripts = "".join(path.read_text() for path in (FOLDER / "js").glob("*.js"))
    assert re.findall(r"innerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", scripts) == []


def test_every_module_is_in_the_single_file_once_and_before_it_is_used() -> None:
    joined = joined_modules()
    names = {path.stem for path in (FOLDER / "js").glob("*.js")}
    for name in names:
        assert joined.count(f"const in_{name} = ") == 1, f"js/{name}.js is imported by nothing"
        first_use = re.search(rf"\}} = in_{name};", joined)
        assert first_use is None or first_use.start() > joined.index(f"const in_{name} = ")


def test_what_stands_in_a_recording_cannot_leave_its_script() -> None:
    page = single_page('{"title": "</script><script>alert(1)</script><!--"}')
    assert "alert(1)</script>" not in page
    assert "\\u003c/script>" in page


def test_the_pure_modules_do_what_they_say() -> None:
    """Their own tests, under node."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node here: the tests of the page's layout are not run")
    tests = sorted(str(path) for path in TESTS.glob("*.test.mjs"))
    done = subprocess.run([node, "--test", *tests], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout
    passed = re.search(r"^# pass (\d+)", done.stdout, re.MULTILINE)
    assert passed is not None
    assert int(passed[1]) >= 35
