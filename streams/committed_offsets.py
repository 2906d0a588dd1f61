"""Mends how aiokafka 0.14 reads committed offsets: an error of the broker is no sign that there are none.

Since version 2 of OffsetFetch (KIP-88) an error of the whole request stands beside the partitions, which then say -1.
aiokafka looks at the partitions alone. So a coordinator that has just moved, or come back, makes it believe that the
group never committed anything, and the group reads its topics again from their beginnings.
"""

from __future__ import annotations

from typing import Any

from aiokafka.consumer.group_coordinator import GroupCoordinator
from aiokafka.errors import NoError, NotCoordinatorForGroupError, for_code
from aiokafka.protocol.commit import OffsetFetchRequest

_theirs = GroupCoordinator._send_req


async def _told(self: Any, request: Any) -> Any:
    response = await _theirs(self, request)
    if isinstance(request, OffsetFetchRequest):
        error = for_code(getattr(response, "error_code", 0))
        if error is NotCoordinatorForGroupError:
            self.coordinator_dead()
        if error is not NoError:
            raise error(f"the committed offsets of {self.group_id} cannot be read now")
    return response


def mend() -> None:
    """Let every consumer group of this process ask again where aiokafka would begin at the beginning."""
    GroupCoordinator._send_req = _told
