"""StreamModel, the base class of all models: one block of memory, an index of features, and
compiled passes.

Every compiled pass receives rows, targets and weights, and returns the score of each row before it
learns the row. So a learning pass is also a progressive validation.

A pass stops at a row that it cannot learn yet and returns the row's number: because the model needs
a larger block first, or because a warning is due. That all numbers are finite is checked before.
"""

from __future__ import annotations

import copy
import functools
import math
import secrets
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from river import base

from ..core import memory
from ..core.expansion.kernels import KERNELS
from ..inputs.features import FeatureIndex, in_order
from ..kernels import RBF, Custom, Kernel
from ..maintenance import Maintenance
from ..messages import summary
from ..messages.stream_warnings import warn_of_width
from ..parameters import (
    Fixed,
    Mutable,
    check_names,
    instance_of,
    not_negative,
    optional,
    positive,
    whole,
)
from .algorithm import Algorithm, values_of
from .calls import Matrix
from .columns import check_compiled
from .lock import ModelLock, changes_the_model, locked_read

# The usual parameters. Where one has another range, or may be None, a class says so
USUAL = {
    "budget": Mutable(whole(1)),
    "epsilon": Mutable(not_negative),
    "kernel": Fixed(optional(instance_of(Kernel))),
    "l2": Mutable(not_negative),
    "maintenance": Fixed(optional(instance_of(Maintenance))),
    "learning_rate": Mutable(positive),
    "max_error": Mutable(optional(positive)),
    "n_components": Fixed(whole(1)),
    "scale": Fixed(positive),
    "seed": Fixed(optional(whole(0, math.inf))),
}
BEHIND_THE_TABLE = "a feature would get a place behind the table of this model: load it anew"
for _name, _parameter in USUAL.items():
    _parameter.name = _name


def _stamp_in(block: Any) -> int:
    """The stamp of the layout in which a block was made."""
    return int(block[:8].view(np.int64)[0]) if len(block) >= memory.TABLES_AT else 0


def nothing_prepared() -> dict[str, Any]:
    """Attributes of a model with another block, or other labels: calls that were prepared before do
    not count.
    """
    return {"_free_rows": [], "_free_lists": [], "_version": {}}


