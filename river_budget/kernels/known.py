"""The base class of kernels, and all but those of users."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, ClassVar

from ..core.codes import Kernel as Code
from ..parameters import Value, finite, instance_of, positive, whole


class Kernel(Value):
    """Base class of all kernels."""

    ranges: ClassVar[Mapping[str, tuple[float, float]]] = {}  # of parameters in a file
    scales: Mapping[Any, float] | None = None  # factors of features

    def header_fields(self, n_features: int) -> dict[str, Any]:
        """The header fields of a model whose first example has `n_features` features.

        `bounded` says that k(x, x) = 1 for every x.
        """
        raise NotImplementedError


PER_FEATURE = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)/d", re.ASCII)


def check_width(gamma: float | str) -> None:
    if not isinstance(gamma, str):
        positive("gamma", gamma)
    elif gamma != "auto" and not (PER_FEATURE.fullmatch(gamma) and _multiple(gamma) > 0.0):
        raise ValueError(
            f"gamma must be a positive number, 'auto', or a text such as '2/d', not {gamma!r}"
        )


def _multiple(gamma: str) -> float:
    """c of 'c/d'"""
    return 1.0 if gamma == "auto" else float(gamma.removesuffix("/d"))


def checked_scales(scales: Any) -> dict[Any, float] | None:
    if scales is None:
        return None
    if not isinstance(scales, Mapping):
        raise ValueError(f"scales must be a dict of features and factors, not {scales!r}")
    for name, factor in scales.items():
        positive(f"scales[{name!r}]", factor)
    return {name: float(factor) for name, factor in scales.items()}


def width(gamma: float | str, n_features: int) -> float:
    return _multiple(gamma) / max(n_features, 1) if isinstance(gamma, str) else float(gamma)


class RBF(Kernel):
    """The Gaussian kernel, exp(-gamma |x - z|^2).

    Not for features of different size without a scaler, nor for thousands of sparse features: such
    examples are all equally far apart.

    Parameters
    ----------
    gamma
        How fast similarity falls with distance: a number, or a text such as `"2/d"`, where d is the
        number of features of the first example learned, or of columns of a first frame or matrix.
        `"auto"` is `"1/d"`.
    scales
        Factors of single features, by name: differences in a feature with the factor 2 count twice,
        so its width is half of that of the others. Features without a factor have 1. None: no
        factors.

    Examples
    --------

    >>> import river_budget as rb

    >>> rb.kernels.RBF(0.5)
    RBF(gamma=0.5)

    Two random examples with d scaled features have a squared distance of about 2 d, so gamma is
    best given in units of 1 / d. The default of most classifiers is `RBF("2/d")` and of most
    regressors, whose targets are mostly smoother, `RBF("0.5/d")`.

    Distances of features with a large common part, such as timestamps or coordinates, keep all
    digits. A scaler may lose some: `preprocessing.StandardScaler` knows a mean of 1e9 up to about
    1e-7, and scaled features are no more precise. Subtract a constant first where that matters.
    Random waves (`FOGD`, `RandomFourier`) lose as many digits as the features have before the
    decimal point.

    Papers often give a width sigma instead:

    >>> rb.kernels.RBF.from_width(8)
    RBF(gamma=0.0078125)

    A feature that is known to matter more than others may have a width of its own:

    >>> rb.kernels.RBF("2/d", scales={"temperature": 3.0})
    RBF(gamma='2/d', scales={'temperature': 3.0})

    References
    ----------
    [^1]: The guide, [choosing a kernel](guide/choosing_a_kernel.md).

    """

    def __init__(self, gamma: float | str = "auto", scales: Mapping[Any, float] | None = None):
        check_width(gamma)
        self.gamma = gamma
        self.scales = checked_scales(scales)

    @classmethod
    def from_width(cls, sigma: float) -> RBF:
        """The RBF kernel exp(-|x - z|^2 / (2 sigma^2))."""
        positive("sigma", sigma)
        gamma = 0.5 / sigma / sigma
        if not 0.0 < gamma < math.inf:
            raise ValueError(f"sigma={sigma!r} is too far from 1")
        return cls(gamma)

    def header_fields(self, n_features: int) -> dict[str, Any]:
        return {"kernel": Code.RBF, "bounded": 1, "gamma": width(self.gamma, n_features)}


class Laplacian(Kernel):
    """exp(-gamma |x - z|_1), with the sum of absolute differences. Less smooth than RBF.

    Not for smooth targets: its peak at 0 makes boundaries rough. Nor for merging.

    Parameters
    ----------
    gamma
        How fast similarity falls with distance; `"auto"` as for `RBF`.

    Examples
    --------

    >>> import river_budget as rb

    >>> model = rb.KernelOGDClassifier(rb.kernels.Laplacian(0.5), learning_rate=1.0)
    >>> model.learn_one({"a": 0.0, "b": 0.0}, True)
    >>> score = model.decision_function_one({"a": 1.0, "b": -1.0})
    >>> round(score, 4)  # exp(-0.5 * (1 + 1))
    0.3679

    References
    ----------
    [^1]: [Rahimi, A. and Recht, B., 2007. Random features for large-scale kernel machines. NIPS 20.](https://people.eecs.berkeley.edu/~brecht/papers/07.rah.rec.nips.pdf)
    [^2]: The guide, [choosing a kernel](guide/choosing_a_kernel.md).

    """

    def __init__(self, gamma: float | str = "auto"):
        check_width(gamma)
        self.gamma = gamma

    def header_fields(self, n_features: int) -> dict[str, Any]:
        return {"kernel": Code.LAPLACIAN, "bounded": 1, "gamma": width(self.gamma, n_features)}


class Polynomial(Kernel):
    """(gamma x.z + coef0)^degree.

    Not for features without a scaler: the cube of 10 is 1000. Nor for merging.

    Parameters
    ----------
    degree
        The highest number of features that are multiplied with each other.
    gamma
        Factor of the inner product: a number, or a text such as `"1/d"` as for `RBF`.
    coef0
        A constant added to the product; with 0, only products of exactly `degree` features count.

    Examples
    --------

    Whether two numbers have the same sign depends on their product, which a linear model cannot
    see:

    >>> import random
    >>> import river_budget as rb

    >>> rng, right = random.Random(1), 0
    >>> model = rb.ProjectronClassifier(20, rb.kernels.Polynomial(2, coef0=0.0))
    >>> for _ in range(1000):
    ...     x = {"a": rng.uniform(-1, 1), "b": rng.uniform(-1, 1)}
    ...     right += model.predict_one(x) == (x["a"] * x["b"] > 0)
    ...     model.learn_one(x, x["a"] * x["b"] > 0)
    >>> right > 950
    True

    References
    ----------
    [^1]: The guide, [choosing a kernel](guide/choosing_a_kernel.md).

    """

    ranges = {"degree": (1, 10_000)}  # multiplications per kernel value

    def __init__(self, degree: int = 3, gamma: float | str = 1.0, coef0: float = 1.0):
        whole(1)("degree", degree)
        check_width(gamma)
        finite("coef0", coef0)
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    def header_fields(self, n_features: int) -> dict[str, Any]:
        return {
            "kernel": Code.POLYNOMIAL,
            "degree": self.degree,
            "gamma": width(self.gamma, n_features),
            "coef0": self.coef0,
        }


class Linear(Kernel):
    """x.z, for comparison: River's own linear models are faster and need no budget.

    Not for curved boundaries, nor for streams with few features: River's linear models do the same
    in less time.

    Examples
    --------

    >>> import river_budget as rb

    >>> model = rb.KernelOGDClassifier(rb.kernels.Linear(), learning_rate=1.0)
    >>> model.learn_one({"goal": 1, "match": 1}, True)
    >>> model.decision_function_one({"goal": 2, "bank": 1})
    2.0

    References
    ----------
    [^1]: The guide, [choosing a kernel](guide/choosing_a_kernel.md).

    """

    def header_fields(self, n_features: int) -> dict[str, Any]:
        return {"kernel": Code.LINEAR}


class Normalised(Kernel):
    """k(x, z) / sqrt(k(x, x) k(z, z)): the angle between two examples and not their lengths.

    For kernels that grow with the length of an example, whose values may differ by orders of
    magnitude. The value is 0 if k(x, x) or k(z, z) is 0. (`ForgetronClassifier` normalises all
    kernels by itself.)

    Not for examples whose length matters.

    Parameters
    ----------
    kernel
        Another kernel of `river_budget.kernels`; `RBF` and `Laplacian` are normalised already.

    Examples
    --------

    >>> import river_budget as rb

    >>> kernel = rb.kernels.Normalised(rb.kernels.Polynomial(2, coef0=0.0))
    >>> model = rb.KernelOGDClassifier(kernel=kernel)
    >>> model.learn_one({"a": 1000.0, "b": -1000.0}, True)
    >>> model.decision_function_one({"a": 1.0, "b": -1.0})
    0.5...

    References
    ----------
    [^1]: [Graf, A. and Borer, S., 2001. Normalization in support vector machines. DAGM, LNCS 2191.](https://doi.org/10.1007/3-540-45404-7_37)

    """

    def __init__(self, kernel: Kernel):
        instance_of(Kernel)("kernel", kernel)
        header = kernel.header_fields(1)
        if header.get("bounded") or header.get("normalised"):
            raise ValueError(f"kernel={kernel!r} is normalised already")
        self.kernel = kernel

    def header_fields(self, n_features: int) -> dict[str, Any]:
        return self.kernel.header_fields(n_features) | {"normalised": 1}


class Cosine(Kernel):
    """x.z / (|x| |z|): the cosine of the angle between two examples, or 0 where one of them is 0.

    For counts of words and other rows whose direction matters more than their length. The same as
    `Normalised(Linear())`.

    Not for curved boundaries: it is linear in the direction of an example.

    Examples
    --------

    >>> import river_budget as rb

    >>> model = rb.KernelOGDClassifier(kernel=rb.kernels.Cosine())
    >>> model.learn_one({"good": 1, "film": 1}, True)
    >>> round(model.decision_function_one({"good": 5, "film": 5}), 6)
    0.5

    References
    ----------
    [^1]: [Salton, G., Wong, A. and Yang, C., 1975. A vector space model for automatic indexing. Communications of the ACM 18.](https://doi.org/10.1145/361219.361220)

    """  # noqa: E501

    def header_fields(self, n_features: int) -> dict[str, Any]:
        return {"kernel": Code.LINEAR, "normalised": 1}
