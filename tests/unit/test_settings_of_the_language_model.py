"""Settings of the language model: half of them is an error that names the other half, and the key is never printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from streams import settings
from streams.errors import ConfigurationError

URL, MODEL = {settings.LLM_URL: "http://127.0.0.1:8080/v1/"}, {settings.LLM_MODEL: "small"}


def test_without_an_endpoint_there_is_no_model() -> None:
    found = settings.given({})
    assert (found.llm, found.graph_llm, found.chunk_context) == (None, False, "none")


def test_the_key_comes_from_a_file_or_the_environment_and_is_not_printed(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("from-file\n")
    given = settings.given({**URL, **MODEL, settings.LLM_KEY_FILE: str(tmp_path / "key")}).llm
    assert given == settings.Llm(url="http://127.0.0.1:8080/v1", model="small", key="from-file")
    assert "from-file" not in repr(given)
    given = settings.given({**URL, **MODEL, settings.LLM_KEY: "plain"}).llm
    assert given is not None and given.key == "plain"


def test_the_reranker_may_be_the_language_model() -> None:
    assert settings.given({**URL, **MODEL, settings.RERANKER: " llm "}).reranker == "llm"


@pytest.mark.parametrize(
    ("environment", "says"),
    [
        (URL, "RANKSTREAM_LLM_MODEL is not set beside RANKSTREAM_LLM_URL"),
        (MODEL, "RANKSTREAM_LLM_URL is not set beside RANKSTREAM_LLM_MODEL"),
        ({**MODEL, settings.LLM_URL: "localhost:8080"}, "RANKSTREAM_LLM_URL is no URL"),
        ({**URL, **MODEL, settings.LLM_KEY_FILE: "/no/such/file"}, "RANKSTREAM_LLM_KEY_FILE: /no/such/file"),
        ({settings.GRAPH_LLM: "on"}, "RANKSTREAM_GRAPH_LLM needs a language model; set RANKSTREAM_LLM_URL"),
        ({settings.CHUNK_CONTEXT: "vectors"}, "RANKSTREAM_CHUNK_CONTEXT needs a language model"),
        ({settings.CHUNK_CONTEXT: "reranker"}, "RANKSTREAM_CHUNK_CONTEXT needs a language model"),
        ({settings.RERANKER: "llm"}, "RANKSTREAM_RERANKER=llm needs a language model; set RANKSTREAM_LLM_URL"),
        ({**URL, **MODEL, settings.CHUNK_CONTEXT: "all"}, "RANKSTREAM_CHUNK_CONTEXT is 'all'; it must be one of none"),
    ],
)
def test_a_wrong_setting_is_named_with_what_to_do(environment: dict[str, str], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        settings.given(environment)
