"""A kernel classifier in a River pipeline: learn, predict, look inside.

Bananas are two interleaved shapes that no straight line separates.
"""

from __future__ import annotations

from river import datasets, evaluate, linear_model, metrics, preprocessing

import river_budget as rb


def main() -> None:
    linear = preprocessing.StandardScaler() | linear_model.LogisticRegression()
    kernel = preprocessing.StandardScaler() | rb.BSGDClassifier(
        budget=100, kernel=rb.kernels.RBF(4.0), l2=1e-3
    )
    for name, model in (("linear", linear), ("kernel", kernel)):
        metric = evaluate.progressive_val_score(datasets.Bananas(), model, metrics.Accuracy())
        print(f"{name:8}{metric}")

    # One example at a time, the way a service would use it.
    x, y = next(iter(datasets.Bananas()))
    print("probabilities", kernel.predict_proba_one(x))
    kernel.learn_one(x, y)

    # What the model holds: never more than the budget.
    classifier = kernel["BSGDClassifier"]
    vector = classifier.support_vectors()[-1]
    print(classifier.n_support_vectors, "support vectors in", classifier.memory_usage, "bytes")
    print("the newest:", vector)

    # A smaller budget takes effect at once.
    kernel.mutate({"BSGDClassifier": {"budget": 20}})
    print("after mutate:", classifier.n_support_vectors, "support vectors")


if __name__ == "__main__":
    main()
