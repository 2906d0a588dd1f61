"""FlagEmbedding's models: real weights against the ONNX default, random ones of bge's shapes, and no network."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from streams.adapters import embedders
from streams.adapters.embedder_specs import Spec
from streams.adapters.flag_embedder import FlagEmbedder, FlagEncoder, FlagLexicalEmbedder
from streams.adapters.memory import MemoryVectors
from streams.adapters.onnx_embedder import OnnxMiniLM
from streams.errors import ConfigurationError
from streams.ports import LexicalModel
from tests.contract.building import change, cut, encoded, scope, vector_batch

ROOT = Path(__file__).parents[2]
TOLERANCE = (
    0.998  # cosine of a text's two vectors: int8 against float32 weights; 0.9990 was the least of 447 paragraphs
)
# Libraries of the extra warn of their own matters while they are imported.
pytestmark = pytest.mark.filterwarnings("ignore")


def demonstration() -> list[str]:
    pages = [file.read_text() for file in sorted((ROOT / "demo" / "docs" / "billing").glob("*.md"))]
    return [each for page in pages for each in (page, *page.split("\n\n")) if len(each) > 20]


@pytest.fixture(scope="module")
def real(minilm: Path) -> Iterator[FlagEncoder]:
    spec = Spec(kind="flag", model=str(minilm), dimension=384, pooling="mean", max_tokens=256, device="cpu")
    encoder = FlagEncoder("mini", spec)
    yield encoder
    encoder.close()


def test_real_weights_agree_with_the_default_model_text_by_text(real: FlagEncoder) -> None:
    texts = demonstration()
    cosines = np.sum(real.passages(texts) * OnnxMiniLM()(texts), axis=1)
    assert len(texts) > 30
    assert cosines.min() >= TOLERANCE


def test_vectors_are_those_of_the_librarys_own_loop(real: FlagEncoder) -> None:
    texts = [*demonstration()[:20], "", " ", "word " * 2_000]
    theirs = real._flag.encode_corpus(texts, max_length=256)
    assert np.abs(real.passages(texts) - theirs).max() < 1e-5


def test_an_instruction_is_written_before_a_question_alone(minilm: Path) -> None:
    told = "Represent this sentence for searching relevant passages: "
    spec = Spec(kind="flag", model=str(minilm), dimension=384, query_instruction=told, device="cpu")
    encoder = FlagEncoder("mini", spec)
    encoder._flag.query_instruction_for_retrieval = told
    questions = ["How do I get my money back?", "ports"]
    assert np.abs(encoder.queries(questions) - encoder._flag.encode_queries(questions)).max() < 1e-5
    assert np.abs(encoder.passages(questions) - encoder._flag.encode_corpus(questions)).max() < 1e-5
    assert np.abs(encoder.passages(questions) - encoder.queries(questions)).max() > 0.01


def test_vectors_are_of_unit_length_and_the_same_alone_together_and_from_several_threads(real: FlagEncoder) -> None:
    texts = [*demonstration()[:12], "", "\u200b", "退款"]
    together = real.passages(texts)
    assert np.linalg.norm(together, axis=1) == pytest.approx(1.0, abs=1e-5)
    alone = np.concatenate([real.queries([text]) for text in texts])
    assert np.abs(together - alone).max() < 1e-5
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(real.queries(texts))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.abs(each - together).max() < 1e-5 for each in found) and len(found) == 4
    assert real.passages([]).shape == real.queries([]).shape == (0, 384)


async def test_the_port_gives_the_same_vectors(minilm: Path) -> None:
    spec = Spec(kind="flag", model=str(minilm), dimension=384, pooling="mean", max_tokens=256, device="cpu")
    embedder = FlagEmbedder("mini", spec)
    rows = await embedder.embed_passages(["a refund"] * 70)
    assert (rows.shape, rows.dtype, embedder.counts["passages"].texts) == ((70, 384), np.float32, 70)
    assert (await embedder.embed_queries(["a refund"]))[0] == pytest.approx(rows[0], abs=1e-5)
    await embedder.close()


@pytest.fixture(scope="module")
def random_m3(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model of BGE-M3's kind, XLM-RoBERTa with its heads, with random weights."""
    import tokenizers
    import torch
    import transformers

    folder = tmp_path_factory.mktemp("m3")
    words = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *"abcdefghijklmnopqrstuvwxyz"]
    inner = tokenizers.Tokenizer(tokenizers.models.Unigram([(word, -1.0) for word in words], unk_id=3))
    template = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)], pair="<s> $A </s> $B </s>"
    )
    inner.post_processor = template
    special = {"bos_token": "<s>", "eos_token": "</s>", "cls_token": "<s>", "sep_token": "</s>"}
    special |= {"pad_token": "<pad>", "unk_token": "<unk>", "mask_token": "<mask>"}
    transformers.XLMRobertaTokenizerFast(tokenizer_object=inner, **special).save_pretrained(folder)
    torch.manual_seed(7)
    config = transformers.XLMRobertaConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=66,
        pad_token_id=1,
    )
    transformers.XLMRobertaModel(config).save_pretrained(folder)
    for name, width in (("colbert_linear", 16), ("sparse_linear", 1)):
        torch.save(torch.nn.Linear(16, width).state_dict(), folder / f"{name}.pt")
    return folder


