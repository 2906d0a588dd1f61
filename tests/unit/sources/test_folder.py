"""A folder as a source."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

import pytest

from schemas.documents import DocumentChange
from streams.sources import folder
from streams.sources.problem import Problem
from streams.sources.titles import in_words, title_of


def put(root: Path, **files: str | bytes) -> None:
    for name, data in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)


def read(root: Path, **options: str) -> tuple[dict[str, DocumentChange], list[Problem]]:
    found = list(folder.read(root, tenant="t", source="s", **options))
    changes = {change.doc_id: change for change in found if isinstance(change, DocumentChange)}
    return changes, [problem for problem in found if isinstance(problem, Problem)]


def test_every_text_below_the_folder_is_a_document_named_by_its_path(tmp_path: Path) -> None:
    for name in ("a.md", "sub/b.markdown", "c.html", "d.htm", "e.txt", "f.rst", "G.MD", "image.png", "code.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("text")
    changes, problems = read(tmp_path, uri_prefix="https://docs.example/")
    assert {doc_id: change.content_type for doc_id, change in changes.items()} == {
        "a.md": "text/markdown",
        "G.MD": "text/markdown",
        "sub/b.markdown": "text/markdown",
        "c.html": "text/html",
        "d.htm": "text/html",
        "e.txt": "text/plain",
        "f.rst": "text/plain",
    }
    assert changes["sub/b.markdown"].uri == "https://docs.example/sub/b.markdown"
    assert changes["a.md"].tags == ()
    assert problems == []


def test_hidden_folders_and_node_modules_are_left_out(tmp_path: Path) -> None:
    for name in (".git/a.md", "node_modules/b.md", ".hidden.md", "sub/.cache/c.md", "kept/d.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("text")
    assert list(read(tmp_path)[0]) == ["kept/d.md"]


def test_links_out_of_the_folder_are_reported_and_not_followed(tmp_path: Path) -> None:
    inside = tmp_path / "in"
    put(tmp_path, secret_dot_md="outside", **{"in__a_dot_md": "inside"})
    (inside / "out.md").symlink_to(tmp_path / "secret.md")
    (inside / "also.md").symlink_to(inside / "a.md")
    (inside / "folder").symlink_to(tmp_path)
    changes, problems = read(inside)
    assert sorted(changes) == ["a.md", "also.md"]
    assert [str(problem) for problem in problems] == ["out.md: is a link out of the folder; skipped"]


def test_a_file_over_the_limit_is_reported_and_its_document_kept(tmp_path: Path) -> None:
    (tmp_path / "big.md").write_bytes(b"x" * 2_000_001)
    (tmp_path / "fits.md").write_bytes(b"x" * 2_000_000)
    changes, problems = read(tmp_path)
    assert list(changes) == ["fits.md"]
    assert (problems[0].doc_id, problems[0].skipped) == ("big.md", True)
    assert "has 2,000,001 bytes; the limit is 2,000,000" in problems[0].message


@pytest.mark.parametrize(
    ("data", "text", "says"),
    [
        ("caf\u00e9".encode(), "caf\u00e9", None),
        (b"\xef\xbb\xbfcaf\xc3\xa9", "caf\u00e9", None),
        (b"caf\xe9", "caf\u00e9", "is not UTF-8; read as latin-1"),
        ("caf\u00e9".encode("utf-16"), "caf\u00e9", "is not UTF-8; read as utf-16"),
    ],
)
def test_texts_in_other_encodings_are_read_and_said_to_be(
    tmp_path: Path, data: bytes, text: str, says: str | None
) -> None:
    (tmp_path / "a.txt").write_bytes(data)
    changes, problems = read(tmp_path)
    assert changes["a.txt"].content == text
    assert [problem.message for problem in problems] == ([says] if says else [])
    assert not any(problem.skipped for problem in problems)


def test_what_is_no_text_or_no_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "binary.txt").write_bytes(b"\x00\x01")
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "dangling.md").symlink_to(tmp_path / "nowhere.md")
    changes, problems = read(tmp_path)
    assert changes == {}
    assert [problem.where for problem in problems] == ["binary.txt", "dangling.md", "pipe.md"]


def test_a_file_name_that_is_not_utf8_is_reported(tmp_path: Path) -> None:
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.md"))).write_text("x")
    _, problems = read(tmp_path)
    assert [str(problem) for problem in problems] == ["?.md: its name is not UTF-8; skipped"]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Refund *policy* #\n\ntext", "Refund policy"),
        ("---\ntitle: 'From the front'\n---\ntext", "From the front"),
        ("---\ntitle: Front\n---\n# Heading\n", "Heading"),
        ("Underlined\n==========\n", "Underlined"),
        ("```\n# not a heading\n```\n\n# Real [link](x.md)\n", "Real link"),
        ("~~~sh\n# no\n```\n# no\n~~~\n", "Rate limits"),
        ("## Second level only\n", "Rate limits"),
        ("#hashtag\n", "Rate limits"),
        ("", "Rate limits"),
    ],
)
def test_the_title_of_markdown_is_its_heading_its_front_matter_or_its_name(text: str, title: str) -> None:
    assert title_of(text, "text/markdown", PurePosixPath("api/rate-limits.md")) == title


def test_the_title_of_html_is_its_heading_or_its_title() -> None:
    path = PurePosixPath("page.html")
    assert title_of("<title>T &amp; U</title><h1>A <b>bold</b>\n one</h1>", "text/html", path) == "A bold one"
    assert title_of("<title>T &amp; U</title><h2>x</h2>", "text/html", path) == "T & U"
    assert title_of("<p>x", "text/html", path) == "Page"


def test_the_title_of_restructured_text_is_its_underlined_line() -> None:
    assert title_of("====\nTop\n====\n\nx", "text/plain", PurePosixPath("a.rst")) == "Top"
    assert title_of("Top\n---\n", "text/plain", PurePosixPath("a.txt")) == "A"


def test_names_become_words() -> None:
    names = ("api/rate-limits.md", "api/index.md", "README.md", "docs/error_codes.txt", "-.md")
    assert [in_words(PurePosixPath(name)) for name in names] == [
        "Rate limits",
        "Api",
        "README",
        "Error codes",
        "-",
    ]
