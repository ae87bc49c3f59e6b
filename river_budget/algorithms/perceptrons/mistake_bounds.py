"""The mistake bounds of the Perceptrons as numbers.

Every bound is relative to a competitor, any fixed function g of the kernel's space: with |g| its
norm and L the sum of its hinge losses max(0, 1 - y g(x)) over the stream, an algorithm makes at
most so many mistakes M on the same stream, in whatever order. B is the budget, and k(x, x) <= 1.

    Perceptron   M <= |g|^2 + 2 L
    Forgetron    M <= 2 |g|^2 + 4 L                    if B >= 83 and |g| <= sqrt((B + 1) / log(B + 1)) / 4
    Projectron   M <= |g|^2 / s^2 + 2 L / s            if s = 1 - |g| sqrt(threshold) > 0, without a budget
    RBP          E M <= (L + |g| B) / s                if s = 1 - |g| / sqrt(B) > 0, in the mean over its draws
                 E M <= m with s m = L + |g| sqrt(2 m)

Perceptron and Forgetron: theorems 1 and 2 of Dekel, Shalev-Shwartz and Singer (2005). Projectron: a
mistake that is projected moves the model towards g by 1 - |g| sqrt(threshold) instead of 1
(Orabona, Keshet and Caputo, 2009).

RBP: the argument of Cavallanti, Cesa-Bianchi and Gentile (2007) for a competitor that does not
change. Let w be the model with B vectors, and w' the model after a mistake. The removed vector is w
/ B in the mean, so that the products with g satisfy E <g, w'> >= (1 - 1 / B) <g, w> + 1 - loss, and
the squared lengths E |w'|^2 <= (1 - 2 / B) |w|^2 + 2. Summed over all mistakes, the second says
that |w| is at most sqrt(B) in the mean, and the first then that s E M <= L + |g| E |w| at the end.
There |w| is at most B, the number of vectors, and E |w|^2 at most 2 E M: the smaller bound is
taken. Theirs has another last term, about |g| sqrt(B log T) for T examples.
"""  # noqa: E501

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from ...parameters import not_negative, positive
from ...wrappers.nested import last_step
from .forgetron import ForgetronClassifier
from .perceptron import KernelPerceptronClassifier
from .projectron import ProjectronClassifier
from .rbp import RBPClassifier

__all__ = ["mistake_bound"]

LEAST_BUDGET = 83  # of the Forgetron's theorem


def mistake_bound(
    model: Any, norm: float, losses: float | Iterable[float], largest: float = 1.0
) -> float:
    """At most so many mistakes a Perceptron makes on any stream, relative to a competitor.

    The competitor is any fixed function g of the kernel's space, also one that was learned from the
    whole stream; every g gives a bound, and the smallest holds. `math.inf` where the theorem says
    nothing about such a g.

    Not for choosing between algorithms: the bounds are those of worst cases, and on most streams
    there are far fewer mistakes, in another order.

    For two classes, and for `KernelPerceptronClassifier` without a budget, `ForgetronClassifier`,
    `RBPClassifier` (in the mean over its random numbers) and `ProjectronClassifier` without a
    budget.

    Parameters
    ----------
    model
        One of these, or a pipeline that ends in one; g is then a function of what the transformers
        return.
    norm
        The norm of g: for a sum of a_i k(x_i, .) the root of the sum of all a_i a_j k(x_i, x_j).
    losses
        The hinge losses max(0, 1 - y g(x)) of g on the stream, with y = 1 or -1, or their sum.
    largest
        The largest k(x, x) on the stream. It is 1 for most kernels, and for a
        `ForgetronClassifier`, which normalises the others.

    Examples
    --------

    Six examples so far apart that their kernel values are 0: the sum of their kernel functions has
    no loss, and its norm is the root of 6. A Perceptron without a budget errs on each of them once,
    however often they come:

    >>> import river_budget as rb

    >>> model, wrong = rb.KernelPerceptronClassifier(rb.kernels.RBF(1.0), classes=(False, True)), 0
    >>> for i in [*range(6)] * 3:
    ...     x = {"a": 100.0 * i}
    ...     wrong += model.predict_one(x) is not False
    ...     model.learn_one(x, False)
    >>> wrong, round(rb.mistake_bound(model, norm=6**0.5, losses=0.0), 9)
    (6, 6.0)

    With a budget of 100 a Forgetron has a bound for small g only:

    >>> rb.mistake_bound(rb.ForgetronClassifier(100), norm=1.0, losses=[0.0, 0.5, 0.2])
    4.8
    >>> rb.mistake_bound(rb.ForgetronClassifier(100), norm=2.0, losses=0.0)
    inf

    References
    ----------
    [^1]: [Dekel, O., Shalev-Shwartz, S. and Singer, Y., 2005. The Forgetron: a kernel-based Perceptron on a fixed budget. NIPS.](https://papers.nips.cc/paper/2806-the-forgetron-a-kernel-based-perceptron-on-a-fixed-budget)
    [^2]: [Orabona, F., Keshet, J. and Caputo, B., 2009. Bounded kernel-based online learning. JMLR 10.](https://jmlr.org/papers/v10/orabona09a.html)
    [^3]: [Cavallanti, G., Cesa-Bianchi, N. and Gentile, C., 2007. Tracking the best hyperplane with a simple budget Perceptron. Machine Learning 69.](https://doi.org/10.1007/s10994-007-5003-0)

    """  # noqa: E501
    learner = last_step(model)[1]
    not_negative("norm", norm)
    positive("largest", largest)
    total = float(losses) if isinstance(losses, int | float) else math.fsum(losses)
    not_negative("the sum of losses", total)
    bound = bound_of(learner)
    if len(learner.classes or ()) > 2:
        raise ValueError(f"the bound is for two classes, not for {len(learner.classes)}")
    # divided by `largest`, the kernel is at most 1, and squared norms of functions grow by this
    # factor
    return bound(norm * math.sqrt(largest), total, largest)


