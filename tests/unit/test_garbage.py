"""The collector of garbage, in a process of its own: what it leaves out stays left out."""

from __future__ import annotations

import subprocess
import sys

SETTLED = """
import asyncio, gc, weakref, logging, json, decimal
class Node: pass
lived = [Node() for _ in range(5_000)]
from streams import garbage
garbage.settle()
walked = len(gc.get_objects())
node = Node(); node.itself = node
gone = weakref.ref(node)
del node
gc.collect()
print(gc.get_freeze_count() > 5_000, walked < 500, gone() is None, gc.get_threshold()[0])
"""


def test_a_full_collection_walks_over_new_objects_only_and_still_finds_them() -> None:
    said = subprocess.run([sys.executable, "-c", SETTLED], capture_output=True, text=True, check=True, timeout=60)
    assert said.stdout.split() == ["True", "True", "True", "10000"]
