"""The outcomes of a sweep, the file that stores them, and how they are measured."""

from __future__ import annotations

import collections
import copy
import dataclasses
import functools
import hashlib
import inspect
import json
import os
import pathlib
import pickle
import re
import secrets
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent import futures
from typing import Any

import numpy as np
from river import base, compose, evaluate, metrics

from ...model.estimators.estimators import Classifier, Regressor
from ...model.inputs.batches import Batch, batch_of
from ...nested import steps_of_ours
from ...parameters import Value
from ..workers.serial import WorkerLost

# outcomes, the file that stores them, and texts that identify settings in another session


BEGINNING = b'{"key": "'  # the beginning of every line of a checkpoint
MEASURED = ("value", "examples", "memory", "seconds")


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The outcome of one setting.

    Not for making by hand: `sweep` does.

    Parameters
    ----------
    number
        The place of the setting in the grid, from 0 on.
    name
        The setting as text.
    setting
        The setting, which `model.clone` takes.
    value
        The value of the metric; None if the setting failed.
    examples
        How many examples were predicted and learned.
    memory
        Bytes of the model in the end; None if the model does not say.
    error
        Why the setting failed, or None.
    seconds
        How long the setting took. Two outcomes may differ in this and still be equal.

    Examples
    --------

    >>> from river_budget.distributed import Outcome

    >>> outcome = Outcome(0, "budget=10", {"budget": 10}).measured(value=0.9, examples=100)
    >>> outcome.name, outcome.value, outcome.error
    ('budget=10', 0.9, None)

    References
    ----------
    [^1]: The guide, [many models](guide/many_models.md).

    """

    number: int
    name: str
    setting: dict[str, Any] = dataclasses.field(compare=False)
    value: float | None = None
    examples: int = 0
    memory: int | None = None
    error: str | None = None
    seconds: float = dataclasses.field(default=0.0, compare=False)

    def measured(self, **numbers: Any) -> Outcome:
        """The same setting with these measurements."""
        return dataclasses.replace(self, **numbers)

    def failed(self, error: Exception) -> Outcome:
        """The same setting with its error."""
        return dataclasses.replace(self, error=f"{type(error).__name__}: {error}")

    def numbers(self) -> dict[str, Any]:
        """The measurements, by name."""
        return {name: getattr(self, name) for name in MEASURED}


class Journal:
    """A file with one line for each outcome, written to the disk before the next outcome.

    A line that was cut off is removed. A file with other content is not changed.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = pathlib.Path(path)
        self.found: dict[str, dict[str, Any]] = {}
        content = self.path.read_bytes() if self.path.exists() else b""
        whole, _, rest = content.rpartition(b"\n")
        try:
            for line in whole.splitlines():
                record = json.loads(line)
                self.found[record["key"]] = {name: record[name] for name in MEASURED}
            if rest[: len(BEGINNING)] != BEGINNING[: len(rest)]:
                raise ValueError
        except (ValueError, TypeError, KeyError):
            raise ValueError(
                f"checkpoint: {str(path)!r} is not the checkpoint of a sweep, name another file"
            ) from None
        if rest:
            os.truncate(self.path, len(content) - len(rest))

    def add(self, key: str, outcome: Outcome) -> None:
        """Write one line."""
        record = {"key": key, "setting": outcome.name, **outcome.numbers()}
        with open(self.path, "ab", buffering=0) as file:
            file.write(json.dumps(record).encode() + b"\n")
            os.fsync(file.fileno())


def chosen(model: Any, grid: Mapping[str, Any]) -> dict[str, Any]:
    """The values that the parameters of a grid have in a model."""
    setting = {}
    for name, inside in grid.items():
        value = (
            model[name]
            if isinstance(model, (compose.Pipeline, compose.TransformerUnion))
            else getattr(model, name)
        )
        setting[name] = chosen(value, inside) if isinstance(inside, Mapping) else value
    return setting


def described(value: Any) -> str:
    """A value as text, with all parameters. The text is the same in another session."""
    if isinstance(value, Value):
        return repr(value)  # which contains the parameters that are set
    if isinstance(value, base.Base):
        return f"{type(value).__name__}({described(value._get_params())})"
    if isinstance(value, dict):
        return ", ".join(
            f"{name}({described(each)})" if isinstance(each, dict) else f"{name}={described(each)}"
            for name, each in value.items()
        )
    if isinstance(value, tuple) and len(value) == 2 and inspect.isclass(value[0]):
        if issubclass(value[0], Value):
            return described(value[0](**value[1]))
        return f"{value[0].__name__}({described(value[1])})"  # as River writes an object
    if inspect.isroutine(value) or inspect.isclass(value):
        return f"{value.__module__}.{value.__qualname__}"
    return repr(value)


