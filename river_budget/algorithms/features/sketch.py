"""Sketches of products of features: a map for linear models."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from ...core import memory
from ...core.passes.features import sketch as core
from ...core.random_numbers import uniforms
from ...kernels import Kernel, Polynomial
from ...model.algorithm import Algorithm, Files
from .drawn import Drawn, DrawnMap, keys_of
from .maps import numbered

__all__ = ["PolynomialCountSketch"]


def _columns(uniform: Any, n_components: int) -> Any:
    """From uniform numbers to places and signs, alternately."""
    columns = np.where(uniform < 0.5, -1.0, 1.0)
    columns[..., ::2] = np.floor(uniform[..., ::2] * n_components)
    return columns


def _count(model: Any) -> int:
    """Two numbers for each factor of a product."""
    return 2 * int(model._kernel_in_use.header_fields(1)["degree"])


def _numbers(model: Any, names: Collection[Any], header: dict[str, Any]) -> Any:
    """A place and a sign for each factor of a product, of several features, one row each."""
    uniform: Any = uniforms(keys_of(names, model._entropy), _count(model))  # type: ignore[no-untyped-call]
    return _columns(uniform, model.n_components)


def _check_kernel(parameters: Mapping[str, Any]) -> None:
    kernel = parameters["kernel"]
    if kernel and (not isinstance(kernel, Polynomial) or kernel.coef0 < 0.0):
        raise ValueError(
            f"a sketch needs kernel=Polynomial with a coef0 of at least 0, not kernel={kernel!r}"
        )


def _check_numbers(model: Any, count: int) -> None:
    names, places = list(model._features), list(model._features.places.values())
    rows = memory.views(model._block).vectors[places, :count]
    if names and not np.array_equal(rows, _numbers(model, names, {})):
        raise ValueError("its places and signs are not those of its features")


class Sketched(Drawn):
    """Drawn places and signs, and room for the sketches of two factors."""

    def extra_arguments(self, model: Any, block: Any) -> dict[str, Any]:
        return {"scratch": memory.table(np.float64, (2, model.n_components))}


class PolynomialCountSketch(DrawnMap):
    """A sketch of all products of features: a linear model behind it becomes a polynomial one.

    Inner products of sketches are on average those of the polynomial kernel, with an error of about
    1 / sqrt(n_components) of the lengths. All products of two of 100 features are 5,050 features; a
    sketch adds them up into `n_components`. Features should be scaled, as products of large ones
    exceed all others.

    Not for few features, where all products (River's `PolynomialExtender`) are more accurate, nor
    for boundaries that are not polynomials of low degree: use `RandomFourier` or `Nystroem`.

    The place and the sign of a feature depend on its name and the seed only: a map with the same
    seed is the same map, whatever the order in which features appear. The time for an example grows
    with its features that are not 0, times `n_components`, times the degree.

    Parameters
    ----------
    n_components
        The number of features that it returns.
    kernel
        A `Polynomial` of `river_budget.kernels` with a coef0 of at least 0; None stands for
        `Polynomial(2, "1/d", 1.0)`.
    seed
        Seed of the places and signs; None draws anew in every run.
    scale
        A factor on the features that it returns. Linear models take steps in proportion to its
        square. 1 makes inner products those of the kernel.

    Examples
    --------

    >>> from river import evaluate, linear_model, metrics
    >>> import river_budget as rb

    The label depends on products of features, so a linear model has an accuracy of 50%:

    >>> import random
    >>> rng = random.Random(1)
    >>> def stream(n):
    ...     for _ in range(n):
    ...         x = {i: rng.gauss(0.0, 1.0) for i in range(10)}
    ...         yield x, x[0] * x[1] + x[2] * x[3] > 0.0
    >>> model = rb.PolynomialCountSketch(200, seed=1) | linear_model.LogisticRegression()
    >>> evaluate.progressive_val_score(stream(5000), model, metrics.Accuracy())
    Accuracy: 8...%

    References
    ----------
    [^1]: [Pham, N. and Pagh, R., 2013. Fast and scalable polynomial kernels via explicit feature maps. KDD 2013.](https://doi.org/10.1145/2487575.2487591)

    """  # noqa: E501

    algorithm = Algorithm(
        None,
        core.STATE,
        score=core.transform,
        kernel=Polynomial(2, "1/d", 1.0),
        columns=Sketched(count=_count, numbers=_numbers),
        together=_check_kernel,
        files=Files(check=_check_numbers, scored_rows=True),
    )

    def __init__(
        self,
        n_components: int = 100,
        kernel: Kernel | None = None,
        seed: int | None = None,
        scale: float = 5.0,
    ):
        super().__init__(locals())

    @property
    def _n_outputs(self) -> int:
        return int(self.n_components)

    def _feature_names(self) -> list[str]:
        return numbered("sketch", self.n_components)


def constant_columns(model: PolynomialCountSketch, random: int) -> Any:
    """The places and signs of the constant feature for coef0, from head.random
    (core/passes/features/sketch.py).
    """
    uniform: Any = uniforms(random, _count(model))  # type: ignore[no-untyped-call]
    return _columns(uniform, model.n_components)
