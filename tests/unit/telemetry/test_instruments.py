"""Instruments: names that Prometheus has, and labels that cannot grow."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from deploy import keda
from streams.telemetry import instruments
from streams.telemetry.instruments import ALL, OTHER, Instrument

# Names that the code gives; each is compared with the code where signals of a whole pipeline are looked at.
OPEN = {"processor", "operation", "messaging.system", "messaging.operation.name", "messaging.consumer.group.name"}


def test_names_are_unique_and_well_formed() -> None:
    names = [instrument.name for instrument in ALL]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"(rankstream|messaging|process)\.[a-z_.]+", name) for name in names)
    exported = [name for instrument in ALL for name in instrument.exported]
    assert len(set(exported)) == len(exported)


def test_every_label_has_a_list_of_values_or_is_a_name_of_the_code() -> None:
    for instrument in ALL:
        for label in instrument.labels:
            assert (label.name in OPEN) is (label.values is None), (instrument.name, label.name)
            assert label.values is None or len(label.values) <= 40


@given(st.sampled_from([each for each in ALL if each.labels]), st.text(max_size=40))
def test_whatever_a_label_is_given_it_says_what_is_listed(instrument: Instrument, value: str) -> None:
    told = instrument.bounded({label.name: value for label in instrument.labels} | {"tenant": value})
    assert told.keys() == {label.name for label in instrument.labels}
    for label in instrument.labels:
        assert label.values is None or told[label.name] in label.values
        assert told[label.name] in (value, OTHER)


def test_a_name_is_exported_with_its_unit_and_kind() -> None:
    assert instruments.FRESHNESS.exported == {
        f"rankstream_freshness_seconds_{part}" for part in ("bucket", "sum", "count")
    }
    assert instruments.DEAD_LETTERS.exported == {"rankstream_dead_letters_total"}
    assert instruments.MODEL_SECONDS.exported == {"rankstream_model_busy_seconds_total"}
    assert instruments.TIME_LAG.exported == {"rankstream_time_lag_seconds"}
    assert instruments.READY.exported == {"rankstream_ready"}
    assert instruments.MEMORY.exported == {"process_memory_usage_bytes"}
    assert instruments.CPU.exported == {"process_cpu_time_seconds_total"}
    assert instruments.FILES.exported == {"process_open_file_descriptor_count"}


def test_what_scales_the_processors_is_measured() -> None:
    assert keda.DURATION in instruments.PROCESS_DURATION.exported
    assert "messaging.consumer.group.name" in {label.name for label in instruments.PROCESS_DURATION.labels}


def test_buckets_rise() -> None:
    for instrument in ALL:
        assert (instrument.kind == "histogram") is bool(instrument.bounds)
        assert list(instrument.bounds) == sorted(set(instrument.bounds))
