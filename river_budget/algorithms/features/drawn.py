"""Models with random numbers for every feature, which depend only on the feature's name and the
seed.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...core import memory
from ...inputs.batches import Batch, batch_of
from ...inputs.features import FeatureIndex, in_order
from ...inputs.targets import plain
from ...model.batch_passes import scores_by
from ...model.calls import Block, Matrix
from ...model.columns import Columns
from ...model.lock import changes_the_model, mutating
from ...parameters import as_float
from .maps import Transformer

AT_HAND = 2**24  # a model stores at most so many bytes of random numbers, however many names come
FEWEST = 256  # features whose numbers a model can store at least
OLDEST = 4  # without room, one name in so many is forgotten


def key_of(name: Any, entropy: int) -> int:
    """A random key of 64 bits for a feature, which depends only on its name and the seed."""
    return int(keys_of([name], entropy)[0, 0])


def keys_of(names: Collection[Any], entropy: int) -> Any:
    """The keys of several features, one row each."""
    digests, begun = [], _hash_with(entropy)
    for name in names:
        digest = begun.copy()
        digest.update((repr(name) if type(name) is str else _text_of(name)).encode())
        digests.append(digest.digest())
    return np.frombuffer(b"".join(digests), "<u8").reshape(-1, 1)


def _text_of(name: Any) -> str:
    value = as_float(name)  # 1, 1.0 and True are one key of a dict
    return repr(plain(name) if value is None else value)


@functools.lru_cache(64)
def _hash_with(entropy: int) -> Any:
    """A hash object that has read the seed: to copy it takes less time than to make one."""
    return hashlib.blake2b(digest_size=8, key=entropy.to_bytes(8, "little"))


@dataclass(frozen=True, kw_only=True)
class Drawn(Columns):
    """The columns of the tables are random numbers, which depend on the name of a feature and the
    seed.
    """

    count: Callable[[Any], int]  # (model): columns
    numbers: Callable[..., Any]  # (model, names, header): their rows

    draws: ClassVar[bool] = True

    def header(self, model: Any, fields: Mapping[str, Any]) -> dict[str, Any]:
        n = self.count(model)
        return {"capacity": memory.columns_for(n), "count": n}

    def most_entries(self, model: Any) -> int:
        return 2**12

    def most_names(self, model: Any) -> int:
        """The largest number of features with stored numbers. Those of others are drawn again when
        needed.
        """
        return max(AT_HAND // (8 * self.count(model)), FEWEST)

    def make_room(self, model: Any, new: int, beside: Collection[Any]) -> None:
        """Make the table wider; at its largest size forget the names known for longest.

        Their numbers are drawn again when they come back.
        """
        features, wanted = model._features, len(model._features) + new
        if wanted > memory.head_of(model._block).width:
            most = max(self.most_names(model), len(beside) + new)
            if wanted > most:
                oldest = max(wanted - most, len(features) // OLDEST)
                used = np.ones(features.width, bool)
                used[list(itertools.islice(features.places.values(), oldest))] = False
                model._change_names(features.forget, used, beside)
                wanted = len(features) + new
            if wanted > memory.head_of(model._block).width:
                model._resize_block(width=max(wanted, min(2 * wanted, most)))

    def write(self, model: Any, names: Collection[Any], places: Iterable[int]) -> None:
        """Draw the numbers of new features: without them, their waves would be constant."""
        self.draw(model, model._block, names, places)

    def take_back(self, model: Any, names: Collection[Any]) -> None:
        """Their numbers are drawn again when they come back."""
        model._change_names(model._features.remove, names)

    def draw(self, model: Any, block: Block, names: Collection[Any], places: Iterable[int]) -> None:
        """Write the numbers of these features into rows of a block."""
        if names:
            tables = memory.views(block)
            header = {"kernel": tables.head.kernel, "gamma": tables.head.gamma}
            drawn = self.numbers(model, names, header)
            tables.vectors[list(places), : self.count(model)] = drawn

    def block_for(self, model: Any, names: list[Any]) -> Any:
        """A block for a model with exactly these features, known or not.

        So predictions use features that have not been learned, and leave the model unchanged.
        """
        return self._block_read(model, names)[0]

    def _block_read(self, model: Any, names: list[Any]) -> tuple[Any, Any]:
        """(a block for a model with exactly these features, the `_reading` of its scores)"""
        with model._lock.held:
            block, read = model._block, model._reading()
            if block is not None:
                block = memory.resized(block, width=len(names))
        if block is None:
            changed = model._snapshot()
            changed._begin_with(names)
            return changed._block, changed._reading()
        self.draw(model, block, names, range(len(names)))
        return block, read

    def scores(self, model: Any, batch: Batch, score: Any) -> tuple[Matrix, Any]:
        """The scores of examples with unknown names, by blocks with exactly the features that occur
        in them.
        """
        parts = [batch]
        if batch.listed:  # which may have very many names
            parts = [part for _, part in batch.parts(self.most_entries(model))]
        n, labels = model._n_outputs, getattr(model, "_labels", None)
        found, read = [np.zeros((0, n))], model._reading()
        for part in parts:
            names = in_order(part.names_in_use())
            rows = part.known(FeatureIndex(names), as_lists=True)
            block, read = self._block_read(model, names)
            if getattr(model, "_labels", None) is not labels:  # another thread has added a class
                return self.scores(model, batch, score)
            found.append(scores_by(model, score, block, rows, n))
        return np.concatenate(found), read


class DrawnMap(Transformer):
    """A feature map with random numbers for every feature."""

    @mutating
    def learn_one(self, x: dict[Any, Any]) -> None:
        """Add the features of x; the map of known features never changes."""
        self._learn_names(self._features.checked_copy(x))

    @changes_the_model
    def _learn_names(self, x: dict[Any, float]) -> None:
        if self._block is None or not self._features.knows(x):
            self._add_features(self._features.unknown(x), x)
        self._count(1)

    @mutating
    def learn_many(self, X: Any) -> None:
        batch = batch_of(X)
        if len(batch):
            self._learn_names_of(batch)

    @changes_the_model
    def _learn_names_of(self, batch: Batch) -> None:
        self._rows_of(batch)
        self._count(len(batch))
