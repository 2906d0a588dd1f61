"""How a search ran."""

from __future__ import annotations

from streams.domain.reports import reasons, reports
from tests.unit.domain.questions import expected, result


def test_a_reply_says_how_every_leg_ran() -> None:
    ran = reports(
        expected(skipped={"graph": "off in profile"}),
        {
            "dense": result("dense", "a", milliseconds=9.0),
            "sparse": result("sparse", status="error", reason="no connection"),
        },
    )
    assert (ran["dense"].status, ran["dense"].candidates, ran["dense"].milliseconds) == ("ok", 1, 9.0)
    assert (ran["sparse"].status, ran["sparse"].reason) == ("error", "no connection")
    assert (ran["fulltext"].status, ran["fulltext"].reason) == ("timeout", "no result in time")
    assert (ran["graph"].status, ran["graph"].reason) == ("skipped", "off in profile")
    assert reasons(ran) == ("fulltext: no result in time", "sparse: no connection")


def test_a_model_that_another_one_stood_in_for_is_a_reason_though_the_leg_is_well() -> None:
    told = "fallback: b instead of a"
    for status in ("ok", "empty"):
        ran = reports(expected(), {"dense": result("dense", status=status, reason=told)})
        assert ran["dense"].status == status
        assert f"dense: {told}" in reasons(ran)


def test_empty_and_skipped_legs_do_not_degrade() -> None:
    ran = reports(
        expected(),
        {
            "dense": result("dense", "a"),
            "sparse": result("sparse"),
            "fulltext": result("fulltext", status="skipped", reason="no words in the question"),
        },
    )
    assert reasons(ran) == ()
