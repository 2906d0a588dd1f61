"""Documents to chunks."""

import itertools
from dataclasses import replace

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.chunks import Chunk
from schemas.documents import DocumentChange
from streams.domain.chunking import DocumentText, Limits, cut, text_of

SMALL = Limits(
    parent_max=300,
    parent_target=240,
    repeat_max=40,
    child_max=120,
    child_target=80,
    document_max=120,
    document_lead=60,
    heading_max=30,
    path_max=50,
)


def document(content: str, **fields: object) -> DocumentText:
    return replace(
        DocumentText(tenant="acme", source="docs", doc_id="page", generation="g1", title="Page", content=content),
        **fields,  # type: ignore[arg-type]
    )


def at(level: str, chunks: tuple[Chunk, ...]) -> list[Chunk]:
    return [chunk for chunk in chunks if chunk.level == level]


def squeezed(text: str) -> str:
    return "".join(text.split())


def test_a_short_section_is_one_parent_without_children() -> None:
    (whole, parent) = cut(document("# Page\n\nText."))
    assert (parent.level, parent.heading_path, parent.body, parent.parent_id) == (
        "parent",
        ("Page",),
        "Text.",
        parent.id,
    )
    assert (whole.level, whole.parent_id) == ("document", parent.id)


def test_the_title_is_left_out_where_it_is_the_first_heading() -> None:
    assert cut(document("#  page \n\nText."))[1].heading_path == ("page",)
    assert cut(document("# Other\n\nText."))[1].heading_path == ("Page", "Other")
    assert cut(document("Text.", title=""))[1].heading_path == ()


def test_a_long_section_has_children_that_say_what_it_says() -> None:
    paragraphs = [f"Paragraph {number}. " + "It has some words. " * 8 for number in range(15)]
    chunks = cut(document("\n\n".join(paragraphs)))
    (parent,) = at("parent", chunks)
    children = at("child", chunks)
    assert len(children) > 2
    assert all(child.parent_id == parent.id and child.heading_path == parent.heading_path for child in children)
    assert squeezed("".join(child.body for child in children)) == squeezed(parent.body)


def test_a_longer_section_is_cut_into_parts_that_share_a_short_paragraph() -> None:
    paragraphs = [f"Paragraph {number} is short." for number in range(400)]
    parents = at("parent", cut(document("\n\n".join(paragraphs))))
    assert len(parents) > 2
    for before, after in itertools.pairwise(parents):
        assert before.body.rsplit("\n\n", 1)[1] == after.body.split("\n\n", 1)[0]


def test_the_document_chunk_has_the_title_the_description_the_lead_and_the_headings() -> None:
    (whole, *_) = cut(document("---\ndescription: About pages\n---\nLead text.\n\n## One\n\nA.\n\n## Two\n\nB."))
    assert whole.text == "Page\n\nAbout pages\n\nLead text.\n\n- One\n- Two"


def test_a_pair_is_one_parent_headed_by_its_question_and_the_question_alone() -> None:
    change = DocumentChange(
        tenant="acme", doc_id="q1", version=1, kind="qa", question="Who may?", answer="# Owners\n\nAnd editors."
    )
    parent, question = cut(text_of(change, "g1"))
    assert (parent.level, parent.heading_path, parent.body) == ("parent", ("Who may?",), "# Owners\n\nAnd editors.")
    assert (question.level, question.text, question.parent_id) == ("question", "Who may?", parent.id)


def test_another_answer_leaves_the_question_as_it_is_and_leads_it_to_the_new_parent() -> None:
    (old, before), (new, after) = (cut(document(answer, kind="qa", title="Who may?")) for answer in ("Owners.", "All."))
    assert before.id == after.id
    assert (before.parent_id, after.parent_id) == (old.id, new.id)


def test_a_pair_without_a_question_or_without_an_answer_has_no_question_alone() -> None:
    assert [chunk.level for chunk in cut(document("Owners.", kind="qa", title=""))] == ["parent"]
    assert cut(document("", kind="qa", title="Who may?")) == ()


