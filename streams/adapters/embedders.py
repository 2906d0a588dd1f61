"""The embedders there are, by the name that their vectors are kept under; each is loaded only when it is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from streams import settings
from streams.adapters import e5_embedder, onnx_embedder
from streams.adapters.batched_embedder import BatchedEmbedder
from streams.adapters.e5_embedder import E5Embedder
from streams.adapters.onnx_embedder import OnnxEmbedder
from streams.domain import stems
from streams.domain.generation import Generation, Model
from streams.errors import ConfigurationError


@dataclass(frozen=True, kw_only=True)
class Known:
    """How to build an embedder, and the length of its vectors."""

    dimension: int
    build: Callable[[], BatchedEmbedder]  # blocks while the weights are read; raises ConfigurationError
    latin_only: bool = False  # to it, a text in another script is noise


KNOWN: Mapping[str, Known] = {
    onnx_embedder.MODEL: Known(dimension=onnx_embedder.DIMENSION, build=OnnxEmbedder, latin_only=True),
    e5_embedder.MODEL: Known(dimension=e5_embedder.DIMENSION, build=E5Embedder),
}
DEFAULT = onnx_embedder.MODEL


def build(name: str) -> BatchedEmbedder:
    """Return an embedder, loaded; raise ConfigurationError that lists the known ones, or says what to install."""
    return _known(name, "embedder").build()


def reads(name: str, language: str) -> bool:
    """Tell whether an embedder was made for texts of a language; one that is not known here reads all."""
    known = KNOWN.get(name)
    return known is None or not known.latin_only or stems.in_latin_script(language)


def wanted(
    live: Generation | None, *, main: str | None = None, also: Sequence[str] | None = None
) -> tuple[Model, tuple[Model, ...]]:
    """Return the main embedder and the further ones that the settings ask for.

    What is not set is what the live generation has, and for the first generation the default without further ones.
    Raises ConfigurationError for a name that nobody knows, or that is there twice.
    """
    chosen = _model(main, settings.EMBEDDER) if main else None
    chosen = chosen or (live.models[0] if live else _model(DEFAULT, settings.EMBEDDER))
    further = (live.also if live else ()) if also is None else tuple(_model(name, settings.EMBED_ALSO) for name in also)
    names = [chosen.name, *(model.name for model in further)]
    # Of a main model that was further beside another one, the live generation is what does not fit.
    if also is not None and (twice := [name for name in names if names.count(name) > 1]):
        raise ConfigurationError(
            f"{settings.EMBED_ALSO}: {twice[0]} is named twice; name each model once, beside {settings.EMBEDDER}"
        )
    return chosen, further


def _model(name: str, setting: str) -> Model:
    return Model(name=name, dimension=_known(name, setting).dimension)


def _known(name: str, setting: str) -> Known:
    found = KNOWN.get(name)
    if found is None:
        raise ConfigurationError(f"{setting}: there is no embedder {name!r}; there are {', '.join(sorted(KNOWN))}")
    return found
