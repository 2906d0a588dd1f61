"""Reading document changes: plain JSON, CloudEvents in binary and structured mode, and everything that is neither."""

from __future__ import annotations

import base64
from typing import Any

import msgspec
import pytest

from schemas.cloudevents import read_document_change, to_cloudevent
from schemas.codec import InvalidMessage, encode
from schemas.documents import MAX_CONTENT, DocumentChange

CHANGE = DocumentChange(
    tenant="acme", source="help", doc_id="a/b", version=3, title="T", content="# T", updated_at="2026-03-01T09:30:00Z"
)
STRUCTURED = {"content-type": b"application/cloudevents+json; charset=UTF-8"}
UPSERT, DELETE = "dev.rankstream.document.upsert", "dev.rankstream.document.delete"


def binary(content_type: str | None = "application/json", **attributes: str | None) -> dict[str, bytes]:
    """Return the headers of a valid event, changed by `attributes`; None leaves one out."""
    all_attributes = {"specversion": "1.0", "type": UPSERT, "source": "help", "id": "1"} | attributes
    headers = {f"ce_{name}": text.encode() for name, text in all_attributes.items() if text is not None}
    return headers | ({"content-type": content_type.encode()} if content_type else {})


def envelope(**attributes: Any) -> bytes:
    """Return a structured event."""
    return msgspec.json.encode({"specversion": "1.0", "type": UPSERT, "source": "help", "id": "1"} | attributes)


def fails(value: bytes | None, headers: dict[str, bytes]) -> InvalidMessage:
    """Read what must be refused."""
    with pytest.raises(InvalidMessage) as caught:
        read_document_change(value, headers)
    return caught.value


MARKDOWN = binary(
    "text/markdown; charset=utf-8", tenant="acme", version="7", subject="a/b", title="Größe", tags="x, y,"
)


class TestPlain:
    def test_plain_json_needs_no_header(self) -> None:
        assert read_document_change(encode(CHANGE), {}) == CHANGE

    def test_headers_that_are_not_of_an_event_change_nothing(self) -> None:
        headers = {"traceparent": b"\xff", "content-type": b"application/json"}
        assert read_document_change(encode(CHANGE), headers) == CHANGE

    def test_of_repeated_keys_the_last_one_counts_in_every_mode(self) -> None:
        data = b'{"tenant":"acme","tenant":"globex","doc_id":"a","version":1,"source":"help"}'
        for headers in ({}, binary()):
            assert read_document_change(data, headers).tenant == "globex"


