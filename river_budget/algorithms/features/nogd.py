"""Gradient descent on Nyström features (NOGD)."""

from __future__ import annotations

import dataclasses
from typing import Any

from ...core.expansion.scoring import score
from ...core.passes.features import nystroem as core
from ...kernels import RBF, Kernel
from ...model.algorithm import After, unchanged
from ...model.estimators import BudgetClassifier, BudgetRegressor
from ...parameters import Fixed, Mutable, optional, positive, whole
from ..averaging import Averaging
from .nystroem import BASIS, check_basis, keep_budget, learn_basis, resize_basis

__all__ = ["NOGDClassifier", "NOGDRegressor"]


def _begin_linear(model: Any) -> None:
    """The support is full: from now on a linear model learns, over its basis."""
    learn_basis(model)
    if model.eta_linear is not None:
        model._state_record().stage = core.FRESH


def _freeze_sum(model: Any, parts: list[Any]) -> None:
    """Freeze the support of a sum if that of any part was frozen, and compute its basis."""
    gathering = all(part.model._state_record().stage == core.GATHERING for part in parts)
    if model.n_support_vectors and not gathering:
        learn_basis(model)


NOGD = dataclasses.replace(
    BASIS,
    learn=core.learn,
    score=score,
    kernel=RBF("1.5/d"),
    prepare=_begin_linear,
    # the basis does not depend on classes
    after=After(change=resize_basis, budget=keep_budget, union=_freeze_sum, promotion=unchanged),
    files=dataclasses.replace(BASIS.files, check=check_basis, scored_rows=False),
)


class NOGDClassifier(Averaging, BudgetClassifier):
    """Gradient descent on the hinge loss over Nyström features.

    The first `budget` examples with a loss become support vectors, as in `KernelOGDClassifier`.
    Then the support is frozen: its `rank` most important directions become features, on which a
    linear model learns from then on. No vector is removed, and no update changes the support. It is
    accurate and stable where the first examples are typical of all; on a stream that drifts away
    from them prefer a model that replaces its vectors (`BSGDClassifier`, `ForgetronClassifier`).

    While a model lives, `mutate` or assignment may change `budget`, `learning_rate` and
    `eta_linear`.

    Not for streams whose examples drift away from the first ones: its support is frozen.

    Parameters
    ----------
    budget
        The number of support vectors. Once the support is frozen, a smaller budget takes effect and
        a larger one does not.
    kernel
        One of `river_budget.kernels`; None stands for `RBF("1.5/d")`.
    rank
        The number of features. None: a fifth of the budget.
    learning_rate
        Size of a step.
    classes
        The labels, if they are known in advance: the negative one first, or three and more in the
        order in which ties are decided. Other labels are then an error. None: the positive label is
        True, or else the second one that occurs.
    eta_linear
        Size of a step once the support is frozen; the linear model then starts at 0, as in the
        program of the authors. None: the learning rate, and the linear model starts from the
        function learned so far.
    average
        Whether to predict by the mean of the iterates, late ones weighing more, instead of by the
        last; a number: by a mean over about so many examples. It removes the noise of constant
        steps on a stationary stream in random order, and is far worse with drift or where examples
        in a row are alike. Learning is the same: see `last_iterate_one`.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.StandardScaler() | rb.NOGDClassifier(
    ...     budget=100, kernel=rb.kernels.RBF(4.0), rank=60
    ... )
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 8...%

    All vectors are among the first examples, and none was removed:

    >>> max(vector["arrival"] for vector in rb.support_vectors(model)) < 100
    True

    References
    ----------
    [^1]: [Lu, J., Hoi, S., Wang, J., Zhao, P. and Liu, Z., 2016. Large scale online kernel learning. Journal of Machine Learning Research 17.](https://jmlr.org/papers/v17/14-148.html)

    """  # noqa: E501

    algorithm = NOGD

    rank = Fixed(optional(whole(1)))
    eta_linear = Mutable(optional(positive))

    def __init__(
        self,
        budget: int = 100,
        kernel: Kernel | None = None,
        rank: int | None = None,
        learning_rate: float = 1.4,
        classes: tuple[Any, ...] | None = None,
        eta_linear: float | None = None,
        average: bool | float = False,
    ):
        super().__init__(locals())


class NOGDRegressor(Averaging, BudgetRegressor):
    """Gradient descent on the squared error over Nyström features.

    Errors up to `epsilon` have no loss. Targets should be of order one: put a
    `TargetStandardScaler` around the pipeline.

    While a model lives, `mutate` or assignment may change `budget`, `learning_rate`, `epsilon`,
    `eta_linear` and `max_error`.

    Not for streams whose examples drift away from the first ones, nor for targets that are not
    scaled.

    Parameters
    ----------
    budget
        The number of support vectors. Once the support is frozen, a smaller budget takes effect and
        a larger one does not.
    kernel
        One of `river_budget.kernels`; None stands for `RBF("0.4/d")`.
    rank
        The number of features. None: a fifth of the budget.
    learning_rate
        Share of the error that a step removes.
    epsilon
        Errors up to this size have no loss.
    eta_linear
        The same once the support is frozen; the linear model then starts at 0, as in the program of
        the authors. None: the learning rate, and the linear model starts from the function learned
        so far.
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
    ...     preprocessing.StandardScaler() | rb.NOGDRegressor(budget=50)
    ... )
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0...

    A higher rank keeps more of the span of the vectors:

    >>> for rank in (5, 50):
    ...     model = preprocessing.TargetStandardScaler(
    ...         preprocessing.StandardScaler() | rb.NOGDRegressor(budget=50, rank=rank)
    ...     )
    ...     print(evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE()))
    MAE: 0...
    MAE: 0...

    References
    ----------
    [^1]: [Lu, J., Hoi, S., Wang, J., Zhao, P. and Liu, Z., 2016. Large scale online kernel learning. Journal of Machine Learning Research 17.](https://jmlr.org/papers/v17/14-148.html)

    """  # noqa: E501

    algorithm = dataclasses.replace(NOGD, kernel=RBF("0.4/d"))

    rank = Fixed(optional(whole(1)))
    eta_linear = Mutable(optional(positive))

    def __init__(
        self,
        budget: int = 100,
        kernel: Kernel | None = None,
        rank: int | None = None,
        learning_rate: float = 0.28,
        epsilon: float = 0.1,
        eta_linear: float | None = None,
        max_error: float | None = 1.0,
        average: bool | float = False,
    ):
        super().__init__(locals())
