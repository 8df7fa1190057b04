"""The list of seeded bugs keeps up with the code: each can be seeded, and the test that must find it exists."""

import pytest

from mutants import ROOT, Mutant, mutated, read_mutants

MUTANTS = read_mutants()


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant.name for mutant in MUTANTS])
def test_every_mutant_can_be_seeded_and_has_its_test(mutant: Mutant) -> None:
    source = (ROOT / "src" / "manyhands" / mutant.file).read_text()
    seeded = mutated(mutant, source)
    assert seeded != source
    compile(seeded, mutant.file, "exec")
    file, _, name = mutant.test.partition("::")
    assert f"def {name}(" in (ROOT / file).read_text() if name else (ROOT / file).exists()
