"""Models as bytes: in the form of `river_budget.save` where that is possible, else pickled."""

from __future__ import annotations

import enum
import pickle
from typing import Any

from ...saving import SavedModelError, container, nodes, opened


class Form(enum.StrEnum):
    """How the models of one template become bytes."""

    SAVED = "saved"  # nothing is executed when they are read
    PICKLED = "pickled"


def form_of(template: Any) -> Form:
    """The form of the clones of a model."""
    try:
        nodes.encoded(template.clone(), [])
    except SavedModelError:
        return Form.PICKLED
    return Form.SAVED


def packed(model: Any, form: Form) -> bytes:
    """The bytes of a model."""
    if form == Form.PICKLED:
        return pickle.dumps(model, protocol=5)
    arrays: list[Any] = []
    node = nodes.encoded(model, arrays)
    return b"".join(container.content(node, arrays))


def unpacked(data: bytes, form: Form) -> Any:
    """The model of these bytes. Learning goes on from it as it would have."""
    return pickle.loads(data) if form == Form.PICKLED else opened(data, "the state of a model")
