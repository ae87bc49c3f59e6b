"""StreamModel, the base class of all models: one block of memory, an index of features, and compiled passes.

Every compiled pass receives rows, targets and weights, and returns the score of each row before it learns the
row. So a learning pass is also a progressive validation.

A pass stops at a row that it cannot learn and returns the row's number: because the row is not finite, which
is an error; because the model needs a larger block first; or because a warning is due. So Python need not check
a single example.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Collection, Iterable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from river import base

from ...core.block import blocks
from ...core.block.limits import KERNELS
from ...core.compiling.needs import Need
from ...kernels import RBF, Custom, Kernel
from ...parameters import Mutable, check_names, instance_of, optional, whole
from ..calls.calls import PreparedList, PreparedRow, Rows, class_of_passes
from ..calls.one_by_one import OneByOne
from ..inputs.features import FeatureIndex, in_order
from ..lock import ModelLock, changes_the_model, looks_at_the_model
from .copying import Copied, nothing_prepared
from .summary import Described

SHORT_LIST_FEATURES = 32  # features of an example
SPARE_FEATURES_SHARE = 0.25  # table rows in reserve, as a share, once new features have appeared


def check_compiled(name: str, value: Any, known: tuple[int, ...]) -> None:
    """Raise for a kernel or a maintenance whose code has no branch in core: core would treat it as another one."""
    if value.header_fields(1)[name] not in known:
        raise NotImplementedError(f"{name} {value!r} has no branch in the compiled core")


class StreamModel(OneByOne, Copied, Described, base.Estimator):
    """A model, kept in one block. Subclasses name their passes and implement the hooks (examples/extending.md)."""

    learning_pass: ClassVar[Any] = None  # the compiled pass; None: nothing to learn
    scoring_pass: ClassVar[Any]  # the compiled pass that only scores
    # the record of the pass; a field with a parameter's name holds the parameter's value
    state_type: ClassVar[np.dtype[Any]]
    # fields of the record that count: a sum of models takes the largest of its parts
    counters: ClassVar[tuple[str, ...]] = ()
    # what a file may set parameters, fields of the record, `per_vector` and own tables to (saving/trust.py)
    ranges: ClassVar[Mapping[str, tuple[float, float]]] = {}
    scores_with_per_vector: ClassVar[bool] = False  # whether scoring reads `per_vector`
    needs: ClassVar[Need] = Need.EXAMPLES  # the shared functions that its passes call
    takes_lists = True  # whether passes take lists of present features, or whole rows only
    draws_features: ClassVar[bool] = False  # whether unknown features contribute to scores
    no_sum: ClassVar[str] = ""  # why models of this class cannot be united, if so
    usual_kernel: ClassVar[Kernel] = RBF()  # the kernel if the parameter is None
    first_columns = (
        0  # columns of the batch with which a model begins: d of "c/d" counts empty ones, too
    )
    # whether `factor` holds a table that the model can compute, which a file may lack
    factor_is_table: ClassVar[bool] = False
    # whether `factor` has numbers above its diagonal
    whole_factor: ClassVar[bool] = False

    def __new__(cls, *args: Any, **named: Any) -> Self:
        check_names(cls, named, cls.parameters())
        return super().__new__(cls)

    def __init__(self, kernel: Kernel | None, seed: int | None):
        optional(instance_of(Kernel))("kernel", kernel)
        optional(whole(0, math.inf))("seed", seed)
        self.kernel = kernel
        check_compiled("kernel", self.kernel_in_use, KERNELS)
        if "seed" in self.parameters():
            self.seed = seed
        self.entropy = secrets.randbits(64) if seed is None else int(seed) % 2**64
        if isinstance(self.kernel_in_use, Custom):
            self.takes_lists = False  # a user's kernel function takes whole rows
        self.features = self.index_of(())
        self.block: Any = None
        self.__dict__.update(nothing_prepared())
        self.lock = ModelLock()
        self.target_name: str | None = None

    # parameters

    @classmethod
    def parameters(cls) -> tuple[str, ...]:
        """The names of the constructor's parameters."""
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
        """Raise if these parameters, each valid alone, cannot be combined."""

    @changes_the_model
    def mutate(self, new_attrs: dict[str, Any]) -> None:
        """Change parameters while the model lives: all of these, or none if one is refused or memory does not suffice."""
        twin = self.twin()
        super(StreamModel, twin).mutate(new_attrs)  # which calls `change` for each
        self.adopt(twin)

    @changes_the_model
    def change(self, name: str, value: Any) -> None:
        """Set a mutable parameter; assigning the attribute calls this. A change that fails changes nothing."""
        twin = self.twin()
        twin._change(name, value)
        self.adopt(twin)

    def _change(self, name: str, value: Any) -> None:
        """Set a mutable parameter to a new value, which takes effect at once."""
        self._check_together(**{name: value})
        self.__dict__[name] = value
        if self.block is not None:
            self.write_parameters()

    def write_parameters(self) -> None:
        """Write the parameters that are fields of the record to the record; NaN stands for None."""
        state = self.state_record()
        for name in set(self.state_type.names or ()).intersection(self.parameters()):
            value = getattr(self, name)
            state[name] = math.nan if value is None else value

    def initial_state(self) -> dict[str, Any]:
        """Start values of other fields of the record, where they are not 0.

        Integers among them never change.
        """
        return {}

    @property
    def kernel_in_use(self) -> Kernel:
        """The parameter `kernel`, or the default of the class."""
        return self.usual_kernel if self.kernel is None else self.kernel

    def index_of(self, names: Iterable[Any]) -> FeatureIndex:
        """An index of these features."""
        return FeatureIndex(names, self.kernel_in_use.scales)

    # the block

    @classmethod
    def stamp(cls) -> int:
        """A hash of the layout of the model's block, to recognise pickles of another version."""
        return blocks.stamp_of(cls.state_type)

    def header_fields(self, n_features: int) -> dict[str, Any]:
        """The header fields of a new block."""
        own = {"random": self.entropy, "scale": 1.0, "needs": self.needs}
        return self.kernel_in_use.header_fields(self.first_columns or n_features) | own

    def create_block(self, n_features: int, **fields: Any) -> None:
        """Allocate the model's block; `fields` replace some of the usual header fields."""
        fields = self.header_fields(n_features) | {"width": n_features} | fields
        self.block = blocks.allocate(stamp=self.stamp(), **fields)
        self.furnish()
        self.write_parameters()
        state = self.state_record()
        for name, value in self.initial_state().items():
            state[name] = value

    def furnish(self) -> None:
        """Hook: lay out and initialise the algorithm's own tables in the `room` of a new block."""

    def own_tables(self) -> dict[str, Any]:
        """Hook: {name: table} of the own tables that are saved to files."""
        return {}

    def prepare_restored(self, own: Mapping[str, Any]) -> None:
        """Hook: what the record of a file says of the sizes of tables, before there is a block."""

    def check_restored_state(self, count: int) -> None:
        """Hook: raise ValueError for a state from a file that is in its ranges, and that compiled code cannot handle.

        Compiled code uses some of these numbers as indexes and loop bounds without a check.
        """

    def state_record(self) -> Any:
        """The algorithm's own record in the block."""
        return blocks.state_of(self.block, self.state_type)

    def after_uniting(self, parts: list[Any]) -> None:
        """Hook: set the record of a model that is the sum of these parts (uniting/expansions.py).

        Counters continue from the largest: models that began as copies have counted the same rounds, which a
        sum would count twice.
        """
        state = self.state_record()
        for name in self.counters:
            state[name] = max(part.model.state_record()[name] for part in parts)

    def resize_block(self, **sizes: int) -> None:
        """Replace the block by a copy with other sizes."""
        self.use_block(blocks.resized(self.block, **sizes))

    def use_block(self, block: Any) -> None:
        """Replace the model's block, and drop the calls prepared for the old one."""
        self.block = block
        self.forget_prepared()

    def forget_prepared(self) -> None:
        """Drop the prepared calls, which refer to the old block."""
        self._replace_attributes(**nothing_prepared())

    def add_features(self, names: Collection[Any], beside: Collection[Any] = ()) -> None:
        """Give places to new features. `beside`: names that must keep their places."""
        if self.block is None:
            twin = self.twin()
            twin.begin_with(in_order(names))
            self.adopt(twin)
            return
        if len(names) > len(self.features.vacant):
            self.make_room(len(names), beside)
        self.before_new_names(names)
        self.features.add(names)
        self.forget_rows()

    def take_back(self, names: Collection[Any]) -> None:
        """Hook: forget names that were added for an example that could not be learned."""

    def forget_rows(self) -> None:
        """Drop the prepared rows, which refer to the old places of names."""
        self.__dict__["free_rows"] = []

    def begin_with(self, names: list[Any]) -> None:
        """Create the block for the first features."""
        self.features.rename(names)
        self.create_block(max(len(names), 1))

    def make_room(self, new: int, beside: Collection[Any]) -> None:
        """Make the table wide enough for so many new names."""
        wanted = self.features.width + max(new - len(self.features.vacant), 0)
        if wanted > blocks.width_in(self.block):
            self.resize_block(width=wanted + int(SPARE_FEATURES_SHARE * wanted))

    def before_new_names(self, names: Collection[Any]) -> None:
        """Hook: write into the tables what new features need, before they get their places."""

    @property
    def _passes(self) -> Any:
        """The compiled passes that learn and score, `learn` and `score` of a class."""
        return class_of_passes(self.pass_holder.learning_pass, self.scoring_pass)

    def _new_row(self) -> PreparedRow:
        """A prepared call for one example with all known features."""
        return PreparedRow(self._passes, self.block, self.features, self.n_outputs)

    def _new_list(self, entries: int) -> PreparedList:
        """A prepared call for one example with some of the features."""
        room = max(SHORT_LIST_FEATURES, 2 * entries)
        return PreparedList(self._passes, self.block, room, self.n_outputs)

    @property
    def n_outputs(self) -> int:
        """The number of scores of an example."""
        return 1

    @property
    def pass_holder(self) -> Any:
        """The class whose `learning_pass` is the pass of this model.

        A model has no reference to the pass itself: River would count all objects of a compiled function as
        the model's memory.
        """
        return type(self)

    # inspection

    def named(self, scores: Rows) -> Any:
        """Scores, or coefficients, as users see them: a number, or {class: number}."""
        return float(scores[0])

    @property
    @looks_at_the_model
    def memory_usage(self) -> int:
        """The memory of the model in bytes: its block and its indexes."""
        return (0 if self.block is None else self.block.nbytes) + self.features.memory_usage
