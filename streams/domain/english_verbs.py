"""English verbs: their forms, and whether a word is one where it may be a noun as well."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from streams.domain import english_words as lists
from streams.domain.words import Tag, Word

_VERBS = lists.VERBS | lists.NOUN_VERBS
_SAYS_NOUN = frozenset({"d", "o", "'", "m"})  # behind these stands a noun, or a participle as its adjective
_ENDS = frozenset({"v", "x", "p", ".", ",", ":", ")", "s", "c", "w", "-", "("})


@functools.lru_cache(maxsize=50_000)
def form(word: str) -> str:
    """Return which form of a listed verb this is: "base", "s", "ed", "ing", or ""."""
    if word in _VERBS:
        return "base"
    if word in lists.PASTS:
        return "ed"
    for ending, name in (("ing", "ing"), ("ed", "ed"), ("s", "s")):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            root = word[: -len(ending)]
            roots = [root, f"{root}e"] if ending != "s" else [root, root[:-1] if root.endswith("e") else root]
            if root.endswith("i"):
                roots.append(f"{root[:-1]}y")
            if ending == "s" and root.endswith("ie"):
                roots.append(f"{root[:-2]}y")
            if ending != "s" and len(root) > 2 and root[-1] == root[-2]:
                roots.append(root[:-1])
            if any(each in _VERBS for each in roots):
                return name
    return ""


def part(  # noqa: PLR0911, PLR0912 the first rule that fits decides
    word: Word,
    kind: str,
    *,
    before: str,
    after: str,
    following: Word | None,
    first: bool,
    open_question: bool,
    verb_seen: bool,
    earlier: Sequence[Word],
) -> Tag:
    """Return the tag of a word whose `kind` may be a verb, by its neighbours."""
    lower = word.lower
    previous = earlier[-1].lower if earlier else ""
    to_noun = after in {"n", "v?", "ing"} and not (following is not None and following.text[0].isupper())
    if kind == "ed":
        if before in _SAYS_NOUN and (to_noun or before != "d"):
            return "a" if to_noun else "v"
        if before in {"p", "."} and to_noun:
            return "a"
        return "v"
    if kind == "ing":
        if before in {"d", "a", "o", "'", "n"} and after in _ENDS | {"n"}:
            return "n"
        return "v" if not (before == "p" and to_noun and previous in {"of", "with"}) else "a"
    if previous == "to" or before in {"x", "r", "b"}:
        if kind == "v" or before == "r" or previous in lists.INVERTING or previous in {"not", "please", "also"}:
            return "v"
        if previous == "to":
            return "v" if after in {"d", "n", "o", "a", "m", "k", "$", "r", "v?", ".", "c"} or kind == "v" else "n"
        return (
            "v" if before == "x" and previous not in lists.COPULAS and previous not in {"have", "has", "had"} else "n"
        )
    if before in _SAYS_NOUN or (before == "a" and kind != "v"):
        return "n"
    if kind == "v":
        return "n" if before == "p" and after in _ENDS - {"d"} and not lower.endswith("ing") else "v"
    if before == "p":
        return "n"
    starts = first or before in {".", "c", "-", ":", ","}
    ends_in_s = lower.endswith("s") and lower not in lists.NOUN_VERBS
    if starts and not ends_in_s:
        if (
            before == "c"
            and len(earlier) > 1
            and earlier[-2].tag in {"n", "N", "k"}
            and not verb_seen
            and after in _ENDS
        ):
            return "n"
        return "v" if after in {"d", "r", "o", "k", "m"} or (after == "p" and first) else "n"
    if starts:
        named = after == "n" and first and following is not None and following.text[0].isupper()
        return "v" if named or after in {"d", "$", "m", "k", "r", "o"} else "n"
    if open_question and not ends_in_s:
        return "v" if after in {".", "p", "d", "r", "k", "m"} else "n"
    if before in {"n", "N", "k", ")", "w"} and not verb_seen:
        if ends_in_s:
            return (
                "v"
                if after in {"d", "$", "m", "k", "o", "n", "a", "r", "b", "c", "p", "v?", "ing", "ed"}
                and not (after in {"c", "p"} and previous.endswith("s"))
                else "n"
            )
        plural = previous.endswith("s") and not previous.endswith("ss")
        return (
            "v"
            if before == "w" or (plural and after in {"d", "$", "m", "k", "o", "n", "r", "a", "p", "b", "."})
            else "n"
        )
    return "n"
