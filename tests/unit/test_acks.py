"""Ordered acknowledgement, against a model."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from streams.acks import OrderedAcks, Ticket


def test_a_record_that_finishes_early_waits_for_those_before_it() -> None:
    acked: list[int] = []
    acks = OrderedAcks()
    first, second, third = (acks.start("t", 0, lambda n=n: acked.append(n)) for n in range(3))
    acks.finish(third)
    acks.finish(second)
    assert acked == []
    acks.finish(first)
    assert acked == [0, 1, 2]


def test_partitions_do_not_wait_for_each_other() -> None:
    acked: list[str] = []
    acks = OrderedAcks()
    acks.start("t", 0, lambda: acked.append("slow"))
    quick = acks.start("t", 1, lambda: acked.append("quick"))
    acks.finish(quick)
    assert acked == ["quick"]


def test_after_a_rebalance_old_work_acknowledges_nothing() -> None:
    acked: list[str] = []
    acks = OrderedAcks()
    old = acks.start("t", 0, lambda: acked.append("old"))
    acks.drop_all()
    new = acks.start("t", 0, lambda: acked.append("new"))
    acks.finish(old)
    assert acked == []
    acks.finish(new)
    assert acked == ["new"]
    assert acks.in_flight == 0


steps = st.lists(
    st.one_of(
        st.tuples(st.just("start"), st.integers(0, 2)),
        st.tuples(st.just("finish"), st.integers(0, 50)),
        st.just(("rebalance", 0)),
    ),
    max_size=80,
)


@given(steps)
def test_what_is_acknowledged_is_always_the_longest_finished_prefix(script: list[tuple[str, int]]) -> None:
    acks = OrderedAcks()
    acked: dict[int, list[int]] = {0: [], 1: [], 2: []}
    started: dict[int, list[tuple[int, Ticket]]] = {0: [], 1: [], 2: []}
    every: list[Ticket] = []
    offset = 0
    for step, argument in script:
        if step == "start":
            ticket = acks.start("t", argument, lambda into=acked[argument], n=offset: into.append(n))
            started[argument].append((offset, ticket))
            every.append(ticket)
            offset += 1
        elif step == "finish" and every:
            ticket = every[argument % len(every)]
            if not ticket.done:
                acks.finish(ticket)
        elif step == "rebalance":
            acks.drop_all()
            started = {0: [], 1: [], 2: []}
            acked = {0: [], 1: [], 2: []}
        for partition, tickets in started.items():
            prefix = []
            for number, ticket in tickets:
                if not ticket.done:
                    break
                prefix.append(number)
            assert acked[partition] == prefix
