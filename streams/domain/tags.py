"""HTML cut into tags and the text between them, without comments, declarations and the content of raw elements.

The time is linear in the text, however broken it is, which the standard library's parser does not promise.
"""

from __future__ import annotations

import html as entities
import re
from collections.abc import Iterator

# A tag with its attributes. Quoted values are bounded, so that a quote that is never closed costs nothing.
_TAG = re.compile(
    r"<(?P<close>/?)(?P<name>[a-zA-Z][a-zA-Z0-9:-]*)"
    r"(?P<attributes>(?:[^<>\"'=]|=\s*\"[^\"]{0,65536}\"|=\s*'[^']{0,65536}'|[=\"'])*+)/?>"
)
_ATTRIBUTE = re.compile(r"([a-zA-Z_:][\w:.-]*)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>`]+))")
_RAW = frozenset({"script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"})


def pieces(html: str) -> Iterator[str | re.Match[str]]:
    """Yield tags (matches with the groups `close`, `name` and `attributes`) and texts, entities not yet resolved."""
    position = 0
    while (start := html.find("<", position)) >= 0:
        if start > position:
            yield html[position:start]
        if html.startswith("<!--", start):
            end = html.find("-->", start + 4)
            position = len(html) if end < 0 else end + 3
        elif html.startswith(("<!", "<?"), start):
            end = html.find(">", start)
            position = len(html) if end < 0 else end + 1
        elif tag := _TAG.match(html, start):
            name, position = tag["name"].lower(), tag.end()
            if name in _RAW and not tag["close"]:
                closing = re.compile(f"</{name}[^<>]*>", re.IGNORECASE).search(html, position)
                position = closing.end() if closing else len(html)
            else:
                yield tag
        else:
            yield "<"
            position = start + 1
    yield html[position:]


def attribute(attributes: str, name: str) -> str:
    """Return the value of an attribute; "" without one."""
    for found in _ATTRIBUTE.finditer(attributes):
        if found[1].lower() == name:
            return entities.unescape(found[2] or found[3] or found[4] or "").strip()
    return ""
