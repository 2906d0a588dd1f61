"""What the embedded Qdrant answers when it cannot do what was asked."""

from collections.abc import Iterator
from contextlib import contextmanager


class RequestError(Exception):
    """Answered with this HTTP status and message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Unsupported(RequestError):
    """A part of Qdrant's API that the embedded server does not have."""

    def __init__(self, what: str) -> None:
        super().__init__(501, f"Not implemented by the embedded Qdrant: {what}")


def bad_request(message: str) -> RequestError:
    """A request that a Qdrant server would refuse too."""
    return RequestError(400, f"Wrong input: {message}")


def no_collection(name: str) -> RequestError:
    return RequestError(404, f"Not found: Collection `{name}` doesn't exist!")


@contextmanager
def refused() -> Iterator[None]:
    """Turn what the engine and the parsing of a body raise into a refusal of the request."""
    try:
        yield
    except RequestError:
        raise
    except KeyError as error:
        raise bad_request(f"missing field {error}") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise bad_request(str(error)) from error
    except Exception as error:
        if str(error).startswith("No point with id"):
            raise RequestError(404, f"Not found: {error}") from error
        # The engine raises bare Exceptions; all that it is asked here is client input.
        raise bad_request(str(error)) from error
