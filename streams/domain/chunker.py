"""How a generation cuts texts, as one string: the release's way, and the sizes that differ from its own.

`2` is the way of release 2; `2:child_max=600,child_target=450` the same with smaller pieces of long sections.
"""

from __future__ import annotations

from dataclasses import asdict, fields, replace

from streams.domain.chunking import CHUNKER, Limits
from streams.errors import Invalid

SIZES = tuple(field.name for field in fields(Limits))
LEAST, MOST = 50, 20_000  # characters
ORDERED = (("parent_target", "parent_max"), ("child_target", "child_max"), ("document_lead", "document_max"))


def named(text: str) -> str:
    """Return the chunker of sizes given as `child_max=600,child_target=450`; raise Invalid that names the size."""
    sizes: dict[str, int] = {}
    for part in filter(None, (each.strip() for each in text.split(","))):
        name, _, value = (each.strip() for each in part.partition("="))
        if name not in SIZES:
            raise Invalid(f"there is no size {name!r}; there are {', '.join(SIZES)}", field="chunker")
        if name in sizes:
            raise Invalid(f"{name} is given twice", field="chunker")
        if not value.isascii() or not value.isdecimal() or not LEAST <= int(value) <= MOST:
            raise Invalid(f"{name} is {value!r}; it must be {LEAST} to {MOST} characters", field="chunker")
        sizes[name] = int(value)
    limits = replace(Limits(), **sizes)
    for least, most in ORDERED:
        if getattr(limits, least) > getattr(limits, most):
            raise Invalid(
                f"{least} is {getattr(limits, least)}, above {most}, {getattr(limits, most)}; give both",
                field="chunker",
            )
    own = asdict(Limits())
    differing = [f"{name}={sizes[name]}" for name in SIZES if name in sizes and sizes[name] != own[name]]
    return f"{CHUNKER}:{','.join(differing)}" if differing else CHUNKER


def limits(chunker: str) -> Limits:
    """Return the sizes of a chunker that `named` wrote."""
    sizes = (part.partition("=") for part in chunker.partition(":")[2].split(",") if part)
    return replace(Limits(), **{name: int(value) for name, _, value in sizes})
