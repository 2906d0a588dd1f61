"""The in-memory twins of the stores, over one state: they pass the contract tests of the real ones."""

from __future__ import annotations

from streams.adapters.memory_answers import MemoryAnswers
from streams.adapters.memory_contexts import MemoryContexts
from streams.adapters.memory_epochs import MemoryEpochs
from streams.adapters.memory_graph import MemoryGraph
from streams.adapters.memory_overviews import MemoryOutlines, MemoryOverviews
from streams.adapters.memory_state import State
from streams.adapters.memory_texts import MemoryPassages, MemoryTextIndex
from streams.adapters.memory_vectors import MemoryEmbedder, MemoryVectors
from streams.adapters.memory_versions import MemoryGenerations, MemoryVersions

__all__ = [
    "MemoryAnswers",
    "MemoryContexts",
    "MemoryEmbedder",
    "MemoryEpochs",
    "MemoryGenerations",
    "MemoryGraph",
    "MemoryOutlines",
    "MemoryOverviews",
    "MemoryPassages",
    "MemoryStores",
    "MemoryTextIndex",
    "MemoryVectors",
    "MemoryVersions",
]


class MemoryStores:
    """One of each store, over the same documents."""

    def __init__(self) -> None:
        self.state = State()
        self.embedder = MemoryEmbedder()
        self.generations = MemoryGenerations(self.state)
        self.versions = MemoryVersions(self.state)
        self.texts = MemoryTextIndex(self.state)
        self.passages = MemoryPassages(self.state)
        self.graph = MemoryGraph(self.state)
        self.outlines = MemoryOutlines(self.state)
        self.overviews = MemoryOverviews(self.state)
        self.contexts = MemoryContexts(self.state)
        self.vectors = MemoryVectors()
        self.epochs = MemoryEpochs(self.state)
        self.answers = MemoryAnswers()
