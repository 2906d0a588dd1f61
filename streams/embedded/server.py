"""What every embedded server gives its stack: an address and a process."""

from dataclasses import dataclass

from streams.embedded.processes import Child


@dataclass(frozen=True, kw_only=True)
class Server:
    """A server that is ready: the URL that its clients take, and the process behind it."""

    url: str
    child: Child
