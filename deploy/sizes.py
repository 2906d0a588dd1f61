"""How large a process of each processor is; what is not named here is small."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from streams.processor import Processor

BULK = "-bulk"  # a bulk lane is as large as the lane that it stands beside


@dataclass(frozen=True, kw_only=True)
class Size:
    """What one process is given, and what it is taken to do."""

    memory: int  # MiB, as limit and request alike: memory that is not there ends a process
    cores: float  # asked for; more is used where it is free
    most: float  # cores at most
    rate: float  # records a second that one process works off, to turn seconds of lag into records
    slow: float = 0.2  # seconds a record takes, of 95 in 100, beyond which questions get one more process
    models: bool = False  # loads models: gets a GPU in the profile `gpu`


SMALL = Size(memory=512, cores=0.1, most=1.0, rate=50.0)
# An embedder on two cores does about 25 chunks, so five documents, a second (bench/RESULTS.md, `ingest`).
SIZES = {
    "embed": Size(memory=2048, cores=1.0, most=4.0, rate=5.0, models=True),
    "retrieve-dense": Size(memory=2048, cores=0.5, most=4.0, rate=20.0, slow=0.5, models=True),
    "rerank": Size(memory=2048, cores=0.5, most=4.0, rate=5.0, slow=2.0, models=True),
    "extract": Size(memory=768, cores=0.5, most=1.0, rate=10.0),
}


def size(name: str) -> Size:
    """Return the size of a processor's process."""
    return SIZES.get(name.removesuffix(BULK), SMALL)


def unknown(processors: Sequence[Processor]) -> list[str]:
    """Return the names that sizes are given for though no processor has them."""
    return sorted(SIZES.keys() - {processor.name for processor in processors})
