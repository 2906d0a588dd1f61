"""Normal forms of text: what is removed before any store, index or model sees it."""

from __future__ import annotations

import re
import unicodedata

_LINE_ENDS = re.compile("\r\n|[\r\f\x85\u2028\u2029]")

# ECMA-48 escape sequences, whole: control strings (bounded: a stray introducer costs nothing), CSI, and the rest.
_ESCAPES = re.compile(
    "\x1b[\\]PX^_][^\x07\x1b\n\x9c]{0,2048}(?:\x07|\x1b\\\\|\x9c)|(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]"
)

# Controls except \n and \t, soft hyphen, zero-width and bidirectional controls, byte order mark, tag characters.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f"
    "\ufeff\ufff9-\ufffb\U000e0001-\U000e007f]+"
)

# Joiners shape Persian, the scripts of India and emoji; between other characters nobody sees them.
_SHAPED = "\u0600-\u08ff\u0900-\u0dff\ufb50-\ufdff\ufe70-\ufefc"
_JOINERS = re.compile(
    f"(?<![{_SHAPED}\ufe0f\u2600-\u27bf\U0001f000-\U0001faff])[\u200c\u200d]+"
    f"|[\u200c\u200d]+(?![{_SHAPED}\u2600-\u27bf\U0001f000-\U0001faff])"
)

# Normalising sorts a run of marks in quadratic time; no language has more than 30 (UAX #15, stream-safe text).
_LONGEST_MARKS = 30
_MARK_RUNS = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u07eb-\u07f3\u07fd\u0816-\u0819"
    "\u081b-\u0823\u0825-\u0827\u0829-\u082d\u0859-\u085b\u0898-\u089f\u08ca-\u08e1\u08e3-\u08ff\u093c\u094d"
    "\u0951-\u0954\u09bc\u09cd\u09fe\u0a3c\u0a4d\u0abc\u0acd\u0b3c\u0b4d\u0bcd\u0c3c\u0c4d-\u0c56\u0cbc\u0ccd"
    "\u0d3b\u0d3c\u0d4d\u0dca\u0e38-\u0e3a\u0e48-\u0e4b\u0eb8-\u0eba\u0ec8-\u0ecb\u0f18\u0f19\u0f35\u0f37\u0f39"
    "\u0f71-\u0f7d\u0f80-\u0f84\u0f86\u0f87\u0fc6\u1037\u1039\u103a\u108d\u135d-\u135f\u1714\u1715\u1734\u17d2"
    "\u17dd\u18a9\u1939-\u193b\u1a17\u1a18\u1a60\u1a75-\u1a7f\u1ab0-\u1ace\u1b34\u1b44\u1b6b-\u1b73\u1baa\u1bab"
    "\u1be6\u1bf2\u1bf3\u1c37\u1cd0-\u1cd2\u1cd4-\u1ce0\u1ce2-\u1ce8\u1ced\u1cf4\u1cf8\u1cf9\u1dc0-\u1dff"
    "\u20d0-\u20f0\u2cef-\u2cf1\u2d7f\u2de0-\u2dff\u302a-\u302f\u3099\u309a\ua66f\ua674-\ua67d\ua69e\ua69f"
    "\ua6f0\ua6f1\ua806\ua82c\ua8c4\ua8e0-\ua8f1\ua92b-\ua92d\ua953\ua9b3\ua9c0\uaab0\uaab2-\uaab4\uaab7\uaab8"
    "\uaabe\uaabf\uaac1\uaaf6\uabed\ufb1e\ufe20-\ufe2f\U000101fd\U000102e0\U00010376-\U0001037a"
    "\U00010a0d-\U00010a0f\U00010a38-\U00010a3f\U00010ae5\U00010ae6\U00010d24-\U00010d27\U00010eab\U00010eac"
    "\U00010f46-\U00010f50\U00010f82-\U00010f85\U00011046\U00011070\U0001107f\U000110b9\U000110ba"
    "\U00011100-\U00011102\U00011133\U00011134\U00011173\U000111c0\U000111ca\U00011235\U00011236"
    "\U000112e9\U000112ea\U0001133b\U0001133c\U0001134d\U00011366-\U00011374\U00011442\U00011446\U0001145e"
    "\U000114c2\U000114c3\U000115bf\U000115c0\U0001163f\U000116b6\U000116b7\U0001172b\U00011839\U0001183a"
    "\U0001193d\U0001193e\U00011943\U000119e0\U00011a34\U00011a47\U00011a99\U00011c3f\U00011d42-\U00011d45"
    "\U00011d97\U00016af0-\U00016af4\U00016b30-\U00016b36\U00016ff0\U00016ff1\U0001bc9e\U0001d165-\U0001d169"
    "\U0001d16d-\U0001d172\U0001d17b-\U0001d182\U0001d185-\U0001d18b\U0001d1aa-\U0001d1ad\U0001d242-\U0001d244"
    "\U0001e000-\U0001e02a\U0001e130-\U0001e136\U0001e2ae\U0001e2ec-\U0001e2ef\U0001e8d0-\U0001e8d6"
    "\U0001e944-\U0001e94a"
    f"]{{{_LONGEST_MARKS + 1},}}"
)

_SURROGATES = re.compile("[\ud800-\udfff]")
_BLANKS = re.compile(r"\s+")


def normalise_text(text: str) -> str:
    """Return `text` in NFC with \\n line ends, without control, escape and invisible characters.

    A lone surrogate, which no store can encode, becomes U+FFFD. A vertical tab becomes a blank and a form feed a line
    end, since they part words; runs of combining marks are cut at 30 (Unicode UAX #15).
    """
    if text.isascii() and text.isprintable():
        return text
    text = _LINE_ENDS.sub("\n", text).replace("\x0b", " ")
    text = _ESCAPES.sub("", text)
    text = _INVISIBLE.sub("", text)
    if text.isascii():
        return text
    text = _SURROGATES.sub("\ufffd", text)
    text = _JOINERS.sub("", text)
    text = _MARK_RUNS.sub(lambda run: run[0][:_LONGEST_MARKS], text)
    return unicodedata.normalize("NFC", text)


def normalise_question(text: str) -> str:
    """Return a question in the form of `normalise_text`, on one line, with single blanks and none around it."""
    return _BLANKS.sub(" ", normalise_text(text)).strip()


def for_model(text: str) -> str:
    """Return a text as models are given it: full-width letters, ligatures and the like in their plain form (NFKC)."""
    return unicodedata.normalize("NFKC", text)