def fingerprint(*texts: str) -> str:
    """A short text that identifies these texts."""
    for text in texts:
        if unnamed := re.search(r"\S*(<lambda>| at 0x[0-9a-f]+)", text):
            raise ValueError(
                f"checkpoint: {unnamed[0]} cannot be recognised in a later session, use a function "
                "with a name or an object whose repr tells its content"
            )
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:32]


# measuring, in this process or in another one

ExampleStream = Iterable[Any] | Callable[[], Iterable[Any]]
Trial = tuple[Outcome, Any]  # (setting without measurements, its model)


class StreamError(RuntimeError):
    """The stream itself has raised an error, so no setting has failed."""


class Examples:
    """The examples of a stream, which is a list or a function. They can be iterated over more than once.

    A list is converted to bytes once, for whatever number of settings, and each process reads it once.
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
        return (Examples, (self.stream,)) if callable(self.stream) else (held, self.content)

    @functools.cached_property
    def content(self) -> tuple[bytes, bytes]:
        """A name that no other stream has, and the examples as bytes."""
        return secrets.token_bytes(16), pickle.dumps(self.stream)

    @functools.cached_property
    def batch(self) -> Batch | None:
        """The examples as a batch. None unless all have the same features, and these are finite numbers."""
        if callable(self.stream) or not self.stream:
            return None
        names = list(next(iter(self.stream))[0])
        if any(more or x.keys() != set(names) for x, _, *more in self.stream):
            return None
        try:
            rows = batch_of(np.array([[x[name] for name in names] for x, _ in self.stream]))
        except ValueError:
            return None
        return Batch.of(names, rows.values)


HELD: dict[bytes, Examples] = {}  # the last stream that this process was sent


def held(name: bytes, data: bytes) -> Examples:
    """The stream of this name, whose examples are read when it comes for the first time."""
    if name not in HELD:
        HELD.clear()
        HELD[name] = Examples(pickle.loads(data))
    return HELD[name]


def run(outcome: Outcome, model: Any, metric: metrics.base.Metric, examples: Examples) -> Outcome:
    """The outcome of a setting with its measurements, or with the error of its model."""
    model, metric = copy.deepcopy(model), copy.deepcopy(metric)
    began = time.perf_counter()
    try:
        count = validate(model, examples, metric)
    except StreamError:
        raise
    except Exception as error:
        return outcome.failed(error)
    return outcome.measured(
        value=float(metric.get()),
        examples=count,
        memory=memory_usage(model),
        seconds=time.perf_counter() - began,
    )


def validate(model: Any, examples: Examples, metric: Any) -> int:
    """River's `progressive_val_score`, with one call for all examples if the model and the metric allow it.

    Returns how many examples there were.
    """
    count = 0
    if labels_suffice(model, metric) and examples.batch is not None:
        targets = [y for _, y in examples]
        predictions = model.predict_then_learn_many(examples.batch, targets).tolist()
        for target, prediction in zip(targets, predictions, strict=True):
            if prediction is not None:
                metric.update(y_true=target, y_pred=prediction)
        return len(targets)

    def counted() -> Iterator[Any]:
        nonlocal count
        for example in examples:
            count += 1
            yield example

    evaluate.progressive_val_score(counted(), model, metric)
    return count


def labels_suffice(model: Any, metric: Any) -> bool:
    """Whether the predictions of `predict_then_learn_many` are enough for the metric."""
    kind = type(model)  # isinstance would test the last step of a pipeline
    if issubclass(kind, Classifier):
        return bool(metric.requires_labels)
    return issubclass(kind, Regressor)


def memory_usage(model: base.Base) -> int | None:
    """Bytes of the models of this package in a model or pipeline. None if there are none."""
    sizes = [ours.memory_usage for ours in steps_of_ours(model)]
    return sum(sizes) if sizes else None


def outcomes(
    executor: futures.Executor,
    workers: int,
    trials: Iterable[Trial],
    metric: metrics.base.Metric,
    examples: Examples,
) -> Generator[Outcome, None, None]:
    """The outcomes of the trials, in the order in which they are ready."""
    waiting = collections.deque(trials)
    running: dict[futures.Future[Outcome], Outcome] = {}
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                setting, model = waiting.popleft()
                running[executor.submit(run, setting, model, metric, examples)] = setting
            for future in futures.wait(running, return_when=futures.FIRST_COMPLETED).done:
                setting = running.pop(future)
                try:
                    outcome = future.result()
                except WorkerLost as error:
                    outcome = setting.failed(error)
                yield outcome
    finally:
        for future in running:
            future.cancel()
