"""Files of format 1 that were written once: this version loads them, and they answer and learn on
as they did.
"""

from __future__ import annotations

import json

import golden
import pytest
from golden import ANSWERS, FOLDER, KEYED, MODELS

import river_budget as rb
from river_budget.distributed import KeyedModels
from river_budget.saving import archive

SAID = json.loads((FOLDER / ANSWERS).read_text())
CLOSE = 1e-9  # other processors round other sums


@pytest.mark.parametrize("name", MODELS)
def test_a_file_of_format_1_answers_and_learns_on_as_it_did(name, tmp_path):
    model = rb.load(golden.unpacked(name, tmp_path))
    assert golden.answers(name, model) == pytest.approx(SAID[name], rel=CLOSE, abs=CLOSE)


def test_models_per_key_of_format_1_go_on_as_they_did(tmp_path):
    with KeyedModels.load(golden.unpacked(KEYED, tmp_path), backend="serial") as models:
        assert golden.keyed_answers(models) == pytest.approx(SAID[KEYED], rel=CLOSE, abs=CLOSE)


def test_every_family_has_a_file_and_they_are_small():
    files = {path.name for path in FOLDER.iterdir()}
    assert files == {ANSWERS, *(f"{name}.gz" for name in [*MODELS, KEYED])}
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < golden.LARGEST
    assert archive.FORMAT == 1, "a new format needs files of its own, beside these"
