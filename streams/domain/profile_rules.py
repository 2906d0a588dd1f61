"""What the fields of a profile ask of each other: combinations that would silently do nothing are refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from streams.domain.profile import Profile
from streams.domain.stems import languages

# What has no effect unless one of these legs runs.
_NEEDS: dict[str, tuple[str, ...]] = {
    "levels": ("dense",),
    "embedder": ("dense",),
    "synonyms": ("dense", "sparse"),
    "lexical": ("dense",),
    "route_by_language": ("dense",),
    "calibrated_bm25": ("sparse",),
    "qa_prefix": ("qa",),
    "qa_least": ("qa",),
    "graph_least": ("graph",),
    "graph_boost": ("graph",),
    "graph_summary": ("graph",),
    "graph_global": ("graph",),
    "expansions": ("dense", "sparse", "fulltext", "qa"),
}
_ABSOLUTE = ("agreement", "graph_boost")  # they are added to an absolute score
_COVERAGE = ("calibrated_bm25", "qa_least", "graph_least")  # they are part of one of them
_INSTEAD = 'set score = "coverage" or "relevance", or leave it out'
_DEFAULTS: dict[str, Any] = {field.name: field.default for field in msgspec.structs.fields(Profile)}


def problems(profile: Profile) -> list[str]:
    """Return what is wrong with a profile as a whole, each as `field: what, and what to do`; none for a good one."""
    return [*_legs(profile), *_score(profile), *_numbers(profile)]


def _legs(profile: Profile) -> Iterator[str]:
    legs = ", ".join(profile.legs)
    if len(set(profile.legs)) < len(profile.legs):
        yield f"legs: {legs} names a leg twice; name each once"
    for leg in sorted(set(profile.weights) - set(profile.legs)):
        yield f"weights.{leg}: {leg} is not among the legs ({legs}); add it there, or leave its weight out"
    if all(profile.weights.get(leg, 1.0) == 0 for leg in profile.legs):
        yield "weights: all legs weigh 0; give one of them more"
    for name, any_of in _NEEDS.items():
        if getattr(profile, name) != _DEFAULTS[name] and not set(any_of) & set(profile.legs):
            yield f"{name}: nothing uses it without the leg {' or '.join(any_of)}; add one to legs, or leave it out"
    if profile.rewrite == "terms" and not {"dense", "sparse"} & set(profile.legs):
        yield 'rewrite: "terms" is for the legs dense and sparse; add one to legs, or leave it out'
    if profile.language is not None and profile.language not in languages():
        yield f"language: there is no stemmer for {profile.language!r}; there are {', '.join(languages())}"


def _score(profile: Profile) -> Iterator[str]:
    if profile.score != "coverage":
        for name in _COVERAGE:
            if getattr(profile, name) != _DEFAULTS[name]:
                yield f'{name}: only score = "coverage" looks at it; set that, or leave it out'
    if profile.score != "fused":
        return
    if profile.floor is not None:
        yield f"floor: a rank fusion score supports no threshold; {_INSTEAD}"
    for name in _ABSOLUTE:
        if getattr(profile, name) != _DEFAULTS[name]:
            yield f'{name}: score = "fused" has no absolute score; {_INSTEAD}'


def _numbers(profile: Profile) -> Iterator[str]:
    if profile.fused is not None and profile.fused < profile.passages:
        yield f"fused: keeps {profile.fused} candidates for {profile.passages} passages; keep at least as many"
    if profile.rerank_depth is not None and profile.rerank_depth < profile.passages:
        yield f"rerank_depth: leaves {profile.rerank_depth} of {profile.passages} passages; rerank at least as many"
    if profile.legs_budget > profile.budget:
        yield f"legs_budget: {profile.legs_budget:g} s is more than budget, {profile.budget:g} s; make it less"
