"""Entities and relations of a passage by a language model that fills in a schema, and what of them is believed.

The model only proposes: an entity must stand in the passage as it is named, a relation must be between two such
entities, and the words that connect them must be the passage's. So a passage that says "ignore your instructions" can
at most leave out what it says itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import msgspec

from schemas.graph import Entity, EntityKind, Relation
from streams.domain import extraction, mentions, normalise, prompts, tokens
from streams.domain.prompts import Prompt

MOST_TOKENS = 1_200
MOST_CHARACTERS = 6_000  # of a passage
LONGEST_ANSWER = 20_000  # characters
LONGEST_NAME = 120  # characters
LONGEST_LABEL = 60  # characters
WEIGHT = 0.9  # of a relation with words; below a sentence that the rules read
UNSAID = 0.4  # of one whose words are not the passage's: the two occur together

KINDS: tuple[str, ...] = get_args(EntityKind)
_SYSTEM = (
    "You extract a knowledge graph from a passage. Reply with JSON alone: "
    '{"entities": [{"name": "…", "kind": "…"}], "relations": [{"subject": "…", "label": "…", "object": "…"}]}. '
    f"kind is one of {', '.join(KINDS)}. Copy names and labels from the passage word for word; subject and object are "
    "names from entities. " + prompts.DATA
)


class _Named(msgspec.Struct):
    name: str
    kind: str = "term"


class _Related(msgspec.Struct):
    subject: str
    object: str
    label: str = ""


class _Answer(msgspec.Struct):
    entities: list[Any] = []
    relations: list[Any] = []


def prompt(heading_path: Sequence[str], body: str, mark: str) -> Prompt:
    """Return the prompt for a passage."""
    return Prompt(system=_SYSTEM, user=prompts.fenced("passage", text_of(heading_path, body), mark))


def text_of(heading_path: Sequence[str], body: str) -> str:
    """Return the text that the model is shown."""
    return "\n".join([*heading_path, body])[:MOST_CHARACTERS]


def read(
    said: str, *, chunk_id: str, heading_path: Sequence[str], body: str, language: str
) -> tuple[list[Entity], list[Relation]] | None:
    """Return what the passage says, as far as it does; none where the answer is no JSON or nothing of it holds.

    Entities of unknown kinds and all else that does not fit the schema are left out one by one.
    """
    try:
        answer = msgspec.json.decode(_json(prompts.plain(said, LONGEST_ANSWER)), type=_Answer)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return None
    text = text_of(heading_path, body)
    entities = _entities(answer.entities, text, chunk_id, language)
    if not entities:
        return None
    keys = {_folded(name): entity.key for name, entity in entities.items()}
    return list(entities.values()), _relations(answer.relations, keys, text, chunk_id, language)


def _json(said: str) -> str:
    """Return the text from the first to the last brace: models like to say something before and after."""
    return said[said.find("{") : said.rfind("}") + 1]


def _entities(given: Sequence[Any], text: str, chunk_id: str, language: str) -> dict[str, Entity]:
    folded = f" {_folded(text)} "
    found: dict[str, Entity] = {}
    keys: set[str] = set()
    for each in given[: 2 * extraction.MOST_ENTITIES]:
        named = _fit(each, _Named)
        if named is None or named.kind not in KINDS:
            continue
        name = normalise.normalise_question(named.name)
        if not name or len(name) > LONGEST_NAME or not _stands_in(_folded(name), folded):
            continue
        mention = mentions.whole_of(name, language)
        if mention is not None and mention.key not in keys and len(found) < extraction.MOST_ENTITIES:
            keys.add(mention.key)
            found[name] = Entity(
                key=mention.key,
                name=name,
                kind=named.kind,
                chunk_id=chunk_id,
                mentions=folded.count(_folded(name)),
            )
    return found


def _relations(given: Sequence[Any], keys: dict[str, str], text: str, chunk_id: str, language: str) -> list[Relation]:
    known = {token.term for token in tokens.tokens(text, language)}
    found: dict[tuple[str, str], Relation] = {}
    for each in given[: 2 * extraction.MOST_RELATIONS]:
        related = _fit(each, _Related)
        if related is None:
            continue
        subject, target = (keys.get(_folded(name)) for name in (related.subject, related.object))
        if subject is None or target is None or subject == target or (subject, target) in found:
            continue
        label = normalise.normalise_question(related.label)
        said = 0 < len(label) <= LONGEST_LABEL and set(tokens.terms(label, language)) <= known
        said = said and prompts.confirmed(label, text)
        if len(found) < extraction.MOST_RELATIONS:
            found[subject, target] = Relation(
                subject=subject,
                object=target,
                label=label if said else "",
                chunk_id=chunk_id,
                weight=WEIGHT if said else UNSAID,
            )
    return list(found.values())


def _fit(given: Any, kind: type[Any]) -> Any:
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError:
        return None


def _folded(text: str) -> str:
    return " ".join(normalise.for_model(normalise.normalise_text(text)).casefold().split())


def _stands_in(name: str, text: str) -> bool:
    """Tell whether a name stands in a text as whole words."""
    place = text.find(name)
    while place >= 0:
        before, after = text[place - 1 : place], text[place + len(name) : place + len(name) + 1]
        # Scripts without blanks have no words to be whole.
        if not (before.isalnum() and before.isascii()) and not (after.isalnum() and after.isascii()):
            return True
        place = text.find(name, place + 1)
    return False
