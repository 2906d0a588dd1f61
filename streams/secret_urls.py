"""URLs with passwords in them: refused where a password would be read as a host or a path, and masked to be shown.

RFC 3986, 3.2.1: the signs `/ ? # [ ] @` end or split the part with name and password, unless they are percent-encoded.
A password that has one as it is ends up in what every library takes for the host, the port, the path or the query, and
so in their messages.
"""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit, urlunsplit

from streams.errors import ConfigurationError

MASK = "•••"
_HOST = r"(\[[\w.:%]*\]|[^\s:@\[\]]*)(:\d*)?"
_HOSTS = re.compile(f"{_HOST}(,{_HOST})*")  # libpq takes several
_SECRET = r"pass|secret|token|api_?key"


def checked(url: str, setting: str) -> str:
    """Return a URL as it is; raise ConfigurationError that does not repeat it where its password stands in the way.

    What has no `://`, such as libpq's key=value pairs, is no URL and comes back as well.
    """
    if "://" in url and _parts(url) is None:
        raise ConfigurationError(
            f"{setting} cannot be read as a URL: percent-encode the signs / ? # @ [ ] in its password (/ is %2F), "
            "and write its port as a number"
        )
    return url


def masked(url: str) -> str:
    """Return a URL, or libpq's key=value pairs, with its password masked, and those among its parameters."""
    if re.match(r"\s*\w+\s*=", url):
        return re.sub(r"(password|passphrase)\s*=\s*('(\\.|[^'])*'|\S+)", rf"\1={MASK}", url)
    if "://" not in url:
        return re.sub(r".*@", f"{MASK}@", url, flags=re.DOTALL)
    at = _parts(url)
    if at is None:
        scheme = re.match(r"\w+://", url)
        return f"{scheme[0] if scheme else ''}{MASK}"
    user, separator, host = at.netloc.rpartition("@")
    name, colon, _ = user.partition(":")
    query = "&".join(_parameter(each) for each in at.query.split("&"))
    return urlunsplit(at._replace(netloc=f"{name}{colon}{MASK if colon else ''}{separator}{host}", query=query))


def _parts(url: str) -> SplitResult | None:
    """Return the parts of a URL; none where its password is not all in its place."""
    try:
        at = urlsplit(url)
    except ValueError:  # a bracket alone
        return None
    if not at.netloc:
        return at
    user, separator, host = at.netloc.rpartition("@")
    if re.search(r"[@\[\]]", user) or not _HOSTS.fullmatch(host):
        return None
    # A parameter may hold an @, as a path does, where nothing else can be meant.
    stray = [each for each in at.query.split("&") if not (separator and re.match(r"\w+=", each))]
    return None if any("@" in part for part in (at.path, at.fragment, *stray)) else at


def _parameter(text: str) -> str:
    name, equals, value = text.partition("=")
    if equals and (re.search(_SECRET, name, re.IGNORECASE) or "@" in value):
        return f"{name}={MASK}"
    return text
