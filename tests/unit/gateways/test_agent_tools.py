"""The arguments of an agent's tools."""

from __future__ import annotations

import pytest

from streams.errors import Invalid
from streams.gateways.agent_tools import ReadArguments, SearchArguments, narrowed, schema


@pytest.mark.parametrize(
    ("source", "directory", "expected"),
    [
        ("", "", ([], "")),
        ("help", "", (["help"], "")),
        ("", "help", (["help"], "")),
        ("", "help/billing", (["help"], "billing")),
        ("", "/help/billing/2024/", (["help"], "billing/2024")),
        ("help", "help/billing", (["help"], "billing")),
    ],
)
def test_a_folder_is_named_as_paths_in_results_are(
    source: str, directory: str, expected: tuple[list[str], str]
) -> None:
    assert narrowed(source, directory) == expected


@pytest.mark.parametrize(
    ("source", "directory", "said"),
    [
        ("help", "billing", "directory: begins with the source, as paths in results do: help/billing"),
        ("Help Centre", "", "source: no source is called 'Help Centre'"),
        ("", "Help Centre/a", "directory: no source is called 'Help Centre'"),
    ],
)
def test_what_is_no_folder_of_a_result_is_refused_with_what_one_is(source: str, directory: str, said: str) -> None:
    with pytest.raises(Invalid, match=said):
        narrowed(source, directory)


def test_the_schema_of_a_tool_explains_every_argument_and_takes_no_other() -> None:
    for arguments in (SearchArguments, ReadArguments):
        found = schema(arguments)
        assert found["type"] == "object"
        assert found["additionalProperties"] is False
        assert set(found["properties"]) == set(arguments.__struct_fields__)
        assert all(property_.get("description") for property_ in found["properties"].values())
        assert "$ref" not in str(found)
    assert schema(SearchArguments)["required"] == ["query"]
    assert schema(ReadArguments).get("required", []) == []
