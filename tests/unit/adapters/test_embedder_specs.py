"""Files of embedders: what they may say, and one line for each mistake."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from streams import settings
from streams.adapters import embedder_specs, embedders
from streams.adapters.embedder_specs import Spec
from streams.domain.generation import Model
from streams.errors import ConfigurationError

LOCAL = '[embedders.mini]\nkind = "openai"\nmodel = "mini"\ndimension = 4\nurl = "http://127.0.0.1:9/v1"\n'


def written(folder: Path, text: str) -> Path:
    file = folder / "models.toml"
    file.write_text(text)
    return file


def test_the_shipped_embedders_are_known_beside_the_built_in_ones() -> None:
    found = embedders.known()
    assert {name: found[name].dimension for name in ("bge-small-en-v1.5", "bge-m3", "text-embedding-3-small")} == {
        "bge-small-en-v1.5": 384,
        "bge-m3": 1024,
        "text-embedding-3-small": 1536,
    }
    assert found.keys() > embedders.BUILT_IN.keys()


def test_a_file_adds_embedders_and_replaces_shipped_ones(tmp_path: Path) -> None:
    text = LOCAL + '[embedders."bge-m3"]\nkind = "bge-m3"\nmodel = "acme/tuned-m3"\ndimension = 768\n'
    found = embedders.known(written(tmp_path, text))
    assert (found["mini"].dimension, found["bge-m3"].dimension) == (4, 768)
    assert embedders.wanted(None, main="mini", among=found)[0] == Model(name="mini", dimension=4)


def test_the_file_that_the_page_shows_is_read(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs/models.md").read_text()
    (shown,) = (block for block in re.findall(r"```toml\n(.*?)```", page, re.DOTALL) if "[embedders." in block)
    (tmp_path / "tuned").mkdir()
    (tmp_path / "tuned" / "config.json").write_text("{}")
    found = embedders.known(written(tmp_path, shown))
    assert found.keys() > {"our-tuned-bge", "local-server", "cloud-bge"}
    assert embedders.stand_ins("bge-small-en-v1.5", found) == ("cloud-bge",)
    table = [line.split("`")[1] for line in page.splitlines() if line.startswith("| `") and line.count("|") == 7]
    assert set(table) == embedders.known().keys()


def test_a_folder_is_read_from_the_place_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "weights").mkdir()
    (tmp_path / "weights" / "config.json").write_text("{}")
    text = b'[embedders.mine]\nkind = "flag"\nmodel = "./weights"\ndimension = 8\n'
    assert embedder_specs.read("f", text, folder=tmp_path)["mine"].model == str(tmp_path / "weights")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("embedders = ", "is not TOML"),
        ("", "embedders: is missing"),
        ("[models.a]\n", "models: is no table of this file; write [embedders.NAME]"),
        ("[embedders]\na = 1\n", "embedders.a: is no table"),
        ('[embedders."a b"]\n', "embedders.a b: a name has letters"),
        ("[embedders.a]\nmodel = 'x'\ndimension = 3\n", "embedders.a.kind: is missing; add it"),
        ("[embedders.a]\nkind = 'flag'\ndimension = 3\n", "embedders.a.model: is missing; add it"),
        ("[embedders.a]\nkind = 'flag'\nmodel = 'x'\n", "embedders.a.dimension: is missing; add it"),
        (LOCAL + "dimensions = 3\n", "embedders.mini.dimensions: is no field of an embedder; did you mean dimension?"),
        (
            LOCAL.replace("openai", "open-ai"),
            "embedders.mini.kind: Invalid enum value 'open-ai'; it must be one of flag",
        ),
        (LOCAL.replace("4", "0"), "embedders.mini.dimension: Expected `int` >= 1"),
        (LOCAL.replace("4", '"4"'), "embedders.mini.dimension: Expected `int`, got `str`"),
        (LOCAL + "timeout = -1\n", "embedders.mini.timeout: Expected `float` > 0"),
        (LOCAL + "pooling = 'mean'\n", "embedders.mini.pooling: is of no use with kind 'openai'; remove it"),
        (
            "[embedders.a]\nkind = 'flag'\nmodel = 'x'\ndimension = 3\nurl = 'http://a'\n",
            "embedders.a.url: is of no use with kind 'flag'; remove it",
        ),
        (LOCAL + "lexical = true\n", "embedders.mini.lexical: is of no use with kind 'openai'; remove it"),
        (
            "[embedders.a]\nkind = 'flag'\nmodel = 'x'\ndimension = 3\nlexical = true\n",
            "embedders.a.lexical: is of no use with kind 'flag'; remove it",
        ),
        (LOCAL.replace("http:", "ftp:"), "embedders.mini.url: is 'ftp://127.0.0.1:9/v1'; it must begin with http"),
        (LOCAL.replace("127.0.0.1:9", "h:99999"), "embedders.mini.url: is "),
        (LOCAL.replace("127", "me:pass@127"), "embedders.mini.url: holds more than host and path; a key belongs into"),
        (LOCAL + "key_env = 'A'\nkey_file = 'b'\n", "embedders.mini.key_file: the key is in key_env already"),
        (LOCAL + "same_as = 'mini'\n", "embedders.mini.same_as: names itself"),
        (LOCAL + "same_as = 'none'\n", "embedders.mini.same_as: there is no embedder 'none'; there are all-MiniLM"),
        (LOCAL + "same_as = 'bge-m3'\n", "embedders.mini.dimension: is 4, and bge-m3 has 1024"),
        (LOCAL.replace("mini]", '"multilingual-e5-small"]'), "embedders.multilingual-e5-small: is the name of a built"),
        (
            "[embedders.a]\nkind = 'cloudflare'\nmodel = 'x'\ndimension = 3\n",
            "embedders.a.url: is missing; add the acc",
        ),
        ("[embedders.a]\nkind = 'flag'\nmodel = './none'\ndimension = 3\n", "embedders.a.model: "),
    ],
)
def test_a_mistake_is_told_in_one_line_with_file_field_and_fix(tmp_path: Path, text: str, says: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(ConfigurationError) as caught:
        embedders.known(file)
    told = str(caught.value)
    assert told.startswith(f"{file}: {says}") or (told.startswith(f"{file}: ") and says in told)
    assert "\n" not in told and "pass@" not in told.replace(text, "")


def test_a_file_that_is_not_there_is_named_with_its_setting(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"^RANKSTREAM_MODELS: .*none\.toml cannot be read: No such file"):
        embedders.known(tmp_path / "none.toml")
    assert settings.given({"RANKSTREAM_MODELS": "/a/models.toml"}).models == Path("/a/models.toml")
    assert settings.given({"RANKSTREAM_MODELS": ""}).models is None


def test_what_a_file_says_of_languages_is_what_an_embedder_reads(tmp_path: Path) -> None:
    found = embedders.known(written(tmp_path, LOCAL + 'languages = ["ru", "el"]\n'))
    assert [embedders.reads("mini", each, found) for each in ("ru", "uk", "el", "en", "zh")] == [True] * 3 + [False] * 2
    assert not embedders.reads("bge-small-en-v1.5", "ru", found)
    assert embedders.reads("bge-small-en-v1.5", "de", found)
    assert embedders.reads("bge-m3", "zh", found)
    assert embedders.reads("no-longer-known", "ru", found)


def test_whose_lexical_weights_are_kept_is_said_in_the_file(tmp_path: Path) -> None:
    m3 = '[embedders.mine]\nkind = "bge-m3"\nmodel = "acme/m3"\ndimension = 8\nlexical = true\n'
    found = embedders.known(written(tmp_path, LOCAL + m3))
    models = [Model(name=name, dimension=8) for name in ("mini", "mine", "bge-m3", "no-longer-known")]
    assert embedders.lexical(models, found) == ("mine",)


def test_a_stand_in_is_no_embedder_of_a_generation(tmp_path: Path) -> None:
    text = LOCAL.replace("dimension = 4", "dimension = 384") + "same_as = 'all-MiniLM-L6-v2-int8'\n"
    found = embedders.known(written(tmp_path, text))
    assert embedders.stand_ins("all-MiniLM-L6-v2-int8", found) == ("mini",)
    with pytest.raises(ConfigurationError, match="mini has no vectors of its own, it stands in for all-MiniLM"):
        embedders.wanted(None, also=("mini",), among=found)


def spec(**fields: str) -> Spec:
    return Spec(kind="openai", model="m", dimension=4, **fields)  # type: ignore[arg-type]


def test_a_key_comes_from_a_variable_or_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", " sk-1 ")
    (tmp_path / "key").write_text("sk-2\n")
    assert spec(key_env="SOME_KEY").key("mini") == "sk-1"
    assert spec(key_file=str(tmp_path / "key")).key("mini") == "sk-2"
    assert spec().key("mini") == ""


@pytest.mark.parametrize("content", [None, "", "two words sk-secret", "sk-secret\nsk-secret"])
def test_a_key_that_cannot_be_used_is_named_by_its_place_and_never_said(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "key"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ConfigurationError) as caught:
        spec(key_file=str(file)).key("mini")
    assert str(caught.value).startswith("embedders.mini: ") and str(file) in str(caught.value)
    assert "sk-secret" not in str(caught.value)
    with pytest.raises(ConfigurationError, match="key_env: NOT_SET_ANYWHERE is not set; set it to the key"):
        spec(key_env="NOT_SET_ANYWHERE").key("mini")
