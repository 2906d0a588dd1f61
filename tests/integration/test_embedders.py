"""Two real embedders in one generation: Russian questions find English pages, and a reply says by which model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from schemas.documents import DocumentChange
from schemas.replies import QueryReply
from streams.adapters.e5_embedder import MODEL as E5
from streams.adapters.onnx_embedder import MODEL as MINILM
from streams.embedded import stack
from streams.errors import ConfigurationError
from streams.quality.evaluate import WithoutBus
from streams.quality.in_process import InProcess
from streams.settings import Settings

PAGES = {
    "refunds": "To get your money back, write to billing within thirty days of the purchase.",
    "relay": "The relay listens on port 7443; the firewall must let it through.",
    "members": "Only owners may invite colleagues, under Settings, Members.",
    "bikes": "Bicycles are parked in the yard behind the building.",
    "food": "The cafeteria opens at eight in the morning and closes at three.",
    "keys": "A lost key is replaced at the front desk for five euro.",
}
QUESTIONS = {
    "refunds": "Как вернуть деньги за покупку?",
    "relay": "Какой порт слушает ретранслятор?",
    "members": "Кто может приглашать коллег?",
    "bikes": "Где ставить велосипеды?",
    "food": "Когда открывается столовая?",
    "keys": "Я потерял ключ, что делать?",
}


@pytest.fixture(scope="module")
async def settings(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Settings]:
    """Stores of this file's own, as a generation keeps the models that it was made with; no broker."""
    folder = tmp_path_factory.mktemp("embedders")
    started = await stack.start(folder, kafka="not-started:0")
    at = started.endpoints
    yield Settings(data_dir=folder, qdrant=at.qdrant, postgres=at.postgres, redis=at.redis)
    await started.stop()


@pytest.fixture(scope="module")
async def both(settings: Settings) -> AsyncIterator[InProcess]:
    """The pipeline with two embedders, and the pages in it."""
    async with await InProcess.open(replace(settings, embed_also=(E5,))) as pipeline:
        for doc_id, text in PAGES.items():
            change = DocumentChange(tenant="acme", source="help", doc_id=doc_id, version=1, title="", content=text)
            status = await pipeline.ingest(change)
            assert status is not None
            assert status.status == "searchable"
        yield pipeline


async def ask(pipeline: InProcess, text: str, **fields: str) -> QueryReply:
    reply = await WithoutBus(pipeline).ask(text, tenant="acme", timeout=30.0, **fields)
    assert (reply.error, reply.degraded) == (None, False)
    return reply


@pytest.mark.parametrize("doc_id", QUESTIONS)
async def test_a_russian_question_finds_the_english_page_by_the_multilingual_model(
    both: InProcess, doc_id: str
) -> None:
    reply = await ask(both, QUESTIONS[doc_id], profile="multilingual")
    assert reply.passages[0].doc_id == doc_id
    assert reply.models.embedder == E5
    assert reply.legs["dense"].status == "ok"


async def test_the_main_model_answers_beside_it_with_its_own_scores(both: InProcess) -> None:
    text = "Where are bicycles parked?"
    by_main, by_e5 = await ask(both, text, profile="general"), await ask(both, text, profile="multilingual")
    assert (by_main.models.embedder, by_e5.models.embedder) == (MINILM, E5)
    first_by_main, first_by_e5 = by_main.passages[0], by_e5.passages[0]
    assert first_by_main.doc_id == first_by_e5.doc_id == "bikes"
    assert first_by_main.legs["dense"].score != pytest.approx(first_by_e5.legs["dense"].score, abs=0.01)
    # Weights are fitted to the main model; without weights passages are ordered by the fused ranks.
    assert first_by_main.absolute == pytest.approx(first_by_main.score - (first_by_main.boost or 0.0))
    assert (first_by_e5.absolute, first_by_e5.score) == (None, first_by_e5.fused)


async def test_without_settings_a_start_goes_on_with_the_models_of_the_live_generation(
    both: InProcess, settings: Settings
) -> None:
    async with await InProcess.open(settings) as again:
        reply = await ask(again, QUESTIONS["bikes"], profile="multilingual")
        assert (reply.passages[0].doc_id, reply.models.embedder) == ("bikes", E5)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"embedder": E5}, f"embedder: {E5} .* does not fit the live generation g1"),
        ({"embed_also": ("bge",)}, "RANKSTREAM_EMBED_ALSO: there is no embedder 'bge'"),
        ({"embed_also": (MINILM,)}, "RANKSTREAM_EMBED_ALSO: .* is named twice"),
        ({"embedder": E5, "embed_also": (MINILM,)}, f"embedder: {E5} .* does not fit the live generation g1"),
    ],
)
async def test_settings_that_do_not_fit_the_live_generation_are_refused_in_one_line(
    both: InProcess, settings: Settings, options: dict[str, object], says: str
) -> None:
    with pytest.raises(ConfigurationError, match=says) as caught:
        await InProcess.open(replace(settings, **options))
    assert "\n" not in str(caught.value)
