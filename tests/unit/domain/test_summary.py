"""Facts as text."""

from hypothesis import given
from hypothesis import strategies as st

from schemas.graph import Fact
from streams.domain.summary import summarise, worth_telling


def fact(subject: str, label: str, target: str, score: float = 1.0) -> Fact:
    return Fact(subject=subject, label=label, object=target, chunk_id="c", score=score)


def test_a_subject_has_one_line() -> None:
    facts = [
        fact("Team plan", "includes", "API", 0.9),
        fact("Free plan", "costs", "0 euros", 0.5),
        fact("Team plan", "includes", "SSO", 0.8),
        fact("Team plan", "part of", "Plans", 0.1),
    ]
    assert summarise(facts) == "Team plan: includes API, SSO; part of Plans.\nFree plan: costs 0 euros."


def test_no_facts_are_no_text() -> None:
    assert summarise([]) == ""
    assert summarise([fact("a", "b", "c")], most=0) == ""


def test_facts_that_differ_in_letter_case_alone_are_one_and_the_best_is_written() -> None:
    facts = [fact("team plan", "Includes", "api", 0.2), fact("Team plan", "includes", "API", 0.9)]
    assert summarise(facts) == "Team plan: includes API."


def test_the_best_facts_are_kept() -> None:
    facts = [fact(f"s{number}", "has", "x", number / 100) for number in range(20)]
    assert summarise(facts, most=2) == "S19: has x.\nS18: has x."


def test_what_only_occurs_together_is_said_to_be_related_and_comes_last() -> None:
    facts = [fact("Kafka", "", "Redis", 0.9), fact("Kafka", "stores", "events", 0.5)]
    assert summarise(facts) == "Kafka: stores events; related to Redis."
    assert summarise([fact("Тариф", "", "API")]) == "Тариф: связано с API."


def test_facts_about_names_and_figures_are_told_and_those_about_common_words_only_where_there_are_no_others() -> None:
    named = [fact("Team plan", "includes", "exports"), fact("seats", "are", "25"), fact("exports", "need", "API")]
    common = fact("month", "listed in", "plan")
    assert worth_telling([named[0], common, *named[1:]]) == named
    assert worth_telling([common]) == [common]


def test_that_a_phrase_is_what_its_last_word_says_is_not_told() -> None:
    trivial = [fact("unused months", "is a", "month"), fact("Team plan", "is a", "plan")]
    assert worth_telling([*trivial, fact("Lwren", "is a", "client")]) == [fact("Lwren", "is a", "client")]
    assert worth_telling(trivial) == []


WORDS = st.text(max_size=6)
FACTS = st.lists(st.builds(fact, WORDS, WORDS, WORDS, st.floats(0, 1)), max_size=12)


@given(FACTS, st.randoms())
def test_the_order_of_the_facts_does_not_matter(facts: list[Fact], random: "st.Random") -> None:  # type: ignore[name-defined]
    shuffled = list(facts)
    random.shuffle(shuffled)
    assert summarise(shuffled) == summarise(facts)
