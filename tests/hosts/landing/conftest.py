"""A project for each test, untouched by the configuration of whoever runs it."""

from pathlib import Path

import pytest

from hosts.landing.project import ENV, Project


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    for name, value in ENV.items():
        monkeypatch.setenv(name, value)
    project = Project(tmp_path / "project", {"base.txt": "one\ntwo\nthree\n", "CHANGELOG.md": "# Changes\n"})
    project.config()
    return project
