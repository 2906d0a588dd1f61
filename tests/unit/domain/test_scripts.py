"""Which languages a model reads, as far as scripts tell."""

from __future__ import annotations

import pytest

from streams.domain import scripts


@pytest.mark.parametrize(
    ("languages", "read", "not_read"),
    [
        (("en",), ("en", "de", "tr", "vi"), ("ru", "zh", "ja", "th", "ar", "el", "he", "hi", "ko", "bn")),
        (("ru", "en"), ("uk", "ru", "fr"), ("zh", "el")),
        (("zh",), ("zh", "zh-Hant"), ("en", "ja", "ko")),
        (("pt-BR",), ("pt", "en"), ("ru",)),
        (("fa",), ("ar", "ur"), ("en", "he")),
    ],
)
def test_a_model_reads_what_is_written_in_a_script_of_its_languages(
    languages: tuple[str, ...], read: tuple[str, ...], not_read: tuple[str, ...]
) -> None:
    assert all(scripts.reads(languages, each) for each in read)
    assert not any(scripts.reads(languages, each) for each in not_read)


@pytest.mark.parametrize("languages", [(), ("100 languages",), ("many",), ("en", "and others")])
def test_a_model_that_does_not_say_so_in_codes_reads_all(languages: tuple[str, ...]) -> None:
    assert all(scripts.reads(languages, each) for each in ("en", "ru", "zh", "und"))


def test_a_text_of_unknown_language_is_read() -> None:
    assert scripts.reads(("en",), "und")
