"""Vectors as messages carry them, checked against what an index was made for."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from schemas.chunks import ChunkVectors, SparseVector, VectorBatch
from streams.domain.generation import Model
from streams.errors import Invalid

Row = NDArray[np.float32]


def decode_dense(text: str) -> Row:
    """Return a vector from the base64 of its little-endian float32s; raise Invalid."""
    try:
        return np.frombuffer(base64.b64decode(text, validate=True), dtype="<f4").astype(np.float32)
    except (binascii.Error, ValueError) as error:
        raise Invalid(f"not base64 of float32: {error}", field="vectors.dense") from error


def rows(vectors: ChunkVectors, batch: VectorBatch, made: Sequence[Model]) -> dict[str, Row]:
    """Return a chunk's vectors by model: one of each that the index was `made` for, of its size and finite.

    Raises Invalid that names the model. A missing one is refused as well: no search by that model would find the chunk.
    """
    found = {batch.model: decode_dense(vectors.dense)}
    found |= {name: decode_dense(text) for name, text in vectors.also.items()}
    given = {Model(name=name, dimension=len(row)) for name, row in found.items()}
    if given != set(made):
        raise Invalid(
            f"chunk {vectors.id} has a vector of {listed(given)}, the index holds {listed(made)}", field="vectors.dense"
        )
    for name, row in found.items():
        if not np.isfinite(row).all():
            raise Invalid(f"chunk {vectors.id} has a vector of {name} that is not finite", field="vectors.dense")
    return found


def weighed(vectors: ChunkVectors, wanted: Collection[str]) -> Mapping[str, SparseVector]:
    """Return a chunk's lexical weights by model; raise Invalid unless a parent has those of the `wanted` models."""
    given, expected = set(vectors.lexical), set(wanted) if vectors.level == "parent" else set()
    if given != expected:
        has, wants = (" and ".join(sorted(names)) or "no model" for names in (given, expected))
        raise Invalid(
            f"chunk {vectors.id} has lexical weights of {has}, the index holds those of {wants}",
            field="vectors.lexical",
        )
    return vectors.lexical


def listed(models: Sequence[Model] | set[Model]) -> str:
    """Return models by name, for an error."""
    return " and ".join(sorted(map(str, models))) or "no model"
