"""The two artificial streams of the 2010 paper."""

from __future__ import annotations

import abc
import itertools
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from river.datasets import base

from ..parameters import optional, whole
from .orders import FIRST_SEED, Arrays
from .reading import Floats

BLOCK = 4096  # examples drawn at once, so that examples do not depend on how many are requested


class _Generated(base.SyntheticDataset):
    """Blocks of examples from one generator of random numbers."""

    def __init__(self, n_samples: int | None, seed: int | None, **shape: Any):
        optional(whole(1))("n_samples", n_samples)
        super().__init__(n_samples=n_samples, **shape)  # type: ignore[no-untyped-call]
        self.seed = seed

    @property
    def at_hand(self) -> bool:
        """True: there is nothing to fetch."""
        return True

    def in_order(self, k: int) -> Self:
        """The stream of repetition k, counted from 0: as many examples, with other random numbers."""
        whole(0)("k", k)
        return type(self)(self.n_samples, FIRST_SEED + k)

    @abc.abstractmethod
    def _draw(self, rng: np.random.Generator) -> Arrays:
        """Draw a block of examples."""

    def _blocks(self) -> Iterator[Arrays]:
        rng = np.random.default_rng(self.seed)
        while True:
            yield self._draw(rng)

    def arrays(self) -> Arrays:
        """All rows and targets; with a seed, the same as by iteration."""
        if self.n_samples is None:
            raise ValueError("n_samples must be given for arrays: the stream has no end")
        n = self.n_samples
        drawn = itertools.islice(self._blocks(), -(-n // BLOCK))
        X, y = (np.concatenate(each)[:n] for each in zip(*drawn, strict=True))
        return X, y

    def __iter__(self) -> Iterator[tuple[dict[int, float], Any]]:
        pairs = (
            (dict(enumerate(row)), target)
            for X, y in self._blocks()
            for row, target in zip(X.tolist(), y.tolist(), strict=True)
        )
        return itertools.islice(pairs, self.n_samples)


class Checkerboard(_Generated):
    """Points on a board of four by four squares, black or white.

    Both coordinates are uniform, and shifted and stretched to mean 0 and standard deviation 1, as the 2010
    paper does with every feature. The paper does not describe its board: this one fits its figures.

    Parameters
    ----------
    n_samples
        The number of examples, 10 million in the paper. `None`: an unlimited stream.
    seed
        A number, to get the same examples every time.

    Examples
    --------

    >>> from river_budget import datasets

    >>> for x, y in datasets.Checkerboard(seed=1).take(2):
    ...     print(x, y)
    {0: 0.04095..., 1: 1.56045...} True
    {0: -1.23266..., 1: 1.55416...} True

    References
    ----------
    Wang, Z., Crammer, K., & Vucetic, S. (2010). Multi-class Pegasos on a budget. ICML.

    """

    def __init__(self, n_samples: int | None = 10_000_000, seed: int | None = None):
        super().__init__(n_samples, seed, task=base.BINARY_CLF, n_features=2, n_classes=2)

    def _draw(self, rng: np.random.Generator) -> Arrays:
        X = rng.random((BLOCK, 2))
        black = np.floor(4 * X).sum(axis=1) % 2 == 1
        return (X - 0.5) * 12**0.5, black


class Waveform(_Generated):
    """Breiman's waves: 21 noisy points on a mixture of two of three triangles. The class is which two.

    Every feature has mean 0 and standard deviation 1, as in the 2010 paper; here they are the exact ones of
    the distribution, not those of a sample. River's own `synth.Waveform` is the same without that.

    Parameters
    ----------
    n_samples
        The number of examples, 2 million in the paper. `None`: an unlimited stream.
    seed
        A number, to get the same examples every time.

    Examples
    --------

    >>> from river_budget import datasets

    >>> X, y = datasets.Waveform(1000, seed=1).arrays()
    >>> X.shape, y[:5]
    ((1000, 21), array([1, 1, 2, 2, 0]))

    References
    ----------
    Breiman, L., Friedman, J., Olshen, R., & Stone, C. (1984). Classification and regression trees.

    """

    def __init__(self, n_samples: int | None = 2_000_000, seed: int | None = None):
        super().__init__(n_samples, seed, task=base.MULTI_CLF, n_features=21, n_classes=3)

    def _draw(self, rng: np.random.Generator) -> Arrays:
        y = rng.integers(0, 3, BLOCK)
        share = rng.random((BLOCK, 1))
        X = share * FIRST[y] + (1 - share) * SECOND[y] + rng.normal(size=(BLOCK, 21))
        return (X - MEAN) / DEVIATION, y


def _triangle(centre: int) -> Floats:
    return np.maximum(6.0 - np.abs(np.arange(1, 22) - centre), 0.0)


FIRST = np.array([_triangle(11), _triangle(11), _triangle(15)])  # of each class
SECOND = np.array([_triangle(15), _triangle(7), _triangle(7)])
MEAN = (FIRST + SECOND).mean(axis=0) / 2
# With a share u uniform on [0, 1], E u^2 = E (1 - u)^2 = 1/3 and E u (1 - u) = 1/6; the noise adds 1.
_SQUARE: npt.NDArray[np.float64] = (FIRST**2 + FIRST * SECOND + SECOND**2).mean(axis=0) / 3
DEVIATION = np.sqrt(1 + _SQUARE - MEAN**2)
