"""Envelope: the parts common to all file formats of this package: magic bytes, a checksum, a header in JSON.

A file begins with its magic bytes. The header is an object with `format` (the version of the format, a
number) and `river_budget` (the version that wrote the file). Before the header stands its length:
8 bytes, little endian. The checksum is the SHA-256 of the content; each format says where it stands.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from .._version import __version__
from .errors import SavedModelError


def length_of(part: Any) -> bytes:
    """The length of a part as 8 bytes, to be written in front of it."""
    return len(part).to_bytes(8, "little")


def as_length(data: bytes) -> int:
    return int.from_bytes(data, "little")


@dataclass(frozen=True)
class Envelope:
    """The common part of one file format.

    magic: the first bytes of a file.
    format: the version that is written; all versions up to it can be read.
    refusal: the error text for a file with other first bytes.
    """

    magic: bytes
    format: int
    refusal: str

    def header(self, fields: dict[str, Any]) -> bytes:
        """The bytes of a header with these fields."""
        whole = {"format": self.format, "river_budget": __version__} | fields
        return json.dumps(whole, allow_nan=False).encode()

    def check_magic(self, data: bytes, path: Any) -> None:
        if not data.startswith(self.magic):
            raise SavedModelError(f"{path} {self.refusal}")

    def check_digest(self, digest: bytes, written: bytes, path: Any) -> None:
        if digest != written:
            raise SavedModelError(f"{path} is damaged: its content does not fit its checksum")

    def parsed(self, header: bytes, path: Any) -> dict[str, Any]:
        """The fields of a header; raises SavedModelError if its version cannot be read."""
        try:
            fields = json.loads(header.decode())
        except (ValueError, RecursionError) as error:
            raise SavedModelError(f"{path} is damaged: its header is no JSON ({error})") from None
        if not isinstance(fields, dict) or type(fields.get("format")) is not int:
            raise SavedModelError(f"{path} is damaged: its header names no format")
        if fields["format"] > self.format:
            raise SavedModelError(
                f"{path} has format {fields['format']} of a later version, this one reads up to {self.format}: it "
                f"was written by river_budget {str(fields.get('river_budget'))[:20]}"
            )
        return fields
