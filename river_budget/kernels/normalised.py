"""Kernels that do not depend on the lengths of examples."""

from __future__ import annotations

from typing import Any

from ..core.block.codes import Kernel as Code
from ..parameters import instance_of
from .base import Kernel


class Normalised(Kernel):
    """k(x, z) / sqrt(k(x, x) k(z, z)): the angle between two examples and not their lengths.

    For kernels that grow with the length of an example, whose values may differ by orders of magnitude. The value is
    0 if k(x, x) or k(z, z) is 0. (`ForgetronClassifier` normalises all kernels by itself.)

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

    """

    def header_fields(self, n_features: int) -> dict[str, Any]:
        return {"kernel": Code.LINEAR, "normalised": 1}
