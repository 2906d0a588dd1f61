"""The rerankers there are, by what the setting says; each is loaded only when it is built."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from streams import settings
from streams.adapters import flag_reranker
from streams.adapters.flag_reranker import FlagReranker
from streams.adapters.listwise_reranker import ListwiseReranker
from streams.errors import ConfigurationError
from streams.ports import LanguageModel
from streams.setting_values import BY_LLM

LLM = BY_LLM


def label(setting: str | None, language_model: str | None = None) -> str | None:
    """Return the name of the model that a setting means, without loading it; none where nothing is reranked."""
    if setting == LLM:
        return language_model or LLM
    return flag_reranker.label(setting) if setting else None


def downloaded(setting: str) -> str | None:
    """Return the folder that a cross-encoder would be loaded from; none where it would be fetched. Never fetches it.

    Raises ConfigurationError without the extra `bge`.
    """
    if missing := [name for name in ("torch", "FlagEmbedding") if find_spec(name) is None]:
        said = f"{settings.RERANKER}={setting} needs {missing[0]}: run `pip install 'rankstream[bge]'`"
        raise ConfigurationError(said)
    if Path(setting).is_dir():
        return setting
    from huggingface_hub import snapshot_download  # noqa: PLC0415  slow to import
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError  # noqa: PLC0415

    try:
        return str(snapshot_download(setting, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError):
        return None


def build(setting: str, language_model: LanguageModel | None = None) -> FlagReranker | ListwiseReranker:
    """Return a reranker, loaded; it blocks meanwhile. Raises ConfigurationError that says what to do."""
    if setting != LLM:
        return FlagReranker(setting)
    if language_model is None:
        said = f"{settings.RERANKER}={LLM} needs a language model, and none is configured; use a model's name, or none"
        raise ConfigurationError(said)
    return ListwiseReranker(language_model)
