"""Which language a text is in."""

import pytest

from streams.domain.language import detect


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
