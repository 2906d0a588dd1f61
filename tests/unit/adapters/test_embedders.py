"""The registry of embedders: what the settings ask for, and what is known."""

from __future__ import annotations

import pytest

from streams import settings
from streams.adapters import embedders, profiles
from streams.domain.generation import Generation, Model
from streams.errors import ConfigurationError

MINILM = Model(name="all-MiniLM-L6-v2-int8", dimension=384)
E5 = Model(name="multilingual-e5-small", dimension=384)
LIVE = Generation(id="g1", model=E5.name, dimension=384, average_length=100.0, also=(MINILM,))


def test_the_first_generation_has_the_default_model_alone() -> None:
    assert embedders.wanted(None) == (MINILM, ())


def test_what_is_not_set_is_what_the_live_generation_has() -> None:
    assert embedders.wanted(LIVE) == (E5, (MINILM,))
    older = Generation(id="g1", model="no-longer-known", dimension=9, average_length=100.0)
    assert embedders.wanted(older) == (Model(name="no-longer-known", dimension=9), ())


def test_settings_win_over_the_live_generation_so_that_a_difference_is_seen() -> None:
    assert embedders.wanted(LIVE, main=E5.name, also=()) == (E5, ())
    assert embedders.wanted(LIVE, main=MINILM.name) == (MINILM, (MINILM,))
    assert embedders.wanted(None, also=(E5.name,)) == (MINILM, (E5,))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"main": "bge"}, "RANKSTREAM_EMBEDDER: there is no embedder 'bge'; there are all-MiniLM-L6-v2-int8, bge-m3, "),
        (
            {"also": ("bge",)},
            "RANKSTREAM_EMBED_ALSO: there is no embedder 'bge'; there are all-MiniLM-L6-v2-int8, bge-m3, ",
        ),
        ({"also": (MINILM.name,)}, "RANKSTREAM_EMBED_ALSO: all-MiniLM-L6-v2-int8 is named twice"),
        ({"also": (E5.name, E5.name)}, "RANKSTREAM_EMBED_ALSO: multilingual-e5-small is named twice"),
    ],
)
def test_a_wrong_name_is_refused_with_the_setting_and_the_known_ones(options: dict[str, object], says: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        embedders.wanted(None, **options)  # type: ignore[arg-type]
    assert str(caught.value).startswith(says)


def test_an_unknown_embedder_is_not_built() -> None:
    with pytest.raises(ConfigurationError, match="there is no embedder 'bge'"):
        embedders.build("bge")


def test_the_settings_name_embedders() -> None:
    found = settings.given({"RANKSTREAM_EMBEDDER": "a", "RANKSTREAM_EMBED_ALSO": " b, c ,"})
    assert (found.embedder, found.embed_also) == ("a", ("b", "c"))
    for empty in ({}, {"RANKSTREAM_EMBEDDER": "", "RANKSTREAM_EMBED_ALSO": " , "}):
        assert (settings.given(empty).embedder, settings.given(empty).embed_also) == (None, None)


def test_every_shipped_profile_and_every_shipped_set_of_weights_names_an_embedder_that_is_known() -> None:
    named = {profile.embedder for profile in profiles.shipped().values()} | set(profiles.weights())
    assert named - {None} <= embedders.known().keys()
