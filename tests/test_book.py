"""The documentation as a book: it builds without a warning, asks no other server, and its search works from disk."""

import contextlib
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from manyhands.sources.config.config_types import HOST_TYPES
from surfaces.page.browsing import PATIENCE_MS, browser

__all__ = ["browser"]

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("material", reason="MkDocs is not installed: `make setup`")
    place = tmp_path_factory.mktemp("book")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(place)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return place


def test_every_page_is_in_the_book(book: Path) -> None:
    pages = {str(page.relative_to(ROOT / "docs").with_suffix("")) for page in (ROOT / "docs").rglob("*.md")}
    pages = {re.sub(r"README$", "index", page) for page in pages}
    written = {f"reference/{name}" for name in ("cli", "config", "plan", "metrics", "http", "mcp-tools", "events")}
    wanted = {*pages, *written, "index", "glossary", "changelog"}
    assert len(wanted) > 50
    assert wanted - {str(page.relative_to(book).with_suffix("")) for page in book.rglob("*.html")} == set()
    commands = (book / "reference" / "cli.html").read_text()
    assert "manyhands task explain" in commands
    metrics = set(re.findall(r"<code>(manyhands_\w+)</code>", (book / "reference" / "metrics.html").read_text()))
    told = set(re.findall(r"^\| `(manyhands_\w+)`", (ROOT / "docs" / "service.md").read_text(), re.MULTILINE))
    assert metrics == told
    config = (book / "reference" / "config.html").read_text()
    assert [name for name in HOST_TYPES if f'type = "{name}"' not in config.replace("&quot;", '"')] == []


def test_no_page_loads_anything_from_elsewhere(book: Path) -> None:
    loaded = re.compile(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=\"?(https?://[^\s\">]+)")
    pages = [page.read_text() for page in book.rglob("*.html")]
    assert [link for page in pages for link in loaded.findall(page)] == []


def test_the_search_works_from_disk(book: Path, browser: Any) -> None:
    from playwright.sync_api import TimeoutError as NotYet

    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"file://{book}/index.html")
    first = page.locator(".md-search-result__item").first
    for _ in range(30):  # what is typed before the page listens is lost
        page.locator(".md-search__input").fill("")
        page.locator(".md-search__input").press_sequentially("worktree")
        with contextlib.suppress(NotYet):
            first.wait_for(timeout=PATIENCE_MS / 30)
            break
    assert "worktree" in first.inner_text().lower()
    page.close()
