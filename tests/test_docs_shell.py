"""The `sh` blocks of the docs: a shell can read them, and manyhands knows every command and option in them.

They need repositories, agents and servers of the reader, so most cannot run as they stand. `console` blocks do run.
"""

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from manyhands.surfaces.cli.main import noun_of
from manyhands.surfaces.cli.parsing.word_parsing import values_of

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^ *```sh\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
BLOCKS = [
    (str(file.relative_to(ROOT)), block)
    for file in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
    for block in BLOCK.findall(file.read_text())
]


def commands(block: str) -> Iterator[list[str]]:
    for line in block.replace("\\\n", " ").splitlines():
        if line.strip().startswith("manyhands "):
            reader = shlex.shlex(line, posix=True, punctuation_chars=True)
            words = list(reader)[1:]
            end = next((at for at, word in enumerate(words) if set(word) <= set("|&;<>")), len(words))
            yield words[:end]


def test_manyhands_knows_every_command_in_them() -> None:
    found = [(file, words) for file, block in BLOCKS for words in commands(block)]
    assert len(found) > 50
    for file, words in found:
        noun = noun_of(words[0])
        verb = noun.verbs.get(words[1]) if len(words) > 1 else None
        command = verb or noun.verbs.get(noun.assumed) or noun.bare
        assert command is not None, f"{file}: {words}"
        values_of(command, words[2:] if verb else words[1:])


@pytest.mark.parametrize("file", sorted({file for file, _ in BLOCKS}))
def test_a_shell_can_read_them(file: str) -> None:
    for block in (block for name, block in BLOCKS if name == file):
        done = subprocess.run(["bash", "-n"], input=block, text=True, capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), block
