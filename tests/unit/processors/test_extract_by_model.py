"""extract with a language model: what it says is taken where it holds, and the rules read the rest."""

from __future__ import annotations

import json

import msgspec
import pytest

from schemas.chunks import Chunk, ChunkBatch
from schemas.graph import GraphBatch
from streams.adapters.memory import MemoryAnswers
from streams.adapters.memory_chat import MemoryChat, Script
from streams.errors import Transient
from streams.processors import extract
from streams.processors.asking import Asker
from tests.unit.domain.obeying import OBEYED

BODY = "Frank Zappa founded the Mothers of Invention."
ANSWER = json.dumps({"entities": [{"name": "Invention", "kind": "term"}, {"name": "Satan", "kind": "person"}]})


def batch() -> ChunkBatch:
    chunks = tuple(
        Chunk(id=f"c{number}", level="parent", heading_path=(), body=f"{BODY} {number}", parent_id=f"c{number}")
        for number in range(2)
    )
    part = {"tenant": "acme", "source": "s", "doc_id": "d", "version": 1, "generation": "g1", "part": 0, "parts": 1}
    return ChunkBatch(**part, kind="document", language="en", chunks=chunks)  # type: ignore[arg-type]


async def names(script: Script | None) -> dict[str, set[str]]:
    """Return the names of the entities by chunk."""
    asker = None if script is None else Asker(model=MemoryChat(script), answers=MemoryAnswers())
    found: dict[str, set[str]] = {}
    for sent in await extract.handle(batch(), extract.Deps(asker=asker)):
        assert isinstance(sent.message, GraphBatch)
        for entity in sent.message.entities:
            found.setdefault(entity.chunk_id, set()).add(entity.name)
    return found


async def test_what_the_model_says_replaces_the_rules_as_far_as_the_passage_says_it() -> None:
    assert await names(lambda system, user: ANSWER) == {"c0": {"Invention"}, "c1": {"Invention"}}


@pytest.mark.parametrize("said", [*OBEYED, None])
async def test_a_passage_without_a_good_answer_is_read_by_the_rules(said: str | None) -> None:
    def script(system: str, user: str) -> str:
        if f"{BODY} 1" in user:
            return ANSWER
        if said is None:
            raise Transient("down")
        return said

    by_rules = await names(None)
    assert len(by_rules["c0"]) > 1
    assert await names(script) == {"c0": by_rules["c0"], "c1": {"Invention"}}


async def test_another_generation_of_the_same_texts_asks_the_model_nothing_again() -> None:
    """A change of embedder cuts as before, under other ids; other sizes ask for what is cut otherwise alone."""
    chat, said = MemoryChat(lambda system, user: ANSWER), {}
    deps = extract.Deps(asker=Asker(model=chat, answers=MemoryAnswers()))
    first = batch()
    ids = {each.id: f"other-{each.id}" for each in first.chunks}
    moved = tuple(msgspec.structs.replace(each, id=ids[each.id], parent_id=ids[each.id]) for each in first.chunks)
    other = msgspec.structs.replace(first, generation="g2", chunks=moved)
    for each in (first, other):
        (sent,) = await extract.handle(each, deps)
        assert isinstance(sent.message, GraphBatch)
        said[each.generation] = sent.message
    assert len(chat.asked) == len(first.chunks)
    renamed = [msgspec.structs.replace(each, chunk_id=ids[each.chunk_id]) for each in said["g1"].entities]
    assert renamed == list(said["g2"].entities) != []

    cut = msgspec.structs.replace(moved[1], id="cut", parent_id="cut", body=f"{BODY} Cut otherwise.")
    await extract.handle(msgspec.structs.replace(other, generation="g3", chunks=(moved[0], cut)), deps)
    assert len(chat.asked) == len(first.chunks) + 1
