"""Models with random numbers for every feature, which depend only on the feature's name and the seed."""

from __future__ import annotations

import functools
import hashlib
import itertools
import threading
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from ...core.block import blocks, layout
from ...core.compiling.needs import Need
from ...model.base.base import StreamModel
from ...model.calls.calls import Block, Call, Rows
from ...model.estimators.estimators import Transformer
from ...model.inputs.batches import Batch
from ...model.inputs.features import CHANGED_WHILE_READ, FeatureIndex
from ...model.inputs.sparse_examples import Lists, by_key, order_of
from ...model.inputs.targets import plain
from ...model.one_writer import changes_the_model
from ...parameters import as_float

AT_HAND = 2**24  # a model stores at most so many bytes of random numbers, however many names come
FEWEST = 256  # features whose numbers a model can store at least
PATIENCE = 32  # from FEWEST features on, add features so often to a table that is then copied; afterwards make room
OLDEST = 4  # without room, one name in so many is forgotten
# held while predicting threads add numbers; re-entrant, as comparing a user-defined name may predict
FILLING = threading.RLock()


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


class Table:
    """Views of the random numbers in a block, and the header fields they depend on: looked up once."""

    __slots__ = ("block", "header", "keys", "numbers", "ties")

    def __init__(self, block: Block, n_columns: int):
        model = blocks.views(block)
        self.block = block
        self.numbers = model.vectors[:, :n_columns]
        self.keys, self.ties = model.keys, model.ties
        self.header = {"kernel": model.head.kernel, "gamma": model.head.gamma}

    def __deepcopy__(self, memo: Any) -> None:
        """None: a copy of a model must look up its own block."""


