"""Models with random numbers for every feature, which depend only on the feature's name and the seed."""

from __future__ import annotations

import functools
import hashlib
import itertools
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from ...core.block import blocks
from ...core.compiling.needs import Need
from ...model.base.batch_passes import scores_by
from ...model.base.one_by_one import OneByOne
from ...model.calls.calls import Block, Rows
from ...model.estimators.estimators import Transformer
from ...model.inputs.batches import Batch, batch_of
from ...model.inputs.features import FeatureIndex, in_order
from ...model.inputs.targets import plain
from ...model.lock import marked
from ...parameters import as_float

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


class Drawn(OneByOne):
    """A model whose block has a row of random numbers for each feature."""

    needs = Need.EXAMPLES | Need.PRODUCTS
    draws_features = True
    most_entries = 2**12

    @property
    def n_columns(self) -> int:
        """The number of random numbers for each feature."""
        return int(self.algorithm.columns.count(self))

    def header_fields(self, n_features: int) -> dict[str, Any]:
        return super().header_fields(n_features) | {
            "capacity": blocks.columns_for(self.n_columns),
            "count": self.n_columns,
        }

    def begin_with(self, names: list[Any]) -> None:
        super().begin_with(names)
        self.draw(self.block, names, range(len(names)))

    def make_room(self, new: int, beside: Collection[Any]) -> None:
        """Make the table wide enough for so many new names; at its largest size forget the names known for longest.

        Their numbers are drawn again when they come back.
        """
        features, wanted = self.features, len(self.features) + new
        if wanted > blocks.width_in(self.block):
            most = max(self._most_names, len(beside) + new)
            if wanted > most:
                self._forget_oldest(max(wanted - most, len(features) // OLDEST), beside)
                wanted = len(self.features) + new
            if wanted > blocks.width_in(self.block):
                self.resize_block(width=max(wanted, min(2 * wanted, most)))

    def _forget_oldest(self, n: int, kept: Collection[Any]) -> None:
        """Forget those n names that have been known for longest, except `kept`."""
        used = np.ones(self.features.width, bool)
        used[list(itertools.islice(self.features.places.values(), n))] = False
        self.features.forget(used, kept)
        self.forget_rows()

    def before_new_names(self, names: Collection[Any]) -> None:
        """Draw the numbers of new features: without them, their waves would be constant."""
        self.draw(self.block, in_order(names), self.features.next_places(len(names)))

    def take_back(self, names: Collection[Any]) -> None:
        """Their numbers are drawn again when they come back."""
        self.features.remove(names)
        self.forget_rows()

    @property
    def _most_names(self) -> int:
        """The largest number of features with stored numbers. Those of others are drawn again when needed."""
        return max(AT_HAND // (8 * self.n_columns), FEWEST)

    def draw(self, block: Block, names: Collection[Any], places: Iterable[int]) -> None:
        """Write the numbers of these features into rows of a block."""
        if names:
            model = blocks.views(block)
            header = {"kernel": model.head.kernel, "gamma": model.head.gamma}
            model.vectors[list(places), : self.n_columns] = self.algorithm.columns.numbers(
                self, names, header
            )

    def _block_for(self, names: list[Any]) -> Any:
        """A block for this model with exactly these features, known or not.

        So predictions use features that have not been learned, and leave the model unchanged.
        """
        with self.lock.held:
            block = self.block
            if block is not None:
                block = blocks.resized(block, width=len(names))
        if block is None:
            twin = self.twin()
            twin.begin_with(names)
            return twin.block
        self.draw(block, names, range(len(names)))
        return block

    def _score_with_unknown(self, x: dict[Any, Any]) -> Any:
        return self._score_batch(Batch.of_one(x))[0].tolist()

    def _score_batch(self, batch: Batch, score: Any = None, n_scores: int | None = None) -> Rows:
        if self.block is not None and not self.features.unknown(batch.names_in_use()):
            return super()._score_batch(batch, score, n_scores)
        parts = [batch]
        if batch.lists is not None:  # which may have very many names
            parts = [batch.part(*ends) for ends in batch.parts(self.most_entries)]
        found = [self._score_by_names(score or self.scoring_pass, part) for part in parts]
        return np.concatenate([np.zeros((0, self.n_outputs)), *found])

    def _score_by_names(self, score: Any, batch: Batch) -> Rows:
        """The scores of examples, by a block with exactly the features that occur in them."""
        names = in_order(batch.names_in_use())
        rows = batch.known(FeatureIndex(names), as_lists=True)
        return scores_by(score, self._block_for(names), rows, self.n_outputs)


class DrawnMap(Drawn, Transformer):
    """A feature map with random numbers for every feature."""

    @marked
    def learn_one(self, x: dict[Any, Any]) -> None:
        """Add the features of x; the map of known features never changes."""
        x = self.features.taken(x)
        with self.lock.for_a_change():
            if self.block is None or not self.features.knows(x):
                self.add_features(self.features.unknown(x), x)
            self._count(1)

    @marked
    def learn_many(self, X: Any) -> None:
        batch = batch_of(X)
        if len(batch):
            with self.lock.for_a_change():
                self.rows_of(batch)
                self._count(len(batch))
