"""What `up` puts in, and what it asks of it: the demonstration corpus, or a folder of yours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from schemas.documents import DocumentChange
from streams.cli.mirroring import Source
from streams.errors import ConfigurationError

DEMO = Path(__file__).parents[2] / "demo"
DEMO_QUESTIONS = (
    "Error E1042 when exporting to CSV",
    "Can I get my money back?",
    "Which port does the relay use?",
)


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Sources to ingest, and the questions to ask once they are searchable."""

    sources: tuple[Source, ...]
    questions: Callable[[], tuple[str, ...]]
    remark: str = ""  # where the questions come from


def demo(tenant: str) -> Corpus:
    """Return the help centre of a product that does not exist, and its Q&A pairs."""
    if not (DEMO / "docs").is_dir():
        raise ConfigurationError(f"the demonstration corpus is not at {DEMO}; use --docs PATH or --no-docs")
    pages = Source.of(DEMO / "docs", tenant=tenant, name="help")
    pairs = Source.of(DEMO / "qa.jsonl", tenant=tenant, name="faq")
    return Corpus(sources=(pages, pairs), questions=lambda: DEMO_QUESTIONS)


def of(path: Path, tenant: str) -> Corpus:
    """Return a folder or .jsonl file, with three questions made of titles that are in it."""
    source = Source.of(path, tenant=tenant)
    return Corpus(
        sources=(source,),
        questions=lambda: questions_of(source),
        remark="questions made of the titles of three of your documents",
    )


def questions_of(source: Source) -> tuple[str, ...]:
    """Return a question about the first, the middle and the last document that has a title."""
    asked = [_question(found) for found in source.read() if isinstance(found, DocumentChange)]
    asked = [question for question in dict.fromkeys(asked) if question]
    spread = (0, (len(asked) - 1) // 2, len(asked) - 1) if asked else ()
    return tuple(asked[at] for at in dict.fromkeys(spread))


def _question(change: DocumentChange) -> str:
    if change.question:
        return change.question
    return f"What does {change.title} say?" if change.title else ""
