"""Whatever has a longer form is part of `make soak`, which runs the tests that are marked as slow."""

from pathlib import Path

TESTS = Path(__file__).parent
_LONGER = "MANYHANDS_SOAK"
#: They read it and have no tests of their own.
_NO_CAMPAIGNS = {"campaign_rows.py", "conftest.py", "test_campaign_page.py", "test_soak.py"}


def test_every_campaign_is_marked_so_that_soak_runs_it() -> None:
    campaigns = [file for file in TESTS.rglob("*.py") if _LONGER in file.read_text()]
    missed = [
        str(file.relative_to(TESTS))
        for file in campaigns
        if file.name not in _NO_CAMPAIGNS and "@pytest.mark.slow" not in file.read_text()
    ]
    assert len(campaigns) > 20
    assert missed == [], "`make soak` runs only what is marked with @pytest.mark.slow"