def test_bge_m3_gives_its_librarys_dense_vectors_up_to_as_many_tokens_as_it_has_places(random_m3: Path) -> None:
    encoder = FlagEncoder("m3", Spec(kind="bge-m3", model=str(random_m3), dimension=16, max_tokens=8192, device="cpu"))
    texts = ["refund", "a b c", "z" * 500]
    theirs = encoder._flag.encode(texts, max_length=64)["dense_vecs"]
    assert np.abs(encoder.passages(texts) - theirs).max() < 1e-5


def m3(folder: Path, **fields: Any) -> Spec:
    return Spec(kind="bge-m3", model=str(folder), dimension=16, max_tokens=8192, device="cpu", **fields)


def as_the_library_has_them(encoder: FlagEncoder, texts: list[str]) -> list[dict[int, float]]:
    said = encoder._flag.encode(texts, max_length=64, return_sparse=True)["lexical_weights"]
    return [{int(token): float(weight) for token, weight in each.items()} for each in said]


TEXTS = ["refund", "a b c a b c", "z" * 500, "", "退款", "abcdefghijklmnopqrstuvwxyz", "c b a"]


async def test_bge_m3_gives_its_librarys_lexical_weights_and_the_same_vectors_in_one_pass(random_m3: Path) -> None:
    embedder = FlagLexicalEmbedder("m3", m3(random_m3, lexical=True))
    theirs = as_the_library_has_them(embedder._encoder, TEXTS)
    for ask in (embedder.weigh_passages, embedder.weigh_queries):
        rows, found = await ask(TEXTS)
        assert np.abs(rows - embedder._encoder.passages(TEXTS)).max() < 1e-5
        ours = [dict(zip(each.indices, each.values, strict=True)) for each in found]
        for one, other in zip(ours, theirs, strict=True):
            assert one == pytest.approx({token: weight for token, weight in other.items() if weight > 5e-5}, abs=6e-5)
        assert all(list(each.indices) == sorted(set(each.indices)) for each in found)
    assert sum(map(len, theirs)) > 20 and theirs[3] == {}  # a random head gives some tokens weight
    assert (await embedder.weigh_passages([]))[0].shape == (0, 16)
    assert np.abs((await embedder.embed_queries(TEXTS)) - rows).max() < 1e-5
    assert embedder.counts["passages"].batches == 1
    assert isinstance(embedder.bulk, LexicalModel)
    in_bulk, weighed = await embedder.bulk.weigh_passages(TEXTS)
    assert np.abs(in_bulk - (await embedder.weigh_passages(TEXTS))[0]).max() < 1e-5
    assert [each.indices for each in weighed] == [each.indices for each in found]
    await embedder.close()