class TestBinary:
    def test_what_we_write_is_read_back(self) -> None:
        for change in (
            CHANGE,
            DocumentChange(tenant="acme", doc_id="ä", version=2**63 - 1, op="delete", updated_at="?"),
        ):
            value, headers = to_cloudevent(change)
            assert read_document_change(value, headers) == change

    def test_the_same_version_is_the_same_event(self) -> None:
        _, headers = to_cloudevent(CHANGE)
        assert headers["ce_id"] == b"acme/a/b/3"
        assert headers["ce_time"] == b"2026-03-01T09:30:00Z"
        assert headers["ce_dataschema"].endswith(b"/DocumentChange.v1.schema.json")

    def test_attributes_fill_what_the_data_leaves_out(self) -> None:
        headers = binary(
            type=DELETE, subject="a/b", tenant="acme", version="3", time="2026-03-01T09:30:00+01:00", title="ce"
        )
        change = read_document_change(b'{"title":"data"}', headers)
        assert (change.tenant, change.doc_id, change.version, change.op) == ("acme", "a/b", 3, "delete")
        assert (change.title, change.updated_at, change.source) == ("data", "2026-03-01T09:30:00+01:00", "help")

    def test_text_is_the_content_and_the_rest_is_attributes(self) -> None:
        assert read_document_change("# Größe".encode(), MARKDOWN) == DocumentChange(
            tenant="acme", source="help", doc_id="a/b", version=7, title="Größe", content="# Größe", tags=("x", "y")
        )

    @pytest.mark.parametrize("media", ["text/markdown", "text/html", "text/plain", "Text/HTML ; charset=utf8"])
    def test_every_text_type_is_kept(self, media: str) -> None:
        change = read_document_change(b"<p>", MARKDOWN | {"content-type": media.encode()})
        assert change.content_type == media.partition(" ;")[0].lower()

    def test_a_byte_order_mark_is_no_text(self) -> None:
        assert read_document_change(b"\xef\xbb\xbf# T", MARKDOWN).content == "# T"

    def test_an_empty_text_is_a_version_without_text(self) -> None:
        assert read_document_change(b"", MARKDOWN).content == ""

    @pytest.mark.parametrize("value", [None, b""])
    def test_a_deletion_with_its_version_needs_no_data(self, value: bytes | None) -> None:
        change = read_document_change(value, binary(type=DELETE, tenant="acme", subject="a", version="4"))
        assert (change.op, change.version) == ("delete", 4)

    def test_a_deletion_without_data_still_needs_its_version(self) -> None:
        assert fails(None, binary(type=DELETE, tenant="acme", subject="a")).field == "ce_version"

    def test_a_source_that_is_a_uri_must_be_named_beside_it(self) -> None:
        data = b'{"tenant":"acme","doc_id":"a","version":1}'
        error = fails(data, binary(source="https://cms.example/help"))
        assert error.field == "ce_source" and "ce_docsource" in error.message
        named = binary(source="https://cms.example/help", docsource="help")
        assert read_document_change(data, named).source == "help"

    @pytest.mark.parametrize(
        ("attributes", "field"),
        [
            ({"type": "com.example.saved"}, "ce_type"),
            ({"type": None}, "ce_type"),
            ({"specversion": "0.3"}, "ce_specversion"),
            ({"specversion": None}, "ce_specversion"),
            ({"id": ""}, "ce_id"),
            ({"source": None}, "ce_source"),
            ({"time": "yesterday"}, "ce_time"),
            ({"time": "2026-03-01T09:30:00"}, "ce_time"),
            ({"version": "1.5"}, "ce_version"),
            ({"version": "9" * 19}, "ce_version"),
            ({"version": "9" * 5000}, "ce_version"),
            ({"version": "²"}, "ce_version"),
            ({"tenant": "ACME"}, "ce_tenant"),
            ({"tenant": None}, "ce_tenant"),
            ({"version": None}, "ce_version"),
            ({"subject": None}, "ce_subject"),
            ({"subject": "a\nb"}, "ce_subject"),
            ({"trust": "full"}, "ce_trust"),
            ({"language": "English"}, "ce_language"),
            ({"agents": "Support"}, "ce_agents"),
        ],
    )
    def test_a_wrong_attribute_is_named(self, attributes: dict[str, str | None], field: str) -> None:
        good: dict[str, str | None] = {"tenant": "acme", "version": "7", "subject": "a/b"}
        error = fails(b"# T", binary("text/markdown", **(good | attributes)))
        assert (error.kind, (error.field or "").partition("[")[0]) == ("validation", field)

    def test_an_unknown_type_is_told_the_known_ones(self) -> None:
        expected = f"ce_type: unknown type 'saved'; use {UPSERT} or {DELETE}"
        assert str(fails(b"{}", binary(type="saved"))) == expected

    @pytest.mark.parametrize(
        "attributes",
        [{"subject": "other"}, {"tenant": "globex"}, {"version": "4"}, {"type": DELETE}, {"docsource": "x"}],
    )
    def test_an_identity_said_twice_must_agree(self, attributes: dict[str, str]) -> None:
        assert fails(encode(CHANGE), binary(**attributes)).field == f"ce_{next(iter(attributes))}"

    @pytest.mark.parametrize("content_type", ["application/pdf", "text/markdown; charset=latin-1"])
    def test_other_content_is_refused_by_its_type(self, content_type: str) -> None:
        assert fails(b"x", MARKDOWN | {"content-type": content_type.encode()}).field == "content-type"

    def test_bytes_that_are_not_utf_8_are_refused_where_they_are(self) -> None:
        assert (fails(b"caf\xe9", MARKDOWN).kind, fails(b"caf\xe9", MARKDOWN).field) == ("decode", "content")
        error = fails(b"# T", MARKDOWN | {"ce_title": b"caf\xe9"})
        assert (error.kind, error.field) == ("decode", "ce_title")


