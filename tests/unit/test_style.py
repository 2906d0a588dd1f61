"""Habits that a machine can keep."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = ("schemas", "topics", "streams")
EVERYTHING = (*CODE, "deploy", "tests", "bench", "demo")
SAY_NOTHING = {"utils", "util", "helpers", "helper", "manager", "common", "misc"}
LONGEST = 400  # lines

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def files(*folders: str) -> list[Path]:
    """Return the Python files below the folders."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def public(node: ast.Module | ast.ClassDef) -> Iterator[Definition]:
    """Return the public classes, functions and methods; a property reads as an attribute and may go without words."""
    for child in node.body:
        if not isinstance(child, Definition) or child.name.startswith("_"):
            continue
        if any(isinstance(decorator, ast.Name) and decorator.id == "property" for decorator in child.decorator_list):
            continue
        yield child
        if isinstance(child, ast.ClassDef):
            yield from public(child)


def test_names_of_modules_say_what_is_in_them() -> None:
    names = {path: {path.stem, *path.relative_to(ROOT).parts[:-1]} for path in files(*EVERYTHING)}
    assert [path for path, parts in names.items() if parts & SAY_NOTHING] == []


def test_every_module_says_what_it_is() -> None:
    bare = [path for path in files(*CODE) if not ast.get_docstring(ast.parse(path.read_bytes()))]
    assert bare == []


def test_no_file_is_longer_than_400_lines() -> None:
    lengths = {path: len(path.read_bytes().splitlines()) for path in files(*EVERYTHING)}
    assert {path: length for path, length in lengths.items() if length > LONGEST} == {}


def test_contracts_have_docstrings() -> None:
    bare = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in [*files("schemas", "topics"), ROOT / "streams" / "ports.py"]
        for node in public(ast.parse(path.read_bytes()))
        if not ast.get_docstring(node)
    ]
    assert bare == []


def test_a_docstring_starts_on_its_first_line() -> None:
    for path in files("schemas", "topics"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, Definition | ast.Module):
                text = ast.get_docstring(node, clean=False)
                assert text is None or not text.startswith(("\n", " ")), f"{path}: {getattr(node, 'name', 'module')}"