async def test_two_texts_match_as_the_library_scores_them(random_m3: Path) -> None:
    """Through the index: what is kept of the weights gives the library's own score."""
    embedder = FlagLexicalEmbedder("m3", m3(random_m3, lexical=True))
    question, *passages = TEXTS[1:3] + TEXTS[5:]
    _, (asked,) = await embedder.weigh_queries([question])
    rows, found = await embedder.weigh_passages(passages)
    vectors = MemoryVectors()
    await vectors.ensure_collection("g1", "m3", 16, lexical=("m3",))
    page = change(1, " | ".join(passages))
    chunks = [chunk for chunk in cut(page) if chunk.level == "parent"]
    empty = vector_batch(page, chunks)
    weighed = tuple(
        msgspec.structs.replace(each, dense=encoded(row), lexical={"m3": weights})
        for each, row, weights in zip(empty.vectors, rows, found, strict=True)
    )
    await vectors.upsert(msgspec.structs.replace(empty, model="m3", dimension=16, vectors=weighed))
    hits = await vectors.search_sparse(scope(), asked, 10, model="m3")
    one, *others = as_the_library_has_them(embedder._encoder, [question, *passages])
    score = embedder._encoder._flag.compute_lexical_matching_score
    expected = {chunk.id: score(one, other) for chunk, other in zip(chunks, others, strict=True)}
    assert {hit.chunk_id: hit.score for hit in hits} == pytest.approx(
        {key: value for key, value in expected.items() if value > 0}, abs=1e-3
    )
    await embedder.close()


def test_a_file_switches_lexical_weights_on(tmp_path: Path, random_m3: Path) -> None:
    (tmp_path / "m3").symlink_to(random_m3)
    lines = '[embedders.mine]\nkind = "bge-m3"\nmodel = "./m3"\ndimension = 16\n'
    for option, lexical in (("", False), ("lexical = true\n", True)):
        (tmp_path / "models.toml").write_text(lines + option)
        built = embedders.build("mine", embedders.known(tmp_path / "models.toml"))
        assert isinstance(built, LexicalModel) == lexical


def test_a_dimension_that_the_model_does_not_have_is_refused_with_the_right_one(random_m3: Path) -> None:
    for kind in ("bge-m3", "flag"):
        spec = Spec(kind=kind, model=str(random_m3), dimension=384, device="cpu")  # type: ignore[arg-type]
        with pytest.raises(ConfigurationError, match=r"embedders\.m3: dimension: .* gives 16, the file says 384"):
            FlagEncoder("m3", spec)


def test_a_file_of_three_lines_switches_to_a_folder(tmp_path: Path, minilm: Path) -> None:
    (tmp_path / "weights").symlink_to(minilm)
    lines = '[embedders.mine]\nkind = "flag"\nmodel = "./weights"\npooling = "mean"\ndimension = 384\n'
    (tmp_path / "models.toml").write_text(lines)
    known = embedders.known(tmp_path / "models.toml")
    built = embedders.build("mine", known)
    assert (built.model, built.dimension) == ("mine", 384)


def test_a_folder_without_weights_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(ConfigurationError, match=r"^embedders\.mini: model: .* cannot be loaded: ") as caught:
        FlagEncoder("mini", Spec(kind="flag", model=str(tmp_path), dimension=384, device="cpu"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("offline", ["1", "0"])
def test_offline_there_is_no_network_call_for_what_is_on_disk_and_for_what_is_not(
    tmp_path: Path, minilm: Path, offline: str
) -> None:
    commit = "0" * 40
    kept = tmp_path / "hub" / "models--acme--mini"
    (kept / "refs").mkdir(parents=True)
    (kept / "refs" / "main").write_text(commit)
    shutil.copytree(minilm, kept / "snapshots" / commit)
    names = ["acme/mini", "acme/absent", str(minilm)] if offline == "1" else [str(minilm)]
    environment = {**os.environ, "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": offline, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-W", "ignore", str(Path(__file__).with_name("offline.py")), *names]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["called"] == []
    there = ["(1, 384)"] * 2 if offline == "1" else ["(1, 384)"]
    told = found["told"]
    assert [each for each in told if each.startswith("(")] == there * 2
    refused = [each for each in told if not each.startswith("(")]
    assert len(refused) == len(names) * 2 - len(there) * 2
    assert all(each.startswith("embedders.mini: model: acme/absent cannot be loaded: ") for each in refused)
