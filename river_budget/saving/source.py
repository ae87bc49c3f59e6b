"""What a model is made from, besides its part of the header."""

from __future__ import annotations

import dataclasses
from typing import Any

from .errors import SavedModelError


@dataclasses.dataclass
class Source:
    """The arrays of a file, and how to read them."""

    arrays: list[Any]
    predict_only: bool
    room: int  # bytes that its models may still take

    def take(self, nbytes: int) -> None:
        """So much memory goes to a model."""
        self.room -= nbytes
        if self.room < 0:
            raise SavedModelError("the models in the file need more than max_bytes")

    def array(self, place: Any, shape: tuple[int, ...], kind: str, what: str) -> Any:
        """The array in a place, if it has this shape and kind."""
        if type(place) is not int or not 0 <= place < len(self.arrays):
            raise SavedModelError(f"the file is damaged: its {what} are missing")
        array = self.arrays[place]
        if array.shape != shape or array.dtype.kind != kind:
            raise SavedModelError(f"the file is damaged: its {what} have another shape")
        return array
