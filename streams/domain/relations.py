"""Relations of a sentence: words between two mentions that connect them, found by the order of the parts of speech.

A verb with what follows it up to the next mention, as in ReVerb (Fader, Soderland, Etzioni, Identifying Relations for
Open Information Extraction, EMNLP 2011); besides it prepositions, genitives and appositions. Mentions in one sentence
that nothing connects are said to occur together, as FastGraphRAG does.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from streams.domain import english_words, russian
from streams.domain.lexicon import listed
from streams.domain.mention import Mention
from streams.domain.words import Word

VERB, PHRASE, GENITIVE, APPOSITION, KIND, TOGETHER = 1.0, 0.6, 0.8, 0.9, 0.7, 0.2  # weights
_LONGEST_LABEL = 5  # words
_MOST_EACH = 8  # members of a list that take part on each side
_NEAR = 4  # mentions apart that still occur together
_SAME = {"ru": "это", "en": "is"}
_QUIET = frozenset({"d", "o", "a", "m", '"', ",", "c"})  # words that a label leaves out
_SPEECH = english_words.SPEECH | listed("сказал сказала заявил заявила сообщил сообщила")
_BACKWARD = english_words.BACKWARD | russian.BACKWARD

Link = tuple[str, str, str, float]  # subject, label, object, weight


@dataclass
class _Clause:
    """What a clause has said so far."""

    subject: list[Mention] = field(default_factory=list)
    verb: str = ""
    named: tuple[list[Mention], Mention] | None = None  # in "X, the chief of Y": X and "chief"


@dataclass(frozen=True, kw_only=True)
class Found:
    """The links of a sentence, and the key of what it spoke of."""

    links: tuple[Link, ...]
    subject: str


def of_sentence(sentence: Sequence[Word], mentions: Sequence[Mention], *, topic: str, language: str) -> Found:
    """Return how the mentions of a sentence connect; "it", or no subject at all, stands for the `topic` (a key)."""
    links = list(_inside(mentions, language))
    if not mentions:
        return Found(links=tuple(links), subject=topic)
    groups = _groups(sentence, mentions)
    clause = _Clause()
    start = sentence[: groups[0][0].first]
    subject = topic
    verb = label(start)
    led = [word for word in start if word.tag == "p"]
    inverted = False
    if verb and topic and _speaks_of_topic(start):
        links += _each([topic], verb, groups[0], VERB)
        clause.verb = verb
        clause.subject = []
    elif not verb and (not led or language != "ru"):
        clause.subject = groups[0] if not led else []
        subject = groups[0][0].key if not led else topic
    elif not verb and len(groups) > 1:
        # «В тариф «Команда» входит API»: what follows the verb is its subject.
        gap = sentence[groups[0][-1].last : groups[1][0].first]
        inverted = bool(_verbs(gap)) and _nominative(sentence, groups[1])
        if inverted:
            links += _each(groups[1], f"{label(gap)} {led[-1].lower}", groups[0], VERB)
            clause.subject = groups[1]
    for number, (before, after) in enumerate(itertools.pairwise(groups)):
        gap = sentence[before[-1].last : after[0].first]
        if number == 0 and inverted:
            continue
        links += _between(gap, before, after, clause, topic=subject, language=language)
    links += _together(mentions, links)
    return Found(links=tuple(links), subject=subject)


def _between(  # noqa: PLR0912, PLR0915 one branch for each way of connecting
    gap: Sequence[Word], before: list[Mention], after: list[Mention], clause: _Clause, *, topic: str, language: str
) -> Iterator[Link]:
    tags = [word.tag for word in gap]
    if verbs := _verbs(gap):
        first = verbs[0]
        lead = gap[:first]
        pronouns = [word.lower for word in lead if word.tag == "r"]
        says = label(gap)
        subjects: Sequence[Mention | str] = clause.subject
        if pronouns:
            back = pronouns[-1] in _BACKWARD
            subjects = (clause.subject or [topic]) if back else []
            if not back:
                clause.subject = []
        elif any(word.tag == "w" for word in lead):
            subjects = before
        elif any(word.tag == "s" for word in lead) or not any(word.tag == "c" for word in lead):
            subjects = clause.subject if clause.subject and not clause.verb else before
            if language == "en" and gap[first].lower.endswith("ing") and clause.subject:
                subjects = clause.subject
            clause.subject = [each for each in subjects if isinstance(each, Mention)]
        elif not clause.subject:
            subjects = [topic] if topic and not clause.verb else before
        if gap[first].lower in _SPEECH:
            # What somebody said has a subject of its own.
            yield from _each(subjects, says, after, TOGETHER)
            clause.subject, clause.verb, clause.named = after, "", None
            return
        yield from _each(subjects, says, after, VERB)
        clause.verb, clause.named = label([word for word in gap if word.tag != "p"]), None
    elif "s" in tags or {",", "c"} <= set(tags):
        clause.subject, clause.verb, clause.named = after, "", None
    elif "p" in tags:
        says = " ".join(word.lower for word in gap if word.tag == "p")
        yield from _each(before[-1:], says, after, GENITIVE if says == "of" else PHRASE)
        if clause.named:
            who, role = clause.named
            yield from _each(who, f"{role.name} {says}", after, APPOSITION)
        elif clause.verb and clause.subject and before[-1].key not in {each.key for each in clause.subject}:
            yield from _each(clause.subject, f"{clause.verb} … {says}", after, PHRASE)
    elif "'" in tags:
        yield from _each(after, "of", before[-1:], GENITIVE)
        if clause.subject == before:
            clause.subject = after
    elif "(" in tags:
        yield from _each(before[-1:], "=" if _abbreviates(after[0], before[-1]) else "", after[:1], APPOSITION)
    elif tags[:1] == [","] or "-" in tags:
        if after[0].kind == "term" and before[-1].kind != "term":
            yield from _each(before[-1:], _SAME.get(language, "is"), after[:1], APPOSITION)
            clause.named = (before[-1:], after[0])
        elif before[-1].kind == "place" and after[0].kind == "place":
            yield from _each(before[-1:], "in" if language != "ru" else "в", after[:1], APPOSITION)
        elif "-" in tags and language == "ru":
            yield from _each(before[-1:], "это", after[:1], APPOSITION)
    elif gap and set(tags) == {"N"}:
        # "Ohio Gov. Richard Celeste": a title between two names says what connects them.
        yield from _each(after[:1], " ".join(word.text for word in gap), before[-1:], APPOSITION)
    elif not gap:
        yield from _side_by_side(before[-1], after[0], language)


def _side_by_side(before: Mention, after: Mention, language: str) -> Iterator[Link]:
    """Connect "anchorman Dan Rather" and "error E1042": the first says what the second is."""
    if before.kind == "term" and after.kind != "term":
        yield from _each([after], _SAME.get(language, "is"), [before], APPOSITION)
    elif before.kind == "code" and after.kind == "term":
        yield from _each([before], _SAME.get(language, "is"), [after], APPOSITION)
    else:
        yield from _each([before], "", [after], PHRASE)


def _inside(mentions: Iterable[Mention], language: str) -> Iterator[Link]:
    """Connect a phrase with its head ("team plan" is a "plan") and with the names inside of it."""
    for mention in mentions:
        if mention.head and mention.kind != "person":
            yield mention.key, "это" if language == "ru" else "is a", mention.head[0], KIND
        elif mention.head:
            yield mention.key, "", mention.head[0], KIND
        for name in mention.inner:
            yield mention.key, "", name.key, KIND


def _groups(sentence: Sequence[Word], mentions: Sequence[Mention]) -> list[list[Mention]]:
    """Join the members of a list ("A, B and C"); an apposition ("X, the chief") stays apart."""
    groups = [[mentions[0]]]
    for before, after in itertools.pairwise(mentions):
        gap = [word.tag for word in sentence[before.last : after.first]]
        marks = [tag for tag in gap if tag not in {"o", "a", "m", '"', "d"}]
        listed = bool(marks) and set(marks) <= {",", "c"}
        opens = groups == [[before]] and before.name[:1].isupper()  # a capital that may be a name's
        alike = ((before.kind == "term") == (after.kind == "term") or opens) and (before.kind == "code") == (
            after.kind == "code"
        )
        both_places = before.kind == after.kind == "place"
        if {",", "c"} <= set(marks) and len(groups[-1]) == 1 and _clause_starts(sentence, before, after):
            groups.append([after])
        elif (
            listed and ("c" in marks or (alike and not both_places and "d" not in gap)) and len(groups[-1]) < _MOST_EACH
        ):
            groups[-1].append(after)
        else:
            groups.append([after])
    return groups


def _clause_starts(sentence: Sequence[Word], before: Mention, after: Mention) -> bool:
    """Tell whether "…, and X does" goes on with X as a subject: there are verbs before and right behind."""
    behind = sentence[after.last : after.last + 1]
    return bool(_verbs(behind)) and bool(_verbs(sentence[: before.first]))


def _verbs(gap: Sequence[Word]) -> list[int]:
    return [place for place, word in enumerate(gap) if word.tag in {"v", "x"}]


def label(gap: Sequence[Word]) -> str:
    """Return the words from the first verb of a gap on that say how its sides connect; "" without a verb."""
    places = _verbs(gap)
    if not places:
        return ""
    kept: list[Word] = []
    start = places[0]
    if start and gap[start - 1].lower == "не":
        start -= 1
    for word in gap[start:]:
        if word.tag in {"w", "s", "r", "-", ":", "(", "N"} or (word.tag == "c" and kept):
            kept = [] if len(_verbs(gap[gap.index(word) :])) else kept
            continue
        if word.tag in _QUIET or (
            word.tag == "b" and word.lower not in {"not", "never", "не"} and word.lower.endswith("ly")
        ):
            continue
        kept.append(word)
    words = [word.lower for word in kept[:_LONGEST_LABEL]]
    following = gap[-1] if gap else None
    if words in (["is"], ["are"], ["was"], ["were"]) and following is not None and following.lower in {"a", "an"}:
        words.append("a")
    return " ".join(words)


def _speaks_of_topic(start: Sequence[Word]) -> bool:
    """Tell whether a sentence that starts with a verb, or with "it", speaks of what was named before."""
    first = next((word for word in start if word.tag not in {"b", ",", '"', "-"}), None)
    if first is None:
        return False
    if first.tag in {"r", "d"} and len(start) > 1:
        return first.lower in _BACKWARD | {"this"}
    if first.tag != "v":
        return False
    if russian.cyrillic(first.lower):
        return not first.lower.endswith(("йте", "ите", "ть", "ться"))
    return first.lower.endswith("s") and not first.lower.endswith("ss")  # "Includes", not "Open"


def _nominative(sentence: Sequence[Word], group: Sequence[Mention]) -> bool:
    head = sentence[group[0].first]
    return not russian.cyrillic(head.lower) or "nomn" in head.traits


def _abbreviates(short: Mention, long: Mention) -> bool:
    initials = "".join(part[0] for part in long.name.split() if part[0].isupper())
    return len(short.name) > 1 and short.name.upper() == initials


def _each(subjects: Iterable[Mention | str], label: str, objects: Iterable[Mention], weight: float) -> Iterator[Link]:
    for one in itertools.islice(subjects, _MOST_EACH):
        for other in itertools.islice(objects, _MOST_EACH):
            key = one if isinstance(one, str) else one.key
            if key and key != other.key:
                yield key, label, other.key, weight


def _together(mentions: Sequence[Mention], links: Sequence[Link]) -> Iterator[Link]:
    """Connect mentions near each other that nothing else connects; the nearer the stronger."""
    known = {frozenset((link[0], link[2])) for link in links}
    for number, one in enumerate(mentions):
        for apart, other in enumerate(mentions[number + 1 : number + 1 + _NEAR], 1):
            pair = frozenset((one.key, other.key))
            if len(pair) == 2 and pair not in known:
                known.add(pair)
                yield one.key, "", other.key, TOGETHER / apart
