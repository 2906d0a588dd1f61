"""Keeps a text within a model's token limit where its tokenizer is not at hand: by an estimate on the safe side.

Tokenizers of today make one token of about four Latin letters, and of a character of most other scripts one or two.
"""

from __future__ import annotations

LETTERS = 3  # of Latin script, a token
SPARED = 2  # tokens that mark the beginning and the end


def estimate(text: str) -> int:
    """Return about how many tokens a text has, rather too many."""
    if text.isascii():
        return -(-len(text) // LETTERS) + SPARED
    latin = sum(letter < "\u0250" for letter in text)
    return -(-latin // LETTERS) + (len(text) - latin) + SPARED


def cut(text: str, most: int) -> str:
    """Return the beginning of a text that has at most `most` tokens by the estimate, cut between two words."""
    if estimate(text) <= most:
        return text
    room, end = LETTERS * max(0, most - SPARED), 0
    for letter in text:
        room -= 1 if letter < "\u0250" else LETTERS
        if room < 0:
            break
        end += 1
    space = text.rfind(" ", end // 2, end + 1)
    return text[: space if space > 0 else end]
