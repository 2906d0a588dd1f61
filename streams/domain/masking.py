"""Takes secrets out of what people ask: what is kept of a question for weeks must not be able to open anything.

Masked is what has the form of a secret: keys by their makers' prefixes, tokens, private keys, passwords that are named
so, connection strings, mail addresses, card numbers. Not masked is what questions are about: versions, error codes,
ids, ports, hashes. What neither its form nor a word beside it gives away stays; no rule can tell it from a name.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable

Replace = Callable[[re.Match[str]], str]

# Prefixes that makers of keys give them so that they can be found. The ends are bounded: no run is read twice.
_KEYS = re.compile(
    r"(?<![A-Za-z0-9_-])(?:"
    r"rsk_[0-9a-f]{12}_[\w-]{20,200}"  # rankstream
    r"|sk-(?:ant-|proj-|svcacct-|or-)?[A-Za-z0-9_-]{20,300}"  # OpenAI, Anthropic and who follows them
    r"|gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_\w{20,255}|gl(?:pat|dt|rt|ptt)-[\w-]{20,255}"
    r"|xox[abeoprs]-[\w-]{10,255}|xapp-[\w-]{10,255}"  # Slack
    r"|(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}(?![A-Za-z0-9])|AIza[\w-]{35}|ya29\.[\w-]{20,300}"  # Amazon, Google
    r"|hf_[A-Za-z0-9]{20,100}|npm_[A-Za-z0-9]{36}|pypi-[\w-]{40,300}|dop_v1_[0-9a-f]{64}|dckr_pat_[\w-]{20,100}"
    r"|(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{16,255}|whsec_[A-Za-z0-9+/=]{20,255}"  # Stripe
    r"|SG\.[\w-]{16,64}\.[\w-]{16,64}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|glsa_\w{32,64}|hvs\.[\w-]{20,300}"
    r")"
)
_JWT = re.compile(r"(?<![\w.-])eyJ[\w-]{8,4000}\.[\w-]{4,8000}(?:\.[\w-]{0,4000})?")
_PRIVATE = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----.*?"
    r"(?:-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    re.DOTALL,
)
_HOOK = re.compile(
    r"(https://(?:hooks\.slack\.com/services|discord(?:app)?\.com/api/webhooks)/)[\w/-]{8,200}", re.IGNORECASE
)
_BEARER = re.compile(r"\b(bearer|basic)(\s{1,3})([\w.~+/=-]{8,4000})", re.IGNORECASE)
# To the last @ before a blank: passwords have slashes and @ of their own. A port is none.
_IN_URL = re.compile(
    r"\b([a-z][a-z0-9+.-]{1,20}://[^\s/:@\"'<>]{0,100}:)(?!\d{1,5}[/?#])([^\s\"'<>]{1,300})(?=@)", re.IGNORECASE
)
_PASSWORD = r"pass(?:word|wd|phrase|wort|code)|pwd|kennwort|contrase[nñ]a|mot de passe|пароль|密码|パスワード"
_NAMED = re.compile(
    r"(?P<name>(?<![A-Za-z])(?:[\w.-]{0,40}"
    r"(?:secret|token|(?:api|access|account|private|auth)[ _.-]?key|shared[ _.-]?access[ _.-]?signature|credential)"
    rf"[\w.-]{{0,20}}|[\w.-]{{0,40}}(?:{_PASSWORD})[\w.-]{{0,20}}))"
    r"(?P<to>[\"']?\s{0,3}(?:[=:]|=>|:=)\s{0,3})"
    r"(?P<value>\"(?:[^\"\\\n]|\\.){1,300}\"|'(?:[^'\\\n]|\\.){1,300}'|[^\s,;&\"'<>]{1,300})",
    re.IGNORECASE,
)
_SPOKEN = re.compile(
    rf"(?P<name>(?<![A-Za-z])(?:{_PASSWORD}|pin"
    r"|(?P<key>(?:(?:api|access|account|auth|client|private|secret)[ _.-]?)?(?:key|token|secret))))"
    r"(?P<to>\s{1,3}(?:is|was|are|ist|lautet|war|est|es|это)\s{1,3}(?:now\s|set to\s)?)"
    r"(?P<value>\"[^\"\n]{1,100}\"|'[^'\n]{1,100}'|[^\s,;\"']{1,100})",
    re.IGNORECASE,
)
_OPTION = re.compile(
    r"(?P<name>(?<!\S)--(?:password|passwd|token|secret|api-key))(?P<to>\s{1,3})(?P<value>[^\s-]\S{0,300})"
)
_MAIL = re.compile(
    r"(?<![\w.+%-])(?!(?:git|hg|svn)@)[\w.+%-]{1,64}@(?=[\w.-]{1,255})(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}(?![\w@])"
)
_CARD = re.compile(r"(?<![\w.-])(?<!\d )[2-6]\d(?:[ -]?\d){10,17}(?![\w-]|\.\d)")

# What stands for a value, and what a question says of one.
_NO_SECRET = re.compile(
    r"[<${%].*|.*\.\.\.|[x*•.#_-]+|(?:none|null|nil|undefined|true|false|yes|no|on|off|str|string|text|bytes|int|bool|any|optional|required"
    r"|is|are|was|not|wrong|invalid|expired|missing|incorrect|unknown|empty|forgotten|forgot|lost|reset|changed|too|the|a|an|my"
    r"|your|to|for|in|of|and|or|how|what|why|where|when|which|does|do|can|must|should|may|length|policy|protected|hashed"
    r"|encrypted|stored|accepted|rejected|refused|denied|correct|ok|set|unset|falsch|abgelaufen|ungültig|vergessen)[.:?!)]*"
    r"|[\w.]*(?:environ|getenv|process\.env|secrets?\.|config\.|settings\.|self\.|vault)[\w.\[\]()]*"
    r"|[\w.]+\(.*",
    re.IGNORECASE,
)
_UPPER_NAME = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_TELLING = re.compile(r"\d|[^\w\s.,:;!?'\"()-]|[a-z][A-Z]")  # what passwords have and words do not


def masked(text: str) -> str:
    """Return a text with `(what it was)` in the place of every secret; what is masked already stays as it is."""
    text = _PRIVATE.sub("(private key)", text)
    text = _HOOK.sub(r"\1(token)", text)
    text = _IN_URL.sub(r"\1(password)", text)
    text = _KEYS.sub("(api key)", text)
    text = _JWT.sub("(token)", text)
    text = _BEARER.sub(_bearer, text)
    for pattern in (_NAMED, _OPTION, _SPOKEN):
        text = pattern.sub(_spoken if pattern is _SPOKEN else _named, text)
    text = _MAIL.sub("(mail address)", text)
    return _CARD.sub(_card, text)


def _bearer(found: re.Match[str]) -> str:
    scheme, _, value = found.groups()
    # "Basic authentication" and "bearer instruments" are words of questions.
    is_one = _is_user_and_password(value) if scheme.lower() == "basic" else re.search(r"[\d_]", value) is not None
    return f"{found[1]}{found[2]}(token)" if is_one else found[0]


def _is_user_and_password(value: str) -> bool:
    """Tell whether this is the base64 of `user:password`."""
    try:
        return b":" in base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except ValueError:
        return False


def _named(found: re.Match[str]) -> str:
    value = found["value"].strip("\"'")
    if _stands_for_one(value):
        return found[0]
    is_password = re.search(_PASSWORD, found["name"], re.IGNORECASE) is not None
    if not is_password and (len(value) < 8 or not _TELLING.search(value)):
        return found[0]  # `token: expired`, `secret = name`
    if (
        is_password
        and ":" in found["to"]
        and found["to"].endswith(" ")
        and not _TELLING.search(value)
        and len(value) < 5
    ):
        return found[0]
    return f"{found['name']}{found['to']}({'password' if is_password else 'secret'})"


def _spoken(found: re.Match[str]) -> str:
    value = found["value"]
    quoted = value[:1] in "\"'"
    inside = value.strip("\"'").rstrip(".!?")
    if _stands_for_one(inside):
        return found[0]
    if found["key"] is not None:
        # `the key is SUP-1042`, `the token is expired`
        shortest = 16 if found["key"].lower() == "key" else 8
        is_one = len(inside) >= shortest and len(re.findall(r"\d", inside)) > 1
        return f"{found['name']}{found['to']}(secret)" if is_one else found[0]
    if not (quoted or _TELLING.search(inside)):
        return found[0]
    return f"{found['name']}{found['to']}(password)"


def _stands_for_one(value: str) -> bool:
    """Tell whether a value is none itself: a word about one, a placeholder, the name of a variable, or masked."""
    if value.startswith("(") or _UPPER_NAME.fullmatch(value):
        return True
    return _NO_SECRET.fullmatch(value) is not None


def _card(found: re.Match[str]) -> str:
    digits = re.sub(r"\D", "", found[0])
    return "(card number)" if _is_card(digits) and _luhn(digits) else found[0]


def _is_card(digits: str) -> bool:
    """Tell whether digits begin and are as many as those of a card: Visa, Mastercard, Amex, Diners, JCB and others."""
    two, four, count = int(digits[:2]), int(digits[:4]), len(digits)
    if digits[0] == "4" or 51 <= two <= 55 or 2221 <= four <= 2720 or two == 35:
        return count == 16
    if two in (34, 37):
        return count == 15
    if two in (36, 38, 39) or 300 <= int(digits[:3]) <= 305:
        return count == 14
    return two in (50, *range(56, 70)) and 16 <= count <= 19


def _luhn(digits: str) -> bool:
    """Tell whether the last digit is the check digit of those before it (ISO/IEC 7812-1)."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if place % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0
