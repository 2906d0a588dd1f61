"""What a reader clicks is there, and the README stays short enough to find it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    (
        *(ROOT / name for name in ("README.md", "SECURITY.md", "tests/faults/README.md")),
        *(ROOT / "bench").glob("*.md"),
        *(ROOT / "docs").glob("*.md"),
    )
)
FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
LONGEST = 300  # lines of the README
WIDEST = 120  # characters of a line of prose


def prose(text: str) -> str:
    """Return a page without its blocks of code, each as many empty lines."""
    return FENCED.sub(lambda block: "\n" * block[0].count("\n"), text)


def anchors(text: str) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    seen: Counter[str] = Counter()
    found = set()
    for heading in re.findall(r"^#+ (.+?) *$", prose(text), re.MULTILINE):
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")
        found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return found


def broken(page: Path, text: str) -> Iterator[str]:
    """Yield the relative links of a page whose file or anchor is not there."""
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(text)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        there = target.exists() and (not anchor or target.is_file())
        if not there or (anchor and anchor not in anchors(target.read_text() if path else text)):
            yield link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    assert list(broken(page, page.read_text())) == []


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# One `thing`, twice\n\n# One `thing`, twice\n\n```sh\n# no heading\n```\n")
    good = "[a](#here-it-is) [b](other.md) [c](other.md#one-thing-twice-1) [d](https://example.com/none)"
    bad = "[e](#away) [f](none.md) [g](other.md#no-heading) [h](.#here-it-is)"
    page = tmp_path / "page.md"
    page.write_text(f"## Here it is\n\n{good}\n{bad}\n\n```md\n[i](none.md)\n```\n")
    assert list(broken(page, page.read_text())) == ["#away", "none.md", "other.md#no-heading", ".#here-it-is"]


def test_every_page_of_docs_can_be_reached_from_the_readme() -> None:
    linked = set(re.findall(r"\]\(([^)#\s]+)", prose((ROOT / "README.md").read_text())))
    assert {str(page.relative_to(ROOT)) for page in PAGES if page.parent.name == "docs"} <= linked


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= LONGEST


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda path: path.name
)
def test_lines_of_prose_are_not_wide(page: Path) -> None:
    lines = enumerate(prose(page.read_text()).splitlines(), 1)
    assert [number for number, line in lines if len(line) > WIDEST and not line.startswith("|")] == []