class Drawn(StreamModel):
    """A model whose block has a row of random numbers for each feature."""

    needs = Need.EXAMPLES | Need.PRODUCTS
    scores_with_per_vector = True
    draws_features = True
    most_entries = 2**12
    _table: Table | None = None
    _additions = 0

    @property
    def n_columns(self) -> int:
        """The number of random numbers for each feature."""
        raise NotImplementedError

    def columns_of(self, names: Collection[Any], header: dict[str, Any]) -> Any:
        """The random numbers of several features, one row each."""
        raise NotImplementedError

    def index_of(self, names: Iterable[Any]) -> FeatureIndex:
        """An index without scales: the random numbers contain the scale of a feature."""
        return FeatureIndex(names)

    def header_fields(self, n_features: int) -> dict[str, Any]:
        return super().header_fields(n_features) | {
            "capacity": blocks.columns_for(self.n_columns),
            "count": self.n_columns,
        }

    def add_features(self, names: Collection[Any], beside: Collection[Any] = ()) -> None:
        if self.block is None:
            super().add_features(names, beside)
            return
        if not self.features.loose:
            n = len(self.features) + len(names)
            self._additions += 1
            if n <= FEWEST or (n <= self._most_names and self._additions <= PATIENCE):
                super().add_features(names, beside)
                return
            self._give_room(max(len(self.features), min(2 * n, self._most_names)))
        self._remember(names, beside)

    def _give_room(self, width: int) -> None:
        """Make room for `width` names, as new ones keep coming: then adding one does not copy the table."""
        twin = self.twin()
        twin.resize_block(width=width)
        twin.features.loosen(width)
        twin.features.plain = self.features.plain  # False for good after a name that is not
        blocks.views(twin.block).head.shuffled = 1
        self.adopt(twin)

    def begin_with(self, names: list[Any]) -> None:
        super().begin_with(names)
        self.draw(self.block, names, range(len(names)))

    def know(self, names: Collection[Any], features: FeatureIndex) -> None:
        """Draw the numbers of new features before adding them: without, their waves would be constant."""
        self.draw(self.block, names, [features.places[name] for name in names])
        super().know(names, features)

    @property
    def _most_names(self) -> int:
        """The largest number of features with stored numbers. Those of others are drawn again when needed."""
        return max(AT_HAND // (8 * self.n_columns), FEWEST)

    def _remember(self, names: Collection[Any], beside: Collection[Any]) -> None:
        """Draw the numbers of names; without room, forget other names, whose numbers can be drawn again."""
        more = 2 * (len(self.features) + len(names))
        with FILLING:
            if self._lacks_room(names) and self.features.width < self._most_names:
                self._give_room(min(more, self._most_names))
            if self._lacks_room(names):
                self._forget_oldest({*beside, *names})
            if self._lacks_room(names):  # an example with more features than there is room for
                self._give_room(more)
            self._fill(names)

    def _lacks_room(self, names: Collection[Any]) -> bool:
        return len(self.features.vacant) < len(names)

    def _forget_oldest(self, kept: Collection[Any]) -> None:
        """Forget those names that have been known for longest, except `kept`, to make room."""
        features = self.features
        unused = np.zeros(blocks.width_in(self.block), bool)
        unused[features.vacant.last(len(features.vacant))] = True
        some = -(-len(features) // OLDEST) if len(kept) <= len(unused) // OLDEST else len(features)
        unused[list(itertools.islice(features.places.values(), some))] = True
        features.forget(unused, kept)
        self.fast_path.update_places()

    def _fill(self, names: Collection[Any]) -> None:
        """Assign vacant places to names. Other names keep theirs, so that other threads may go on."""
        features, table = self.features, self._table
        if table is None or table.block is not self.block:
            table = self._table = Table(self.block, self.n_columns)
        columns, (keys, ties) = self.columns_of(names, table.header), order_of(names)
        # a user-defined name that calls the model may have taken places meanwhile
        if len(features.vacant) < len(names) or table.block is not self.block:
            raise RuntimeError(CHANGED_WHILE_READ)
        offered = features.vacant.last(len(names))
        table.numbers[offered] = columns
        table.keys[offered], table.ties[offered] = keys, ties
        features.take(names, offered)

    def forget_prepared(self) -> None:
        super().forget_prepared()
        self._table = None

    def _state(self) -> dict[str, Any]:
        return super()._state() | {"_table": None, "_additions": self._additions}

    def draw(self, block: Block, names: Collection[Any], places: Iterable[int]) -> None:
        """Write the numbers of these features into rows of a block."""
        if names:
            table = Table(block, self.n_columns)
            table.numbers[list(places)] = self.columns_of(names, table.header)

    def _block_for(self, names: list[Any]) -> Any:
        """A block for this model with exactly these features, known or not.

        So predictions use features that have not been learned, and leave the model unchanged.
        """
        current = self.block  # read once, as another thread may replace it
        if current is None:
            block = blocks.allocate(**self.header_fields(len(names)), width=len(names))
            blocks.state_of(block, self.state_type).scale = getattr(self, "scale", 0.0)
        else:
            fields = layout.read_header(current.ctypes.data)._asdict()
            block = blocks.allocate(**fields | {"width": len(names)})
            old, new = blocks.views(current), blocks.views(block)
            own = slice(layout.STATE_AT, layout.TABLES_AT)
            block[own] = current[own]
            new.coefficients[:], new.per_vector[:] = old.coefficients, old.per_vector
        self.draw(block, names, range(len(names)))
        return block

    def _score_with_unknown(self, x: dict[Any, Any]) -> Any:
        x = self.features.taken(x)
        names = by_key(x)
        rows, scores = np.array([[x[name] for name in names]]), np.zeros((1, self.n_outputs))
        Call(self._block_for(names), rows, scores=scores).run(self.scoring_pass)
        return scores[0].tolist()

    def _score_list(self, x: dict[Any, Any]) -> Any:
        features = self.features
        x = features.taken(x)
        if features.loose and not features.knows(x):
            with FILLING:
                new = features.unknown(x)
                if 0 < len(new) <= len(features.vacant):
                    self._fill(new)
            found = self.fast_path.score(x)  # all names are known now
            if found is not None:
                return found
        return super()._score_list(x)

    def _score_batch(self, batch: Batch) -> Rows:
        if batch.lists is not None:
            parts = [batch.part(*ends) for ends in batch.parts(self.most_entries)]
            return np.vstack([np.zeros((0, self.n_outputs)), *map(self._score_lists, parts)])
        unknown = set(batch.names).difference(self.features)
        if self.block is not None and not unknown:
            return super()._score_batch(batch)
        places = {name: place for place, name in enumerate(batch.names)}
        names = by_key(places)
        rows = np.ascontiguousarray(batch.values[:, [places[name] for name in names]])
        scores = np.zeros((len(rows), self.n_outputs))
        Call(self._block_for(names), rows, scores=scores).run(self.scoring_pass)
        return scores

    def _score_lists(self, batch: Batch) -> Rows:
        """The scores of a few examples, by a block with only the features that occur in them."""
        names, lists = batch.names_in_use(), batch.lists
        places = {name: place for place, name in enumerate(by_key(names))}
        found = np.zeros(len(batch.names), np.int64)
        columns = {name: column for column, name in enumerate(batch.names)}
        for name in names:
            found[columns[name]] = places[name]
        assert lists is not None
        rows = Lists(lists.starts, found[lists.places], lists.values)
        scores = np.zeros((len(rows), self.n_outputs))
        Call(self._block_for(list(places)), rows, scores=scores).run(self.scoring_pass)
        return scores


class DrawnMap(Drawn, Transformer):
    """A feature map with random numbers for every feature."""

    @changes_the_model
    def learn_one(self, x: dict[Any, Any]) -> None:
        """Add the features of x; the map of known features never changes."""
        x = self.features.taken(x)
        if self.block is None or not self.features.knows(x):
            self._meet(x)
        self._count(1)

    @changes_the_model
    def _meet(self, x: dict[Any, Any]) -> None:
        self.add_features(self.features.unknown(x))

    @changes_the_model
    def learn_many(self, X: Any) -> None:
        batch = Batch(X)
        if len(batch):
            self.rows_of(batch)
            self._count(len(batch))

    def transform_one(self, x: dict[Any, Any]) -> dict[Any, Any]:
        if self.block is None:
            features = self._score_with_unknown(self.features.present(x))
            return dict(zip(self._feature_names(), features, strict=True))
        return super().transform_one(x)
