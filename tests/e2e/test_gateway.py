"""The HTTP gateway on the whole pipeline: every endpoint over real HTTP."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from streams.gateways import keys
from streams.settings import Jwt
from tests.gateway import Front, serving
from tests.pipeline import Pipeline

LOCKERS = {"title": "Lockers", "content": "# Lockers\n\nLocker keys cost five euro."}


@pytest.fixture(scope="module")
async def front(pipeline: Pipeline) -> AsyncIterator[Front]:
    async with serving(pipeline.settings) as running:
        yield running


@pytest.fixture
def tenant() -> str:
    return f"t-{uuid.uuid4().hex[:12]}"


@pytest.fixture
async def http(front: Front, tenant: str) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a tenant of the test's own that may read and write."""
    async with front.asking(await front.key(tenant)) as client:
        yield client


def lines(response: httpx.Response) -> list[dict[str, object]]:
    return [json.loads(line) for line in response.text.splitlines()]


def problem(response: httpx.Response, status: int, field: str | None = None) -> str:
    """Check that a response is a problem of this status about this field, and return what it says."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body = response.json()
    assert (body["status"], body.get("field")) == (status, field), body
    assert body["title"]
    assert body["fix"]
    return str(body["detail"])


async def test_a_document_is_put_found_read_and_deleted(http: httpx.AsyncClient) -> None:
    put = await http.put("/v1/documents/help/lockers.md?wait=searchable", json={"version": 7, **LOCKERS})
    assert (put.status_code, put.json()["status"], put.json()["version"]) == (200, "searchable", 7), put.text
    reply = (await http.post("/v1/query", json={"text": "what does a locker key cost?"})).json()
    assert [passage["doc_id"] for passage in reply["passages"]] == ["lockers.md"]
    got = (await http.get("/v1/documents/help/lockers.md")).json()
    assert (got["version"], got["title"]) == (7, "Lockers")
    assert "five euro" in got["text"]
    assert reply["passages"][0]["passage_id"] in [part["passage_id"] for part in got["passages"]]
    gone = await http.delete("/v1/documents/help/lockers.md?wait=searchable", headers={"Document-Version": "8"})
    assert (gone.status_code, gone.json()["status"], gone.json()["version"]) == (200, "deleted", 8)
    problem(await http.get("/v1/documents/help/lockers.md"), 404)


async def test_a_text_is_put_as_it_is_and_without_a_version_each_is_above_the_last(http: httpx.AsyncClient) -> None:
    seen = []
    for text in ("# Bikes\n\nIn the yard.", "# Bikes\n\nIn the cellar."):
        put = await http.put(
            "/v1/documents/help/bikes?wait=searchable&title=Bikes",
            content=text,
            headers={"Content-Type": "text/markdown; charset=utf-8"},
        )
        assert put.json()["status"] == "searchable", put.text
        seen.append(put.json()["version"])
    assert seen[0] < seen[1] < 2**53
    got = (await http.get("/v1/documents/help/bikes")).json()
    assert (got["title"], got["version"], "cellar" in got["text"]) == ("Bikes", seen[1], True)


async def test_without_waiting_or_when_the_receipt_is_late_the_change_is_accepted(http: httpx.AsyncClient) -> None:
    for query in ("", "?wait=searchable&timeout=0.001"):
        put = await http.put(f"/v1/documents/help/late{query}", json=LOCKERS)
        assert (put.status_code, put.json()["status"]) == (202, "published")
        assert put.headers["location"] == "/v1/documents/help/late"


async def test_a_version_below_the_last_one_has_failed_and_says_why(http: httpx.AsyncClient) -> None:
    await http.put("/v1/documents/help/old?wait=searchable", json={"version": 9, **LOCKERS})
    put = await http.put("/v1/documents/help/old?wait=searchable", json={"version": 3, **LOCKERS})
    # The receipt of the higher version may be seen for the lower one's; either says that 9 stands.
    assert "version 9" in put.text or put.json()["version"] == 9


async def test_revisions_come_as_events_and_end_with_the_final_one(http: httpx.AsyncClient) -> None:
    await http.put("/v1/documents/help/lockers.md?wait=searchable", json=LOCKERS)
    async with http.stream("POST", "/v1/query", json={"text": "locker keys", "progressive": True}) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        said = [line async for line in stream.aiter_lines()]
    data = [json.loads(line.removeprefix("data: ")) for line in said if line.startswith("data: ")]
    assert [reply["final"] for reply in data] == [*[False] * (len(data) - 1), True]
    assert data[-1]["passages"]
    bad = await http.post("/v1/query", json={"text": "x", "progressive": True, "profile": "nonexistent"})
    problem(bad, 400, "profile")


async def test_bulk_lines_have_their_outcomes_in_their_order_and_a_bad_one_stops_no_other(
    http: httpx.AsyncClient, tenant: str
) -> None:
    good = [
        {"source": "bulk", "doc_id": f"d{n}", "title": f"Page {n}", "content": f"Page number {n}."} for n in range(30)
    ]
    sent: list[bytes] = [json.dumps(each).encode() for each in good]
    sent[3:3] = [b"{not json", b'{"doc_id": "a", "colour": "red"}', b'{"doc_id": "a", "tenant": "umbrella"}', b""]
    sent.append(json.dumps({"source": "bulk", "doc_id": "gone", "op": "delete"}).encode())
    reply = await http.post(
        "/v1/documents?wait=searchable",
        content=b"\n".join(sent),
        headers={"Content-Type": "application/x-ndjson"},
    )
    assert reply.status_code == 200, reply.text
    found = lines(reply)
    assert [each["line"] for each in found] == [1, 2, 3, 4, 5, 6, *range(8, 36)]
    problems = {each["line"]: each["problem"] for each in found if "problem" in each}
    assert {line: (p["status"], p.get("field")) for line, p in problems.items()} == {  # type: ignore[index]
        4: (400, None),
        5: (400, "colour"),
        6: (403, "tenant"),
    }
    assert {each.get("status") for each in found if "problem" not in each} == {"searchable", "deleted"}
    assert (await http.get("/v1/status")).json()["documents"] == 30


async def test_what_comes_without_a_good_key_is_refused_and_told_how_to_come_in(front: Front, tenant: str) -> None:
    key = await front.key(tenant)
    wrong = key[:-1] + ("A" if key[-1] != "A" else "B")
    for given in (None, wrong, "rsk_nothing", "Basic abc"):
        async with front.asking(given) as http:
            for method, path in (
                ("POST", "/v1/query"),
                ("POST", "/v1/documents"),
                ("PUT", "/v1/documents/a/b"),
                ("DELETE", "/v1/documents/a/b"),
                ("GET", "/v1/documents/a/b"),
                ("GET", "/v1/status"),
            ):
                response = await http.request(method, path)
                problem(response, 401)
                assert response.headers["www-authenticate"].startswith("Bearer")
            assert (await http.get("/livez")).status_code == (await http.get("/readyz")).status_code == 200
            assert (await http.get("/openapi.json")).json()["openapi"] == "3.1.0"


async def test_a_revoked_key_opens_no_gateway_within_seconds(front: Front, pipeline: Pipeline, tenant: str) -> None:
    key = await front.key(tenant)
    async with serving(pipeline.settings) as second:
        fronts = (front, second)
        for each in fronts:
            async with each.asking(key) as http:
                assert (await http.get("/v1/status")).status_code == 200
        async with keys.store(front.settings) as kept:
            await kept.revoke(key.split("_")[1], datetime.now(UTC))
        await asyncio.sleep(keys.FRESH + 0.2)
        for each in fronts:
            async with each.asking(key) as http:
                problem(await http.get("/v1/status"), 401)


async def test_a_key_does_what_its_roles_say(front: Front, tenant: str) -> None:
    async with front.asking(await front.key(tenant, "read")) as http:
        problem(await http.put("/v1/documents/a/b", json=LOCKERS), 403)
        problem(await http.delete("/v1/documents/a/b"), 403)
        problem(await http.post("/v1/documents", content=b"{}"), 403)
        assert "servers" not in (await http.get("/v1/status")).json()
    async with front.asking(await front.key(tenant, "write")) as http:
        problem(await http.post("/v1/query", json={"text": "x"}), 403)
        problem(await http.get("/v1/documents/a/b"), 403)
    async with front.asking(await front.key(tenant, "admin")) as http:
        assert (await http.post("/v1/query", json={"text": "x"})).status_code == 200
        status = (await http.get("/v1/status")).json()
        assert set(status["servers"].values()) == {"ok"}
        assert "fuse" in [each["processor"] for each in status["processors"]]


async def test_a_tenant_sees_nothing_of_another_whatever_it_names(
    front: Front, http: httpx.AsyncClient, tenant: str
) -> None:
    await http.put("/v1/documents/help/secret?wait=searchable", json=LOCKERS)
    other = f"{tenant}-other"
    async with front.asking(await front.key(other, "admin")) as thief:
        there = await thief.get("/v1/documents/help/secret")
        not_there = await thief.get("/v1/documents/help/secrey")
        assert problem(there, 404).replace("secret", "secrey") == problem(not_there, 404)
        assert (await thief.post("/v1/query", json={"text": "locker keys", "floor": 0})).json()["passages"] == []
        problem(await thief.post("/v1/query", json={"text": "locker keys", "tenant": tenant}), 403, "tenant")
        problem(await thief.put("/v1/documents/help/secret", json={"tenant": tenant, **LOCKERS}), 403, "tenant")
        problem(await thief.get(f"/v1/documents/help/secret?tenant={tenant}"), 400, "tenant")
        await thief.delete("/v1/documents/help/secret?wait=searchable")
        status = (await thief.get("/v1/status")).json()
        assert (status["tenant"], status["documents"], tenant + '"' in json.dumps(status)) == (other, 0, False)
    assert (await http.get("/v1/documents/help/secret")).status_code == 200


async def test_a_key_of_an_agent_reads_as_that_agent_only(front: Front, http: httpx.AsyncClient, tenant: str) -> None:
    for agent in ("sales", "legal"):
        body = {"agents": [agent], "title": agent, "content": f"The {agent} locker keys cost five euro."}
        await http.put(f"/v1/documents/help/{agent}?wait=searchable", json=body)
    question = {"text": "what do locker keys cost?", "floor": 0}
    async with front.asking(await front.key(tenant, "read", agents=("sales",))) as sales:
        reply = (await sales.post("/v1/query", json=question)).json()
        assert [passage["doc_id"] for passage in reply["passages"]] == ["sales"]
        problem(await sales.post("/v1/query", json={**question, "agent": "legal"}), 403, "agent")
        assert (await sales.get("/v1/documents/help/sales")).status_code == 200
        problem(await sales.get("/v1/documents/help/legal"), 404)
        problem(await sales.get("/v1/documents/help/legal?agent=legal"), 403, "agent")
    problem(await http.get("/v1/documents/help/legal"), 404)
    assert (await http.get("/v1/documents/help/legal?agent=legal")).status_code == 200


IDS = (
    "../../etc/passwd",
    "..",
    "./a/./b",
    "/leading//double/",
    "a?b#c%2Fd",
    "sp ace+plus&=;",
    "ü/日本.md",
    "%",
    "a\\b",
    "'; DROP TABLE documents; --",
    "x" * 512,
)


@pytest.mark.parametrize("doc_id", IDS, ids=range(len(IDS)))
async def test_an_id_is_an_id_and_comes_back_as_it_was(front: Front, http: httpx.AsyncClient, doc_id: str) -> None:
    path = "/v1/documents/help/" + quote(doc_id, safe="").replace(".", "%2E")
    target = httpx.URL(front.url).copy_with(raw_path=f"{path}?wait=searchable".encode())
    put = await http.put(target, json=LOCKERS)
    assert (put.status_code, put.json()["doc_id"]) == (200, doc_id), put.text
    got = await http.get(httpx.URL(front.url).copy_with(raw_path=path.encode()))
    assert (got.status_code, got.json()["doc_id"]) == (200, doc_id), got.text
    reply = (await http.post("/v1/query", json={"text": "locker keys"})).json()
    assert [passage["doc_id"] for passage in reply["passages"]] == [doc_id]


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("help/%FF", "doc_id"),
        ("help/a%00b", "doc_id"),
        ("help/a%0Ab", "doc_id"),
        ("help/", "doc_id"),
        ("help", "doc_id"),
        ("help/" + "x" * 513, "doc_id"),
        ("..%2Fhelp/a", "source"),
        ("Help/a", "source"),
        ("help/a?b", "b"),
    ],
)
async def test_an_id_that_cannot_be_is_refused_by_name(
    front: Front, http: httpx.AsyncClient, path: str, field: str
) -> None:
    target = httpx.URL(front.url).copy_with(raw_path=f"/v1/documents/{path}".encode())
    problem(await http.put(target, json=LOCKERS), 400, field)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"", None),
        (b"nonsense", None),
        (b'{"text": "\xff"}', None),
        (b"[]", None),
        (b"{}", "text"),
        (b'{"text": ""}', "text"),
        (b'{"text": 7}', "text"),
        (b'{"text": "x", "top_k": 0}', "top_k"),
        (b'{"text": "x", "colour": "red"}', "colour"),
        (b'{"text": "x", "query_id": "mine"}', "query_id"),
        (b'{"text": "x", "timeout": 1e9}', "timeout"),
        (b'{"text": "x", "profile": "nonexistent"}', "profile"),
        (b'{"text": "x", "generation": "g99"}', "generation"),
        (b'{"text": "x", "filters": {"kinds": ["all"]}}', "filters.kinds[0]"),
        (b"[" * 100_000, None),
    ],
)
async def test_a_bad_question_is_a_problem_that_names_the_field(
    http: httpx.AsyncClient, body: bytes, field: str | None
) -> None:
    problem(await http.post("/v1/query", content=body), 400, field)


@pytest.mark.parametrize(
    ("path", "body", "headers", "field"),
    [
        ("help/a", {"source": "wiki"}, {}, "source"),
        ("help/a", {"doc_id": "b"}, {}, "doc_id"),
        ("help/a", {"version": 2}, {"Document-Version": "3"}, "version"),
        ("help/a", {}, {"Document-Version": "-1"}, "Document-Version"),
        ("help/a", {}, {"Document-Version": "9" * 25}, "Document-Version"),
        ("help/a", {"version": -1}, {}, "version"),
        ("help/a", {"kind": "qa"}, {}, "question"),
        ("help/a", {"answer": "x"}, {}, "kind"),
        ("help/a", {"language": "English"}, {}, "language"),
        ("help/a?wait=yes", {}, {}, "wait"),
        ("help/a?timeout=nan", {}, {}, "timeout"),
        ("help/a?title=x", {}, {}, "title"),
    ],
)
async def test_a_bad_document_is_a_problem_that_names_the_field(
    http: httpx.AsyncClient, path: str, body: dict[str, object], headers: dict[str, str], field: str
) -> None:
    problem(await http.put(f"/v1/documents/{path}", json=body, headers=headers), 400, field)


async def test_what_is_not_there_is_a_problem_too(http: httpx.AsyncClient) -> None:
    problem(await http.get("/v1/nothing"), 404)
    problem(await http.post("/v1/query/", json={"text": "x"}), 404)
    response = await http.post("/v1/documents/help/a", json={})
    problem(response, 405)
    assert set(response.headers["allow"].split(", ")) == {"DELETE", "GET", "HEAD", "PUT"}
    problem(await http.put("/v1/documents/help/a", content=b"x", headers={"Content-Type": "image/png"}), 415)
    problem(await http.post("/v1/documents", content=b"x", headers={"Content-Type": "text/csv"}), 415)
    problem(await http.request("DELETE", "/v1/documents/help/a", content=b"x"), 400, "body")


async def test_a_key_that_comes_too_often_is_told_when_to_come_again_and_others_are_not_held_up(
    pipeline: Pipeline, tenant: str
) -> None:
    async with serving(pipeline.settings, http_rate=1.0) as front:
        async with front.asking(await front.key(tenant)) as http:
            answers = await asyncio.gather(*(http.get("/v1/status") for _ in range(30)))
            assert len([each for each in answers if each.status_code == 200]) >= 2
            refused = [each for each in answers if each.status_code != 200]
            waits = [(problem(each, 429), int(each.headers["retry-after"]))[1] for each in refused]
            assert min(waits) >= 1
            await asyncio.sleep(max(waits))
            assert (await http.get("/v1/status")).status_code == 200
        async with front.asking(await front.key(tenant)) as http:
            assert (await http.get("/v1/status")).status_code == 200


async def test_a_token_of_the_identity_provider_opens_as_the_tenant_that_it_names(
    pipeline: Pipeline, tenant: str, tmp_path: Path
) -> None:
    private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    jwks = {"keys": [RSAAlgorithm.to_jwk(private.public_key(), as_dict=True) | {"kid": "one"}]}
    file = tmp_path / "jwks.json"
    file.write_text(json.dumps(jwks))
    claims = {"iss": "https://id.example", "aud": "rankstream", "sub": "ann", "exp": time.time() + 60}
    claims |= {"tenant": tenant, "roles": ["read"]}
    token = jwt.encode(claims, private, algorithm="RS256", headers={"kid": "one"})
    provider = Jwt(keys=str(file), issuer="https://id.example", audience="rankstream")
    async with serving(pipeline.settings, jwt=provider) as front:
        async with front.asking(token) as http:
            assert (await http.get("/v1/status")).json()["tenant"] == tenant
            problem(await http.put("/v1/documents/a/b", json=LOCKERS), 403)
        async with front.asking(await front.key("umbrella")) as http:
            assert (await http.get("/v1/status")).json()["tenant"] == "umbrella"
    async with serving(pipeline.settings) as front, front.asking(token) as http:
        problem(await http.get("/v1/status"), 401)
