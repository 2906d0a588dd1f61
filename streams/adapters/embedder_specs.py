"""Reads which embedders there are beside the built-in ones: those of embedders.toml here, and an operator's own."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, get_args
from urllib.parse import urlsplit

import msgspec

from streams import secret_urls, settings
from streams.adapters.profile_fields import nearest
from streams.errors import ConfigurationError

Kind = Literal["flag", "bge-m3", "openai", "gemini", "cloudflare"]
LOCAL = ("flag", "bge-m3")
OF_LOCAL = {"pooling", "device", "threads", "lexical"}
OF_M3 = {"lexical"}
OF_HTTP = {"url", "key_env", "key_file", "timeout", "query_timeout", "attempts", "request_tokens"}
OF_HTTP |= {"options", "query_options", "passage_options", "same_as"}
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
CLOUDFLARE = "https://api.cloudflare.com/client/v4/accounts/ACCOUNT"

Seconds = Annotated[float, msgspec.Meta(gt=0, le=600)]
Count = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
Text = Annotated[str, msgspec.Meta(min_length=1)]


class Spec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An embedder as a file describes it; its vectors are kept under its name."""

    kind: Kind
    model: Text  # what the hub or the provider calls it, or a folder: /path, ./path (from the file's folder), ~/path
    dimension: Annotated[int, msgspec.Meta(ge=1, le=65_536)]
    languages: tuple[str, ...] = ()  # ISO 639-1 codes: questions in other scripts it does not read; else for readers
    max_tokens: Annotated[int, msgspec.Meta(ge=8, le=1_000_000)] = 512  # of a text; what is longer is cut
    batch: Annotated[int, msgspec.Meta(ge=1, le=2_048)] = 32  # texts at once
    query_instruction: str = ""  # written before a question
    passage_instruction: str = ""  # written before a passage

    # A model in this process
    pooling: Literal["cls", "mean"] = "cls"
    device: str | None = None  # absent: a GPU where there is one
    threads: Count | None = None  # of the CPU; absent: up to four
    lexical: bool = False  # of bge-m3: its lexical weights are kept and searched as well

    # A model of a provider
    url: str | None = None
    key_env: Text | None = None  # the variable that holds the key
    key_file: Text | None = None  # or the file that does
    timeout: Seconds = 20.0  # of one request
    query_timeout: Seconds = 1.0  # of a question, with all attempts
    attempts: Annotated[int, msgspec.Meta(ge=1, le=10)] = 3
    request_tokens: Count = 100_000  # of one request, all texts together
    options: dict[str, Any] = {}  # further fields of a request
    query_options: dict[str, Any] = {}  # the same for questions alone
    passage_options: dict[str, Any] = {}
    same_as: Text | None = None  # it hosts this embedder's model, and stands in for it when a question comes

    def key(self, name: str) -> str:
        """Return the provider's key, empty where none is needed; raise ConfigurationError that never says it."""
        if self.key_env is not None:
            found = settings.secret(self.key_env)
            if not found:
                raise ConfigurationError(f"embedders.{name}: key_env: {self.key_env} is not set; set it to the key")
        elif self.key_file is not None:
            try:
                found = Path(self.key_file).expanduser().read_text("utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                why = getattr(error, "strerror", None) or "is not text"
                raise ConfigurationError(f"embedders.{name}: key_file: {self.key_file} cannot be read: {why}") from None
        else:
            return ""
        if not re.fullmatch(r"[\x21-\x7e]+", found):
            where = self.key_env or self.key_file
            raise ConfigurationError(
                f"embedders.{name}: the key in {where} is empty or has spaces; write the key alone"
            )
        return found


def load(own: Path | None = None) -> Mapping[str, Spec]:
    """Read the shipped embedders and those of a file; of one name, the file's.

    Raises ConfigurationError: one line with the file, the field and what to do.
    """
    shipped = resources.files("streams.adapters").joinpath("embedders.toml")
    found = read(str(shipped), shipped.read_bytes())
    if own is not None:
        try:
            data = own.read_bytes()
        except OSError as error:
            raise ConfigurationError(f"{settings.MODELS}: {own} cannot be read: {error.strerror}") from error
        found |= read(str(own), data, folder=own.parent)
    for name, spec in found.items():
        if spec.same_as is not None and (other := found.get(spec.same_as)) and other.dimension != spec.dimension:
            raise ConfigurationError(
                f"{own}: embedders.{name}.dimension: is {spec.dimension}, and {spec.same_as} has {other.dimension}"
            )
    return found


def read(file: str, data: bytes, *, folder: Path = Path()) -> dict[str, Spec]:
    """Read a file of embedders; raise ConfigurationError with the file and the field."""
    try:
        raw = tomllib.loads(data.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigurationError(f"{file}: is not TOML: {error}") from error
    for field in raw:
        if field != "embedders":
            raise ConfigurationError(f"{file}: {field}: is no table of this file; write [embedders.NAME]")
    tables = raw.get("embedders")
    if not isinstance(tables, dict):
        raise ConfigurationError(f"{file}: embedders: is missing; write [embedders.NAME], then kind, model, dimension")
    return {name: _spec(f"{file}: embedders.{name}", name, table, folder) for name, table in tables.items()}


def _spec(where: str, name: str, table: object, folder: Path) -> Spec:
    if not NAME.fullmatch(name):
        raise ConfigurationError(f"{where}: a name has letters, digits, dots, dashes and underscores, 64 at most")
    if not isinstance(table, dict):
        raise ConfigurationError(f"{where}: is no table; write [embedders.{name}]")
    for field in table:
        if field not in Spec.__struct_fields__:
            raise ConfigurationError(f"{where}.{field}: is no field of an embedder{nearest(field, of=Spec)}")
    for field in ("kind", "model", "dimension"):
        if field not in table:
            raise ConfigurationError(f"{where}.{field}: is missing; add it")
    try:
        spec = msgspec.convert(table, Spec)
    except msgspec.ValidationError as error:
        raise ConfigurationError(f"{where}{_wording(str(error))}") from error
    useless = OF_HTTP if spec.kind in LOCAL else OF_LOCAL
    for field in sorted(set(table) & (useless | (OF_M3 if spec.kind != "bge-m3" else set()))):
        raise ConfigurationError(f"{where}.{field}: is of no use with kind {spec.kind!r}; remove it")
    if spec.key_env is not None and spec.key_file is not None:
        raise ConfigurationError(f"{where}.key_file: the key is in key_env already; name one of them")
    if spec.same_as == name:
        raise ConfigurationError(f"{where}.same_as: names itself; name the embedder whose model it hosts")
    if spec.kind not in LOCAL:
        _check_url(where, spec)
        return spec
    return msgspec.structs.replace(spec, model=_folder(where, spec.model, folder))


def _check_url(where: str, spec: Spec) -> None:
    if spec.url is None:
        if spec.kind == "cloudflare":
            raise ConfigurationError(f"{where}.url: is missing; add the account's, {CLOUDFLARE}")
        return
    try:
        parts = urlsplit(spec.url)
        fits = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        fits = False
    if not fits:
        shown = secret_urls.masked(spec.url)
        raise ConfigurationError(f"{where}.url: is {shown!r}; it must begin with http:// or https:// and a host")
    if parts.username or parts.password or parts.query:
        raise ConfigurationError(f"{where}.url: holds more than host and path; a key belongs into key_env or key_file")


def _folder(where: str, model: str, folder: Path) -> str:
    """Return a model that is a folder with its whole path; a name of a hub as it is."""
    if not model.startswith(("/", "./", "../", "~")):
        return model
    path = (folder / Path(model).expanduser()).resolve()
    if not (path / "config.json").is_file():
        raise ConfigurationError(f"{where}.model: {path} is no folder with a model (config.json); name one, or a hub's")
    return str(path)


def _wording(error: str) -> str:
    """Turn msgspec's words into `.field: what`."""
    text, _, path = error.rpartition(" - at ")
    field = path.strip("`").replace("key` in `", "").removeprefix("$") if text else ""
    choice = f"; it must be one of {', '.join(get_args(Kind))}" if field == ".kind" else ""
    return f"{field}: {text}{choice}" if field else f": {error}"
