"""Source: the arrays of a file from which models are restored, and a limit on their memory."""

from __future__ import annotations

import dataclasses
from typing import Any

from .errors import SavedModelError


@dataclasses.dataclass
class Source:
    """The arrays of a file, and checked access to them."""

    arrays: list[Any]
    predict_only: bool
    room: int  # bytes of memory that models may still allocate

    def reserve(self, nbytes: int) -> None:
        """Reserve memory for a model; raises SavedModelError beyond the limit."""
        self.room -= nbytes
        if self.room < 0:
            raise SavedModelError("the models in the file need more than max_bytes")

    def array(self, place: Any, shape: tuple[int, ...], kind: str, what: str) -> Any:
        """The array with this index; raises SavedModelError unless it has this shape and type."""
        if type(place) is not int or not 0 <= place < len(self.arrays):
            raise SavedModelError(f"the file is damaged: its {what} are missing")
        array = self.arrays[place]
        if array.shape != shape or array.dtype.kind != kind:
            raise SavedModelError(f"the file is damaged: its {what} have another shape")
        return array
