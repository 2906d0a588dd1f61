"""The embedders there are, by the name that their vectors are kept under; each is loaded only when it is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from streams import settings
from streams.adapters import e5_embedder, embedder_specs, onnx_embedder
from streams.adapters.e5_embedder import E5Embedder
from streams.adapters.embedder_specs import LOCAL, Spec
from streams.adapters.flag_embedder import FlagEmbedder, FlagLexicalEmbedder
from streams.adapters.http_embedders.embedder import HttpEmbedder
from streams.adapters.onnx_embedder import OnnxEmbedder
from streams.batching import Counts
from streams.domain import scripts
from streams.domain.generation import Generation, Model
from streams.errors import ConfigurationError
from streams.ports import Embedder


class OpenEmbedder(Embedder, Protocol):
    """An embedder as it is built: telemetry reads its counts, and it is closed at the end."""

    @property
    def counts(self) -> Mapping[str, Counts]:
        """What went through the model, by the kind of text."""

    @property
    def bulk(self) -> Embedder:
        """The same model for passages that nobody waits for: behind questions and behind other passages."""

    async def close(self) -> None:
        """Give back what it holds."""


@dataclass(frozen=True, kw_only=True)
class Known:
    """How to build an embedder, and the length of its vectors."""

    dimension: int
    build: Callable[[], OpenEmbedder]  # blocks while the weights are read; raises ConfigurationError
    same_as: str | None = None  # it hosts this embedder's model, and has no vectors of its own
    lexical: bool = False  # it gives lexical weights too, to be kept
    languages: tuple[str, ...] = ()  # it was made for; to it, a text in another script is noise; empty: reads all


BUILT_IN: Mapping[str, Known] = {
    onnx_embedder.MODEL: Known(dimension=onnx_embedder.DIMENSION, build=OnnxEmbedder, languages=("en",)),
    e5_embedder.MODEL: Known(dimension=e5_embedder.DIMENSION, build=E5Embedder),
}
DEFAULT = onnx_embedder.MODEL


def known(file: Path | None = None) -> Mapping[str, Known]:
    """Return all embedders: built in, shipped as data, and those of an operator's file; raise ConfigurationError."""
    specs = embedder_specs.load(file)
    found = {**BUILT_IN, **{name: _described(name, spec) for name, spec in specs.items()}}
    for name, each in found.items():
        where = f"{file}: embedders.{name}"
        if name in specs and name in BUILT_IN:
            raise ConfigurationError(f"{where}: is the name of a built-in embedder; choose another one")
        if each.same_as is None:
            continue
        if each.same_as not in found or found[each.same_as].same_as is not None:
            there = ", ".join(sorted(other for other in found if found[other].same_as is None))
            raise ConfigurationError(f"{where}.same_as: there is no embedder {each.same_as!r}; there are {there}")
    return found


def _described(name: str, spec: Spec) -> Known:
    build: Callable[[str, Spec], OpenEmbedder] = FlagEmbedder if spec.kind in LOCAL else HttpEmbedder
    if spec.lexical:
        build = FlagLexicalEmbedder
    return Known(
        dimension=spec.dimension,
        build=partial(build, name, spec),
        same_as=spec.same_as,
        lexical=spec.lexical,
        languages=spec.languages,
    )


def build(name: str, among: Mapping[str, Known] | None = None) -> OpenEmbedder:
    """Return an embedder, loaded; raise ConfigurationError that lists the known ones, or says what to install."""
    return _known(name, "embedder", known() if among is None else among).build()


def stand_ins(name: str, among: Mapping[str, Known]) -> tuple[str, ...]:
    """Return who hosts an embedder's model, in the order of their names."""
    return tuple(sorted(other for other, each in among.items() if each.same_as == name))


def reads(name: str, language: str, among: Mapping[str, Known] = BUILT_IN) -> bool:
    """Tell whether an embedder reads the script of a language; one that is not known here reads all."""
    found = among.get(name)
    return found is None or scripts.reads(found.languages, language)


def wanted(
    live: Generation | None,
    *,
    main: str | None = None,
    also: Sequence[str] | None = None,
    among: Mapping[str, Known] | None = None,
) -> tuple[Model, tuple[Model, ...]]:
    """Return the main embedder and the further ones that the settings ask for.

    What is not set is what the live generation has, and for the first generation the default without further ones.
    Raises ConfigurationError for a name that nobody knows, or that is there twice.
    """
    among = known() if among is None else among
    chosen = model_of(main, settings.EMBEDDER, among) if main else None
    chosen = chosen or (live.models[0] if live else model_of(DEFAULT, settings.EMBEDDER, among))
    further = (
        (live.also if live else ())
        if also is None
        else tuple(model_of(name, settings.EMBED_ALSO, among) for name in also)
    )
    names = [chosen.name, *(model.name for model in further)]
    # Of a main model that was further beside another one, the live generation is what does not fit.
    if also is not None and (twice := [name for name in names if names.count(name) > 1]):
        raise ConfigurationError(
            f"{settings.EMBED_ALSO}: {twice[0]} is named twice; name each model once, beside {settings.EMBEDDER}"
        )
    return chosen, further


def lexical(models: Sequence[Model], among: Mapping[str, Known]) -> tuple[str, ...]:
    """Return the names of those models whose lexical weights are to be kept."""
    return tuple(model.name for model in models if model.name in among and among[model.name].lexical)


def model_of(name: str, setting: str, among: Mapping[str, Known]) -> Model:
    """Return a model that has vectors of its own; raise ConfigurationError that begins with the setting."""
    found = _known(name, setting, among)
    if found.same_as is not None:
        raise ConfigurationError(
            f"{setting}: {name} has no vectors of its own, it stands in for {found.same_as}; name {found.same_as}"
        )
    return Model(name=name, dimension=found.dimension)


def _known(name: str, setting: str, among: Mapping[str, Known]) -> Known:
    found = among.get(name)
    if found is None:
        there = ", ".join(sorted(other for other in among if among[other].same_as is None))
        raise ConfigurationError(
            f"{setting}: there is no embedder {name!r}; there are {there}; others are described in a file that "
            f"{settings.MODELS} names"
        )
    return found
