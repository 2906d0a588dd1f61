"""BM25 as a product of two sparse vectors, for a server that multiplies by the inverse document frequency.

S. Robertson, H. Zaragoza: The Probabilistic Relevance Framework: BM25 and Beyond, 2009. The score of a passage is
the sum over the question's terms of idf × tf × (k1 + 1) / (tf + k1 × (1 - b + b × length / average length)). The
last factor is the passage's weight, the question's weight is 1, and Qdrant's `IDF` modifier supplies the first.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

from schemas.chunks import SparseVector
from streams.domain.tokens import terms, tokens

K1 = 1.5  # the usual value; how soon a repeated term stops counting
B = 0.75  # the usual value; how much a long passage is held back
CARRIED = 0.5  # weight of a term of an earlier turn: it says what the question is about, not what it asks
MOST_TERMS = 4_000  # of one vector; a passage of the longest length has about 900


def passage_vector(
    text: str, language: str, average_length: float, *, k1: float = K1, b: float = B, most_terms: int = MOST_TERMS
) -> SparseVector:
    """Return the BM25 weights of a passage's terms.

    `average_length` is in tokens, as `passage_length` counts them, and frozen per generation. Of more than `most_terms`
    terms the heaviest are kept. A text without tokens gives an empty vector.
    """
    found = [token.term for token in tokens(text, language)]
    return weighed(found, average_length, k1=k1, b=b, most_terms=most_terms)


def weighed(
    found: Sequence[str], average_length: float, *, k1: float = K1, b: float = B, most_terms: int = MOST_TERMS
) -> SparseVector:
    """Return the BM25 weights of the terms of a passage, given all of them in its order."""
    counts = Counter(found)
    norm = k1 * (1 - b + b * counts.total() / max(average_length, 1.0))
    weights: dict[int, float] = {}
    for term, count in counts.most_common(most_terms):
        weight = count * (k1 + 1) / (count + norm)
        index = term_id(term)
        weights[index] = max(weight, weights.get(index, 0.0))  # two terms of one hash: the heavier one
    return _vector(weights)


def query_vector(text: str, language: str, carried: str = "") -> SparseVector:
    """Return weight 1 for each distinct term of a question, 1/2 for what is carried into it; empty without a term."""
    weights = {term_id(term): CARRIED for term in terms(carried, language)} if carried else {}
    return _vector(weights | {term_id(term): 1.0 for term in terms(text, language)})


def passage_length(text: str, language: str) -> int:
    """Return how many tokens a passage has."""
    return len(tokens(text, language))


def term_id(term: str) -> int:
    """Return the 32-bit id of a term: the same on every machine and in every release."""
    return int.from_bytes(hashlib.blake2b(term.encode(), digest_size=4).digest(), "big")


def _vector(weights: dict[int, float]) -> SparseVector:
    indices = tuple(sorted(weights))
    return SparseVector(indices=indices, values=tuple(weights[index] for index in indices))
