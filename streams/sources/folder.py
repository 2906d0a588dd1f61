"""A folder of Markdown, HTML and plain text as a source: one document a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Literal

from schemas.documents import ContentType, DocumentChange
from streams.sources.problem import Problem
from streams.sources.titles import title_of

LARGEST = 2_000_000  # bytes
TYPES: dict[str, ContentType] = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".html": "text/html",
    ".htm": "text/html",
    ".txt": "text/plain",
    ".rst": "text/plain",
}
SKIPPED_FOLDERS = frozenset({"node_modules"})  # beside all hidden ones, such as .git

Encoding = Literal["utf-8", "utf-16", "latin-1"]


def read(root: Path, *, tenant: str, source: str, uri_prefix: str = "") -> Iterator[DocumentChange | Problem]:
    """Yield a change, with version 0, for every readable file below `root`, in order of path.

    The doc id is the path below `root`, with `/`; the uri is that with `uri_prefix` in front. What is skipped, or read
    with a reservation, is yielded as a Problem. Links that lead out of `root` are not followed, links to folders never.
    """
    for path in _files(root):
        relative = path.relative_to(root).as_posix()
        printable = relative.encode("utf-8", "replace").decode()
        if printable != relative:
            yield Problem(where=printable, message="its name is not UTF-8; skipped", doc_id=printable)
            continue
        if problem := _unreadable(path, root, relative):
            yield problem
            continue
        try:
            data = path.read_bytes()
        except OSError as error:
            yield Problem(where=relative, message=f"cannot be read ({error.strerror}); skipped", doc_id=relative)
            continue
        text, encoding = decode(data)
        # A stray NUL is taken out when the text is normalised; many of them are no text.
        if text.count("\0") * 100 > len(text):
            yield Problem(where=relative, message="is full of NUL bytes: not a text; skipped", doc_id=relative)
            continue
        if encoding != "utf-8":
            yield Problem(where=relative, message=f"is not UTF-8; read as {encoding}", doc_id=relative, skipped=False)
        pure = PurePosixPath(relative)
        content_type = TYPES[path.suffix.lower()]
        yield DocumentChange(
            tenant=tenant,
            source=source,
            doc_id=relative,
            version=0,
            title=title_of(text, content_type, pure),
            content=text,
            content_type=content_type,
            uri=uri_prefix + relative,
        )


def decode(data: bytes) -> tuple[str, Encoding]:
    """Return the text of a file and the encoding that it was read with."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return data.decode("utf-16"), "utf-16"
        except UnicodeDecodeError:
            pass
    try:
        return data.decode("utf-8-sig"), "utf-8"
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1"


def _files(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in SKIPPED_FOLDERS)
        for name in sorted(files):
            if not name.startswith(".") and Path(name).suffix.lower() in TYPES:
                yield Path(folder) / name


def _unreadable(path: Path, root: Path, relative: str) -> Problem | None:
    if path.is_symlink() and not path.resolve().is_relative_to(root.resolve()):
        return Problem(where=relative, message="is a link out of the folder; skipped", doc_id=relative)
    if not path.is_file():
        return Problem(where=relative, message="is not a regular file; skipped", doc_id=relative)
    if (size := path.stat().st_size) > LARGEST:
        message = f"has {size:,} bytes; the limit is {LARGEST:,}: split it; skipped"
        return Problem(where=relative, message=message, doc_id=relative)
    return None
