"""The glossary has one row for each word, few enough to be read, and the words that people bring from other tools."""

import re
from pathlib import Path

GLOSSARY = Path(__file__).parents[1] / "GLOSSARY.md"
ROWS_MAX = 60
#: What neighbouring tools call our things. Whoever looks for one of these must find ours.
NEIGHBOURS = (
    "category",
    "worker",
    "category limit",
    "semaphore",
    "`max_parallel`",
    "`max_files_per_subplan`",
    "`merge_strategy`",
    "scenario",
    "replicate",
    "epic",
    "brief",
    "segment",
    "pod",
    "queue",
    "poll interval",
)


def rows() -> list[list[str]]:
    lines = [line for line in GLOSSARY.read_text().splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


def test_the_glossary_can_be_read_in_one_go() -> None:
    assert len(rows()) <= ROWS_MAX
    assert {len(row) for row in rows()} == {3}


def test_each_word_is_defined_once() -> None:
    words = [row[0].lower() for row in rows()]
    assert sorted(words) == sorted(set(words))


def test_words_of_neighbouring_tools_lead_to_ours() -> None:
    known = {word.strip() for row in rows() for word in re.split(r"[,;]", row[2])}
    assert set(NEIGHBOURS) - known == set()