def test_a_question_as_long_as_a_page_is_cut_for_the_embedder() -> None:
    asked = "This is the longest story of a question. " * 60
    parent, question = cut(document("No.", kind="qa", title=asked))
    assert asked.strip() in parent.body
    assert Limits().child_max // 2 < len(question.text) <= Limits().child_max
    assert asked.startswith(question.text)


def test_a_page_and_a_pair_that_say_the_same_share_no_chunk() -> None:
    page, pair = (cut(document("Owners.", kind=kind, title="Who may?")) for kind in ("document", "qa"))
    assert {chunk.text for chunk in page} & {chunk.text for chunk in pair}
    assert not {chunk.id for chunk in page} & {chunk.id for chunk in pair}


def test_a_pair_with_a_giant_answer_holds_the_limit() -> None:
    chunks = cut(document("word " * 2_000, kind="qa"))
    assert [chunk.level for chunk in chunks].count("question") == 1
    assert {chunk.level for chunk in chunks} == {"parent", "question"}
    assert chunks[1].parent_id == chunks[0].id
    assert all(len(chunk.text) <= Limits().parent_max for chunk in chunks)


def test_html_is_cut_by_its_headings() -> None:
    chunks = cut(document("<h1>Page</h1><p>One.</p><h2>Next</h2><p>Two.</p>", content_type="text/html"))
    assert [(chunk.heading_path, chunk.body) for chunk in at("parent", chunks)] == [
        (("Page",), "One."),
        (("Page", "Next"), "Two."),
    ]


def test_plain_text_is_not_markdown() -> None:
    (_, parent) = cut(document("# One\n\n---\n\nTwo.", content_type="text/plain"))
    assert parent.body == "# One\n\n---\n\nTwo."


def test_ids_differ_by_tenant_generation_and_occurrence() -> None:
    text = document("## A\n\nSame.\n\n## A\n\nSame.")
    ids = [
        chunk.id
        for other in (text, replace(text, tenant="birch"), replace(text, generation="g2"))
        for chunk in cut(other)
    ]
    assert len(set(ids)) == len(ids) == 9


def test_a_heading_too_long_for_the_path_stands_before_its_text() -> None:
    heading = " ".join(f"word{number}" for number in range(60))
    (_, parent) = cut(document(f"# {heading}\n\nText."))
    assert parent.heading_path[1].endswith("…")
    assert parent.body == f"{heading}\n\nText."


def test_an_edit_changes_only_the_chunks_around_it() -> None:
    paragraphs = [
        f"Paragraph {number} " + f"tells about matter {number * 7}. " * (number % 5 + 2) for number in range(300)
    ]
    before = cut(document("\n\n".join(paragraphs)))
    paragraphs[100] += "And one more sentence, which makes it longer than it was before."
    after = cut(document("\n\n".join(paragraphs)))
    changed = {chunk.id for chunk in after} - {chunk.id for chunk in before}
    assert len(after) > 60
    assert len(changed) <= 8


def test_a_row_added_to_a_long_table_changes_only_the_chunks_around_it() -> None:
    rows = [f"| site-{number} | {number * 7} | team-{number % 5} |" for number in range(800)]
    head = "| site | limit | owner |\n|---|---|---|\n"
    before = cut(document(head + "\n".join(rows)))
    rows.insert(200, "| new | 1 | nobody |")
    after = cut(document(head + "\n".join(rows)))
    assert len({chunk.id for chunk in after} - {chunk.id for chunk in before}) <= 8 < len(after)


def test_a_page_of_two_megabytes_is_cut_like_any_other() -> None:
    part = "A sentence of the page. " * 40 + "\n\n- item\n- item\n\n"
    page = "".join(f"## Part {number}\n\n{part}" for number in range(1_900))
    assert 1_800_000 < len(page) < 2_000_000
    parents = at("parent", cut(document(page)))
    assert [chunk.heading_path[-1] for chunk in parents] == [f"Part {number}" for number in range(1_900)]


