"""A kernel learner without settings: drift, importances, explanations, intervals.

It needs no scaler, no width and no learning rate. Halfway through the stream the two classes swap
their labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from river import datasets, metrics
from river.datasets import synth

import river_budget as rb


def flipping(n: int) -> Iterator[tuple[dict[Any, Any], bool]]:
    """Two of four features decide; in the middle of the stream their meaning is reversed."""
    for t, (x, y) in enumerate(
        synth.Sine(classification_function=2, seed=1, has_noise=True).take(n)
    ):
        yield x, bool(y) != (t >= n // 2)


def main(n: int = 4000) -> None:
    model, recent = rb.AutoKernelClassifier(seed=1), metrics.Accuracy()
    for t, (x, y) in enumerate(flipping(n), start=1):
        recent.update(y, model.predict_one(x))
        model.learn_one(x, y)
        if t % (n // 8) == 0:
            print(f"examples {t - n // 8 + 1} to {t}: {recent}")
            recent = metrics.Accuracy()

    print("\nweights of the features in the distance (their mean is 1)")
    for name, weight in model.importances().items():
        print(f"  feature {name}: {weight:.2f}")

    x, y = next(flipping(1))
    found = model.explain_one(x)
    print(f"\n{model.predict_proba_one(x)}, because of the nearest stored examples:")
    for example in found["examples"][:3]:
        print(f"  {example['target']}, with a share of {example['share']:.2f}")

    print("\nthe opinions that count most")
    for expert in sorted(model.experts(), key=lambda expert: -expert["weight"])[:3]:
        print(f"  {expert['name']}: weight {expert['weight']:.2f}, log loss {expert['loss']:.2f}")

    regressor = rb.AutoKernelRegressor(seed=1)
    stream = list(datasets.TrumpApproval())
    held = 0
    for x, target in stream:
        held += target in regressor.predict_one(x, with_dist=True).interval(0.9)
        regressor.learn_one(x, target)
    print(f"\nintervals of 90 % held {100 * held / len(stream):.0f} % of the targets")


if __name__ == "__main__":
    main()
