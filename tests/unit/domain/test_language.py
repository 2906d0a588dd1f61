"""Which language a text is in."""

import json

import pytest

from streams.domain.language import detect
from tests.conftest import shared
from tests.unit.domain.sentences import BY_LANGUAGE


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Refunds are paid within ten days.", "en"),
        ("Der Empfang ist ab sieben Uhr für alle offen.", "de"),
        ("Le badge est remis à la réception par le gardien.", "fr"),
        ("La llave se pide en la recepción del edificio.", "es"),
        ("Возврат оплачивается в течение десяти дней.", "ru"),
        ("Настройка Kubernetes cluster и helm chart", "ru"),
        ("Повернення коштів їхнім клієнтам", "uk"),
        ("保修期为两年。", "zh"),
        ("保証期間は二年です。", "ja"),
        ("보증 기간은 2년입니다", "ko"),
        ("พนักงานลาพักร้อน", "th"),
        ("E1042", "en"),
        ("", "en"),
        ("\U0001f335", "en"),
    ],
)
def test_a_text_shows_its_language(text: str, language: str) -> None:
    assert detect(text) == language


def test_a_given_language_is_believed() -> None:
    assert detect("Empfang", "de") == "de"


def test_some_foreign_words_do_not_change_the_language() -> None:
    assert detect("The word \u0434\u0430 means yes, and it is used often in the north of the country.") == "en"


@pytest.mark.parametrize("language", sorted(BY_LANGUAGE))
def test_short_questions_show_their_language(language: str) -> None:
    """What stays unseen is taken for English, and is a few words without any sign; English itself is not guessed at."""
    right = sum(detect(text) == language for text in BY_LANGUAGE[language])
    assert right >= {"en": 39, "ru": 20}.get(language, 16)
    assert language in ("en", "pt") or {detect(text) for text in BY_LANGUAGE[language]} <= {language, "en"}


@pytest.mark.parametrize("language", ["en", "ru"])
def test_real_questions_show_their_language(language: str) -> None:
    lines = (shared(f"data/xquad_{language}") / "queries.jsonl").read_text().splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    assert [text for text in texts if detect(text) != language] == []


@pytest.mark.parametrize(
    "text",
    [
        "### Video\n\n<iframe src='https://www.example.com/embed/a1' width='9'></iframe>",
        "Hon. Mary Smith\n\nHon. John Brown\n\nHon. Peter Clark\n\nHon. Susan Young\n\n" * 20,
        "vitamin D dosage",
        "drive C is full",
        "O'Brien's desk",
    ],
)
def test_names_addresses_and_single_letters_are_no_language(text: str) -> None:
    assert detect(text) == "en"
