"""Gradient descent on random Fourier features (FOGD)."""

from __future__ import annotations

import dataclasses
from typing import Any

from ...core import memory
from ...core.passes.features import fourier as core
from ...kernels import RBF, Kernel
from ...model.algorithm import After, Algorithm, Files
from ...model.estimators import Classifier, Regressor
from ...model.stored import split
from ...parameters import FINITE
from ..averaging import Averaging
from .fourier import WAVES, check_waves

__all__ = ["FOGDClassifier", "FOGDRegressor"]


def _rows_of_output(model: Any) -> int:
    """Rows of `per_vector` per output: the weights of sines; with a mean, also its weights of
    cosines and sines.
    """
    return 3 if model.average else 1


def _split_rows(model: Any) -> None:
    rows, table = _rows_of_output(model), memory.views(model._block).per_vector
    for kind in range(rows):
        split(table[kind::rows])


FOGD = Algorithm(
    core.learn,
    core.STATE,
    score=core.score_last,
    mean=core.score_mean,
    header={"per_vector": lambda model: model._n_outputs * _rows_of_output(model)},
    columns=WAVES,
    together=check_waves,
    after=After(promotion=_split_rows),
    files=Files(ranges={"per_vector": FINITE}, scored_rows=True),
)


class FOGDClassifier(Averaging, Classifier):
    """Gradient descent on the hinge loss over random Fourier features.

    A kernel learner without support vectors: a linear model over `n_components` random waves. Time
    and memory are the same from the first example to the last, and nothing is removed. It needs
    more components than a budgeted model needs vectors; with many features, or where few examples
    represent the data, `NOGDClassifier` or merging (`BSGDClassifier`) are more accurate in the same
    time.

    While a model lives, `mutate` or assignment may change `learning_rate`.

    Not for many features with few waves: the error of the kernel falls with the root of the number
    of waves.

    Parameters
    ----------
    n_components
        The number of frequencies; each gives a cosine and a sine.
    kernel
        `RBF` or `Laplacian` of `river_budget.kernels`; None stands for `RBF("2/d")`.
    learning_rate
        Size of a step, as for a kernel (the features of an example have length 1).
    classes
        The labels, if they are known in advance: the negative one first, or three and more in the
        order in which ties are decided. Other labels are then an error. None: the positive label is
        True, or else the second one that occurs.
    seed
        Seed of the frequencies; None draws anew in every run. Those of a feature depend on its name
        and the seed only.
    average
        Whether to predict by the mean of the iterates, late ones weighing more, instead of by the
        last; a number: by a mean over about so many examples. It removes the noise of constant
        steps on a stationary stream in random order, and is far worse with drift or where examples
        in a row are alike. Learning is the same: see `last_iterate_one`.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.StandardScaler() | rb.FOGDClassifier(kernel=rb.kernels.RBF(4.0), seed=1)
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 8...%

    Its memory does not depend on the number of examples:

    >>> fresh = rb.FOGDClassifier(kernel=rb.kernels.RBF(4.0), seed=1)
    >>> fresh.learn_one({"1": 0.0, "2": 0.0}, True)
    >>> fresh.memory_usage == model["FOGDClassifier"].memory_usage
    True

    References
    ----------
    [^1]: [Lu, J., Hoi, S., Wang, J., Zhao, P. and Liu, Z., 2016. Large scale online kernel learning. Journal of Machine Learning Research 17.](https://jmlr.org/papers/v17/14-148.html)

    """  # noqa: E501

    algorithm = FOGD

    def __init__(
        self,
        n_components: int = 400,
        kernel: Kernel | None = None,
        learning_rate: float = 0.8,
        classes: tuple[Any, ...] | None = None,
        seed: int | None = None,
        average: bool | float = False,
    ):
        super().__init__(locals())


class FOGDRegressor(Averaging, Regressor):
    """Gradient descent on the squared error over random Fourier features.

    Errors up to `epsilon` have no loss. Targets should be of order one: put a
    `TargetStandardScaler` around the pipeline.

    While a model lives, `mutate` or assignment may change `learning_rate`, `epsilon` and
    `max_error`.

    Not for targets in their own units, nor for many features with few waves.

    Parameters
    ----------
    n_components
        The number of frequencies; each gives a cosine and a sine.
    kernel
        `RBF` or `Laplacian` of `river_budget.kernels`; None stands for `RBF("0.55/d")`.
    learning_rate
        Share of the error that a step removes.
    epsilon
        Errors up to this size have no loss.
    seed
        Seed of the frequencies; None draws anew in every run. Those of a feature depend on its name
        and the seed only.
    max_error
        Larger errors count as this one (Huber's loss), so that one outlier changes the model
        little. None: all errors count in full, as in the paper.
    average
        Whether to predict by the mean of the iterates, late ones weighing more, instead of by the
        last; a number: by a mean over about so many examples. It removes the noise of constant
        steps on a stationary stream in random order, and is far worse with drift or where examples
        in a row are alike. Learning is the same: see `last_iterate_one`.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.TargetStandardScaler(
    ...     preprocessing.StandardScaler() | rb.FOGDRegressor(seed=1)
    ... )
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0...

    More waves come closer to the kernel:

    >>> for n_components in (10, 1000):
    ...     model = preprocessing.TargetStandardScaler(
    ...         preprocessing.StandardScaler() | rb.FOGDRegressor(n_components, seed=1)
    ...     )
    ...     evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0.38...
    MAE: 0.35...

    References
    ----------
    [^1]: [Lu, J., Hoi, S., Wang, J., Zhao, P. and Liu, Z., 2016. Large scale online kernel learning. Journal of Machine Learning Research 17.](https://jmlr.org/papers/v17/14-148.html)

    """  # noqa: E501

    algorithm = dataclasses.replace(FOGD, kernel=RBF("0.55/d"))

    def __init__(
        self,
        n_components: int = 400,
        kernel: Kernel | None = None,
        learning_rate: float = 0.29,
        epsilon: float = 0.1,
        seed: int | None = None,
        max_error: float | None = 1.0,
        average: bool | float = False,
    ):
        super().__init__(locals())
