"""Normal forms of text: what is removed before any store, index or model sees it."""

from __future__ import annotations

import re
import unicodedata

_LINE_ENDS = re.compile("\r\n|[\r\f\x85\u2028\u2029]")

# ECMA-48 escape sequences, whole: control strings (bounded, so that a stray introducer costs nothing), CSI, and the rest.
_ESCAPES = re.compile(
    "\x1b[\\]PX^_][^\x07\x1b\n\x9c]{0,2048}(?:\x07|\x1b\\\\|\x9c)"
    "|(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"
    "|\x1b[ -/]*[0-~]"
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
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0711\u0730-\u074a"
    "\u07eb-\u07f3\u0816-\u082d\u0859-\u085b\u0897-\u08ff\u093c\u094d\u0951-\u0954\u09bc\u09cd\u0a3c\u0a4d\u0abc\u0acd\u0b3c"
    "\u0b4d\u0bcd\u0c3c\u0c4d-\u0c56\u0cbc\u0ccd\u0d3b\u0d3c\u0d4d\u0dca\u0e38-\u0e3a\u0e48-\u0e4b\u0eb8-\u0ecb\u0f18-\u0f84"
    "\u0f86\u0f87\u0fc6\u1037-\u103a\u108d\u135d-\u135f\u1714-\u1734\u17d2\u17dd\u18a9\u1939-\u193b\u1a17\u1a18\u1a60"
    "\u1a75-\u1a7f\u1ab0-\u1aff\u1b34\u1b44\u1b6b-\u1b73\u1baa\u1bab\u1be6\u1bf2\u1bf3\u1c37\u1cd0-\u1cff\u1dc0-\u1dff"
    "\u20d0-\u20f0\u2cef-\u2cf1\u2d7f\u2de0-\u2dff\u302a-\u302f\u3099\u309a\ua66f-\ua67d\ua69e\ua69f\ua6f0\ua6f1\ua806\ua82c"
    "\ua8c4-\ua8f1\ua92b-\ua92d\ua953\ua9b3\ua9c0\uaab0-\uaac1\uaaf6\uabed\ufb1e\ufe20-\ufe2f"
    f"\U000101fd-\U0001e94a]{{{_LONGEST_MARKS + 1},}}"
)

_SURROGATES = re.compile("[\ud800-\udfff]")
_BLANKS = re.compile(r"\s+")


def normalise_text(text: str) -> str:
    """Return `text` in NFC with \\n line ends, without control, escape and invisible characters.

    Idempotent. A lone surrogate, which no store can encode, becomes U+FFFD. Vertical tabs become a blank and form feeds a
    line end, since they part words; runs of combining marks are cut at 30 (Unicode UAX #15).
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