class TestStructured:
    def test_the_data_is_an_object_of_the_envelope(self) -> None:
        data = msgspec.to_builtins(CHANGE)
        assert read_document_change(envelope(data=data), STRUCTURED) == CHANGE

    def test_the_data_may_be_base64_of_json_or_of_text(self) -> None:
        data = base64.b64encode(encode(CHANGE)).decode()
        assert read_document_change(envelope(data_base64=data), STRUCTURED) == CHANGE
        rest = {"tenant": "acme", "version": 3, "subject": "a", "datacontenttype": "text/plain"}
        for content in ({"data": "é"}, {"data_base64": base64.b64encode("é".encode()).decode()}):
            change = read_document_change(envelope(**rest, **content), STRUCTURED)
            assert (change.content, change.content_type, change.version) == ("é", "text/plain", 3)

    def test_a_deletion_with_its_version_needs_no_data(self) -> None:
        value = envelope(type=DELETE, tenant="acme", subject="a", version="4", data=None)
        assert read_document_change(value, STRUCTURED).op == "delete"

    @pytest.mark.parametrize(
        ("attributes", "field"),
        [
            ({"type": "x"}, "type"),
            ({"type": ["x"]}, "type"),
            ({"id": None}, "id"),
            ({"source": 1}, "source"),
            ({"time": 0}, "time"),
            ({"tags": ["x"]}, "tags"),
            ({"version": True}, "version"),
            ({"version": -1}, "version"),
            ({"version": 2**63}, "version"),
            ({"tenant": {"a": 1}}, "tenant"),
            ({"datacontenttype": 5}, "datacontenttype"),
            ({"datacontenttype": "image/png"}, "datacontenttype"),
            ({"data": None}, "data"),
            ({"data": [1]}, "data"),
            ({"data": "text"}, "data"),
            ({"datacontenttype": "text/plain", "data": {"a": 1}}, "data"),
            ({"data": None, "data_base64": "!"}, "data_base64"),
            ({"data": None, "data_base64": 5}, "data_base64"),
            ({"data_base64": "e30="}, "data_base64"),
        ],
    )
    def test_a_wrong_attribute_is_named(self, attributes: dict[str, Any], field: str) -> None:
        good = {"tenant": "acme", "version": 3, "subject": "a", "data": {}}
        assert fails(envelope(**(good | attributes)), STRUCTURED).field == field

    def test_other_formats_and_batches_are_refused_by_their_type(self) -> None:
        for name in (b"application/cloudevents-batch+json", b"application/cloudevents+avro"):
            assert fails(b"[]", {"Content-Type": name}).field == "content-type"

    def test_an_envelope_that_is_no_object_is_refused(self) -> None:
        assert fails(b"[]", STRUCTURED).kind == "validation"
        assert fails(b"{", STRUCTURED).kind == "decode"


JSON_MODES = pytest.mark.parametrize(
    ("before", "after", "headers"),
    [(b"", b"", {}), (b"", b"", binary()), (envelope(data=0)[:-2], b"}", STRUCTURED)],
    ids=["plain", "binary", "structured"],
)


