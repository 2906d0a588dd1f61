"""Relations of a table: the first cell of a row, the header of a column, and the cell where they meet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from streams.domain.lexicon import listed
from streams.domain.mention import Mention
from streams.domain.relations import KIND, VERB, Link

_YES = listed("yes y ✓ ✔ ✅ x ● included true да есть + включено входит")
_NO = listed("no n ✗ ✘ ❌ – — - false none нет − ○ не")
# A table whose first column holds features has its subjects in the header.
_FEATURES = listed(
    "feature features function functionality capability limit property характеристика функция функции возможность "
    "возможности параметр свойство"
)
_MOST_ROWS, _MOST_COLUMNS = 40, 8
_WORDS = {"ru": ("включает", "не включает", "это"), "en": ("includes", "does not include", "is a")}


def of_rows(
    rows: Sequence[Sequence[str]], read: Callable[[str, str], Sequence[Mention]], *, language: str
) -> Iterator[Link]:
    """Yield the links of a table whose first row is the header; `read` returns the mentions of a
    cell, given what it says: a number alone is named by it."""
    if not rows:
        return
    header = rows[0][:_MOST_COLUMNS]
    heads = [read(cell, "") for cell in header]
    includes, lacks, is_a = _WORDS.get(language, _WORDS["en"])
    turned = header[0].strip().lower() in _FEATURES or not header[0].strip()
    for row in rows[1 : _MOST_ROWS + 1]:
        if not row or not (first := read(row[0], "")):
            continue
        subject = first[0].key
        if heads[0] and not turned and heads[0][0].key != subject:
            yield subject, is_a, heads[0][0].key, KIND
        for column, cell in enumerate(row[1:_MOST_COLUMNS], 1):
            if column >= len(header) or not cell.strip():
                continue
            head, mark = heads[column], cell.strip().lower()
            if mark in _YES | _NO:
                if head:
                    owner, thing = (head[0].key, subject) if turned else (subject, head[0].key)
                    if owner != thing:
                        yield owner, includes if mark in _YES else lacks, thing, VERB
                continue
            owner, label = (head[0].key, row[0]) if turned and head else (subject, header[column])
            for value in list(read(cell, label))[:4]:
                if value.key != owner:
                    yield owner, " ".join(label.lower().split())[:60], value.key, VERB
