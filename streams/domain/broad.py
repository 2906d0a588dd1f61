"""Which questions are broad: they ask for an overview rather than for one thing. No model is asked.

A question is broad by its words ("Give me an overview of billing", "What topics are covered?"), in English, Russian,
German, French and Spanish. Of the others, one that names nothing the graph knows, and has no code or number in it, may
be; there an overview has to have nearly all of its words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from streams.domain import tokens
from streams.domain.stems import stop_words

SHARE, UNNAMED_SHARE = 0.5, 0.75  # of the telling terms that an overview has to have, for the two kinds
UNNAMED_TERMS = 2  # that a question of the second kind has at least

_WORDS = re.compile(
    r"\b(?:"
    r"overviews?(?: of)?|summar(?:y|ies) of|summari[sz]e|big picture|high[- ]level|in general\b|generally speaking"
    r"|(?:what|which) (?:topics|themes|subject areas) (?:are|is|do you|can you)"
    r"|(?:what are|main|key|major) (?:the )?(?:main |key |major )?(?:topics|themes|subject areas)"
    r"|main (?:points|ideas)|what (?:is|are) (?:this|these|it|they|all this|all these)(?: \w+)? (?:all )?about"
    r"|what (?:can|do) you (?:know|tell me)"
    r"|обзор\w*|в целом|в общем|вкратце|резюмируй\w*|суммируй\w*"
    r"|(?:основн|главн)\w+ (?:тем|иде)\w+|какие темы (?:есть|в|у|освещ\w+|охват\w+|затр\w+)"
    r"|überblick|übersicht|zusammenfass\w+|im allgemeinen"
    r"|wichtigste\w* themen|welche themen (?:gibt|sind|werden|deckt)"
    r"|aperçu|vue d['\u2019]ensemble|résum(?:é de|er|ez)|en général"
    r"|(?:quels|principaux) (?:sont les )?(?:thèmes|sujets)"
    r"|panorama|visión general|resum(?:en de|e|ir)|en general|(?:qué|principales) temas"
    r")\b",
    re.IGNORECASE,
)
# What stands for the whole collection, or for the asking: no overview is looked for by these.
_SAYS_NOTHING_LISTED = """
documentation docs doc documents document page pages site website product products company service services
knowledge base help center centre collection content contents material everything anything thing things topic topics
subject subjects theme themes covered cover covers discussed described tell give show write list name describe
explain know need want see short brief quick main key important major general points
документация документации документы документах документов сайт сайте сайта продукт продукте сервис сервисе база
базы базе знаний всё сделай дай дайте расскажи расскажите покажи опиши краткий основные главные темы тема
dokumentation dokumente produkt gib zeig themen documentation documents donne donnez sujets thèmes principaux
documentación documentos dame temas principales
"""
_SAYS_NOTHING = frozenset(_SAYS_NOTHING_LISTED.split())


@dataclass(frozen=True, kw_only=True)
class Broad:
    """What an overview is looked for by."""

    terms: tuple[str, ...]  # stemmed; none: anything will do, the largest first
    share: float  # of the terms that an overview has to have
    by_words: bool  # it asks for an overview in so many words


def broad(text: str, language: str, *, known: bool) -> Broad | None:
    """Return how to look for overviews, or none for a question that is not broad.

    known: the graph knows something that the question names.
    """
    rest, found = _WORDS.subn(" ", text)
    if not found and (known or any(letter.isdigit() for letter in text)):
        return None
    terms = _telling(rest, language)
    if found:
        return Broad(terms=terms, share=SHARE, by_words=True)
    return Broad(terms=terms, share=UNNAMED_SHARE, by_words=False) if len(terms) >= UNNAMED_TERMS else None


def _telling(text: str, language: str) -> tuple[str, ...]:
    kept = []
    for word in text.split():
        bare = word.strip(".,;:!?¿¡()[]\"'“”«»…").casefold()
        if bare and bare not in _SAYS_NOTHING and bare not in stop_words(bare, language):
            kept.append(word)
    return tokens.question_terms(" ".join(kept), language).terms if kept else ()
