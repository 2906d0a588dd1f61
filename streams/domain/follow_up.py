"""Follow-up questions without a language model: what the last turn spoke of is carried into a question that needs it.

"When did they disband?" after "Who were the Mothers of Invention?" is searched with "Mothers of Invention" beside it.
What is carried counts half: it says what the question is about, not what it asks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from schemas.queries import Turn
from streams.domain import mentions, normalise, tokens
from streams.domain.stems import stop_words

MOST_CARRIED = 8  # names and phrases
MOST_CHARACTERS = 200  # of all that is carried
_READ = 1_000  # characters of a turn: what it asks stands at its start or its end
_FEW = 1  # words beside stop words: fewer than two ask nothing by themselves

_POINTING = {
    "de": "es er sie ihn ihm ihr ihnen ihre ihren ihrer sein seine seinen dies diese dieser dieses diesen dort davon"
    " dafür damit dazu darin solche",
    "en": "it its they them their theirs he him his she her hers this that these those one ones such same",
    "es": "él ella ellos ellas ello lo la los las le les su sus este esta esto estos estas ese esa eso esos"
    " esas aquel aquella ahí allí",
    "fr": "il elle ils elles le la les lui leur leurs son sa ses ce cet cette ces ceci cela ça celui celle"
    " ceux celles y",
    "it": "lui lei loro esso essa essi esse lo gli suo sua suoi sue questo questa questi queste quello quella ciò ne",
    "nl": "hij zij ze hem haar hen hun het dit deze die zijn daar ervan ervoor ermee",
    "pl": "on ona ono oni one jego jej ich go mu im ten ta to te tego tej tych tam",
    "pt": "ele ela eles elas lhe lhes seu sua seus suas este esta isto estes estas esse essa isso esses essas aquele"
    " aquela ali",
    "ru": "он она оно они его ее её их ему ей им нем ней них этот эта это эти этого этой этих тот та те того той"
    " тех там такой такая такие",
}
# Articles are written like pronouns in these languages: only what cannot be one counts.
_ARTICLES = {"es": "la los las lo el", "fr": "le la les", "it": "lo gli", "nl": "het zijn"}
_LEADING = {
    "de": "und aber oder auch warum wieso was ist mit",
    "en": "and but so or also then ok okay why no yes|what about|how about|what else|i meant",
    "es": "y pero o también entonces|qué tal|y si",
    "fr": "et mais ou aussi alors pourquoi|qu'en est-il",
    "it": "e ma o anche allora|che dire",
    "nl": "en maar of ook dan waarom",
    "pl": "a i ale lub też dlaczego",
    "pt": "e mas ou também então|e se",
    "ru": "а и но или также тогда почему",
}


def _words(listed: str) -> str:
    return "|".join(re.escape(word) for word in listed.split())


_POINTS = {
    language: re.compile(
        rf"\b(?:{_words(' '.join(set(listed.split()) - set(_ARTICLES.get(language, '').split())))})\b", re.IGNORECASE
    )
    for language, listed in _POINTING.items()
}


def _leads(listed: str) -> re.Pattern[str]:
    words, *phrases = listed.split("|")
    return re.compile(rf"\W*(?:{'|'.join([*map(re.escape, phrases), _words(words)])})\b", re.IGNORECASE)


_WORD = re.compile(r"\w+")
_LEADS = {language: _leads(listed) for language, listed in _LEADING.items()}


def is_follow_up(text: str, language: str) -> bool:
    """Tell whether a question seems to need the turn before it: it points back, goes on, or hardly says anything."""
    points, leads = _POINTS.get(language), _LEADS.get(language)
    if (points and points.search(text)) or (leads and leads.match(text)):
        return True
    said = [word for word in _WORD.findall(text.lower()) if word not in stop_words(word, language)]
    return len(said) <= _FEW


def carried(text: str, history: Sequence[Turn], language: str) -> str:
    """Return what the last turn of the user spoke of and a follow-up does not say itself, blank-separated, or "".

    Names and noun phrases in English and Russian, else the words that are not common; at most eight and 200 characters,
    in the order of the turn. Earlier turns and the assistant's are left out: they lost more questions than they won.
    """
    last = next((turn.text for turn in reversed(history) if turn.role == "user"), "")
    last = normalise.normalise_question(last[:_READ])
    if not last or not is_follow_up(text, language):
        return ""
    known = set(_content(text, language))
    kept: list[str] = []
    room = MOST_CHARACTERS
    for phrase in _spoken_of(last, language):
        new = set(_content(phrase, language)) - known
        room -= len(phrase) + 1
        if not new or room < 0 or len(kept) == MOST_CARRIED:
            continue
        known |= new
        kept.append(phrase)
    return " ".join(kept)


def _spoken_of(text: str, language: str) -> list[str]:
    found = [
        mention.name
        for sentence in mentions.tagged(mentions.composed(text), language)
        for mention in mentions.of_sentence(sentence, language)
    ]
    return found or ([] if language in ("en", "ru") else _telling(text, language))


def _telling(text: str, language: str) -> list[str]:
    """Return the words of a text, as they are written, that are more than stop words."""
    wanted = set(_content(text, language))
    return [word for word in text.split() if set(_content(word, language)) & wanted]


def _content(text: str, language: str) -> list[str]:
    found = tokens.question_terms(text, language)
    return [found.terms[place] for place in found.words]
