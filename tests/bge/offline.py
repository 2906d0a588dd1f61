"""Loads embedders by name with a guard on every socket; prints what became of each, then whom the guard saw called."""

from __future__ import annotations

import json
import socket
import sys
from typing import Any

called: list[str] = []


def refuse(*address: Any, **_: Any) -> Any:
    called.append(str(address[:2]))
    raise OSError("guarded")


socket.getaddrinfo = refuse
socket.socket.connect = refuse  # type: ignore[method-assign]
socket.socket.connect_ex = refuse  # type: ignore[method-assign]

from streams.adapters.embedder_specs import Spec  # noqa: E402
from streams.adapters.flag_embedder import FlagEncoder  # noqa: E402
from streams.errors import ConfigurationError  # noqa: E402

told = []
for kind in ("flag", "bge-m3"):
    for name in sys.argv[1:]:
        try:
            encoder = FlagEncoder("mini", Spec(kind=kind, model=name, dimension=384))  # type: ignore[arg-type]
            told.append(str(encoder.queries(["a refund"]).shape))
        except ConfigurationError as error:
            told.append(str(error))
print(json.dumps({"told": told, "called": called}))
