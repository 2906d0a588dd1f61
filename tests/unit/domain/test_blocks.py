"""Blocks cut where they are too long and packed where they are short."""

import pytest

from streams.domain.blocks import Block, fitted, joined, packed, packed_by


def pieces(block: Block, *, target: int, limit: int) -> list[str]:
    return [piece.text for piece in fitted([block], target=target, limit=limit)]


def test_blocks_that_fit_stay_as_they_are() -> None:
    block = Block(kind="fence", text="```\nx\n```")
    assert list(fitted([block], target=9, limit=9)) == [block]


def test_a_cut_table_repeats_its_header_and_loses_no_row() -> None:
    head = "| a | b |\n|---|---|"
    rows = [f"| {number} | x |" for number in range(10, 30)]
    cut = pieces(Block(kind="table", text="\n".join([head, *rows])), target=60, limit=80)
    assert all(piece.startswith(f"{head}\n") and len(piece) <= 80 for piece in cut)
    assert [row for piece in cut for row in piece.split("\n")[2:]] == rows


def test_a_row_beyond_the_limit_is_cut_under_the_header() -> None:
    head = "| a |\n|---|"
    cut = pieces(Block(kind="table", text=f"{head}\n| {'word ' * 30}|\n| end |"), target=60, limit=60)
    assert all(piece.startswith(head) and len(piece) <= 60 for piece in cut)
    assert "".join(piece.removeprefix(head) for piece in cut).count("word") == 30


def test_a_header_that_fills_a_piece_is_not_repeated() -> None:
    cut = pieces(Block(kind="table", text=f"| {'head ' * 20}|\n|---|\n| 1 |"), target=40, limit=40)
    assert all(len(piece) <= 40 for piece in cut)
    assert "".join(cut).count("head") == 20


@pytest.mark.parametrize(
    ("opening", "indent", "closing"),
    [
        ("```sh", "", "```"),
        ("~~~~", "", "~~~~"),
        ("  ```", "  ", "  ```"),
        ("> ```py", "> ", "> ```"),
        ("- ```", "  ", "  ```"),
    ],
)
def test_a_cut_fence_is_fenced_again_in_every_piece(opening: str, indent: str, closing: str) -> None:
    lines = [f"{indent}line {number}" for number in range(10, 40)]
    for text in ("\n".join([opening, *lines, closing]), "\n".join([opening, *lines])):
        cut = pieces(Block(kind="fence", text=text), target=70, limit=90)
        assert len(cut) > 1
        assert all(piece.startswith(f"{opening}\n") and piece.endswith(f"\n{closing}") for piece in cut)
        assert [line for piece in cut for line in piece.split("\n")[1:-1]] == lines
        assert all(len(piece) <= 90 for piece in cut)


def test_a_group_is_cut_between_its_children() -> None:
    children = tuple(Block(kind="text", text=f"- item {number}", lead="\n") for number in range(5))
    group = Block(kind="group", text=joined(children), children=children)
    assert pieces(group, target=10, limit=10) == [child.text for child in children]


def test_groups_are_closed_at_the_limit_at_the_target_or_by_content_from_half_of_it() -> None:
    def grouped(items: list[int], closing: int | None = None) -> list[list[int]]:
        return packed_by(items, size=lambda i: i, closes=lambda _, item: item == closing, target=10, limit=12)

    assert grouped([5, 5, 5, 5]) == [[5, 5], [5, 5]]
    assert grouped([9, 4, 8]) == [[9], [4, 8]]
    assert grouped([3, 3, 4, 3], closing=4) == [[3, 3], [4, 3]]
    assert grouped([4, 5], closing=5) == [[4, 5]]


def test_a_small_rest_joins_the_group_before_it() -> None:
    assert packed_by([10, 2], size=lambda i: i, closes=lambda *_: False, target=10, limit=12) == [[10, 2]]


def test_the_next_piece_of_a_cut_block_opens_a_group() -> None:
    first, second = Block(kind="table", text="a"), Block(kind="table", text="b", continues=True)
    assert packed([first, second], target=100, limit=100) == [[first], [second]]


def test_a_line_that_introduces_stays_with_what_follows() -> None:
    for number in range(50):
        intro = Block(kind="text", text="x" * 60 + ":")
        follows = Block(kind="text", text=f"item {number}")
        assert packed([intro, follows], target=100, limit=200) == [[intro, follows]]
