"""Models with random numbers for every feature, which depend on nothing but its name and the seed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..core import layout as blocks
from ..model.base import StreamModel
from ..model.calls import Call
from ..model.contract import Block, Rows
from ..model.features import Batch, FeatureIndex
from ..model.shells import Transformer
from ..model.targets import plain
from ..model.turns import changes_the_model
from ..parameters import as_float


def key_of(name: Any, entropy: int) -> int:
    """64 bits of a feature, which depend on nothing but its name and the seed."""
    value = as_float(name)  # 1, 1.0 and True are one key of a dict
    text = repr(plain(name) if value is None else value)
    digest = hashlib.blake2b(text.encode(), digest_size=8, key=entropy.to_bytes(8, "little"))
    return int.from_bytes(digest.digest(), "little")


class Drawn(StreamModel):
    """A block with a row of random numbers for each feature."""

    scores_with_per_vector = True

    @property
    def n_columns(self) -> int:
        """How many numbers belong to a feature."""
        raise NotImplementedError

    def columns_of(self, name: Any, header: dict[str, Any]) -> Any:
        """The numbers of a feature."""
        raise NotImplementedError

    def index_of(self, names: Iterable[Any]) -> FeatureIndex:
        """What is drawn brings the scales of features, which stay as they are."""
        return FeatureIndex(names)

    def header_fields(self, n_features: int) -> dict[str, Any]:
        return super().header_fields(n_features) | {
            "capacity": blocks.columns_for(self.n_columns),
            "count": self.n_columns,
        }

    def add_features(self, names: list[Any]) -> None:
        before = len(self.features)
        super().add_features(names)
        self.draw(self.block, list(self.features)[before:], before)

    def draw(self, block: Block, names: list[Any], first: int = 0) -> None:
        """What belongs to these features into the rows of a block."""
        model, n = blocks.views(block), self.n_columns
        header = {name: model.head[name] for name in ("kernel", "gamma")}
        for i, name in enumerate(names, first):
            model.vectors[i, :n] = self.columns_of(name, header)

    def _block_for(self, names: list[Any]) -> Any:
        """The same model of just these features, known or not.

        So predictions count features that have not been learned, without the model being changed.
        """
        current = self.block  # another thread may put a new one there
        if current is None:
            block = blocks.allocate(**self.header_fields(len(names)), width=len(names))
            blocks.state_of(block, self.state_type).scale = getattr(self, "scale", 0.0)
        else:
            head = blocks.views(current).head
            fields = {name: head[name] for name in head.dtype.names} | {"width": len(names)}
            block = blocks.allocate(**fields)
            old, new = blocks.views(current), blocks.views(block)
            own = slice(blocks.STATE_AT, blocks.TABLES_AT)
            block[own] = current[own]
            new.coefficients[:], new.per_vector[:] = old.coefficients, old.per_vector
        self.draw(block, names)
        return block

    def _score_with_unknown(self, x: dict[Any, Any]) -> Any:
        self.features.reject(x)
        names = [name for name in self.features if name in x] + self.features.unknown(x)
        rows, scores = np.array([[float(x[name]) for name in names]]), np.zeros((1, self.n_outputs))
        Call(self._block_for(names), rows, scores=scores).run(self.scoring_pass)
        return scores[0].tolist()

    def _score_batch(self, batch: Batch) -> Rows:
        unknown = set(batch.names).difference(self.features)
        if self.block is not None and not unknown:
            return super()._score_batch(batch)
        places = {name: place for place, name in enumerate(batch.names)}
        known = [name for name in self.features if name in places]
        names = known + self.features.unknown(places)
        rows = np.ascontiguousarray(batch.values[:, [places[name] for name in names]])
        scores = np.zeros((len(rows), self.n_outputs))
        Call(self._block_for(names), rows, scores=scores).run(self.scoring_pass)
        return scores


class DrawnMap(Drawn, Transformer):
    """A map of such a kind."""

    @changes_the_model
    def learn_one(self, x: dict[Any, Any]) -> None:
        """Get to know the features; the map of known ones never changes."""
        self.features.check(x)
        if self.block is None or not self.features.knows(x):
            self._meet(x)

    @changes_the_model
    def _meet(self, x: dict[Any, Any]) -> None:
        self.add_features(self.features.unknown(x))

    @changes_the_model
    def learn_many(self, X: Any) -> None:
        batch = Batch(X)
        if len(batch):
            self.rows_of(batch)

    def transform_one(self, x: dict[Any, Any]) -> dict[Any, Any]:
        if self.block is None:
            features = self._score_with_unknown(self.features.present(x))
            return dict(zip(self._feature_names(), features, strict=True))
        return super().transform_one(x)
