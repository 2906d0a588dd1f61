"""What providers are asked and what they answer: the bodies of requests and responses, without the network.

OpenAI: https://platform.openai.com/docs/api-reference/embeddings
Gemini: https://ai.google.dev/api/embeddings (batchEmbedContents)
Cloudflare: https://developers.cloudflare.com/workers-ai/models/bge-small-en-v1.5
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streams.adapters.embedder_specs import Kind, Spec

OPENAI = "https://api.openai.com/v1"
GEMINI = "https://generativelanguage.googleapis.com"


class Malformed(Exception):
    """An answer is not what the protocol says."""


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """How one kind of provider is asked; `key` may be empty."""

    url: Callable[[Spec], str]
    headers: Callable[[str], Mapping[str, str]]
    body: Callable[[Spec, Sequence[str], Mapping[str, Any], bool], Mapping[str, Any]]  # the last: of questions
    rows: Callable[[Any], Sequence[Any]]  # vectors in the texts' order; raises KeyError, TypeError, Malformed
    tokens: Callable[[Any], int]  # that an answer says it read; 0 where it does not say


def _bearer(key: str) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


def _base(spec: Spec, default: str = "") -> str:
    return (spec.url or default).rstrip("/")


def _openai_body(spec: Spec, texts: Sequence[str], options: Mapping[str, Any], _: bool) -> Mapping[str, Any]:
    return {"model": spec.model, "input": list(texts), "encoding_format": "float", **options}


def _openai_rows(answer: Any) -> Sequence[Any]:
    rows = answer["data"]
    indices = [each.get("index", place) for place, each in enumerate(rows)]
    if sorted(indices) != list(range(len(rows))):
        raise Malformed("the indices of its vectors repeat or have gaps")
    by_index = dict(zip(indices, rows, strict=True))
    return [by_index[index]["embedding"] for index in range(len(rows))]


def _counted(part: str, *names: str) -> Callable[[Any], int]:
    """Return a reader of the first of some numbers in a part of an answer; whatever else is there counts nothing."""

    def read(answer: Any) -> int:
        of = answer.get(part) if isinstance(answer, dict) else None
        found = [of[name] for name in names if name in of] if isinstance(of, dict) else []
        return max(0, found[0]) if found and type(found[0]) is int else 0

    return read


def _gemini_model(spec: Spec) -> str:
    return spec.model if spec.model.startswith(("models/", "tunedModels/")) else f"models/{spec.model}"


def _gemini_body(spec: Spec, texts: Sequence[str], options: Mapping[str, Any], query: bool) -> Mapping[str, Any]:
    task = "RETRIEVAL_QUERY" if query else "RETRIEVAL_DOCUMENT"
    model = _gemini_model(spec)
    return {
        "requests": [
            {"model": model, "content": {"parts": [{"text": text}]}, "taskType": task, **options} for text in texts
        ]
    }


def _gemini_rows(answer: Any) -> Sequence[Any]:
    return [each["values"] for each in answer["embeddings"]]


def _cloudflare_model(spec: Spec) -> str:
    return spec.model if spec.model.startswith("@") else f"@cf/{spec.model}"


def _cloudflare_body(_: Spec, texts: Sequence[str], options: Mapping[str, Any], __: bool) -> Mapping[str, Any]:
    return {"text": list(texts), **options}


def _cloudflare_rows(answer: Any) -> Sequence[Any]:
    if not answer.get("success", True):
        raise Malformed("it says that it did not succeed")
    rows: Sequence[Any] = answer["result"]["data"]
    return rows


PROTOCOLS: Mapping[Kind, Protocol] = {
    "openai": Protocol(
        url=lambda spec: f"{_base(spec, OPENAI)}/embeddings",
        headers=_bearer,
        body=_openai_body,
        rows=_openai_rows,
        tokens=_counted("usage", "prompt_tokens", "total_tokens"),
    ),
    "gemini": Protocol(
        url=lambda spec: f"{_base(spec, GEMINI)}/v1beta/{_gemini_model(spec)}:batchEmbedContents",
        headers=lambda key: {"x-goog-api-key": key} if key else {},
        body=_gemini_body,
        rows=_gemini_rows,
        tokens=_counted("usageMetadata", "promptTokenCount", "totalTokenCount"),
    ),
    "cloudflare": Protocol(
        url=lambda spec: f"{_base(spec)}/ai/run/{_cloudflare_model(spec)}",
        headers=_bearer,
        body=_cloudflare_body,
        rows=_cloudflare_rows,
        tokens=lambda _: 0,  # its answers do not say
    ),
}
