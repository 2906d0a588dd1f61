"""The generated JSON Schemas: up to date, complete, and only ever changed compatibly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from schemas import generate
from schemas.generate import FOLDER, MESSAGES, differing, json_schema, schema_files

GOLDEN = Path(__file__).parents[2] / "golden"


def definition(schema: dict[str, Any], reference: str) -> dict[str, Any]:
    """Follow a reference inside of a schema."""
    found: dict[str, Any] = schema["$defs"][reference.removeprefix("#/$defs/")]
    return found


def fits(schema: dict[str, Any], node: dict[str, Any], data: Any, where: str) -> None:
    """Check golden data against the part of JSON Schema that says what may be left out and what may be there."""
    if "$ref" in node:
        node = definition(schema, node["$ref"])
    if "anyOf" in node:
        node = next((option for option in node["anyOf"] if option.get("type") == "object" or "$ref" in option), {})
        if data is None or not node:
            return
        return fits(schema, node, data, where)
    if "enum" in node:
        assert data in node["enum"], where
    if node.get("type") == "object" and "properties" in node:
        assert set(node.get("required", ())) - {"name"} <= set(data), where
        for name, item in data.items():
            assert name in node["properties"], f"{where}.{name}: v1 lost a field"
            fits(schema, node["properties"][name], item, f"{where}.{name}")
    if node.get("type") == "array":
        for item in data:
            fits(schema, node.get("items", {}), item, f"{where}[]")
    return None


def test_the_files_on_disk_are_what_the_messages_say() -> None:
    assert differing(schema_files()) == [], "run `python -m schemas.generate`"


def test_no_file_is_left_of_a_message_that_is_gone() -> None:
    assert {path.name for path in FOLDER.glob("*.schema.json")} == set(schema_files())


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.__name__)
def test_every_schema_has_an_address_a_title_and_a_description(message: Any) -> None:
    schema = json_schema(message)
    assert schema["$id"] == f"https://rankstream.dev/schemas/{message.__name__}.v1.schema.json"
    assert schema["title"] == f"{message.__name__} v1"
    assert schema["description"] and definition(schema, schema["$ref"])["description"]


@pytest.mark.parametrize("kind", ["", ".minimal"], ids=["full", "minimal"])
@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.__name__)
def test_the_schema_still_allows_the_golden_bytes(message: Any, kind: str) -> None:
    schema = json_schema(message)
    golden = msgspec.json.decode((GOLDEN / f"{message.__name__}.v1{kind}.json").read_bytes())
    fits(schema, {"$ref": schema["$ref"]}, golden, message.__name__)


def test_check_fails_and_writes_nothing_when_a_file_differs(tmp_path: Path) -> None:
    files = {"a.json": b"1"}
    assert generate.main(files, ["--check"], tmp_path) == 1
    assert list(tmp_path.iterdir()) == []
    assert generate.main(files, [], tmp_path) == 0
    assert generate.main(files, ["--check"], tmp_path) == 0
