"""Facts of the graph as a short text for people: one line for each subject."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.graph import Fact

_MOST_OBJECTS = 6  # behind one label
_RELATED, _RELATED_RUSSIAN = "related to", "связано с"  # where the graph has no words for it


def summarise(facts: Sequence[Fact], *, most: int = 8) -> str:
    """Return the `most` highest-scored facts, like "Team plan: includes API, SSO; part of Plans."; "" for none.

    A subject has one line, in the order of its best fact; facts that differ in letter case alone are one.
    """
    best: dict[tuple[str, str, str], Fact] = {}
    for fact in facts:
        same = (fact.subject.casefold(), fact.label.casefold(), fact.object.casefold())
        if all((same[0], same[2])) and (same not in best or _rank(fact) < _rank(best[same])):
            best[same] = fact
    chosen = sorted(best, key=lambda same: (-best[same].score, same))[: max(0, most)]
    lines: dict[str, list[Fact]] = {}
    for same in chosen:
        lines.setdefault(same[0], []).append(best[same])
    return "\n".join(_line(group) for group in lines.values())


def worth_telling(facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts that people learn something from, in their order.

    A fact that says of a phrase what its own last word says ("unused months: is a month") is left out; and where some
    facts are about names or figures (Team plan, E1042, 25), those about common words alone are left out.
    """
    telling = [fact for fact in facts if not _is_its_own_head(fact)]
    named = [fact for fact in telling if is_named(fact.subject) or is_named(fact.object)]
    return named or telling


def _is_its_own_head(fact: Fact) -> bool:
    *before, last = fact.subject.casefold().split() or [""]
    target = fact.object.casefold()
    return bool(before) and " " not in target and last[:4] == target[:4]


def is_named(text: str) -> bool:
    """Tell whether a text is a name or a figure: it has a capital letter or a digit."""
    return any(letter.isupper() or letter.isdigit() for letter in text)


def _rank(fact: Fact) -> tuple[float, str, str, str]:
    return -fact.score, fact.subject, fact.label, fact.object


def _line(facts: Sequence[Fact]) -> str:
    objects: dict[str, list[str]] = {}
    for fact in sorted(facts, key=lambda fact: not fact.label):  # facts without words come last
        label = fact.label or (_RELATED_RUSSIAN if _is_cyrillic(fact.subject) else _RELATED)
        objects.setdefault(label, []).append(fact.object)
    said = "; ".join(f"{label} {', '.join(names[:_MOST_OBJECTS])}" for label, names in objects.items())
    subject = facts[0].subject
    return f"{subject[:1].upper()}{subject[1:]}: {said}."


def _is_cyrillic(text: str) -> bool:
    return any("\u0400" <= letter <= "\u04ff" for letter in text)
