"""Reply addresses in headers: what is written is read again, and no bytes break the reading."""

from __future__ import annotations

import base64

from hypothesis import given
from hypothesis import strategies as st

from schemas.queries import ReplyTo
from schemas.replies import Milliseconds, QueryReply
from streams import wire
from streams.wire import Moved, Outgoing, Record
from topics import catalogue

headers = st.dictionaries(
    st.sampled_from([wire.CORRELATION_ID, wire.REPLY_TOPIC, wire.REPLY_PARTITION, "traceparent"]),
    st.binary(max_size=12),
)


@given(st.text(min_size=1, max_size=20), st.none() | st.integers(0, 2**32 - 1), st.binary(max_size=40))
def test_an_address_survives_its_headers(topic: str, partition: int | None, correlation: bytes) -> None:
    given_headers = {wire.REPLY_TOPIC: topic.encode("utf-8", "replace"), wire.CORRELATION_ID: correlation}
    if partition is not None:
        given_headers[wire.REPLY_PARTITION] = partition.to_bytes(4, "big")
    address = wire.reply_address(given_headers)
    assert address == ReplyTo(
        topic=topic.encode("utf-8", "replace").decode(),
        partition=partition,
        correlation_id=base64.b64encode(correlation).decode(),
    )
    assert wire.reply_headers(address)[wire.CORRELATION_ID] == correlation


@given(headers)
def test_no_headers_break_the_reading_of_an_address(given_headers: dict[str, bytes]) -> None:
    address = wire.reply_address(given_headers)
    partition = given_headers.get(wire.REPLY_PARTITION)
    usable = bool(given_headers.get(wire.REPLY_TOPIC)) and (partition is None or len(partition) == 4)
    assert (address is not None) == usable


def test_an_output_is_below_the_span_of_its_record_and_as_old_as_what_is_behind_it() -> None:
    came = {"traceparent": b"above", wire.SINCE: b"17", "other": b"x"}
    cause = Record(topic="t", partition=0, offset=1, timestamp=0.0, key=b"k", value=b"{}", headers=came)
    reply = QueryReply(query_id="q", milliseconds=Milliseconds(total=1.0))
    outgoing = Outgoing(topic=catalogue.REPLIES, key=b"k", message=reply, headers={"own": b"y"})
    assert wire.write(outgoing, cause).headers == {"traceparent": b"above", wire.SINCE: b"17", "own": b"y"}
    assert wire.write(outgoing, cause, {"traceparent": b"span"}).headers["traceparent"] == b"span"
    moved = Moved(topic=catalogue.REPLIES, key=b"k", message=reply)
    assert wire.write(moved, cause, {"traceparent": b"span"}).headers == {**came, "traceparent": b"span"}


pairs = st.lists(st.tuples(st.sampled_from(["a", "b", "traceparent"]), st.none() | st.binary(max_size=4)), max_size=6)


@given(pairs)
def test_a_record_that_is_passed_on_has_its_headers_as_they_came(came: list[tuple[str, bytes | None]]) -> None:
    last, kept = wire.all_headers(came)
    cause = Record(topic="t", partition=0, offset=1, timestamp=0.0, key=b"k", value=b"v", headers=last, came=kept)
    assert cause.pairs == tuple(came)
    assert all(value is not None for value in last.values())
    reply = QueryReply(query_id="q", milliseconds=Milliseconds(total=1.0))
    sent = wire.write(Moved(topic=catalogue.REPLIES, key=b"other", message=reply), cause, {"traceparent": b"span"})
    own = [each for each in came if each[0] != "traceparent"]
    assert sorted(map(repr, sent.pairs)) == sorted(map(repr, [*own, ("traceparent", b"span")]))
    assert [each for each in sent.pairs if each[0] != "traceparent"] == own
