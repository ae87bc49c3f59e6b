"""How the outcome of a setting is measured, in this process or in another one."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import itertools
import pickle
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...inputs.batches import Batch
from ...wrappers.nested import is_estimator, memory_of
from ..dicts import batch_of_dicts
from .outcomes import Outcome

ExampleStream = Iterable[Any] | Callable[[], Iterable[Any]]


class StreamError(RuntimeError):
    """The stream itself has raised an error, so no setting has failed."""


class Examples:
    """The examples of a stream, which is a list or a function. They can be iterated over more than
    once.

    A list is converted to bytes once, for whatever number of settings, and each process reads it
    once.
    """

    def __init__(self, stream: ExampleStream):
        self.stream = stream

    def __iter__(self) -> Iterator[Any]:
        try:
            for x, y, *more in self.stream() if callable(self.stream) else self.stream:
                yield x, y, *map(dict, more)  # a copy, as River removes the weight from this dict
        except Exception as error:
            raise StreamError(f"the stream ends with {type(error).__name__}: {error}") from error

    def __reduce__(self) -> tuple[Any, ...]:
        return (Examples, (self.stream,)) if callable(self.stream) else (held, (self.content,))

    @functools.cached_property
    def content(self) -> bytes:
        return pickle.dumps(self.stream)

    @functools.cached_property
    def batch(self) -> Batch | None:
        """The examples as a batch. None unless all have the same features, and these are finite
        numbers.
        """
        if not callable(self.stream) and not any(more for _, _, *more in self.stream):
            with contextlib.suppress(ValueError):
                return batch_of_dicts([x for x, _ in self.stream])
        return None


@functools.lru_cache(1)
def held(content: bytes) -> Examples:
    """The examples of a stream, which is kept until another one comes."""
    return Examples(pickle.loads(content))


def run(outcome: Outcome, model: Any, metric: Any, examples: Examples) -> Outcome:
    """The outcome of a setting with its measurements, or with the error of its model."""
    model, metric = copy.deepcopy(model), copy.deepcopy(metric)
    began = time.perf_counter()
    try:
        count = validate(model, examples, metric)
    except StreamError:
        raise
    except Exception as error:
        return failed(outcome, error)
    return dataclasses.replace(
        outcome,
        value=float(metric.get()),
        examples=count,
        memory=memory_of(model),
        seconds=time.perf_counter() - began,
    )


def failed(outcome: Outcome, error: Exception) -> Outcome:
    """The outcome of a setting that ended with an error."""
    return dataclasses.replace(outcome, error=f"{type(error).__name__}: {error}")


def validate(model: Any, examples: Examples, metric: Any) -> int:
    """River's `progressive_val_score`, with one call for all examples if the model and the metric
    allow it.

    Returns how many examples there were.
    """
    from river import evaluate  # imported here, as it takes long to load

    # metrics of regression do not say what they require
    suffices = is_estimator(model) and getattr(metric, "requires_labels", True)
    if suffices and examples.batch is not None:
        targets = [y for _, y in examples]
        predictions = model.predict_then_learn_many(examples.batch, targets).tolist()
        for target, prediction in zip(targets, predictions, strict=True):
            if prediction is not None:
                metric.update(y_true=target, y_pred=prediction)
        return len(targets)
    numbers = itertools.count()
    counted = (example for example, _ in zip(examples, numbers, strict=False))
    evaluate.progressive_val_score(counted, model, metric)
    return next(numbers)
