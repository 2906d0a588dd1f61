"""A text cut into words, code-like tokens and marks, each with its place: what the taggers of a language work on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

# A tag is the part that a word plays: n noun, a adjective, o adjective that names nothing, d determiner, v verb,
# x auxiliary, p preposition, c conjunction, s start of a clause, r pronoun, w relative word, b adverb, m number,
# $ amount with its unit, N name, k code; marks stand for themselves: . , : ( ) - " and ' for the English genitive.
Tag = Literal[
    "n", "a", "o", "d", "v", "x", "p", "c", "s", "r", "w", "b", "m", "$", "N", "k", ".", ",", ":", "(", ")", "-", '"',
    "'",
]  # fmt: skip


@dataclass(slots=True, kw_only=True)
class Word:
    """A word in its sentence; taggers set `tag` and `lemma`."""

    text: str
    lower: str
    start: int
    end: int
    tag: Tag = "n"
    lemma: str = ""
    traits: frozenset[str] = frozenset()  # what a dictionary says of it: case, name of a person, place


_FILES = (
    "py|js|ts|tsx|java|go|rs|rb|php|c|h|cpp|cs|sh|sql|md|txt|csv|tsv|json|jsonl|yaml|yml|toml|ini|cfg|conf|xml|html|css"
    "|pdf|docx?|xlsx?|zip|gz|tar|log|env|lock|exe|dll|png|jpe?g|svg|parquet|pem|key|crt|proto"
)
_ABBREVIATIONS = (
    "Mr|Mrs|Ms|Dr|Prof|Sen|Rep|Gov|Gen|Lt|Col|Sgt|Capt|Maj|Adm|Cmdr|Rev|Hon|St|Ste|Mt|Ft|Jr|Sr|Inc|Corp|Co|Ltd|Bros"
    "|No|vs|etc|approx|Dept|Univ|Assn|Ave|Blvd|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec"
    "|Ala|Ariz|Ark|Calif|Colo|Conn|Del|Fla|Ga|Ill|Ind|Kan|Ky|La|Md|Mass|Mich|Minn|Miss|Mo|Mont|Neb|Nev|Okla|Ore|Pa|Penn"
    "|Tenn|Tex|Vt|Va|Wash|Wis|Wyo|г|гг|ул|им|т|тыс|млн|млрд|руб|см|стр|рис|гл|др|пр"
)
_L = r"[^\W\d_]"
# Every repetition that may start at each place of a run is bounded, so that the time is linear in the text.
_TOKENS = re.compile(
    rf"""
    (?P<tick>`[^`\n]{{1,80}}`)
  | (?P<code>
        https?://[^\s)>\]"'«»]{{1,200}}
      | (?<![\w.])[\w.+-]{{1,64}}@[\w-]{{1,64}}(?:\.\w{{2,16}}){{1,3}}
      | (?<![\w-])--[A-Za-z][\w-]{{1,40}}
      | (?:\b(?:GET|POST|PUT|PATCH|DELETE|HEAD)\s)?
        (?<![\w/.<)\]])/[A-Za-z{{][\w{{}}:.*-]{{0,60}}(?:/[\w{{}}:.*-]{{1,60}}){{0,12}}
      | \b[\w-]{{1,60}}\.(?:{_FILES})\b(?!\.\w)
      | \b[A-Za-z]\w{{0,60}}(?:\.[A-Za-z_]\w{{0,60}}){{1,6}}(?:\(\))?(?=\W|$)(?<!\b[A-Z]\.[A-Z])
      | \b\w{{1,60}}\(\)
      | \b(?:[A-Za-z]{{1,40}}\d{{0,6}}_[\w]{{1,60}}|_{{1,2}}[A-Za-z]\w{{1,60}})
      | \b[a-z]{{1,20}}[A-Z][A-Za-z0-9]{{1,40}}\b
      | \b[A-Z]{{1,6}}-?\d{{2,10}}\b
      | \b[a-z]{{1,3}}-?\d{{3,6}}\b
      | \bv?\d{{1,4}}\.\d{{1,4}}\.\d{{1,6}}(?:\.\d{{1,6}})?(?:-?[a-z]{{1,6}}\.?\d{{0,3}})?\b
      | \bv\d{{1,3}}(?:\.\d{{1,4}})?\b
    )
  | (?P<short>(?:\b[A-ZА-ЯЁ]\.(?=[\s,)A-ZА-ЯЁ-]|$)){{2,6}} | \b(?:{_ABBREVIATIONS})\. | \b[A-ZА-ЯЁ]\.(?=\s?[A-ZА-ЯЁ])
      | \b(?:e\.g|i\.e|т\.\s?е|т\.\s?д|т\.\s?п)\.)
  | (?P<amount>[$€£¥₽]\s?\d[\d.,]{{0,18}}(?<![.,])(?:\s(?:million|billion|thousand))?
      | \b\d[\d.,]{{0,18}}(?<![.,])\s?(?:%|€|\$|£|₽))
  | (?P<number>\b\d{{1,3}}(?:[\u00a0\u202f]\d{{3}}){{1,4}}\b|\b\d[\d]{{0,18}}(?:[.,:/]\d{{1,18}}){{0,4}}\b)
  | (?P<genitive>['’]s\b|(?<=s)['’](?=\s))
  | (?P<word>{_L}[^\W_]{{0,80}}(?:[-'’](?!s\b)[^\W_]{{1,80}}){{0,8}}|[^\W_]{{1,80}})
  | (?P<dash>--+|[—–]|(?<=\s)-(?=\s))
  | (?P<mark>[^\w\s])
    """,
    re.VERBOSE,
)
_MARKS: dict[str, Tag] = {
    ".": ".", "!": ".", "?": ".", "…": ".", ";": ".", ",": ",", ":": ":", "(": "(", ")": ")", "[": "(", "]": ")",
    '"': '"', "«": '"', "»": '"', "“": '"', "”": '"', "„": '"', "&": "c", "/": "c", "+": "c", ">": "-", "›": "-",
    "→": "-", "|": ".", "`": '"',
}  # fmt: skip
_LONGEST_SENTENCE = 120  # words


def cut(text: str) -> list[Word]:
    """Return the words of a text in order; tags are set for code, numbers and marks, and "n" for all others."""
    found: list[Word] = []
    for match in _TOKENS.finditer(text):
        group, token = match.lastgroup, match[0]
        start, end = match.span()
        tag: Tag = "n"
        if group == "tick":
            token, start, end = token[1:-1].strip(), start + 1, end - 1
            if not token:
                continue
            tag = "k"
        elif group == "code":
            shorter = token.rstrip(".:-*")
            token, end = shorter, end - len(token) + len(shorter)
            tag = "k"
        elif group == "amount":
            tag = "$"
        elif group == "number":
            tag = "m"
        elif group == "genitive":
            tag = "'"
        elif group == "dash":
            tag = "-"
        elif group == "mark":
            tag = _MARKS.get(token, '"')
        found.append(Word(text=token, lower=token.lower(), start=start, end=end, tag=tag))
    return found


def sentences(words: list[Word]) -> list[list[Word]]:
    """Part words at full stops; a sentence of more than 120 words is cut there."""
    found: list[list[Word]] = [[]]
    for word in words:
        if word.tag == "." or len(found[-1]) >= _LONGEST_SENTENCE:
            found.append([])
        if word.tag != ".":
            found[-1].append(word)
    return [sentence for sentence in found if sentence]
