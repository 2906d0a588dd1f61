"""What a dead letter says in its headers; the record's bytes, key and headers stay as they came."""

from __future__ import annotations

from typing import Literal

from schemas.base import Message

ErrorClass = Literal["decode", "validation", "transient-exhausted", "timeout", "bug"]

# The names of Spring for Apache Kafka's DeadLetterPublishingRecoverer, so that its tools can read our dead letters.
ORIGINAL_TOPIC = "kafka_dlt-original-topic"
ORIGINAL_PARTITION = "kafka_dlt-original-partition"
ORIGINAL_OFFSET = "kafka_dlt-original-offset"
ORIGINAL_TIMESTAMP = "kafka_dlt-original-timestamp"
ORIGINAL_GROUP = "kafka_dlt-original-consumer-group"
EXCEPTION = "kafka_dlt-exception-fqcn"
EXCEPTION_MESSAGE = "kafka_dlt-exception-message"
ERROR_CLASS = "rankstream-error-class"
ATTEMPTS = "rankstream-attempts"
PARKED = "rankstream-parked"  # it died before at this stage with this class, and was re-driven since

# A re-driven record carries these on, so that its next death can be compared with the last.
REDRIVES = "rankstream-redrives"  # how often it was re-driven
DIED = "rankstream-died"  # `group=class` of each death before, parted by spaces

# A record of a dead letter topic without a value says what became of the letter that its original-* headers name.
SETTLED = "rankstream-settled"
SETTLED_UP_TO = "rankstream-settled-up-to"  # the offset on the dead letter topic; a later letter is a new one
Settled = Literal["redriven", "discarded"]


class DeadLetter(Message, tag=True, rename={"schema_version": "version"}, frozen=True, kw_only=True):
    """The headers of a dead letter, decoded."""

    schema_version: int = 1
    topic: str
    partition: int
    offset: int
    timestamp: int  # milliseconds since the epoch
    group: str
    error_class: ErrorClass
    exception: str
    message: str
    attempts: int
