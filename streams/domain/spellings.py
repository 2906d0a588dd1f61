"""Letters and spellings that tell Latin languages apart, for questions too short for their common words."""

from __future__ import annotations

import re
from collections.abc import Mapping

# Letters by who writes them, of the languages that are told apart; a letter's vote is shared by them.
LETTERS: Mapping[str, tuple[str, ...]] = {
    "ß": ("de",), "ä": ("de", "sv"), "ö": ("de", "sv", "tr"), "ü": ("de", "tr"),
    "ñ": ("es",), "¿": ("es",), "¡": ("es",), "á": ("es", "pt"), "í": ("es", "pt"), "ó": ("es", "pl", "pt"),
    "ú": ("es", "pt"), "é": ("es", "fr", "pt"), "ã": ("pt",), "õ": ("pt",), "â": ("fr", "pt"), "ê": ("fr", "pt"),
    "ô": ("fr", "pt"), "ç": ("fr", "pt", "tr"), "à": ("fr", "it"), "è": ("fr", "it"), "ù": ("fr", "it"),
    "ì": ("it",), "ò": ("it",), "î": ("fr",), "ï": ("fr", "nl"), "ë": ("fr", "nl"), "û": ("fr",), "œ": ("fr",),
    "ł": ("pl",), "ą": ("pl",), "ę": ("pl",), "ś": ("pl",), "ć": ("pl",), "ń": ("pl",), "ź": ("pl",), "ż": ("pl",),
    "ğ": ("tr",), "ı": ("tr",), "ş": ("tr",), "å": ("sv",),
}  # fmt: skip

# How words are spelt and end where other languages hardly do; one of several languages is shared by them.
SPELLINGS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = tuple(
    (re.compile(pattern), tuple(codes.split()))
    for pattern, codes in (
        (
            r"ing$|ght|wh|th|[^aeiou]ed$|ship|ness$|ly$|[^aeiou]ty$|oo|ea|ck$|ss$|ff|own|nit[ey]|ize|[^aeiou]ings?$",
            "en",
        ),
        (r"(tions?|ences?|ances?|ents?|ages?)$", "en fr"),
        (
            r"(un|[hk]ei)[gt](en)?$|lich|isch|schaft|pf|tz|zw|ier(en|t|te|ung)?$|^ge.{3,}t$|wort$|eh?ler$|rich|ei[nst]",
            "de",
        ),
        (r"sch|[bcdfghklmnrstvwz]en$", "de nl"),
        (r"ij|aa|uu|lijk|heid|cht$|^(ge|ver|be).{3,}[dt]e?$|oe[dknrtl]|ui[tk]|woord", "nl"),
        (r"(eau|aux|eux|eurs?|euse|ique|aire|oire|iser|ées?|és|ette|ons|ez|oir|ienne|ifier|rer|mer|nger|sse)s?$", "fr"),
        (r"oy|oubli|[^aeiou]ai[st]$", "fr"),
        (r"(ci[oó]n|ciones|dad|dades|iento|ientos|ería)$|ll[aeo]|[cpfjv]ue", "es"),
        (r"([ai]d[ao]s?|[^l]ar|[cnv]er|[^v]os|as|mente)$", "es pt"),
        (
            r"(zion[ei]|ità|at[oi]|ut[oi]|[bcdfglmnrstvz]i|[bdglmnt]are|[gcn]ere|[rngls]ire)$|gl?gi|cch|zz[aeio]|tt[aiou]|sci",
            "it",
        ),
        (r"(mento|[^d]o|ura|[ae]nte)$", "es it pt"),
        (r"(ção|ções|dades?|agem|ável|eir[ao]|[áóé]ri[ao]s?|eno)$|nh|lh|ss[oa]|outr", "pt"),
        (r"[cs]z|rz|dz|(ów|ow[aey]|ani[ae]|eni[ae]|ego|emu|ych|ymi|ami|[kg]i|cj[aeiu]|acja)$|j[aeęą]$", "pl"),
        (r"(l[ae]r[ıi]?|m[ae]k|d[ıiuü]r|n[ıi]n|nd[ae]|yor(um)?|s[ıi]z|l[ıi]k|[ıi]n[ıi]|s[ıi]|l[ıi])$|[iıuü]ş", "tr"),
        (r"(ningar|ningen|ning|het|heten|[aoe]rna|ligt?|iska?|ande|skt)$|jö|jä|kn", "sv"),
    )
)
