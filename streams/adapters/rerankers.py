"""The rerankers there are, by what the setting says; each is loaded only when it is built."""

from __future__ import annotations

from streams import settings
from streams.adapters import flag_reranker
from streams.adapters.flag_reranker import FlagReranker
from streams.adapters.listwise_reranker import ListwiseReranker
from streams.errors import ConfigurationError
from streams.ports import LanguageModel

LLM = "llm"


def label(setting: str | None, language_model: str | None = None) -> str | None:
    """Return the name of the model that a setting means, without loading it; none where nothing is reranked."""
    if setting == LLM:
        return language_model or LLM
    return flag_reranker.label(setting) if setting else None


def build(setting: str, language_model: LanguageModel | None = None) -> FlagReranker | ListwiseReranker:
    """Return a reranker, loaded; it blocks meanwhile. Raises ConfigurationError that says what to do."""
    if setting != LLM:
        return FlagReranker(setting)
    if language_model is None:
        said = f"{settings.RERANKER}={LLM} needs a language model, and none is configured; use a model's name, or none"
        raise ConfigurationError(said)
    return ListwiseReranker(language_model)
