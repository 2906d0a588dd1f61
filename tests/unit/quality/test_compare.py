"""Two runs, pair by pair."""

from __future__ import annotations

from pathlib import Path

import pytest

from streams.errors import Invalid
from streams.quality import compare, report, results
from tests.unit.quality.runs import result

FIRST, SECOND, MISSED = ["right", "wrong"], ["wrong", "right"], ["wrong"]


def run(*rankings: list[str]) -> list[results.QueryResult]:
    return [result(f"q{number}", ranking) for number, ranking in enumerate(rankings)]


def test_six_wins_without_a_loss_are_better() -> None:
    found = compare.compare(run(*[FIRST] * 6, SECOND), run(*[SECOND] * 6, SECOND))
    hit_1, hit_5, mrr, _ = found.differences
    assert (hit_1.won, hit_1.lost) == (("q5", "q4", "q3", "q2", "q1", "q0"), ())
    assert (hit_1.p, hit_1.verdict, hit_1.interval) == (2 / 2**6, "better", None)
    assert (hit_1.ours, hit_1.theirs) == (6 / 7, 0.0)
    assert (hit_5.p, hit_5.verdict) == (1.0, "no difference shown")
    assert (mrr.ours - mrr.theirs, mrr.p, mrr.verdict) == (pytest.approx(6 * 0.5 / 7), 2 / 2**6, "better")
    assert mrr.interval is not None
    assert 0 < mrr.interval[0] < 6 * 0.5 / 7 <= mrr.interval[1] == 0.5


def test_the_other_way_round_they_are_worse() -> None:
    found = compare.compare(run(*[SECOND] * 6), run(*[FIRST] * 6))
    assert [each.verdict for each in found.differences] == ["worse", "no difference shown", "worse", "worse"]


def test_five_wins_without_a_loss_are_not_detectable() -> None:
    found = compare.compare(run(*[FIRST] * 5, *[SECOND] * 9), run(*[SECOND] * 14))
    assert found.differences[0].verdict == "not detectable"
    assert found.detectable


def test_a_set_of_five_can_show_nothing() -> None:
    found = compare.compare(run(*[FIRST] * 5), run(*[MISSED] * 5))
    assert not found.detectable
    assert "5 questions are too few" in report.comparison(found, "before.jsonl")


def test_the_largest_gains_and_losses_are_named_first() -> None:
    found = compare.compare(run(FIRST, FIRST, MISSED, SECOND), run(SECOND, MISSED, FIRST, FIRST))
    assert (found.differences[2].won, found.differences[2].lost) == (("q1", "q0"), ("q2", "q3"))


def test_questions_of_one_run_alone_are_counted() -> None:
    found = compare.compare(run(FIRST, FIRST, FIRST), run(FIRST))
    assert (found.pairs, found.only_ours, found.only_theirs) == (1, 2, 0)
    assert "(2 only in this)" in report.comparison(found, "before.jsonl")


def test_runs_of_different_sets_are_refused() -> None:
    with pytest.raises(Invalid, match="no question of this set"):
        compare.compare(run(FIRST), [result("other", FIRST)])
    with pytest.raises(Invalid, match="gold of 1 questions differs, 'q0'"):
        compare.compare(run(FIRST), [result("q0", FIRST, gold={"left": 1})])


def test_the_comparison_reads_as_a_table() -> None:
    text = report.comparison(compare.compare(run(*[FIRST] * 6, SECOND), run(*[SECOND] * 7)), "before.jsonl")
    assert text.splitlines()[:3] == [
        "against before.jsonl: 7 questions in both",
        "metric     this   that  change  wins  losses        p  95 % interval     verdict",
        "Hit@1      .857   .000   +.857     6       0     .031                    better",
    ]
    assert "Hit@1 won: q5 q4 q3 q2 q1 q0" in text


def test_a_run_is_summed_up() -> None:
    failed = result("q9", [], ms=50.0, degraded=True, reasons=("dense: timeout",), error="no reply: none came")
    found = report.summary([*run(FIRST, SECOND, FIRST), failed])
    assert (found.means["Hit@1"], found.means["MRR@5"]) == (2 / 4, (1 + 1 / 2 + 1) / 4)
    assert (found.median_ms, found.p95_ms) == (10.0, pytest.approx(10 + 0.85 * 40))
    assert (found.zero_results, found.degraded, found.errors) == (1, 1, 1)
    text = report.table(found)
    assert "Hit@1        .500" in text
    assert "latency      median 10 ms, p95 44 ms" in text
    assert "zero results 1 of 4 (25.0 %)" in text
    assert "1 × no reply: none came" in text


def test_perfect_runs_show_a_one() -> None:
    assert "Hit@1        1.000" in report.table(report.summary(run(FIRST)))


def test_results_come_back_from_their_file_as_they_were(tmp_path: Path) -> None:
    written = [*run(FIRST, MISSED), result("q9", [], degraded=True, reasons=("x",), error="no reply: y")]
    results.write(written, tmp_path / "new" / "out.jsonl")
    assert results.read(tmp_path / "new" / "out.jsonl") == written
    assert b'"Hit@1":1.0' in (tmp_path / "new" / "out.jsonl").read_bytes()


def test_a_file_that_holds_no_results_is_refused_by_line(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    with pytest.raises(Invalid, match="cannot be read"):
        results.read(path)
    path.write_text('{"id": "q1"}\n')
    with pytest.raises(Invalid, match="line 1 is no result"):
        results.read(path)
    path.write_text("")
    with pytest.raises(Invalid, match="no result in it"):
        results.read(path)
