"""Prints the measured tables of the guide's page on text; every example is predicted before it is
learned.

    python examples/text_numbers.py words

web_pages needs the file w7a of RIVER_BUDGET_DATA.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from typing import Any

from river import evaluate, feature_extraction, linear_model, metrics, multiclass, naive_bayes

import river_budget as rb
from river_budget.datasets import W7a


def web_pages() -> None:
    """Wrong predictions in % and F1 on 10,000 web pages in a random order."""
    stream = [({j: v for j, v in x.items() if v}, y == 1) for x, y in W7a()]
    random.Random(1).shuffle(stream)
    models = {
        "LogisticRegression()": linear_model.LogisticRegression(),
        "BernoulliNB()": naive_bayes.BernoulliNB(),
        "BSGDClassifier()": rb.BSGDClassifier(),
        "BSGDClassifier(kernel=RBF(0.1))": rb.BSGDClassifier(kernel=rb.kernels.RBF(0.1)),
        "BSGDClassifier(kernel=Polynomial(2, 0.1))": rb.BSGDClassifier(
            kernel=rb.kernels.Polynomial(2, 0.1)
        ),
        "BSGDClassifier(kernel=Linear())": rb.BSGDClassifier(kernel=rb.kernels.Linear()),
        "AutoKernelClassifier()": rb.AutoKernelClassifier(seed=1),
    }
    for name, model in models.items():
        both = metrics.Accuracy() + metrics.F1()
        right, f1 = evaluate.progressive_val_score(stream[:10_000], model, both).get()
        print(f"| `{name}` | {100 - 100 * right:.2f} | {f1:.2f} |", flush=True)


def documents(n: int, topics: int) -> Iterator[tuple[str, int]]:
    """Eighteen words by Zipf's law, one in eight of the topic's own, and two that come once."""
    rng = random.Random(1)
    for t in range(n):
        topic, words = rng.randrange(topics), [f"new{2 * t}", f"new{2 * t + 1}"]
        for _ in range(18):
            words.append(
                f"{topic if rng.random() < 0.125 else 'all'}-{int(20_000 ** rng.random())}"
            )
        yield " ".join(words), topic


def words() -> None:
    """Wrong predictions in % of a linear model and of AutoKernel, on made documents."""
    streams = {f"documents, {topics} topics": [*documents(20_000, topics)] for topics in (2, 5)}
    for name, stream in streams.items():
        linear: Any = linear_model.LogisticRegression()
        if len({y for _, y in stream}) > 2:
            linear = multiclass.OneVsRestClassifier(linear)
        wrong = []
        for model in (linear, rb.AutoKernelClassifier(seed=1)):
            bags = feature_extraction.BagOfWords() | model
            right = evaluate.progressive_val_score(stream, bags, metrics.Accuracy()).get()
            wrong.append(f"{100 - 100 * right:.1f}")
        print(f"| {name} | {' | '.join(wrong)} |", flush=True)


TABLES = {"web_pages": web_pages, "words": words}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("table", choices=TABLES)
    TABLES[parser.parse_args().table]()
