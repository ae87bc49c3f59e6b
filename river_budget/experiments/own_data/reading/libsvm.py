"""LIBSVM's format, `label index:value index:value`, line by line.

The reader of `rb.datasets` knows the size of its matrix beforehand. Here nobody does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any


def rows(stream: Iterable[bytes], path: str) -> Iterator[tuple[int, list[Any]]]:
    """(number of the line, [label, {index: value}]) of each line that is not empty."""
    for line, content in enumerate(stream, 1):
        text = content.partition(b"#")[0].decode("utf-8", "backslashreplace").split()
        if not text:
            continue
        pairs = text[2:] if len(text) > 1 and text[1].startswith("qid:") else text[1:]
        try:
            values = [pair.split(":") for pair in pairs]
            yield line, [text[0], {index: float(value) for index, value in values}]
        except ValueError:
            raise RuntimeError(
                f"{path}, line {line}: a line of LIBSVM is a label and then index:value, not "
                f"{' '.join(text)[:60]!r}"
            ) from None
