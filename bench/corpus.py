"""What is indexed and asked: the demonstration corpus, and generated pages around it, the same in every run."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from schemas.documents import DocumentChange
from streams.sources import folder

DEMO = Path(__file__).parents[1] / "demo"
TENANT = "bench"
_SUBJECTS = (
    "the ledger import|a nightly export|the invoice queue|an archived workspace|the shared dashboard|a pricing rule|"
    "the approval step|a currency table|the audit trail|a scheduled digest|the mapping sheet|an access token|"
    "the retry policy|a cost centre|the tax profile|an address book|the backup window|a stock count"
)
_VERBS = (
    "reads|validates|replaces|collects|rejects|groups|publishes|compares|locks|restores|forwards|rounds|splits|delays"
)
_OBJECTS = (
    "every open order|rows without a date|the totals of a quarter|names that occur twice|all unpaid reminders|"
    "messages from partners|columns of the second sheet|files above ten megabytes|entries in a foreign currency|"
    "contacts without consent|the oldest three versions|measurements of the last hour|items on hold|returned parcels"
)
_TAILS = (
    "before the day is closed|unless an administrator objects|when the limit of the plan is reached|"
    "and writes a line to the journal|so that nothing is counted twice|after two failed attempts|"
    "as long as the region allows it|once the owner has confirmed|without a restart|in the order of arrival"
)
_SEED = 20_240_501
_versions = itertools.count(time.time_ns() // 1_000_000)


def demo_pages() -> list[DocumentChange]:
    """Return the pages of the demonstration corpus."""
    found = folder.read(DEMO / "docs", tenant=TENANT, source="help")
    pages = [page for page in found if isinstance(page, DocumentChange)]
    return [msgspec.structs.replace(page, version=next(_versions)) for page in pages]


def pages(first: int = 0, *, sections: int = 4, source: str = "generated") -> Iterator[DocumentChange]:
    """Yield pages without end, each of `sections` sections of about 900 characters; page n is the same in every run."""
    for number in itertools.count(first):
        chance = random.Random(_SEED + number)
        title = f"{_sentence(chance).rstrip('.')} ({number})"
        parts = [f"# {title}"]
        for section in range(1, sections + 1):
            body = " ".join(_sentence(chance, extra=f"case {number}-{section}-{line}") for line in range(8))
            parts.append(f"## Part {section}: {_pick(chance, _SUBJECTS)}\n\n{body}")
        yield page(f"page-{number}", "\n\n".join(parts), source=source, title=title)


def page(doc_id: str, content: str, *, source: str = "generated", title: str = "") -> DocumentChange:
    """Return a page with a version above all earlier ones."""
    return DocumentChange(
        tenant=TENANT, source=source, doc_id=doc_id, version=next(_versions), title=title or doc_id, content=content
    )


def questions() -> Iterator[str]:
    """Yield the demonstration's questions without end, each with a number: no two are alike, so no cache answers."""
    asked = [msgspec.json.decode(line)["text"] for line in (DEMO / "questions.jsonl").read_bytes().splitlines()]
    for number in itertools.count():
        yield f"{asked[number % len(asked)]} {number}"


def _sentence(chance: random.Random, *, extra: str = "") -> str:
    words = [_pick(chance, _SUBJECTS), _pick(chance, _VERBS), _pick(chance, _OBJECTS), extra, _pick(chance, _TAILS)]
    said = " ".join(word for word in words if word)
    return f"{said[0].upper()}{said[1:]}."


def _pick(chance: random.Random, choices: str) -> str:
    return chance.choice(choices.split("|"))