class StreamModel(base.Estimator):
    """A model, kept in one block: its parameters, its names, its memory and its lock.

    What is special in an algorithm stands in `algorithm`, as data. Only AutoKernel, whose memory is
    of its own kind, overrides methods of this class.
    """

    algorithm: ClassVar[Algorithm]
    _features: FeatureIndex
    _block: Any  # None before the first example
    _usual_kernel: ClassVar[Kernel] = RBF()  # of the task, if neither user nor algorithm name one
    _takes_lists = True  # whether passes take lists of present features, or whole rows only
    _reads_tables: ClassVar[bool] = (
        False  # whether it takes text and gaps, one by one and in batches
    )
    _unmergeable_because: ClassVar[str] = ""  # why models of this class cannot be united, if so
    _strategy: Any  # of an expansion: the maintenance in use
    kernel: Kernel | None
    budget: Any
    n_components: Any
    scale: Any
    _free_rows: list[Any]  # calls with room for an example with all known names
    _free_lists: list[Any]  # calls with room for a list of features
    # another object whenever names, labels or the block change: examples written before are written
    # again. What follows from the names may be kept in it
    _version: dict[str, Any]
    # columns of the batch with which a model begins: d of "c/d" counts empty ones, too
    _first_columns = 0

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        for name in USUAL.keys() & set(cls._parameters()):
            if not hasattr(cls, name):
                setattr(cls, name, USUAL[name])
        cls._check_definition()

    @classmethod
    def _check_definition(cls) -> None:
        """Raise for a parameter without a check. (A base class is given those of the classes below
        it.)
        """
        for name in cls._parameters() if cls._parameters() != ("given",) else ():
            if not isinstance(getattr(cls, name, None), Fixed):
                raise TypeError(
                    f"{name} of {cls.__name__} has no check: write `{name} = Fixed(...)` or "
                    f"`{name} = Mutable(...)` into "
                    "the class, with a check of river_budget.parameters"
                )

    def __new__(cls, *args: Any, **named: Any) -> Self:
        check_names(cls, named, cls._parameters())
        return super().__new__(cls)

    def __init__(self, given: dict[str, Any]):
        """given: the parameters, as `locals()` of the constructor of a class."""
        for name, value in ({"kernel": None} | given).items():
            if name not in ("self", "__class__"):
                setattr(self, name, value)
        check_compiled("kernel", self._kernel_in_use, KERNELS)
        self._check_together()
        seed = given.get("seed")
        self._entropy = secrets.randbits(64) if seed is None else int(seed) % 2**64
        if isinstance(self._kernel_in_use, Custom):
            self._takes_lists = False  # a user's kernel function takes whole rows
        vars(self).update(nothing_prepared())
        self._features = self._index_of(())
        self._block = None
        self._lock = ModelLock()
        self._target_name: str | None = None

    # parameters

    @classmethod
    def _parameters(cls) -> tuple[str, ...]:
        """The names of the constructor's parameters."""
        code = cls.__init__.__code__  # type: ignore[misc]
        return code.co_varnames[1 : code.co_argcount]

    @property
    def _mutable_attributes(self) -> set[str]:
        return {
            name for name in self._parameters() if isinstance(getattr(type(self), name, 0), Mutable)
        }

    def _check_together(self, **changed: Any) -> None:
        """Raise if parameters, each valid alone, cannot be combined."""
        parameters = self.__dict__ | changed
        self.algorithm.together(parameters)
        self.algorithm.columns.check(self, parameters)

    @changes_the_model
    def mutate(self, new_attrs: dict[str, Any]) -> None:
        """Change parameters while the model lives: all of these, or none if one is refused or
        memory does not suffice.
        """
        changed = self._snapshot()
        super(StreamModel, changed).mutate(new_attrs)  # which calls `change` for each
        self._swap_in(changed)

    @changes_the_model
    def _change(self, name: str, value: Any) -> None:
        """Set a mutable parameter; assigning the attribute calls this. A change that fails changes
        nothing.
        """
        self._check_together(**{name: value})
        changed = self._snapshot()
        changed.__dict__[name] = value
        if changed._block is not None:
            changed._write_parameters()
        self.algorithm.columns.changed(changed, name)
        self.algorithm.after.change(changed, name)
        self._swap_in(changed)

    def _write_parameters(self) -> None:
        """Write the parameters that are fields of the record to the record; NaN stands for None."""
        state = self._state_record()
        for name in set(self.algorithm.state.names or ()).intersection(self._parameters()):
            value = getattr(self, name)
            try:
                state[name] = math.nan if value is None else value
            except (TypeError, ValueError):
                raise TypeError(
                    f"{name}={value!r} of {type(self).__name__} is no number, and its record has a "
                    "field of this name: give "
                    "the parameter or the field another one"
                ) from None

    @classmethod
    def _default_kernel(cls) -> Kernel:
        """The kernel where the parameter is None."""
        return cls._usual_kernel if cls.algorithm.kernel is None else cls.algorithm.kernel

    @property
    def _kernel_in_use(self) -> Kernel:
        """The parameter `kernel`, or the default."""
        return self.kernel or self._default_kernel()

    def _index_of(self, names: Iterable[Any]) -> FeatureIndex:
        """An index of these features. Random numbers contain the scale of a feature."""
        drawn = self.algorithm.columns.draws
        return FeatureIndex(names, None if drawn else self._kernel_in_use.scales)

    # the block

    def _header_fields(self, n_features: int) -> dict[str, Any]:
        """The header fields of a new block."""
        own = {"random": self._entropy, "scale": 1.0, "arity": 2, "width": n_features}
        kernel = self._kernel_in_use.header_fields(self._first_columns or n_features)
        fields = kernel | own | values_of(self.algorithm.header, self)
        of_columns: dict[str, Any] = self.algorithm.columns.header(self, fields)
        return fields | of_columns

    def _create_block(self, n_features: int, **fields: Any) -> None:
        """Allocate the model's block; `fields` replace some of the usual header fields."""
        fields = self._header_fields(n_features) | fields
        self._block = memory.allocate(stamp=self._stamp(), **fields)
        self.algorithm.columns.init_tables(self)
        state = self._state_record()
        for name, value in values_of(self.algorithm.start, self).items():
            state[name] = value
        self._write_parameters()

    def _resize_block(self, **sizes: int) -> None:
        """Replace the block by a copy with other sizes."""
        if "outputs" in sizes:
            sizes.setdefault("per_vector", self._header_fields(1).get("per_vector", 0))
        self._replace(_block=memory.resized(self._block, **sizes))

    def _add_features(self, names: Collection[Any], beside: Collection[Any] = ()) -> None:
        """Give places to new features. `beside`: names that must keep their places."""
        columns = self.algorithm.columns
        if self._block is None:
            self._begin(names, self._first_columns)
            return
        if self._block.nbytes > columns.largest_usual_block:
            columns.narrow(self, {*names, *beside})
        if len(names) > len(self._features.vacant):
            columns.make_room(self, len(names), beside)
        places = self._features.next_places(len(names))
        if max(places, default=-1) >= memory.head_of(self._block).width:
            raise RuntimeError(BEHIND_THE_TABLE)  # compiled code checks no bounds
        columns.write(self, in_order(names), places)
        self._change_names(self._features.add, names)
        if columns.approximates:
            warn_of_width(self)

    def _is_whole(self, names: Collection[Any]) -> bool:
        """Whether examples with these features lack none that has to be filled in."""
        return True

    def _try_kernel(self, x: Any) -> None:
        """Call a kernel function of the user on a first row in plain Python: what it raises is
        raised.
        """
        if isinstance(kernel := self._kernel_in_use, Custom):
            kernel.check_on(np.array(x, float))

    def _begin(self, names: Collection[Any], columns: int) -> None:
        """Create the block for the first features, in one step. `columns`: of the batch that brings
        them.
        """
        changed = self._snapshot()
        changed._first_columns = columns
        changed._begin_with(in_order(names))
        self._swap_in(changed)

    def _change_names(self, change: Callable[..., None], *given: Any) -> None:
        """Change places of names by a method of the index, and with them, in one step: what refers
        to the old ones, prepared rows and what other threads have written meanwhile, does not count
        any more.
        """
        change(*given, functools.partial(vars(self).update, _free_rows=[], _version={}))

    def _begin_with(self, names: list[Any]) -> None:
        """Create the block for the first features."""
        self._features.rename(names)
        self._create_block(max(len(names), 1))
        self.algorithm.columns.write(self, names, range(len(names)))

    @property
    def _learning_pass(self) -> Any:
        """The compiled pass that learns.

        A model has no reference to the pass itself: River would count all objects of a compiled
        function as the model's memory.
        """
        learn = self.algorithm.learn
        if not isinstance(learn, Mapping):
            return learn
        return learn[self.span if hasattr(self, "span") else self._strategy.kind]

    @property
    def _scoring_pass(self) -> Any:
        """The compiled pass that only scores."""
        by_mean = getattr(self, "average", False)
        return self.algorithm.mean if by_mean else self.algorithm.score

    @property
    def _n_outputs(self) -> int:
        """The number of scores of an example."""
        return 1

    # copies, pickles, replacement as a whole

    @classmethod
    def _stamp(cls) -> int:
        """A hash of the layout of the model's block, to recognise pickles of another version."""
        return memory.stamp_of(cls.algorithm.state)

    def _state_record(self) -> Any:
        """The algorithm's own record in the block."""
        return memory.state_of(self._block, self.algorithm.state)[0]

    @property
    @locked_read
    def memory_usage(self) -> int:
        """The memory of the model in bytes: its block and its indexes."""
        indexes = self._features.memory_usage
        if labels := getattr(self, "_labels", None):
            indexes += labels.memory_usage
        return (0 if self._block is None else self._block.nbytes) + indexes

    @locked_read
    def __getstate__(self) -> dict[str, Any]:
        # names of their own: pickle and deepcopy read them later, when another thread may have
        # added some
        block = None if self._block is None else self._block.copy()
        return self._state() | {"_block": block, "_features": copy.copy(self._features)}

    def clone(
        self, new_params: dict[str, Any] | None = None, include_attributes: bool = False
    ) -> Any:
        """A model with the same parameters, and with `include_attributes` all that this one has
        learned.
        """
        source = self._snapshot() if include_attributes else self
        return super(StreamModel, source).clone(new_params, include_attributes)  # type: ignore[misc]

    def _state(self) -> dict[str, Any]:
        return self.__dict__ | nothing_prepared() | {"_lock": ModelLock()}

    @locked_read
    def _snapshot(self) -> Any:
        """A copy of the model as it is between two examples: to be read for a long time while the
        model learns on, or to be changed and then adopted in one step.
        """
        changed = object.__new__(type(self))
        changed.__setstate__(self._state())  # copies the block
        return changed

    def _swap_in(self, changed: Any) -> None:
        """Replace the state of this model by that of its changed copy."""
        self._replace(**vars(changed) | {"_lock": self._lock})

    def _replace(self, **changed: Any) -> None:
        """Set attributes in one step, as Ctrl-C may interrupt at any time, and drop the calls that
        were prepared.

        Replacing the dict is one step if it frees no object, whose finalizer could run other code.
        """
        before = self.__dict__
        self.__dict__ = {**before, **changed, **nothing_prepared()}
        del before

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "_block" not in state or (
            self._block is not None and _stamp_in(self._block) != self._stamp()
        ):
            raise TypeError(
                f"this pickle of {type(self).__name__} comes from another version of river_budget: "
                "pickles are "
                "for one version, rb.save and rb.load for all"
            )
        # a shallow copy of a model would share the index, but not the block
        self._features = copy.copy(state["_features"])
        if self._block is not None:
            self._block = memory.aligned(self._block)

    # inspection

    def _named(self, scores: Matrix) -> Any:
        """Scores, or coefficients, as users see them: a number, or {class: number}."""
        return float(scores[0])

    @property
    @locked_read
    def n_examples(self) -> int:
        """The number of examples learned, without those of weight 0; for a merged model, the
        largest of its parts.
        """
        return 0 if self._block is None else memory.views(self._block).head.n_examples

    def summary(self) -> str:
        """The state of the model as text: examples learned, vectors stored, features with the
        largest effect.
        """
        return summary.as_text(self)

    def _repr_html_(self) -> str:
        """River's HTML representation of an estimator, with the facts below its parameters."""
        return summary.as_html(self)