@JSON_MODES
class TestHostile:
    """The same bytes in every mode that carries JSON."""

    GOOD = b'"tenant":"acme","source":"help","doc_id":"a","version":1'

    def test_null_is_no_deletion(self, before: bytes, after: bytes, headers: dict[str, bytes]) -> None:
        error = fails(None, headers)
        assert (error.kind, error.field) == ("validation", "value")
        assert "op: delete" in error.message

    def test_nan_is_not_json(self, before: bytes, after: bytes, headers: dict[str, bytes]) -> None:
        assert fails(before + b'{"metadata":{"x":NaN},' + self.GOOD + b"}" + after, headers).kind == "decode"

    def test_deep_nesting_is_refused(self, before: bytes, after: bytes, headers: dict[str, bytes]) -> None:
        for field in (b'"metadata":', b'"unknown":'):
            deep = b"{" + self.GOOD + b"," + field + b'{"a":' * 100_000 + b"1" + b"}" * 100_001
            assert fails(before + deep + after, headers).kind in ("decode", "validation")

    def test_invalid_utf_8_is_refused(self, before: bytes, after: bytes, headers: dict[str, bytes]) -> None:
        assert fails(before + b'{"title":"\xff\xfe",' + self.GOOD + b"}" + after, headers).kind == "decode"

    def test_a_lone_surrogate_is_refused(self, before: bytes, after: bytes, headers: dict[str, bytes]) -> None:
        assert fails(before + b'{"title":"\\ud800",' + self.GOOD + b"}" + after, headers).kind == "decode"

    @pytest.mark.parametrize("field", ["uri", "metadata"])
    def test_nul_in_a_name_is_refused(self, before: bytes, after: bytes, headers: dict[str, bytes], field: str) -> None:
        text: dict[str, bytes] = {"metadata": b'{"a":1,"\\u0000":"b"}'}
        data = b'{"%s":%s,' % (field.encode(), text.get(field, b'"a\\u0000b"')) + self.GOOD + b"}"
        assert (fails(before + data + after, headers).field) == field

    def test_a_control_character_in_a_tag_is_refused(
        self, before: bytes, after: bytes, headers: dict[str, bytes]
    ) -> None:
        for tag in (b"a\\u0000", b"a\\nb", b""):
            error = fails(before + b'{"tags":["' + tag + b'"],' + self.GOOD + b"}" + after, headers)
            assert (error.kind, error.field) == ("validation", "tags[0]")

    @pytest.mark.parametrize("field", ["title", "content", "question", "answer"])
    def test_nul_in_a_text_is_left_for_cleaning(
        self, before: bytes, after: bytes, headers: dict[str, bytes], field: str
    ) -> None:
        data = b'{"%s":"a\\u0000b",' % field.encode() + self.GOOD + b"}"
        assert getattr(read_document_change(before + data + after, headers), field) == "a\0b"

    def test_five_megabytes_are_refused(self, before: bytes, after: bytes, headers: dict[str, bytes]) -> None:
        data = b'{"content":"' + b"x" * 5_000_000 + b'",' + self.GOOD + b"}"
        error = fails(before + data + after, headers)
        assert (error.kind, error.field) == ("validation", "content")
        assert str(MAX_CONTENT) in error.message

    def test_a_missing_tenant_is_named(self, before: bytes, after: bytes, headers: dict[str, bytes]) -> None:
        error = fails(before + b'{"doc_id":"a","version":1}' + after, headers)
        assert (error.kind, error.field) == ("validation", "tenant")

    def test_an_unknown_schema_version_is_named(self, before: bytes, after: bytes, headers: dict[str, bytes]) -> None:
        for version in (b"0", b"2", b"-1"):
            data = b'{"schema_version":' + version + b"," + self.GOOD + b"}"
            assert fails(before + data + after, headers).field == "schema_version"

    def test_another_message_is_refused_by_its_name(
        self, before: bytes, after: bytes, headers: dict[str, bytes]
    ) -> None:
        assert fails(before + b'{"name":"Receipt",' + self.GOOD + b"}" + after, headers).field == "name"

    def test_other_json_is_refused(self, before: bytes, after: bytes, headers: dict[str, bytes]) -> None:
        for data in (b"[]", b"1", b'"x"'):
            assert fails(before + data + after, headers).kind == "validation"


def test_five_megabytes_of_text_are_refused_as_content() -> None:
    assert fails(b"x" * 5_000_000, MARKDOWN).field == "content"


def test_a_binary_file_is_no_text() -> None:
    assert fails(b"\x89PNG\r\n\x1a\n\x00\x00", MARKDOWN).field == "content"
