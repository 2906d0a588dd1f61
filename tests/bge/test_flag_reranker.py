"""The FlagEmbedding reranker with a tiny random model: loading, arithmetic, cutting, batching. It claims no quality."""

from __future__ import annotations

import asyncio
import math
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from streams.adapters import flag_reranker, rerankers
from streams.adapters.flag_reranker import FlagCrossEncoder, FlagReranker, paired
from streams.errors import ConfigurationError, Transient
from tests.bge import cross_encoder
from tests.contract import rerankers as contract

pytest.importorskip("torch", reason="torch is not installed: pip install 'rankstream[bge]'")
pytest.importorskip("FlagEmbedding", reason="FlagEmbedding is not installed: pip install 'rankstream[bge]'")

QUESTION = "how long does the refund take"
PASSAGES = (
    "refund > annual plan\n\nthe refund of an annual plan takes thirty days",
    "relay > port\n\nthe relay port",
    "key",
    "the lock file of the relay takes seven days how does it lock",
    "",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cross_encoder.save(tmp_path_factory.mktemp("models") / "tiny-reranker")


@pytest.fixture(scope="module")
def model(folder: Path) -> FlagCrossEncoder:
    return FlagCrossEncoder(str(folder), threads=1)


def pairs(*passages: str, question: str = QUESTION) -> list[str]:
    return [paired(question, passage) for passage in passages]


def test_a_score_is_the_sigmoid_of_the_logit_of_a_forward_pass(folder: Path, model: FlagCrossEncoder) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    network = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    scores = model(pairs(*PASSAGES))
    assert scores.shape == (len(PASSAGES), 2)
    for passage, (score, cut) in zip(PASSAGES, scores, strict=True):
        with torch.inference_mode():
            logit = float(network(**tokenizer([QUESTION], [passage], return_tensors="pt")).logits)
        assert score == pytest.approx(1 / (1 + math.exp(-logit)), abs=1e-5)
        assert cut == 0
    assert len({round(float(score), 4) for score in scores[:, 0]}) > 2


def test_scores_are_those_of_flag_embedding_itself(folder: Path, model: FlagCrossEncoder) -> None:
    from FlagEmbedding import FlagReranker as Reference

    reference = Reference(
        str(folder), use_fp16=False, devices="cpu", normalize=True, max_length=cross_encoder.POSITIONS
    )
    long = "the refund " * cross_encoder.POSITIONS
    given = [*PASSAGES, long]
    expected = reference.compute_score([(QUESTION, passage) for passage in given])
    assert model(pairs(*given))[:, 0].tolist() == pytest.approx(expected, abs=1e-5)


def test_a_passage_is_cut_at_its_end_to_what_the_model_has_positions_for_and_counted(model: FlagCrossEncoder) -> None:
    assert model.longest == cross_encoder.POSITIONS
    room = cross_encoder.POSITIONS - 4 - len(QUESTION.split())  # <s> question </s> </s> passage </s>
    exact = " ".join(["key"] * room)
    whole, more, headings = model(pairs(exact, f"{exact} lock lock", f"relay {exact}"))
    assert (whole[1], more[1], headings[1]) == (0, 1, 1)
    assert whole[0] == pytest.approx(more[0], abs=1e-6)
    assert whole[0] != pytest.approx(headings[0], abs=1e-6)  # what stands first is read


def test_a_question_leaves_room_for_the_passage(model: FlagCrossEncoder) -> None:
    endless = "how long does it take " * 100
    (first, _), (second, _) = model(pairs("the relay port seven", "key lock", question=endless))
    assert first != pytest.approx(second, abs=1e-6)


async def test_questions_at_the_same_time_get_their_own_scores_and_the_event_loop_stays_free(folder: Path) -> None:
    reranker = FlagReranker(str(folder), threads=1)
    try:
        alone = {question: await reranker.score(question, PASSAGES, seconds=5) for question in (QUESTION, "relay port")}
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0)
                ticks += 1

        ticking = asyncio.create_task(tick())
        together = await asyncio.gather(*(reranker.score(question, PASSAGES, seconds=5) for question in alone))
        ticking.cancel()
        assert ticks > 10
        for one, of in zip(together, alone.values(), strict=True):
            assert one.scores == pytest.approx(of.scores, abs=1e-5)
        assert (reranker.model, together[0].shortened) == ("tiny-reranker", 0)
        assert {thread.name for thread in threading.enumerate() if thread.name.startswith("rerank")}
    finally:
        await reranker.close()
    with pytest.raises(Transient):
        await reranker.score(QUESTION, PASSAGES, seconds=5)


async def test_it_does_what_every_reranker_must(folder: Path) -> None:
    reranker = FlagReranker(str(folder), threads=1)
    try:
        await contract.scores_every_passage_with_a_number_from_nought_to_one(reranker)
        await contract.says_the_same_twice_and_side_by_side(reranker)
        await contract.counts_what_it_could_not_read_whole(reranker)
    finally:
        await reranker.close()


async def test_more_than_the_queue_holds_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flag_reranker, "MOST_QUEUED", 8)
    reranker = FlagReranker(str(folder), threads=1)
    try:
        asked = [asyncio.create_task(reranker.score(QUESTION, PASSAGES[:4], seconds=5)) for _ in range(6)]
        outcomes = await asyncio.gather(*asked, return_exceptions=True)
        assert {type(outcome) for outcome in outcomes} == {flag_reranker.Scored, Transient}
    finally:
        await reranker.close()


def test_weights_are_halved_on_a_gpu_only(model: FlagCrossEncoder) -> None:
    import torch

    kinds = {parameter.dtype for parameter in model._model.parameters()}
    assert kinds == {torch.float16 if model.on_gpu else torch.float32}


def test_what_is_no_reranker_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"RANKSTREAM_RERANKER: .* it is not a reranker"):
        FlagCrossEncoder(str(cross_encoder.save(tmp_path / "classes", labels=3)))
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigurationError, match=r"RANKSTREAM_RERANKER: .* is no folder with a model") as told:
        rerankers.build(str(tmp_path / "empty"))
    assert "\n" not in str(told.value)


OFFLINE = """
import socket, sys
def refused(*_, **__): raise AssertionError("the network was used")
socket.socket.connect = refused
socket.getaddrinfo = refused
from streams.adapters.flag_reranker import FlagCrossEncoder, paired
from streams.errors import ConfigurationError
print(FlagCrossEncoder(sys.argv[1], threads=1)([paired("how long", "the refund")]).shape)
try:
    FlagCrossEncoder("BAAI/bge-reranker-that-is-not-here")
except ConfigurationError as error:
    print(error)
"""


def test_offline_a_folder_is_loaded_and_a_hub_name_that_is_not_there_refused_without_the_network(
    folder: Path, tmp_path: Path
) -> None:
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)}
    command = [sys.executable, "-c", OFFLINE, str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-2_000:]
    *_, shape, refused = done.stdout.strip().splitlines()
    assert shape == "(1, 2)"
    assert refused.startswith("RANKSTREAM_RERANKER: 'BAAI/bge-reranker-that-is-not-here' is no folder with a model")
