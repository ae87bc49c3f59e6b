"""Streams that are drawn, not read: the two of the 2010 paper, and the poker hands of 2016."""

from __future__ import annotations

import abc
import itertools
from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from river.datasets import base

from ..parameters import optional, whole
from .orders import FIRST_SEED, Arrays
from .reading import Floats

DRAWN_AT_ONCE = (
    4096  # examples drawn at once, so that examples do not depend on how many are requested
)


class _Generated(base.SyntheticDataset):
    """Blocks of examples from one generator of random numbers."""

    time_order = False  # every repetition draws anew

    def __init__(self, n_samples: int | None, seed: int | None, **shape: Any):
        optional(whole(1))("n_samples", n_samples)
        super().__init__(n_samples=n_samples, **shape)  # type: ignore[no-untyped-call]
        self.seed = seed

    @property
    def at_hand(self) -> bool:
        """True: there is nothing to fetch."""
        return True

    def in_order(self, k: int) -> Self:
        """The stream of repetition k, counted from 0: as many examples, with other random
        numbers.
        """
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
        return next(self.pieces([self.n_samples]))

    def pieces(self, sizes: Iterable[int]) -> Iterator[Arrays]:
        """So many rows and targets at a time, which together are those of `arrays`: for streams
        that memory cannot hold.

        Examples
        --------

        >>> from river_budget import datasets

        >>> hands = datasets.PokerHands(seed=1)
        >>> [X.shape for X, _ in hands.pieces([100, 200])]
        [(100, 10), (200, 10)]

        """
        blocks, left, row = self._blocks(), self.n_samples, DRAWN_AT_ONCE
        block: Arrays = np.empty((0, 0)), np.empty(0)
        for size in sizes:
            whole(1)("size", size)
            wanted = size if left is None else min(size, left)
            parts = []
            while wanted > 0:
                if row == DRAWN_AT_ONCE:
                    block, row = next(blocks), 0
                X, y = (each[row : row + wanted] for each in block)
                parts.append((X, y))
                row, wanted = row + len(y), wanted - len(y)
            if not parts:
                return
            found = tuple(np.concatenate(each) for each in zip(*parts, strict=True))
            left = None if left is None else left - len(found[1])
            yield found  # type: ignore[misc]

    def __iter__(self) -> Iterator[tuple[dict[int, float], Any]]:
        pairs = (
            (dict(enumerate(row)), target)
            for X, y in self._blocks()
            for row, target in zip(X.tolist(), y.tolist(), strict=True)
        )
        return itertools.islice(pairs, self.n_samples)


class Checkerboard(_Generated):
    """Points on a board of four by four squares, black or white.

    Both coordinates are uniform, and shifted and stretched to mean 0 and standard deviation 1, as
    the 2010 paper does with every feature. The paper does not describe its board: this one fits its
    figures.

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
        X = rng.random((DRAWN_AT_ONCE, 2))
        black = np.floor(4 * X).sum(axis=1) % 2 == 1
        return (X - 0.5) * 12**0.5, black


class Waveform(_Generated):
    """Breiman's waves: 21 noisy points on a mixture of two of three triangles. The class is which
    two.

    Every feature has mean 0 and standard deviation 1, as in the 2010 paper; here they are the exact
    ones of the distribution, not those of a sample. River's own `synth.Waveform` is the same
    without that.

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
        y = rng.integers(0, 3, DRAWN_AT_ONCE)
        share = rng.random((DRAWN_AT_ONCE, 1))
        X = (
            share * FIRST_TRIANGLES[y]
            + (1 - share) * SECOND[y]
            + rng.normal(size=(DRAWN_AT_ONCE, 21))
        )
        return (X - MEAN) / DEVIATION, y


def _triangle(centre: int) -> Floats:
    return np.maximum(6.0 - np.abs(np.arange(1, 22) - centre), 0.0)


FIRST_TRIANGLES = np.array([_triangle(11), _triangle(11), _triangle(15)])  # of each class
SECOND = np.array([_triangle(15), _triangle(7), _triangle(7)])
MEAN = (FIRST_TRIANGLES + SECOND).mean(axis=0) / 2
# With a share u uniform on [0, 1], E u^2 = E (1 - u)^2 = 1/3 and E u (1 - u) = 1/6; the noise adds
# 1.
_SQUARE: npt.NDArray[np.float64] = (FIRST_TRIANGLES**2 + FIRST_TRIANGLES * SECOND + SECOND**2).mean(
    axis=0
) / 3
DEVIATION = np.sqrt(1 + _SQUARE - MEAN**2)


class PokerHands(_Generated):
    """Hands of five cards out of 52, in the order in which they are dealt. The class is what the
    hand is worth.

    A million of them stand for the test file of the 2016 paper's poker, which is a sample of such
    hands too, coded in the same way: the suits 1 to 4 and the ranks 1 (ace) to 13 (king) of the
    five cards in turn. Classes: 0 nothing, 1 a pair, 2 two pairs, 3 three of a kind, 4 a straight,
    5 a flush, 6 a full house, 7 four of a kind, 8 a straight flush, 9 a royal flush. An ace is
    below 2 or above the king.

    Parameters
    ----------
    n_samples
        The number of examples, a million in the paper. `None`: an unlimited stream.
    seed
        A number, to get the same examples every time.

    Examples
    --------

    >>> from river_budget import datasets

    A pack has 52 cards, and half of all hands are worth nothing:

    >>> X, y = datasets.PokerHands(1000, seed=1).arrays()
    >>> X[0].astype(int).tolist(), y[0]
    ([1, 10, 3, 11, 4, 1, 3, 6, 2, 4], np.int64(0))

    References
    ----------
    Cattral, R., Oppacher, F., & Deugo, D. (2002). Evolutionary data mining with automatic rule generalization.

    """  # noqa: E501

    def __init__(self, n_samples: int | None = 1_000_000, seed: int | None = None):
        super().__init__(n_samples, seed, task=base.MULTI_CLF, n_features=10, n_classes=10)

    def _draw(self, rng: np.random.Generator) -> Arrays:
        # the order of 52 random numbers is a shuffled pack; the first five are dealt
        cards = rng.random((DRAWN_AT_ONCE, 52)).argsort(axis=1)[:, :5]
        suits, ranks = cards // 13 + 1, cards % 13 + 1
        X = np.stack([suits, ranks], axis=2).reshape(DRAWN_AT_ONCE, 10).astype(float)
        return X, worth_of(suits, ranks)


def worth_of(suits: npt.NDArray[np.int64], ranks: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The classes of hands, a row each."""
    equal = (ranks[:, :, None] == ranks[:, None, :]).sum(
        axis=(1, 2)
    )  # ordered pairs, each card with itself too
    by_pairs = np.array([EQUAL.get(n, 0) for n in range(26)])
    worth: npt.NDArray[np.int64] = by_pairs[equal]
    ranked = np.sort(ranks, axis=1)
    different = equal == 5
    royal = different & (ranked == [1, 10, 11, 12, 13]).all(axis=1)
    straight = royal | different & (ranked[:, 4] - ranked[:, 0] == 4)
    flush = (suits == suits[:, :1]).all(axis=1)
    worth[straight], worth[flush] = 4, 5
    worth[straight & flush], worth[royal & flush] = 8, 9
    return worth


# Ordered pairs of equal ranks in a hand, and what it is then: 7 = 5 + 2 in a pair, 17 = 4 * 4 + 1
# in four of a kind
EQUAL = {7: 1, 9: 2, 11: 3, 13: 6, 17: 7}