Bound = Callable[[float, float, float], float]  # of norm, sum of losses, and the largest k(x, x)


def bound_of(model: Any) -> Bound:
    """The bound of a model's class, with its budget and threshold."""
    for kind, bound in BOUNDS.items():
        if isinstance(model, kind):
            return bound(model)
    names = ", ".join(kind.__name__ for kind in BOUNDS)
    raise ValueError(f"{type(model).__name__} has no mistake bound here: {names} have one")


def of_perceptron(model: KernelPerceptronClassifier) -> Bound:
    """Theorem 1 of 2005."""
    if model.budget is not None:
        raise ValueError("a Perceptron that removes vectors has no mistake bound: budget=None")
    return lambda norm, losses, largest: norm**2 + 2.0 * losses


def of_forgetron(model: ForgetronClassifier) -> Bound:
    """Theorem 2 of 2005."""
    limit = math.sqrt((model.budget + 1) / math.log(model.budget + 1)) / 4.0

    def bound(norm: float, losses: float, largest: float) -> float:
        if model.budget < LEAST_BUDGET or norm > limit:
            return math.inf
        return 2.0 * norm**2 + 4.0 * losses

    return bound


def of_projectron(model: ProjectronClassifier) -> Bound:
    """That of a Projectron with a threshold, which is a squared distance."""
    if model.budget is not None:
        raise ValueError("a full Projectron projects all mistakes and has no bound: budget=None")

    def bound(norm: float, losses: float, largest: float) -> float:
        rest = 1.0 - norm * math.sqrt(model.threshold / largest)
        return (norm / rest) ** 2 + 2.0 * losses / rest if rest > 0.0 else math.inf

    return bound


def of_rbp(model: RBPClassifier) -> Bound:
    """The smaller one of the two."""
    budget = int(model.budget)

    def bound(norm: float, losses: float, largest: float) -> float:
        rest = 1.0 - norm / math.sqrt(budget)
        if rest <= 0.0:
            return math.inf
        # the root r of rest r^2 - norm sqrt(2) r - losses = 0, with r^2 mistakes
        root = (norm + math.sqrt(norm**2 + 2.0 * rest * losses)) / (math.sqrt(2.0) * rest)
        return min(root * root, (losses + norm * budget) / rest)

    return bound


BOUNDS: dict[type, Callable[[Any], Bound]] = {
    KernelPerceptronClassifier: of_perceptron,
    ForgetronClassifier: of_forgetron,
    RBPClassifier: of_rbp,
    ProjectronClassifier: of_projectron,
}
