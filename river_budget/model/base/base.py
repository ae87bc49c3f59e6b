"""A model in a block of memory: what all models are, whatever their form and their task.

What reaches the compiled pass is always the same: rows, targets, weights. It returns the scores before each
row was learned, so a learning pass is also a progressive validation.

A pass stops at a row that it cannot learn and returns its number: either the row is not finite, which is an
error, or the model must be prepared for it, as one without a budget that needs a larger block, or a warning is
due. So one example needs no check in Python.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Collection, Iterable, Mapping
from typing import Any, ClassVar

import numpy as np
from river import base

from ...core.block import blocks
from ...core.block.limits import KERNELS
from ...core.compiling.needs import Need
from ...kernels import RBF, Custom, Kernel
from ...parameters import Mutable, instance_of, optional, whole
from ..calls.batch_passes import ManyAtOnce
from ..calls.calls import FreeRows, PreparedList, PreparedRow
from ..calls.fast_path import AtOnce
from ..calls.one_by_one import OneByOne
from ..inputs.features import FeatureIndex, in_order
from ..inputs.sparse_examples import by_key, is_in_order, write_order
from ..one_writer import Turn, changes_the_model, looks_at_the_model
from ..protocols import Rows
from .copying import Copied
from .summary import Described

SHORT_LIST = 32  # features of an example
SPARE_FEATURES = 0.25  # share of memory rows in reserve once features have begun to appear


def check_compiled(name: str, value: Any, known: tuple[int, ...]) -> None:
    """Raise for a kernel or a maintenance whose code has no branch in core: it would act as another one."""
    if value.header_fields(1)[name] not in known:
        raise NotImplementedError(f"{name} {value!r} has no branch in the compiled core")


class StreamModel(OneByOne, ManyAtOnce, Copied, Described, base.Estimator):
    """A model in a block. Subclasses name their passes and answer the hooks (examples/extending.md)."""

    learning_pass: ClassVar[Any] = None  # compiled; None: there is nothing to learn
    scoring_pass: ClassVar[Any]  # compiled
    state_type: ClassVar[
        np.dtype[Any]
    ]  # the record of the pass; fields named as parameters follow them
    # fields of the record that count up: a sum goes on from the largest
    counters: ClassVar[tuple[str, ...]] = ()
    # whole numbers of the record that check_restored_state answers for
    checked_fields: ClassVar[tuple[str, ...]] = ()
    # parameters that a file may not set to more than this
    file_limits: ClassVar[Mapping[str, int]] = {}
    # what older files mean that lack these parameters
    file_defaults: ClassVar[Mapping[str, Any]] = {}
    younger_tables: ClassVar[frozenset[str]] = frozenset()  # that files of earlier versions lack
    # tables of earlier versions, and the own tables that stand for each of them today
    older_tables: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    scores_with_per_vector: ClassVar[bool] = False  # whether scoring needs the rows kept per vector
    needs: ClassVar[Need] = Need.EXAMPLES  # of the functions that passes share
    takes_lists = True  # examples as lists of what is present; else as rows only
    draws_features: ClassVar[bool] = False  # those that are not known count too
    no_sum: ClassVar[str] = ""  # why models of this kind cannot be united, if so
    usual_kernel: ClassVar[Kernel] = RBF()  # where the parameter is None
    factor_is_table: ClassVar[bool] = False  # the factor holds a whole table, which may be missing

    def __init__(self, kernel: Kernel | None, seed: int | None):
        optional(instance_of(Kernel))("kernel", kernel)
        optional(whole(0, math.inf))("seed", seed)
        self.kernel = kernel
        check_compiled("kernel", self.kernel_in_use, KERNELS)
        if "seed" in self.parameters():
            self.seed = seed
        self.entropy = secrets.randbits(64) if seed is None else int(seed) % 2**64
        if isinstance(self.kernel_in_use, Custom):
            self.takes_lists = False  # a function sees whole rows
        self.features = self.index_of(())
        self.block: Any = None
        self.free_rows = FreeRows()
        self.free_lists = FreeRows()
        self.at_once = AtOnce()
        self.turn = Turn()
        self.target_name: str | None = None

    # parameters

    @classmethod
    def parameters(cls) -> tuple[str, ...]:
        code = cls.__init__.__code__  # type: ignore[misc]
        return code.co_varnames[1 : code.co_argcount]

    @property
    def _mutable_attributes(self) -> set[str]:
        return {
            name for name in self.parameters() if isinstance(getattr(type(self), name, 0), Mutable)
        }

    def __setattr__(self, name: str, value: Any) -> None:
        kind, known = type(self), name in self.__dict__
        if known and name in kind.parameters() and name not in self._mutable_attributes:
            raise AttributeError(
                f"{name} of a {kind.__name__} cannot change: model.clone({{{name!r}: ...}}) makes a new one. "
                f"{self._changeable()}"
            )
        super().__setattr__(name, value)

    def _changeable(self) -> str:
        names = sorted(self._mutable_attributes)
        if not names:
            return "Nothing can be changed in a model that lives"
        return f"What may change, by model.mutate({{...}}) or assignment: {', '.join(names)}"

    def _check_together(self, **parameters: Any) -> None:
        """Raise for parameters that are fine alone and not together."""

    @changes_the_model
    def change(self, name: str, value: Any) -> None:
        """What assigning a mutable parameter does."""
        self._change(name, value)

    def _change(self, name: str, value: Any) -> None:
        """A mutable parameter gets a new value, which takes effect at once."""
        self._check_together(**{name: value})
        self.__dict__[name] = value
        if self.block is not None:
            self.write_parameters()

    def write_parameters(self) -> None:
        """Parameters that are fields of the record; NaN stands for None."""
        state = self.state_record()
        for name in set(self.state_type.names or ()).intersection(self.parameters()):
            value = getattr(self, name)
            state[name] = math.nan if value is None else value

    def initial_state(self) -> dict[str, Any]:
        """The other fields of the record that do not start at 0. Whole numbers among them never change."""
        return {}

    @property
    def kernel_in_use(self) -> Kernel:
        return self.usual_kernel if self.kernel is None else self.kernel

    def index_of(self, names: Iterable[Any]) -> FeatureIndex:
        """An index of these features."""
        return FeatureIndex(names, self.kernel_in_use.scales)

    # the block

    @classmethod
    def stamp(cls) -> int:
        """A number for the layout of its block: what pickles are recognised by."""
        return blocks.stamp_of(cls.state_type)

    def header_fields(self, n_features: int) -> dict[str, Any]:
        """The header fields of a new block."""
        own = {"random": self.entropy, "scale": 1.0, "needs": self.needs}
        return self.kernel_in_use.header_fields(n_features) | own

    def create_block(self, n_features: int, **fields: Any) -> None:
        """A new block, with these header fields instead of the usual ones."""
        fields = self.header_fields(n_features) | {"width": n_features} | fields
        self.block = blocks.allocate(stamp=self.stamp(), **fields)
        self.furnish()
        self.write_parameters()
        state = self.state_record()
        for name, value in self.initial_state().items():
            state[name] = value

    def furnish(self) -> None:
        """Tables of the algorithm's own in the room of a new block get their places and what they begin with."""

    def own_tables(self) -> dict[str, Any]:
        """Those of these tables that belong in a file, by name."""
        return {}

    def older_shape(self, name: str) -> tuple[int, int]:
        """The shape of one of `older_tables`."""
        raise NotImplementedError

    def take_older(self, name: str, table: Any) -> None:
        """One of `older_tables` from a file becomes those that stand for it."""
        raise NotImplementedError

    def check_restored_state(self, count: int) -> None:
        """The record comes from a file: raise ValueError for what compiled code could not bear.

        It uses some of these numbers as indexes and loop bounds without a check.
        """

    def check_restored_rows(self, count: int) -> None:
        """The same for the rows kept per vector. A model that keeps some must say what they may hold."""
        raise NotImplementedError(
            f"{type(self).__name__} keeps numbers per vector and does not say what a file may set them to: it "
            "lacks check_restored_rows"
        )

    def state_record(self) -> Any:
        """The algorithm's own record."""
        return blocks.state_of(self.block, self.state_type)

    def after_uniting(self, parts: list[Any]) -> None:
        """The record of a model that has become the sum of these parts (uniting/expansions.py).

        Counts go on from the largest: models that have begun as copies have counted the same rounds, which
        a sum would count again each time.
        """
        state = self.state_record()
        for name in self.counters:
            state[name] = max(part.model.state_record()[name] for part in parts)

    def resize_block(self, **sizes: int) -> None:
        self.use_block(blocks.resized(self.block, **sizes))

    def use_block(self, block: Any) -> None:
        """Another block takes the place of the model's."""
        self.block = block
        self.forget_prepared()

    def forget_prepared(self) -> None:
        """Give back what is kept for the next single example."""
        self.at_once = AtOnce()
        self.free_rows, self.free_lists = FreeRows(), FreeRows()

    def add_features(self, names: Collection[Any], beside: Collection[Any] = ()) -> None:
        """Give new features their places, in one step. `beside`: names that must stay known."""
        if self.block is None:
            twin = self.twin()
            twin.begin_with(by_key(names) if self.takes_lists else in_order(names))
            self.become(twin)
        else:
            self._add_to_others(names, beside)
        self.forget_prepared()

    def begin_with(self, names: list[Any]) -> None:
        """The first features."""
        self.features.rename(names)
        self.create_block(len(names))
        self.write_keys(self.features.places)

    def _add_to_others(self, names: Collection[Any], beside: Collection[Any]) -> None:
        """New features behind those that the model knows."""
        features = self.features.and_more(names)
        n = len(features)
        if n > blocks.views(self.block).head.width:
            twin = self.twin()
            twin.resize_block(width=n + int(SPARE_FEATURES * n))
            twin.know(names, features)
            self.become(twin)
        elif (
            not features.plain
        ):  # later something may raise: then the model takes its old block again
            twin = self.twin()
            twin.know(names, features)
            self.become(twin)
        else:
            self.know(names, features)

    def know(self, names: Collection[Any], features: FeatureIndex) -> None:
        """From now on these are the features, of which some are new: their room is there."""
        self.write_keys({name: features.places[name] for name in names}, len(features))
        fresh = {"at_once": AtOnce(), "free_rows": FreeRows(), "free_lists": FreeRows()}
        self._take(features=features, **fresh)

    def write_keys(self, places: Mapping[Any, int], n: int | None = None) -> None:
        """Where these of n features stand in the order of summation; and whether that is the order of all places."""
        model = blocks.views(self.block)
        keys, ties = model.keys, model.ties
        write_order(keys, ties, places.values(), places)
        n = len(self.features) if n is None else n
        model.head.shuffled = self.features.loose or not is_in_order(keys[:n], ties[:n])

    def _new_row(self) -> PreparedRow:
        while True:
            block = self.block
            row = PreparedRow(self.pass_holder, block, len(self.features), self.n_outputs)
            if block is self.block:  # else another thread has changed all three
                return row

    def _new_list(self, x: dict[Any, Any]) -> PreparedList:
        room = max(SHORT_LIST, 2 * len(x))
        while True:
            block = self.block
            prepared = PreparedList(self.pass_holder, block, room, self.n_outputs)
            if block is self.block:
                return prepared

    @property
    def n_outputs(self) -> int:
        return 1

    @property
    def pass_holder(self) -> Any:
        """The class whose `learning_pass` is the pass of this model. (The pass itself must not be held by a
        model: River would count all that belongs to a compiled function as the model's memory.)"""
        return type(self)

    # inspection

    def named(self, scores: Rows) -> Any:
        """Scores, or coefficients, as users see them."""
        return float(scores[0])

    @property
    @looks_at_the_model
    def memory_usage(self) -> int:
        """Bytes that the model occupies: its block and its indexes."""
        return (0 if self.block is None else self.block.nbytes) + self.features.memory_usage
