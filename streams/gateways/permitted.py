"""Whether the user of a connection has the rights that a processor needs: told before it starts, right by right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from streams.errors import Transient
from streams.gateways.broker import reaching
from streams.processors.rights import EVERY, Right
from topics import operations
from topics.catalogue import ALL
from topics.connection import Kafka, client_settings

ANY_GROUP = "rankstream.check"  # stands for all groups


async def lacking(kafka: Kafka, wanted: Sequence[Right]) -> tuple[Right, ...]:
    """Return the rights, each with the operations, that the connection's user lacks.

    Topics that are not there are left out. Raises ConfigurationError when the broker cannot be reached, Transient when
    it does not say.
    """
    admin = AIOKafkaAdminClient(**client_settings(kafka))
    try:
        async with reaching(kafka):
            await admin.start()
        topics = await operations.on_topics(admin, [topic.name for topic in ALL])
        found = []
        for right in wanted:
            if right.kind == "topic":
                named = topics.values() if right.name == EVERY else [topics[right.name]] if right.name in topics else []
                has: frozenset[str] = frozenset(right.operations).intersection(*named)
            else:
                name = ANY_GROUP if right.name == EVERY else f"{right.name}check" if right.begins else right.name
                has = await operations.on_group(admin, name)
            if missing := tuple(operation for operation in right.operations if operation not in has):
                found.append(replace(right, operations=missing))
        return tuple(found)
    except (KafkaError, NotImplementedError, OSError) as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise Transient(f"the broker does not say what its user may do: {said}") from error
    finally:
        await admin.close()


def said(lacking: Sequence[Right]) -> str:
    """Return lacking rights in words, each once."""
    return "; ".join(dict.fromkeys(map(_said, lacking)))


def _said(right: Right) -> str:
    name = f"all {right.kind}s" if right.name == EVERY else f"{right.kind} {right.name}{'*' if right.begins else ''}"
    return f"{' and '.join(right.operations)} on {name}"
