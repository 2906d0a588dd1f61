"""What a question and an edit do not do, once there was one: look for modules on the disk."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.pipeline import Pipeline, page

TENANT = "t-hot-path"


class _Noting:
    """Finds nothing, and notes what was looked for; a module that is loaded is not looked for."""

    def __init__(self) -> None:
        self.wanted: set[str] = set()

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        self.wanted.add(name)


@contextmanager
def _looked_for() -> Iterator[set[str]]:
    noting = _Noting()
    sys.meta_path.insert(0, noting)  # type: ignore[arg-type]
    try:
        yield noting.wanted
    finally:
        sys.meta_path.remove(noting)  # type: ignore[arg-type]


async def test_no_module_is_looked_for_while_a_question_is_answered_or_an_edit_indexed(pipeline: Pipeline) -> None:
    async def work(version: int) -> None:
        text = f"# Boats\n\nBoat {version} is red. Its code is B{version}."
        await pipeline.publish(page("boats", text, tenant=TENANT, version=version))
        reply = await pipeline.client.ask(f"what colour is boat {version}?", tenant=TENANT, cache=False)
        assert reply.passages

    for version in (1, 2):
        await work(version)
    with _looked_for() as wanted:
        await work(3)
    # An import that fails is tried again each time: a library that asks for an optional one costs every question.
    assert wanted == set()
