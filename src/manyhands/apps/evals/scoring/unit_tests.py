"""Counts the unit tests that passed, from a JUnit file or from the last lines of pytest or unittest."""

import re
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from manyhands.readers.plain_file import read_plain

_PYTEST = re.compile(r"(\d+) (passed|failed|errors?|skipped|xfailed|xpassed)\b")
_UNITTEST = re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE)
_UNITTEST_BAD = re.compile(r"^FAILED \((.*)\)", re.MULTILINE)
_BAD = re.compile(r"(?:failures|errors)=(\d+)")
_JUNIT_BYTES_MAX = 64 << 20


class UnitTestCounts(NamedTuple):
    passed: int
    total: int  # skipped ones are not counted


def from_junit(file: Path) -> UnitTestCounts | None:
    """None if the file is missing or incomplete."""
    try:
        root = ElementTree.fromstring(read_plain(file, _JUNIT_BYTES_MAX, through_links=True))
    except (OSError, ElementTree.ParseError):
        return None
    passed = total = 0
    for case in root.iter("testcase"):
        tags = {child.tag for child in case}
        if "skipped" not in tags:
            total += 1
            passed += not tags & {"failure", "error"}
    return UnitTestCounts(passed, total)


def from_output(text: str) -> UnitTestCounts | None:
    """None if the text does not look like the end of a test run."""
    for line in reversed(text.splitlines()):
        found = _PYTEST.findall(line)
        if found and (" in " in line or line.startswith("=")):
            counts = {word.rstrip("s") if word.startswith("error") else word: int(n) for n, word in found}
            passed = counts.get("passed", 0) + counts.get("xpassed", 0)
            return UnitTestCounts(passed, passed + counts.get("failed", 0) + counts.get("error", 0))
    ran = list(_UNITTEST.finditer(text))
    if not ran:
        return None
    total = int(ran[-1][1])
    bad = _UNITTEST_BAD.search(text, ran[-1].end())
    return UnitTestCounts(total - sum(int(n) for n in _BAD.findall(bad[1])) if bad else total, total)
