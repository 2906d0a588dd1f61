"""What a source could not read, or read with a reservation: reported, never passed over in silence."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One thing for people to know about a document of a source."""

    where: str  # a path below the folder, or `line 12`
    message: str
    # The document it concerns; what was published of it earlier stays. None: it cannot be told which.
    doc_id: str | None = None
    skipped: bool = True  # false: it was read all the same

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"
