"""Ordered acknowledgement, against a model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.acks import OrderedAcks, Skipped, Ticket


def received(*offsets: int, epoch: int = 1) -> OrderedAcks:
    acks = OrderedAcks()
    acks.start(epoch)
    for offset in offsets:
        acks.receive("t", 0, offset)
    return acks


def begun(acks: OrderedAcks, offset: int, partition: int = 0) -> Ticket:
    ticket = acks.begin("t", partition, offset, acks.epoch)
    assert ticket is not None
    return ticket


def test_a_record_that_finishes_early_waits_for_those_before_it() -> None:
    acks = received(5, 6, 7)
    first, second, third = (begun(acks, offset) for offset in (5, 6, 7))
    acks.finish(third)
    acks.finish(second)
    assert acks.unsaved() == {}
    acks.finish(first)
    assert acks.unsaved() == {("t", 0): 8}
    assert acks.in_flight == 0


def test_a_record_that_was_handed_over_and_not_begun_holds_back_those_after_it() -> None:
    acks = received(5, 6)
    acks.finish(begun(acks, 5))
    assert acks.unsaved() == {("t", 0): 6}


def test_offsets_that_the_broker_does_not_have_are_passed_over() -> None:
    acks = received(5, 9, 30)  # a compacted topic
    for offset in (5, 9):
        acks.finish(begun(acks, offset))
    assert acks.unsaved() == {("t", 0): 10}


@pytest.mark.parametrize("came", [6, 4, 7])
def test_a_record_out_of_its_turn_is_refused(came: int) -> None:
    acks = received(5, 6)
    with pytest.raises(Skipped, match=f"@{came} came where @5"):
        acks.begin("t", 0, came, acks.epoch)


def test_a_record_that_nobody_handed_over_is_refused() -> None:
    with pytest.raises(Skipped):
        received(5).begin("t", 1, 5, 1)


def test_partitions_do_not_wait_for_each_other() -> None:
    acks = received(0)
    acks.receive("t", 1, 0)
    begun(acks, 0)
    acks.finish(begun(acks, 0, partition=1))
    assert acks.unsaved() == {("t", 1): 1}


def test_what_was_committed_is_not_committed_again() -> None:
    acks = received(0, 1)
    acks.finish(begun(acks, 0))
    acks.save(acks.epoch, acks.unsaved())
    assert acks.unsaved() == {}
    acks.finish(begun(acks, 1))
    assert acks.unsaved() == {("t", 0): 2}
    acks.start(2)
    acks.receive("t", 0, 2)
    acks.save(1, {("t", 0): 2})  # a commit that was under way when the epoch ended
    acks.finish(begun(acks, 2))
    assert acks.unsaved() == {("t", 0): 3}


def test_after_a_seek_old_work_acknowledges_nothing() -> None:
    acks = received(5, 6)
    old = begun(acks, 5)
    assert acks.start(2)
    acks.receive("t", 0, 5)
    assert acks.begin("t", 0, 6, 1) is None
    acks.finish(old)
    assert acks.unsaved() == {}
    acks.finish(begun(acks, 5))
    assert acks.unsaved() == {("t", 0): 6}


def test_an_epoch_begins_once() -> None:
    acks = received(5)
    assert not acks.start(1)
    assert not acks.start(0)
    assert acks.in_flight == 1


steps = st.lists(
    st.one_of(
        st.tuples(st.just("receive"), st.integers(0, 2)),
        st.tuples(st.just("begin"), st.integers(0, 2)),
        st.tuples(st.just("finish"), st.integers(0, 50)),
        st.just(("seek", 0)),
        st.just(("commit", 0)),
    ),
    max_size=120,
)


@given(steps, st.integers(1, 3))
def test_no_offset_is_committed_past_a_record_that_is_not_done(script: list[tuple[str, int]], stride: int) -> None:
    """A broker's partition, read from the committed offset after each seek: whatever happens, all below it is done."""
    acks = OrderedAcks()
    acks.start(1)
    committed, ahead = [0, 0, 0], [0, 0, 0]
    done: list[set[int]] = [set(), set(), set()]
    waiting: list[list[int]] = [[], [], []]
    tickets: list[Ticket] = []
    for step, argument in script:
        if step == "receive":
            acks.receive("t", argument, ahead[argument])
            waiting[argument].append(ahead[argument])
            ahead[argument] += stride
        elif step == "begin" and waiting[argument]:
            tickets.append(begun(acks, waiting[argument].pop(0), argument))
        elif step == "finish" and tickets:
            ticket = tickets.pop(argument % len(tickets))
            acks.finish(ticket)
            done[ticket.partition[1]].add(ticket.offset)
        elif step == "seek":
            acks.start(acks.epoch + 1)
            ahead, waiting = [-(-offset // stride) * stride for offset in committed], [[], [], []]
        elif step == "commit":
            unsaved = acks.unsaved()
            for (_, partition), offset in unsaved.items():
                committed[partition] = offset
            acks.save(acks.epoch, unsaved)
            assert acks.unsaved() == {}
        for partition in range(3):
            assert set(range(0, committed[partition], stride)) <= done[partition]
