"""Documents whose words come and go: accuracy, time and remembered words beside River's models.

    python examples/text.py

Every document has twenty words of a drifting vocabulary, some of them from the list of its topic.
Word pairs count too: `first` in a document on one topic means what `last` means on the other. A
model on a budget forgets the words that none of its support vectors uses, so its memory does not
grow.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from typing import Any

from river import compose, feature_extraction, linear_model, metrics, naive_bayes

import river_budget as rb

TOPICS = "sea", "hill"


def documents(n: int, seed: int = 1, vocabulary: int = 20_000) -> Iterator[tuple[str, bool]]:
    """Texts with words by Zipf's law, and whether they are good news."""
    rng = random.Random(seed)
    for t in range(n):
        topic, first = rng.choice(TOPICS), rng.random() < 0.5
        words = []
        for _ in range(18):
            rank = int(vocabulary ** rng.random())  # a density of 1 / rank
            own = rng.random() < 0.3
            words.append(f"{topic if own else 'word'}{rank + t // 10 if rank > 50 else rank}")
        words += [topic, "first" if first else "last"]
        rng.shuffle(words)
        yield " ".join(words), first == (topic == TOPICS[0])


def models() -> dict[str, Any]:
    kernel = rb.kernels.RBF(0.02)
    return {
        "LogisticRegression": linear_model.LogisticRegression(),
        "MultinomialNB": naive_bayes.MultinomialNB(),
        "FeatureBudget | LogisticRegression": rb.FeatureBudget(500)
        | linear_model.LogisticRegression(),
        "RBP": rb.RBPClassifier(200, kernel, seed=1),
        "Forgetron": rb.ForgetronClassifier(200, kernel),
        "BSGD, forgets the oldest": rb.BSGDClassifier(
            200, kernel, rb.maintenance.RemoveOldest(), l2=1e-4
        ),
        "BSGD": rb.BSGDClassifier(200, kernel, l2=1e-4),
    }


def names_in(model: Any) -> int:
    """How many words a model remembers."""
    if isinstance(model, naive_bayes.MultinomialNB):
        return len(model.feature_counts)
    last = list(model.steps.values())[-1] if type(model) is compose.Pipeline else model
    if isinstance(last, linear_model.LogisticRegression):
        return len(last.weights)
    return len({name for vector in last.support_vectors() for name in vector["features"]})


def main(n: int = 6000, parts: int = 3) -> None:
    print(f"{'':36}" + "".join(f"{f'to {n * (i + 1) // parts}':>26}" for i in range(parts)))
    for name, model in models().items():
        words, cells = feature_extraction.BagOfWords(), []
        stream = documents(n)
        for _ in range(parts):
            accuracy, spent = metrics.Accuracy(), 0.0
            for _ in range(n // parts):
                text, good = next(stream)
                x = words.transform_one(text)
                start = time.process_time()
                guess = model.predict_one(x)
                model.learn_one(x, good)
                spent += time.process_time() - start
                if guess is not None:
                    accuracy.update(good, guess)
            micros = 1e6 * spent / (n // parts)
            cells.append(f"{accuracy.get():7.1%} {micros:5.0f} us {names_in(model):6} names")
        print(f"{name:36}" + "".join(f"{cell:>26}" for cell in cells))


if __name__ == "__main__":
    main()
