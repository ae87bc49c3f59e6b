"""Kernel functions of users."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from ..core import custom_kernels
from ..core.codes import Kernel as Code
from ..parameters import optional
from .known import Kernel


class Custom(Kernel):
    """A kernel function of your own, compiled by numba.

    It takes two rows and returns a number, in code that numba's `njit` can compile. Rows hold the
    features in the order in which the model first saw them (within an example in sorted order), 0
    for those that an example lacks, and further zeros at the end, which must not change the value.
    It must be symmetric and positive semidefinite, or algorithms that use lengths fail. It must not
    raise, and not change the rows: the first example of a model is tried in plain Python, where an
    error is raised; compiled code prints it and takes 0. Values beyond 1e100 are clamped, and NaN
    counts as 0.

    Not for speed, as each support vector takes a call (three to four times the time of a built-in
    kernel), and not for merging, `FOGD` and random feature maps, which need special kernels. All
    other models accept it. Features that were never learned do not count.

    Files hold the name of the function, not the function: create the kernel before you load such a
    file, or `load` raises an error that says so.

    Parameters
    ----------
    function
        A function of two rows, plain or compiled by `numba.njit`.
    name
        Its name in files. None: its module and its name. Two functions must have different names.

    Examples
    --------

    >>> import numpy as np
    >>> import river_budget as rb

    >>> def common_part(x, z):  # of histograms
    ...     return np.minimum(x, z).sum()

    >>> kernel = rb.kernels.Custom(common_part, name="common part")
    >>> model = rb.ProjectronClassifier(kernel=kernel)
    >>> model.learn_one({"red": 3, "blue": 1}, "sunset")
    >>> model.learn_one({"red": 0, "blue": 4}, "noon")
    >>> model.predict_one({"red": 2, "blue": 1})
    'sunset'

    References
    ----------
    [^1]: [Swain, M. and Ballard, D., 1991. Color indexing. International Journal of Computer Vision 7.](https://doi.org/10.1007/BF00130487) (the kernel of the example)

    """  # noqa: E501

    def __init__(self, function: Callable[[Any, Any], Any], name: str | None = None):
        optional(_text)("name", name)
        if not callable(function):
            raise ValueError(f"function must be a function of two rows, not {function!r}")
        self.function = function
        self.name = name
        known = custom_kernels.known_function(self.known_as)
        if known is not None and not _same_code(known, function):
            raise ValueError(
                f"another kernel function is known as {self.known_as!r}: give this one a name of "
                "its own, "
                "Custom(function, name=...)"
            )
        try:
            custom_kernels.register(self.known_as, function)
        except numba.errors.NumbaError as error:
            raise ValueError(f"function {function!r} cannot be compiled: {error}") from None

    @property
    def known_as(self) -> str:
        """The name of the function in files."""
        if self.name is not None:
            return self.name
        return f"{self.function.__module__}.{self.function.__qualname__}"

    def check_on(self, x: Any) -> None:
        """Call the function in plain Python, where what it raises is raised: compiled code can only
        say it and go on.
        """
        value = _plain(self.function)(x.copy(), x.copy())
        if not isinstance(value, (int, float, np.number, np.bool_)):
            raise TypeError(f"{self!r} must return a number, not {value!r}")

    def __repr__(self) -> str:
        return f"Custom({self.known_as})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Custom) and self.known_as == other.known_as

    def __hash__(self) -> int:
        return hash((Custom, self.known_as))

    def __reduce__(self) -> Any:
        return Custom, (self.function, self.name)  # registers it when unpickled

    def header_fields(self, n_features: int) -> dict[str, Any]:
        return {
            "kernel": Code.CUSTOM,
            "custom": custom_kernels.number_of(self.known_as),
        }


def _text(name: str, value: Any) -> None:
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} must be a text, not {value!r}")


def _plain(function: Any) -> Any:
    """A function as it is written, also of one compiled by numba."""
    return getattr(function, "py_func", function)


def _same_code(a: Any, b: Any) -> bool:
    """Whether two functions compute the same, as after a second definition: with equal code,
    defaults and constants around them.
    """
    if a is b:
        return True
    one, other = _plain(a), _plain(b)
    codes = [getattr(each, "__code__", None) for each in (one, other)]
    return None not in codes and codes[0] == codes[1] and _same_values(_given(one), _given(other))


def _given(function: Any) -> list[Any]:
    """What a function has beside its code: defaults, and values of the function that made it."""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).items(), *cells]


def _same_values(some: list[Any], others: list[Any]) -> bool:
    return len(some) == len(others) and all(map(_is_same, some, others))


def _is_same(a: Any, b: Any) -> bool:
    if callable(a) and callable(b):
        return _same_code(a, b)
    return a is b or (type(a) is type(b) and bool(np.array_equal(a, b)))
