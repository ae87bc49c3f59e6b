"""A golden file of each class of this release: `python tests/support/golden.py` writes only those that are missing.

Existing files are never replaced: a change that needs other files would break users' files.
"""

from __future__ import annotations

import json
import lzma

from folders import GOLDEN
from saved_models import ALL, file_of, numbers_of, stream_of, taught, teach

LARGE = 100_000  # bytes
EXAMPLES = 12  # to learn after loading


def name_of(model):
    return f"each_{type(model).__name__}"


def one_of_each():
    """The first model in the table of each class."""
    models = {}
    for entry in ALL:
        models.setdefault(name_of(entry.values[0]), entry.values[0])
    return models


def main():
    place = GOLDEN / "scores.json"
    found = json.loads(place.read_text())
    for name, model in one_of_each().items():
        if name in found:
            continue
        changes = {"seed": 3} if "seed" in model.parameters() else {}
        changes |= {"budget": 8} if getattr(model, "budget", 0) else {}
        model = taught(model.clone(changes), 60)
        data = file_of(model)
        if len(data) > LARGE:  # mostly zeros
            (GOLDEN / f"{name}.rb.xz").write_bytes(lzma.compress(data))
        else:
            (GOLDEN / f"{name}.rb").write_bytes(data)
        stream = stream_of(model, EXAMPLES, seed=1)
        before = [numbers_of(model, x) for x, _ in stream]
        teach(model, stream)
        found[name] = {
            "model": " ".join(repr(model).split()),
            "examples": [x for x, _ in stream],
            "scores": before,
            "targets": [y for _, y in stream],
            "later": [numbers_of(model, x) for x, _ in stream],
        }
    place.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
