"""What kind of thing an English name stands for: by its own words, by titles, and by the words beside it."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.graph import EntityKind
from streams.domain import english_words, name_words
from streams.domain.words import Word

_NOT_HUMPS = ("Mc", "Mac", "De", "Di", "La", "Le", "Van", "O'", "O’", "Fitz", "D'", "D’")


def joins(run: Sequence[Word], joint: Word, following: Sequence[Word]) -> bool:  # noqa: PLR0911 one for each joint
    """Tell whether a small word between capitals ("of", "and", "van") is part of one name."""
    if not following:
        return False
    last = run[-1].lower
    ends = following[-1].lower
    if joint.lower in name_words.PARTICLES:
        return True
    if joint.lower == "of":
        return last in name_words.OF
    if joint.lower in {"for", "on"}:
        return last in name_words.ORGANIZATIONS
    if joint.text in {"&"}:
        return True
    if joint.lower == "and":
        whole = " ".join(word.lower for word in run)
        return (
            ends in name_words.ORGANIZATIONS and last not in name_words.ORGANIZATIONS and whole not in name_words.PLACES
        )
    return joint.text in {"'", "’"} and ends in name_words.ORGANIZATIONS


def parts(run: Sequence[Word]) -> list[tuple[int, int]]:
    """Part a run of capitals into names: "Ohio Gov. Richard Celeste" names a place and a person, the title is neither.

    Returns places in the run (first, last exclusive); Mr and the like stay in front of the name.
    """
    last = len(run)
    found: list[tuple[int, int]] = []
    first = 0
    titled = [
        place
        for place, word in enumerate(run)
        if word.lower.rstrip(".") in (name_words.TITLES if place == 0 else name_words.TITLES - name_words.SURNAMES)
    ]
    if titled and run[-1].lower not in name_words.ORGANIZATIONS and not any(word.lower == "of" for word in run):
        start = titled[-1] + 1
        if start == last:
            return [(0, last)] if titled[0] else []
        if titled[0]:
            found += parts(run[: titled[0]])
        first = start
    elif len(run) > 1:
        # "Jakarta Radio Republik", "Beijing XINHUA": news agencies sign with their city.
        for count in (2, 1):
            city = " ".join(word.lower for word in run[:count])
            rest = run[count:]
            if (
                rest
                and city in name_words.PLACES
                and (
                    run[0].lower == "u.s."
                    or rest[0].lower == "radio"
                    or (rest[0].text.isupper() and len(rest[0].text) > 3)
                )
            ):
                return [(0, count), (count, last)]
    if first and run[first - 1].lower.rstrip(".") in name_words.KEPT_TITLES:
        first -= 1
    return [*found, (first, last)]


def bare(run: Sequence[Word]) -> int:
    """Return how many words at the start of a name are Mr or the like."""
    return int(len(run) > 1 and run[0].lower.rstrip(".") in name_words.KEPT_TITLES)


def kind(run: Sequence[Word], before: Sequence[Word], after: Sequence[Word]) -> EntityKind:  # noqa: PLR0911, PLR0912
    """Return the kind of a name without its titles, given up to two words on each side."""
    lowers = [word.lower for word in run]
    whole = " ".join(lowers)
    first, last = lowers[0], lowers[-1]
    previous = before[-1].lower if before else ""
    following = after[0].lower if after else ""
    if len(run) == 1 and first in name_words.BY_ITSELF:
        return "organization"
    if len(run) > 1 and any(word in name_words.ORGANIZATIONS for word in (last, *(_before_of(lowers)))):
        return "organization"
    if whole in name_words.PLACES or last in name_words.PLACE_ENDS or whole.rstrip(".") in name_words.PLACES:
        return "place"
    if previous.rstrip(".") in name_words.TITLES or first in name_words.GIVEN:
        return "person"
    if any(len(word.text) == 2 and word.text[1] == "." for word in run) and len(run) > 1:
        return "person"
    if last in {"jr.", "sr."}:
        return "person"
    if first in name_words.PLACE_STARTS and len(run) > 1:
        return "place"
    text = run[-1].text
    if len(run) == 1 and text.isupper() and len(text) > 1:
        return "organization" if "." not in text else "place"
    if following == "," and len(after) > 1 and after[1].lower in name_words.PLACES:
        return "place"
    if following in english_words.SPEECH or previous in english_words.SPEECH or following == "who":
        return "person"
    if previous in {"in", "near", "at", "from"}:
        return "place"
    if any(_humps(word.text) or any(letter.isdigit() for letter in word.text) for word in run):
        return "product"
    if before and before[-1].tag == "n" and len(run) > 1:
        return "person"
    plain = not any(word in english_words.VERBS or word in english_words.NOUN_VERBS for word in lowers)
    if 1 < len(run) < 4 and plain and (following in {",", "'s", "has", "was", "had"} or previous in {",", "by", "and"}):
        return "person"
    return "name"


def _before_of(words: Sequence[str]) -> Sequence[str]:
    return [words[words.index("of") - 1]] if "of" in words[1:] else []


def _humps(text: str) -> bool:
    return (
        not text.isupper()
        and any(letter.isupper() for letter in text[1:])
        and "-" not in text
        and (not text.startswith(_NOT_HUMPS))
    )
