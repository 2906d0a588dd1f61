"""Whether a Kafka broker on loopback answers requests."""

import asyncio
import struct

from streams.embedded.processes import HOST

_METADATA_KEY = 3
_METADATA_VERSION = 4
_CLIENT = b"probe"


async def answers(port: int) -> bool:
    """True once the broker lists at least one live broker (itself) in its metadata."""
    try:
        return await asyncio.wait_for(_lists_a_broker(port), 2.0)
    except (OSError, EOFError, TimeoutError):
        return False


async def _lists_a_broker(port: int) -> bool:
    reader, writer = await asyncio.open_connection(HOST, port)
    try:
        header = struct.pack(">hhih", _METADATA_KEY, _METADATA_VERSION, 1, len(_CLIENT)) + _CLIENT
        # About no topic (an empty array), and without creating any.
        body = header + struct.pack(">i?", 0, False)
        writer.write(struct.pack(">i", len(body)) + body)
        (size,) = struct.unpack(">i", await reader.readexactly(4))
        answer = await reader.readexactly(size)
        # Correlation id, throttle time, then the array of brokers.
        _, _, brokers = struct.unpack(">iii", answer[:12])
        return bool(brokers > 0)
    finally:
        writer.close()
