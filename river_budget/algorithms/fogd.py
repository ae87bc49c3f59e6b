"""Gradient descent on random Fourier features (FOGD)."""

from __future__ import annotations

from typing import Any

from ..core import fourier as core
from ..core import layout as blocks
from ..kernels import Kernel
from ..model.shells import Classifier, Regressor, split
from ..parameters import Mutable, not_negative, optional, positive
from .fourier import Fourier

__all__ = ["FOGDClassifier", "FOGDRegressor"]


class _FOGD(Fourier):
    learning_pass = staticmethod(core.learn)
    scoring_pass = staticmethod(core.decide)

    learning_rate = Mutable(positive)

    def check_restored_rows(self, count: int) -> None:
        """The weights of the sines may be any numbers."""

    def header_fields(self, n_features: int) -> dict[str, Any]:
        return super().header_fields(n_features) | {"per_vector": self.n_outputs}

    def resize_block(self, **sizes: int) -> None:
        if "outputs" in sizes:  # each has weights of cosines, and of sines
            sizes["per_vector"] = sizes["outputs"]
        super().resize_block(**sizes)

    def after_promotion(self) -> None:
        split(blocks.views(self.block).per_vector)


class FOGDClassifier(_FOGD, Classifier):
    """Gradient descent on the hinge loss over random Fourier features.

    A kernel learner without support vectors: a linear model over `n_components` random waves. Time and
    memory are the same from the first example to the last, and nothing is ever thrown away. It needs more
    components than a budgeted model needs vectors; with many features, and where a few examples tell most of
    the story, `NOGDClassifier` or merging (`BSGDClassifier`) are more accurate for the same cost.

    Parameters
    ----------
    n_components
        The number of frequencies; each gives a cosine and a sine.
    kernel
        `RBF` or `Laplacian` of `river_budget.kernels`; None stands for `RBF()`.
    learning_rate
        Size of a step, as for a kernel (the features of an example have length 1).
    classes
        The labels, if they are known in advance: the negative one first, or three and more in the order
        in which ties are decided. Other labels are then an error.
    seed
        Seed of the frequencies; None draws anew in every run. Those of a feature depend on its name and the seed only.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.StandardScaler() | rb.FOGDClassifier(kernel=rb.kernels.RBF(4.0), seed=1)
    >>> evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
    Accuracy: 8...%

    References
    ----------
    [^1]: [Lu, J., Hoi, S., Wang, J., Zhao, P. and Liu, Z., 2016. Large scale online kernel learning. Journal of Machine Learning Research 17.](https://jmlr.org/papers/v17/14-148.html)

    """

    def __init__(
        self,
        n_components: int = 400,
        kernel: Kernel | None = None,
        learning_rate: float = 0.8,
        classes: tuple[Any, ...] | None = None,
        seed: int | None = None,
    ):
        super().__init__(kernel, classes, seed)
        self._set_components(n_components)
        self.learning_rate = learning_rate


class FOGDRegressor(_FOGD, Regressor):
    """Gradient descent on the squared error over random Fourier features.

    Errors up to `epsilon` count nothing. Targets should be of order one: put a `TargetStandardScaler` around
    the pipeline.

    Parameters
    ----------
    n_components
        The number of frequencies; each gives a cosine and a sine.
    kernel
        `RBF` or `Laplacian` of `river_budget.kernels`; None stands for `RBF()`.
    learning_rate
        Share of the error that a step removes.
    epsilon
        Errors up to this size cost nothing.
    seed
        Seed of the frequencies; None draws anew in every run. Those of a feature depend on its name and the seed only.

    Examples
    --------

    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import river_budget as rb

    >>> model = preprocessing.TargetStandardScaler(
    ...     preprocessing.StandardScaler() | rb.FOGDRegressor(seed=1)
    ... )
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0...

    References
    ----------
    [^1]: [Lu, J., Hoi, S., Wang, J., Zhao, P. and Liu, Z., 2016. Large scale online kernel learning. Journal of Machine Learning Research 17.](https://jmlr.org/papers/v17/14-148.html)

    """

    epsilon = Mutable(not_negative)
    max_error = Mutable(optional(positive))
    file_defaults = {"max_error": None}

    def __init__(
        self,
        n_components: int = 400,
        kernel: Kernel | None = None,
        learning_rate: float = 0.3,
        epsilon: float = 0.1,
        seed: int | None = None,
        max_error: float | None = 1.0,
    ):
        super().__init__(kernel, seed)
        self._set_components(n_components)
        self.learning_rate = learning_rate
        self.epsilon = epsilon
        self.max_error = max_error
