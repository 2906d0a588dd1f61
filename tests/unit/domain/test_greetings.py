"""What is no question is told from what is one: a wrong guess would lose a question."""

from __future__ import annotations

import pytest

from streams.domain.greetings import is_greeting

GREETINGS = [
    "thanks", "Thanks!", "Hello", "ok great", "OK, great, thanks a lot!", "thank you so much for your help 🙏",
    "Hi there!", "good morning everyone", "That's all, thanks.", "that’s it", "How are you?", "got it 👍", "no problem",
    "Спасибо!", "привет", "Добрый день!", "спасибо большое за помощь", "всё понятно, спасибо", "все понятно",
    "Danke schön", "Vielen Dank für die Hilfe!", "alles klar, danke", "Guten Tag zusammen", "GRÜSS GOTT",
    "merci beaucoup", "Bonjour à tous", "d'accord, merci", "D’accord !", "muchas gracias", "¡Hola! ¿Qué tal?",
    "vale, gracias", "grazie mille", "obrigado", "dank je wel", "dziękuję", "teşekkür ederim", "tack så mycket",
    "ｔｈａｎｋｓ", "tha\u200bnks", "k",
]  # fmt: skip
QUESTIONS = [
    "Thanks! How do I reset my password?", "Hello World program fails", "hello world", "thank you page",
    "thank you note template", "Hi, my invoice is wrong", "ok google integration", "good afternoon shift rules",
    "How are you handling refunds?", "cool down period", "great circle distance", "Is it ok to share my key?", "OK 404",
    "thanks giving holiday", "Спасибо, а как вернуть деньги?",
    "привет, не работает вход", "Hallo, wo ist meine Rechnung?",
    "merci de me rembourser", "Bonjour, où est ma facture", "gracias, ¿cómo cancelo?", "no", "yes", "refund", "", "  ",
    "👍", "?", "all", "for this", "please", "and", "not good", "thanks for nothing, it is still broken",
    "welcome email", "all set theory", "good " * 20,
]  # fmt: skip


@pytest.mark.parametrize("text", GREETINGS)
def test_a_greeting_is_no_question(text: str) -> None:
    assert is_greeting(text)


@pytest.mark.parametrize("text", QUESTIONS)
def test_a_question_is_not_swallowed(text: str) -> None:
    assert not is_greeting(text)
