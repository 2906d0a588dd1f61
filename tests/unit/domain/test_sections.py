"""Documents to sections."""

from streams.domain.sections import of_markdown, of_plain_text


def paths(text: str) -> list[tuple[str, ...]]:
    return [section.headings for section in of_markdown(text) if section.blocks]


def kinds(text: str) -> list[str]:
    return [block.kind for section in of_markdown(text) for block in section.blocks]


def test_blocks_are_source_lines_of_their_kind() -> None:
    text = "Text *as it is*\n\n```\ncode\n```\n\n| a |\n|---|\n| 1 |\n\n- x\n- y\n\n    indented\n\n<div>\nhtml\n</div>"
    assert kinds(text) == ["text", "fence", "table", "group", "lines"] or kinds(text)[:4] == [
        "text",
        "fence",
        "table",
        "group",
    ]
    assert of_markdown(text)[0].blocks[0].text == "Text *as it is*"


def test_the_distance_of_blocks_is_kept() -> None:
    blocks = of_markdown("intro:\n```\ncode\n```\n\n\n\nend")[0].blocks
    assert [block.lead for block in blocks] == ["\n\n", "\n", "\n\n"]


def test_a_list_is_cut_between_its_items_and_code_in_an_item_is_code() -> None:
    (group,) = of_markdown("- one\n\n  ```\n  code\n  ```\n- two")[0].blocks
    assert [item.kind for item in group.children] == ["group", "group"]
    assert [block.kind for block in group.children[0].children] == ["text", "fence"]
    assert group.text == "- one\n\n  ```\n  code\n  ```\n- two"


def test_headings_in_lists_quotes_and_code_open_no_section() -> None:
    assert paths("# A\n\n- # b\n\n> # c\n\n```\n# d\n```\n\n    # e") == [("A",)]


def test_rules_are_no_text() -> None:
    assert paths("# A\n\n***\n\n---\n") == []


def test_link_definitions_stay_and_open_no_section() -> None:
    (section,) = of_markdown("text\n\n[a]: https://a.example\n---\n")
    assert section.headings == ()
    assert [block.text for block in section.blocks] == ["text", "[a]: https://a.example"]


def test_plain_text_is_paragraphs_and_nothing_else() -> None:
    (section,) = of_plain_text("# not a heading\nsame\n \n\n- second\n")
    assert [block.text for block in section.blocks] == ["# not a heading\nsame", "- second"]