@given(st.text(max_size=2_000))
def test_plain_text_is_kept_whole_in_order_and_within_limits(content: str) -> None:
    chunks = cut(document(content, content_type="text/plain"), limits=replace(SMALL, repeat_max=0))
    check_limits(chunks)
    kept = "".join(chunk.body for chunk in at("parent", chunks))
    expected = cut(document(content, content_type="text/plain"), limits=Limits(parent_max=10**6))
    assert squeezed(kept) == squeezed("".join(chunk.body for chunk in at("parent", expected)))


def check_limits(chunks: tuple[Chunk, ...]) -> None:
    longest = {"document": SMALL.document_max, "parent": SMALL.parent_max, "child": SMALL.child_max}
    assert all(len(chunk.text) <= longest[chunk.level] for chunk in chunks)
    assert all(chunk.body.strip() for chunk in chunks)
    assert len({chunk.id for chunk in chunks}) == len(chunks)


def written(kind: str, words: list[str]) -> str:
    """Write words as a block of Markdown; every word once, in order."""
    first, second, *rest = words
    lines = "\n".join(words)
    return {
        "text": " ".join(words),
        "heading": f"## {first}\n\n{second} {' '.join(rest)}",
        "setext": f"{first}\n---\n\n{second} {' '.join(rest)}",
        "list": "- " + "\n- ".join(words),
        "nested": f"1. {first}\n\n   ~~~\n   {second}\n   ~~~\n\n   - " + "\n   - ".join(rest),
        "table": "| h | i |\n|---|---|\n| " + " | |\n| ".join(words) + " | |",
        "fence": f"```sh\n{lines}\n```",
        "quote": "> " + "\n> ".join(words),
        "long": ". ".join(words),
        "code": "    " + "\n    ".join(words),
        "html": f"<div>\n{lines}\n</div>",
    }[kind]


KINDS = st.sampled_from(
    ["text", "heading", "setext", "list", "nested", "table", "fence", "quote", "long", "code", "html"]
)


@settings(deadline=None)
@given(st.lists(st.tuples(KINDS, st.integers(4, 60)), max_size=12))
def test_no_word_of_a_page_is_lost_and_limits_hold(blocks: list[tuple[str, int]]) -> None:
    count = itertools.count(100)
    words = [[f"w{next(count)}" for _ in range(length)] for _, length in blocks]
    page = "\n\n".join(written(kind, of_block) for (kind, _), of_block in zip(blocks, words, strict=True))
    chunks = cut(document(page), limits=SMALL)
    check_limits(chunks)
    headings = {of_block[0] for (kind, _), of_block in zip(blocks, words, strict=True) if kind in {"heading", "setext"}}
    expected = [word for of_block in words for word in of_block if word not in headings]
    for level in ("parent", "child"):
        kept = dict.fromkeys(
            word.strip(".") for chunk in at(level, chunks) for word in chunk.body.split() if word[0] == "w"
        )
        # Only a section that is too long for one child has children; those that there are keep the order.
        assert [word for word in expected if word in kept] == list(kept)
        assert level == "child" or list(kept) == expected
    for chunk in chunks:
        assert chunk.level == "document" or chunk.body.count("```") % 2 == chunk.body.count("~~~") % 2 == 0


def test_a_page_in_another_language_has_other_chunks_for_its_lexemes_are_others() -> None:
    change = DocumentChange(tenant="acme", source="docs", doc_id="page", version=1, title="Page", content="Room 17.")
    by_language = {
        told: {chunk.id for chunk in cut(text_of(msgspec.structs.replace(change, language=told), "g1"))}
        for told in ("en", "de", "fr")
    }
    assert len(set().union(*by_language.values())) == sum(len(ids) for ids in by_language.values())
    assert {chunk.id for chunk in cut(text_of(change, "g1"))} == by_language["en"]  # as it is detected
