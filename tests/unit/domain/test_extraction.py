"""Entities and relations without a model, in English and Russian."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streams.domain import english, extraction, russian
from streams.domain.extraction import Extraction, extract, of_question


def read(body: str, *headings: str, language: str = "en") -> Extraction:
    return extract(chunk_id="c", heading_path=headings, body=body, language=language)


def kinds(found: Extraction) -> dict[str, str]:
    return {entity.key: entity.kind for entity in found.entities}


def said(found: Extraction) -> set[tuple[str, str, str]]:
    return {(each.subject, each.label, each.object) for each in found.relations if each.label}


@pytest.mark.parametrize(
    ("text", "key", "kind"),
    [
        ("Yesterday Ann Smith left.", "ann smith", "person"),
        ("It was signed by Mr. Brown yesterday.", "brown", "person"),
        ("They met in Berlin.", "berlin", "place"),
        ("He studied at the University of Vienna.", "university of vienna", "organization"),
        ("It was bought by the Acme Corp. in May.", "acme corp", "organization"),
        ("Ask Johnson & Hill Associates.", "johnson & hill associate", "organization"),
        ("Data is kept in PostgreSQL.", "postgresql", "place"),
        ("Set RANK_STREAM_URL first.", "rank_stream_url", "code"),
        ("Open config.yaml now.", "config.yaml", "code"),
        ("Call GET /v1/users/{id} often.", "get /v1/users/{id}", "code"),
        ("It fails with E1042.", "e1042", "code"),
        ("Run it with --force.", "--force", "code"),
        ("Since v2.14.0 it works.", "v2.14.0", "code"),
        ("Call `flush()` first.", "flush", "code"),
        ("The `chunk size` is fixed.", "chunk size", "code"),
        ("See the refund policies.", "refund policy", "term"),
        ("The Team plan is new.", "team plan", "product"),
        ("It costs $12 per month.", "$12 per month", "term"),
        ("It costs 12 euros.", "12 euro", "term"),
    ],
)
def test_an_english_sentence_names_an_entity(text: str, key: str, kind: str) -> None:
    found = kinds(read(text))
    assert key in found
    if key != "postgresql":  # after "in" a name looks like a place: that it is one thing is what matters
        assert found[key] == kind


@pytest.mark.parametrize(
    ("text", "key", "kind"),
    [
        ("Отчёт подписал Иван Петров.", "иван петров", "person"),
        ("Встреча с Анной Ивановой перенесена.", "анна иванов", "person"),
        ("Серверы стоят в Москве.", "москва", "place"),
        ("Он работает в Министерстве обороны.", "министерство оборона", "organization"),
        ("Это входит в тариф «Команда».", "тариф команда", "product"),
        ("Нажмите кнопку экспорта.", "кнопка экспорт", "term"),
        ("Доступна годовая подписка.", "годовой подписка", "term"),
        ("Задайте RANK_STREAM_URL в файле.", "rank_stream_url", "code"),
        ("Стоимость — 12 евро в месяц.", "12 евро в месяц", "term"),
        ("Данные хранит Qdrant.", "qdrant", "name"),
    ],
)
def test_a_russian_sentence_names_an_entity(text: str, key: str, kind: str) -> None:
    found = kinds(read(text, language="ru"))
    assert found.get(key) == kind, found


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("The Team plan includes the API.", ("team plan", "includes", "api")),
        ("The Team plan does not include SSO.", ("team plan", "does not include", "sso")),
        ("The report was written by Ann Smith.", ("report", "was written by", "ann smith")),
        ("Kafka is a message broker.", ("kafka", "is a", "message broker")),
        ("The owner of the workspace can invite guests.", ("owner", "of", "workspace")),
        ("The owner of the workspace can invite guests.", ("owner", "can invite", "guest")),
        ("Ann Smith, the director of the Museum Trust, resigned.", ("ann smith", "director of", "museum trust")),
        ("Kafka, Redis and Postgres store events.", ("redis", "store", "event")),
        ("Kafka, Redis and Postgres store events.", ("kafka", "store", "event")),
        ("Admins create tokens, roles and keys.", ("admin", "create", "role")),
        ("The exporter writes files to the bucket.", ("exporter", "writes … to", "bucket")),
        ("We met Ohio Gov. Richard Celeste.", ("richard celeste", "Gov.", "ohio")),
        ("You can add members, and admins remove them from workspaces.", ("admin", "remove from", "workspace")),
        ("An owner can do this, and it ends the subscription.", ("owner", "ends", "subscription")),
        ("The agent that reads the queue is stateless.", ("agent", "reads", "queue")),
        ("The World Health Organization (WHO) met.", ("world health organization", "=", "who")),
    ],
)
def test_an_english_sentence_connects(text: str, relation: tuple[str, str, str]) -> None:
    assert relation in said(read(text)), said(read(text))


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("Тариф «Команда» включает доступ к API.", ("тариф команда", "включает", "доступ")),
        ("Тариф «Команда» не включает отчёты.", ("тариф команда", "не включает", "отчет")),
        ("В тариф «Команда» входят отчёты.", ("отчет", "входят в", "тариф команда")),
        ("Отчёт создан администратором.", ("отчет", "создан", "администратор")),
        ("Kafka — это брокер сообщений.", ("kafka", "это", "брокер сообщение")),
        ("Иван Петров работает в компании «Ромашка».", ("иван петров", "работает в", "компания ромашка")),
        ("Ключи, роли и токены создаёт администратор.", ("роль", "создаёт", "администратор")),
    ],
)
def test_a_russian_sentence_connects(text: str, relation: tuple[str, str, str]) -> None:
    assert relation in said(read(text, language="ru")), said(read(text, language="ru"))


def test_list_items_belong_to_their_heading() -> None:
    found = said(read("- API access\n- Storage: 10 GB\n- Seats: 25\n- Costs 12 euros", "Plans", "Team plan"))
    assert {
        ("team plan", "includes", "api access"),
        ("team plan", "storage", "10 gb"),
        ("team plan", "seats", "seat 25"),
        ("team plan", "costs", "12 euro"),
        ("team plan", "part of", "plan"),
        ("team plan", "is a", "plan"),
    } <= found


def test_list_items_belong_to_the_line_that_leads_them() -> None:
    found = said(read("The Free plan lacks:\n\n- reports\n- exports", "Plans"))
    assert {("free plan", "lacks", "report"), ("free plan", "lacks", "export")} <= found


def test_a_clause_of_its_own_has_a_subject_of_its_own() -> None:
    found = said(read("You can add members, and admins remove them from workspaces."))
    assert ("member", "remove from", "workspace") not in found


def test_it_stands_for_what_was_spoken_of() -> None:
    found = said(read("The Team plan is popular. It includes the API.", "Plans"))
    assert ("team plan", "includes", "api") in found


@pytest.mark.parametrize(
    ("body", "language", "expected"),
    [
        (
            "| Plan | Price | API | Seats |\n|---|---|:-:|--:|\n| Team | 12 euros | yes | 25 |\n| Free | – | no | 1 |",
            "en",
            {("team", "is a", "plan"), ("team", "price", "12 euro"), ("team", "includes", "api"),
             ("team", "seats", "seat 25"), ("free", "does not include", "api")},
        ),
        (
            "| Feature | Team | Free |\n|---|---|---|\n| API | yes | no |\n| Support | by email | – |",
            "en",
            {("team", "includes", "api"), ("free", "does not include", "api"), ("team", "support", "email"),
             ("free", "does not include", "support")},
        ),
        (
            "| Тариф | Цена | API |\n|---|---|---|\n| Команда | 12 евро | да |\n| Старт | 0 евро | нет |",
            "ru",
            {("команда", "это", "тариф"), ("команда", "цена", "12 евро"), ("команда", "включает", "api"),
             ("старт", "не включает", "api")},
        ),
    ],
)  # fmt: skip
def test_a_table_says_what_its_rows_are(body: str, language: str, expected: set[tuple[str, str, str]]) -> None:
    assert expected <= said(read(body, language=language))


@pytest.mark.parametrize(
    ("question", "language", "heading", "body"),
    [
        ("Which plans include the API?", "en", "Team plan", "The plan includes the API."),
        ("which plans include the api?", "en", "Team plan", "API access is included."),
        ("What does the team plan cost?", "en", "Team plans", "The price is 12 euros."),
        ("What does E1042 mean?", "en", "Errors", "E1042 says that a file is missing."),
        ("Who is Celeste?", "en", "People", "We met Richard Celeste."),
        ("В какие тарифы входит API?", "ru", "Тариф «Команда»", "Тариф включает доступ к API."),
        ("Сколько стоит тариф Команда?", "ru", "Тариф «Команда»", "Стоит 12 евро."),
        ("Что с экспортом отчётов?", "ru", "Экспорт отчета", "Нажмите кнопку."),
    ],
)
def test_the_keys_of_a_question_are_those_of_its_answer(question: str, language: str, heading: str, body: str) -> None:
    stored = set(kinds(read(body, heading, language=language)))
    assert of_question(question, language)
    assert set(of_question(question, language)) <= stored


def test_the_most_telling_keys_of_a_question_come_first() -> None:
    assert of_question("Does the annual Team plan include the API?", "en") == ("team plan", "team", "plan", "api")


def test_verbs_at_the_end_of_a_question_are_no_part_of_a_name() -> None:
    assert of_question("How much does the Team plan cost?", "en")[0] == "team plan"


def test_another_language_gives_names_and_code_that_occur_together() -> None:
    found = read("Die Firma Siemens nutzt E1042 mit config.yaml.", language="xx")
    assert {"siemens", "e1042", "config.yaml"} <= set(kinds(found))
    assert {(subject, target) for subject, label, target in said(found) if label} == {("firma siemens", "siemens")}
    assert any({each.subject, each.object} == {"firma siemens", "e1042"} for each in found.relations)


def test_mentions_are_counted_and_entities_are_named_as_they_are_written() -> None:
    found = {entity.key: entity for entity in read("Refund policies differ. A refund policy is short.").entities}
    assert found["refund policy"].mentions == 2
    assert found["refund policy"].name == "Refund policies"
    russian_one = {entity.key: entity.name for entity in read("Нет годовой подписки.", language="ru").entities}
    assert russian_one["годовой подписка"] == "годовая подписка"


def test_words_in_emphasis_and_links_are_read_as_words() -> None:
    found = said(read("The **Team plan** includes [the API](https://example.com/api)."))
    assert ("team plan", "includes", "api") in found


def test_a_long_chunk_is_bounded() -> None:
    body = " ".join(f"The first{n} server{n} sends thing{n} and part{n} to Client{n} Name{n}." for n in range(300))
    found = read(body, "Servers")
    assert len(found.entities) == extraction.MOST_ENTITIES
    assert len(found.relations) <= extraction.MOST_RELATIONS
    assert len(of_question(body, "en")) == extraction.MOST_KEYS


@pytest.mark.parametrize(
    "body",
    ["a" * 10_000, "a.b" * 3_000, "_" * 10_000, "A_" * 5_000, "[" * 10_000, "<a" * 5_000, "a-" * 5_000, "**" * 5_000,
     "| " * 5_000 + "\n" + "| - " * 2_500, "A. " * 3_000, "«" * 10_000, "Ab " * 3_000, "/a" * 5_000, "x@" * 5_000],
    ids=lambda body: body[:4],
)  # fmt: skip
def test_no_text_takes_long(body: str) -> None:
    began = time.process_time()
    read(body, body)
    assert time.process_time() - began < 1.5  # a normal chunk takes a hundredth of it


TEXTS = st.one_of(
    st.text(max_size=400),
    st.lists(
        st.sampled_from(
            ["The", "Team", "plan", "includes", "API", ",", "and", ".", "\n", "- ", "| ", "|---|", "`x`", ": ", "«",
             "»", "of", "12", "euros", "тариф", "Иван", "включает", "в", "—", "не", "E1042", "--force", "it",
             "Mr.", "'s", "("]
        ),
        max_size=60,
    ).map(" ".join),
)  # fmt: skip


@settings(max_examples=150)
@given(body=TEXTS, heading=TEXTS, language=st.sampled_from(["en", "ru", "de"]))
def test_any_text_gives_the_same_bounded_extraction_twice(body: str, heading: str, language: str) -> None:
    found = read(body, heading, language=language)
    assert found == read(body, heading, language=language)
    keys = [entity.key for entity in found.entities]
    assert len(keys) == len(set(keys)) <= extraction.MOST_ENTITIES
    assert all(key and key == key.strip() and len(key) <= 100 and "\0" not in key for key in keys)
    assert all(entity.name and entity.mentions > 0 for entity in found.entities)
    assert len(found.relations) <= extraction.MOST_RELATIONS
    assert all({each.subject, each.object} <= set(keys) and each.subject != each.object for each in found.relations)
    asked = of_question(body, language)
    assert len(asked) == len(set(asked)) <= extraction.MOST_KEYS


@given(st.text(st.characters(min_codepoint=97, max_codepoint=122), min_size=1, max_size=12))
def test_the_lemma_of_a_lemma_is_itself(word: str) -> None:
    assert english.lemma(english.lemma(word)) == english.lemma(word)


@pytest.mark.parametrize("word", ["тарифы", "отчётов", "подписке", "команды", "москве", "ключами"])
def test_the_lemma_of_a_russian_lemma_is_itself(word: str) -> None:
    lemma = russian.form(word, True).lemma
    assert russian.form(lemma, True).lemma == lemma
