"""Random Fourier features: a map for linear models; FOGD has a linear model inside."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from ...core import memory
from ...core.codes import Kernel as Code
from ...core.passes.features import fourier as core
from ...core.random_numbers import uniforms
from ...kernels import RBF, Kernel
from ...model.algorithm import After, Algorithm, Files
from ...parameters import Mutable
from .drawn import Drawn, DrawnMap, keys_of

__all__ = ["RBFSampler", "RandomFourier"]


LARGEST_GAMMA = 1e150  # with a larger one frequencies would not be finite


def frequencies_of(names: Collection[Any], entropy: int, n: int, header: dict[str, Any]) -> Any:
    """n frequencies of each of several features, one row each, which depend only on its name and
    the seed.

    A larger n continues the same sequence. Their distribution is the Fourier transform of the
    kernel.
    """
    uniform: Any = uniforms(keys_of(names, entropy), n)  # type: ignore[no-untyped-call]
    gamma = min(header["gamma"], LARGEST_GAMMA)
    if header["kernel"] == Code.RBF:  # normal
        normal: Any = _quantiles()(uniform, uniform)
        normal *= math.sqrt(2.0 * gamma)
        return normal
    return gamma * np.tan(math.pi * (uniform - 0.5))  # Cauchy


@functools.cache
def _quantiles() -> Any:
    """The quantiles of the normal distribution."""
    from scipy.special import ndtri  # imported here, as only these models need it

    return ndtri


@functools.cache
def _names(n: int) -> list[str]:
    return [f"cos_{j}" for j in range(n)] + [f"sin_{j}" for j in range(n)]


def _waves(model: Any, names: Collection[Any], header: dict[str, Any]) -> Any:
    """The frequencies of several features, one row each, times the scales of the features."""
    waves = frequencies_of(names, model._entropy, model.n_components, header)
    scales = model._kernel_in_use.scales
    if scales is None:
        return waves
    return np.array([[scales.get(name, 1.0)] for name in names]) * waves


WAVES = Drawn(count=lambda model: model.n_components, numbers=_waves, approximates=True)


def check_waves(parameters: Mapping[str, Any]) -> None:
    """Raise for a kernel without waves."""
    kernel = parameters["kernel"]
    if kernel and kernel.header_fields(1)["kernel"] not in (Code.RBF, Code.LAPLACIAN):
        raise ValueError(
            f"random Fourier features need kernel=RBF or Laplacian, not kernel={kernel!r}"
        )


class RandomFourier(DrawnMap):
    """Random Fourier features: a linear model behind them becomes a kernel machine.

    Every new feature is a wave over the whole example, so interactions of features count too: inner
    products of transformed examples approximate the kernel, with an error of about 1 /
    sqrt(n_components). River's `RBFSampler` draws waves over one feature at a time. It approximates
    a sum of one-dimensional kernels, which cannot express that two features act together (XOR), and
    yields `n_components` features for each feature of the example. Where features have no
    interactions that sum may learn faster; everywhere else this map does better, and its size does
    not grow with the number of features.

    The frequencies of a feature depend on its name and the seed only: a map with the same seed is
    the same map, whatever the order in which features appear.

    Not for kernels other than `RBF` and `Laplacian`, nor in front of models that need sparse
    features.

    Parameters
    ----------
    n_components
        The number of frequencies. Each gives two features, a cosine and a sine.
    kernel
        `RBF` or `Laplacian` of `river_budget.kernels`; None stands for `RBF()`.
    seed
        Seed of the frequencies; None draws anew in every run.
    scale
        The length of the feature vectors that it returns. Linear models take steps in proportion to
        its square; 7, whose square is about that of fifty scaled features, suits River's with their
        default rates. 1 makes inner products those of the kernel.

    Examples
    --------

    >>> from river import datasets, evaluate, linear_model, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = (
    ...     preprocessing.StandardScaler()
    ...     | rb.RandomFourier(100, kernel=rb.kernels.RBF(1.0), seed=1)
    ...     | linear_model.LogisticRegression()
    ... )
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 8...%

    The inner product of two examples is close to the kernel:

    >>> features = rb.RandomFourier(1000, kernel=rb.kernels.RBF(0.5), seed=1, scale=1.0)
    >>> a, b = features.transform_one({"x": 1.0, "y": 0.0}), features.transform_one({"x": 0.0, "y": 1.0})
    >>> sum(a[i] * b[i] for i in a)  # exp(-0.5 * 2) = 0.3679
    0.3...

    References
    ----------
    [^1]: [Rahimi, A. and Recht, B., 2007. Random features for large-scale kernel machines. NIPS 20.](https://people.eecs.berkeley.edu/~brecht/papers/07.rah.rec.nips.pdf)

    """  # noqa: E501

    algorithm = Algorithm(
        None,
        core.STATE,
        score=core.transform,
        columns=WAVES,
        together=check_waves,
        files=Files(scored_rows=True),
    )

    def __init__(
        self,
        n_components: int = 100,
        kernel: Kernel | None = None,
        seed: int | None = None,
        scale: float = 7.0,
    ):
        super().__init__(locals())

    @property
    def _n_outputs(self) -> int:
        return 2 * int(self.n_components)

    def _feature_names(self) -> list[str]:
        return _names(self.n_components)


def _width_of_rbf(name: str, value: Any) -> None:
    RBF(value)


def _widen(model: Any, name: str) -> None:
    """Scale the frequencies of the same waves."""
    model.kernel = RBF(model.gamma)
    if model._block is None:
        return
    head = memory.views(model._block).head
    head.gamma = model._kernel_in_use.header_fields(len(model._features))["gamma"]
    WAVES.draw(model, model._block, list(model._features), model._features.places.values())


class RBFSampler(RandomFourier):
    """`RandomFourier` for the RBF kernel, with gamma as a parameter that may change.

    It is not the same map as River's `feature_extraction.RBFSampler`. River's draws waves over each
    feature alone and yields `n_components` features, named (feature, number), for every feature of
    the example. This class draws waves over the whole example, which approximate scale^2 exp(-gamma
    |x - z|^2), and yields two for each component, named "cos_0", "sin_0" and so on. To swap one for
    the other:

    - `gamma`: River's default 1 is about d times too large here, so ours is `"auto"`, 1 / d.
    - `scale`: River's waves have no such parameter; each has the length 1.
    - `seed`: equal seeds do not give equal numbers. Here the numbers of a feature depend on its name and the seed
      only, in River also on the order in which features appear.

    Not for features without interactions, where River's sampler learns faster.

    While a model lives, `mutate` or assignment may change `gamma`.

    Parameters
    ----------
    gamma
        How fast similarity falls with distance: a number, `"auto"`, or a text such as `"2/d"`. It
        may be assigned: the waves are stretched, and a linear model behind them has to learn anew.
    n_components
        The number of frequencies. Each gives two features, a cosine and a sine.
    seed
        Seed of the frequencies; None draws anew in every run.
    scale
        The length of the feature vectors that it returns: see `RandomFourier`.

    Examples
    --------

    >>> from river import linear_model, optim, stream
    >>> import river_budget as rb

    >>> X, Y = [[0, 0], [1, 1], [1, 0], [0, 1]], [False, False, True, True]
    >>> model = rb.RBFSampler(seed=3) | linear_model.LogisticRegression(optim.SGD(0.1))
    >>> for _ in range(30):
    ...     for x, y in stream.iter_array(X, Y):
    ...         model.learn_one(x, y)
    >>> [model.predict_one(x) for x, y in stream.iter_array(X, Y)]
    [False, False, True, True]

    References
    ----------
    [^1]: [Rahimi, A. and Recht, B., 2007. Random features for large-scale kernel machines. NIPS 20.](https://people.eecs.berkeley.edu/~brecht/papers/07.rah.rec.nips.pdf)

    """  # noqa: E501

    algorithm = dataclasses.replace(RandomFourier.algorithm, after=After(change=_widen))

    gamma = Mutable(_width_of_rbf)

    def __init__(
        self,
        gamma: float | str = "auto",
        n_components: int = 100,
        seed: int | None = None,
        scale: float = 7.0,
    ):
        super().__init__(n_components, RBF(gamma), seed, scale)
        self.gamma = gamma

    def transform_one(self, x: dict[Any, Any], y: Any = None) -> dict[Any, Any]:
        return super().transform_one(x)
