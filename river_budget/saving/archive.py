"""The file, format 1: a zip archive as `numpy.savez` writes it, with a text beside the arrays.
Nothing in it is code.

    model.json      {"format": 1, "river_budget": the version that wrote it, "model": a node}, see
                    nodes.py
    0/vectors.npy   the arrays of the first model that has a state, see states.py; 1/... those of
                    the second

`numpy.load(path)` opens it. The members are stored, not compressed, and each has a checksum.
"""

from __future__ import annotations

import io
import json
import math
import re
import struct
import zipfile
from typing import Any

import numpy as np

from .._version import __version__
from .errors import SavedModelError, damaged

FORMAT = 1
HEAD = "model.json"
Arrays = dict[str, Any]
END, LOCATOR = b"PK\5\6", b"PK\6\7"  # of a zip archive, and of one of more than 4 GB
# what zipfile raises for damaged archives
BROKEN = (zipfile.BadZipFile, OSError, EOFError, ValueError, RuntimeError, struct.error)
END_BYTES, LOCATOR_BYTES = 22, 20
# what numpy writes before an array, with one or two dimensions
NPY = re.compile(
    rb"\x93NUMPY\x01\x00(..)\{'descr': '(<f8|<i8)', 'fortran_order': False, "
    rb"'shape': \((\d{1,13}),(?: (\d{1,13}))?\), \} *\n",
    re.DOTALL,
)
# Memory of a text, parsed and made again to be compared, and of a directory, parsed: at most so
# many times their own
JSON_EXPANSION, DIRECTORY_EXPANSION = 90, 40
READER_BYTES = 8192  # more than the objects take that read an archive


class Source:
    """The arrays of a file, and the memory that its models may still take."""

    def __init__(self, arrays: Arrays, predict_only: bool = False, room: float = math.inf):
        self.arrays, self.predict_only, self.room = arrays, predict_only, room

    def reserve(self, nbytes: int) -> None:
        """Count memory before it is taken; raises SavedModelError beyond the limit."""
        self.room -= nbytes
        if self.room < 0:
            raise SavedModelError("the models in the file need more than max_bytes")

    def array(self, name: str, shape: tuple[int, ...], kind: str) -> Any:
        """The array of this name; raises SavedModelError unless it has this shape and type."""
        array = self.arrays.get(name)
        what = name.rpartition("/")[2]
        if array is None:
            raise damaged(f"its {what} are missing")
        if array.shape != shape or array.dtype.kind != kind:
            raise damaged(f"its {what} have another shape")
        return array


def head(**fields: Any) -> str:
    """The text of a file with these fields."""
    return text_of({"format": FORMAT, "river_budget": __version__} | fields)


def packed(node: Any, arrays: Arrays, **more: Any) -> bytes:
    """The bytes of a file, with `more` beside the model."""
    file = io.BytesIO()
    archive = zipfile.ZipFile(file, "w", allowZip64=False)
    try:
        archive.writestr(zipfile.ZipInfo(HEAD), head(model=node, **more))
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, array, (1, 0), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), member.getbuffer())
        archive.close()
    except BaseException as error:
        archive.fp = None  # else closing it would raise in place of Ctrl-C inside a member
        if isinstance(error, zipfile.LargeZipFile):
            message = "the model cannot be saved: it has more than 4 GB"
            raise SavedModelError(message) from None
        raise
    return file.getvalue()


def text_of(value: Any) -> str:
    """JSON, in which equal values are equal texts."""
    try:
        return json.dumps(value, allow_nan=False, sort_keys=True)
    except (ValueError, RecursionError) as error:  # such as an int with thousands of digits
        raise SavedModelError(f"the model cannot be saved: {error}") from None


def parsed(
    data: bytes, path: Any, max_bytes: int, predict_only: bool = False
) -> tuple[dict[str, Any], Source]:
    """The head and the arrays in the bytes of a file."""
    source = Source({}, predict_only, max_bytes)
    source.reserve(len(data))
    try:
        return _parsed(data, source)
    except SavedModelError as error:
        raise SavedModelError(f"{path}: {error}") from None


def _parsed(data: bytes, source: Source) -> tuple[dict[str, Any], Source]:
    if not data.startswith(b"PK"):
        raise SavedModelError("this is no model saved by river_budget")
    end = data[-END_BYTES:]
    if not end.startswith(END) or data[-END_BYTES - LOCATOR_BYTES :].startswith(LOCATOR):
        raise damaged("it does not end as it should")
    source.reserve(READER_BYTES + DIRECTORY_EXPANSION * int.from_bytes(end[12:16], "little"))
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            check_stored(members)
            if sum(member.file_size for member in members) > len(data):
                raise damaged("its parts are longer than the file")
            source.reserve(sum(member.file_size for member in members))
            parts = {member.filename: archive.read(member) for member in members}
    except SavedModelError:
        raise
    except BROKEN as error:
        raise damaged(str(error)) from None
    if len(parts) < len(members):
        raise damaged("two of its parts have one name")
    fields = head_of(parts.pop(HEAD, b""), source)
    for name, content in parts.items():
        source.arrays[name.removesuffix(".npy")] = _array(content)
    return fields, source


def check_stored(members: list[zipfile.ZipInfo]) -> None:
    """Refuse members of a zip archive of which reading could give more than the file has."""
    if any(member.compress_type or member.flag_bits for member in members):
        raise damaged("its parts are compressed or encrypted")


def head_of(text: bytes, source: Source) -> dict[str, Any]:
    source.reserve(JSON_EXPANSION * len(text))
    try:
        fields = json.loads(text.decode())
    except (ValueError, RecursionError) as error:
        raise damaged(f"its {HEAD} is no JSON ({error})") from None
    if not isinstance(fields, dict) or type(fields.get("format")) is not int:
        raise damaged(f"its {HEAD} names no format")
    if fields["format"] != FORMAT:
        raise SavedModelError(
            f"it has format {fields['format']}, and this version reads format {FORMAT}: it was "
            "written by "
            f"river_budget {str(fields.get('river_budget'))[:20]}"
        )
    return fields


def _array(content: bytes) -> Any:
    """An array as numpy writes it, after its description was compared with its size."""
    found = NPY.match(content)
    if found is None or found.end() - found.end(1) != int.from_bytes(found[1], "little"):
        raise damaged("a part of it is no array")
    shape = tuple(int(length) for length in found.groups()[2:] if length is not None)
    count = math.prod(shape)
    if len(content) != found.end() + 8 * count:
        raise damaged("an array has another size than it says")
    return np.frombuffer(content, found[2].decode(), count, found.end()).reshape(shape)
