"""One model from several streams, learned at the same time."""

from __future__ import annotations

import contextlib
import copy
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
from river.utils import dataframe

from .. import merge
from ..inputs.batches import Batch, batch_of
from ..inputs.targets import Targets
from ..parameters import one_of, optional, whole
from ..uniting.rivers import forget_common
from ..wrappers.nested import is_estimator
from .dicts import learn_example
from .workers import BACKENDS, new_worker
from .workers.serial import Worker

TRIED = 500  # examples to test whether the model can be merged, and to compile the code for merging
# examples, or a pair of rows and targets
ShardStream = Iterable[Any] | Callable[[], Iterable[Any]]


def train_shards(
    model: Any,
    streams: Iterable[ShardStream],
    sync_every: int | None = None,
    *,
    backend: Literal["ray", "serial"] = "ray",
) -> Any:
    """Learn several streams at the same time, each in its own process, and merge the models.

    Every stream is learned by a copy of the model. After `sync_every` examples of each stream the
    copies are merged by `merge`, weighted with the numbers of examples since the last merging, and
    all go on from the merged model. A stream that has ended takes no further part: the merged model
    contains what was learned from it.

    This is not the same as one model that learns all streams one after the other. Every merging
    takes the mean of models that each have seen a part, and reduces it to the budget. The guide
    `examples/beyond_one_machine.md` measures how much accuracy that loses and how much time it
    saves.

    The result depends on the order of the streams, but not on the backend, if the model has a seed.
    If the process of a shard is lost, `WorkerLost` is raised, and the training has to start again.

    Not for models that take 2 µs per row, which gain nothing, nor for streams that differ much if
    merging is rare.

    Parameters
    ----------
    model
        A model that `merge` takes, or a pipeline. It is not changed; training continues from what
        it has learned.
    streams
        For each shard a River dataset, another iterable of (x, y), a pair (X, y) of a 2-D array or
        a frame and targets, or a function without arguments that returns one of these. Datasets and
        functions are read by the shard itself, which is best where reading takes long; iterators
        are read here and sent. The beginning of the first stream is also learned here, to see at
        once whether the model can be merged.
    sync_every
        The number of examples that each shard learns between mergings; None merges once, at the
        end.
    backend
        "ray" for the Ray that runs, or "serial" for one shard after the other in this process.

    Returns
    -------
    The merged model, which can continue to learn.

    Examples
    --------

    >>> import river_budget as rb
    >>> from river_budget import datasets
    >>> from river_budget.distributed import train_shards

    >>> X, y = datasets.Waveform(4000, seed=1).arrays()
    >>> model = rb.BSGDClassifier(budget=50, kernel=rb.kernels.RBF(0.05))
    >>> shards = [(X[:1500], y[:1500]), (X[1500:3000], y[1500:3000])]
    >>> merged = train_shards(model, shards, sync_every=500, backend="serial")
    >>> merged.n_support_vectors
    50
    >>> bool((merged.predict_many(X[3000:]) == y[3000:]).mean() > 0.8)
    True

    References
    ----------
    [^1]: The guide, [many models](guide/many_models.md).

    """
    optional(whole(1))("sync_every", sync_every)
    one_of(*BACKENDS)("backend", backend)
    # an iterator can be read only once, and in this process only
    sources = [list(each) if isinstance(each, Iterator) else each for each in streams]
    if not sources:
        raise ValueError("streams must be at least one stream")
    many = is_estimator(model)
    first = Trainee(sources[0], many)  # raises now if models cannot be merged
    _merged([first.learn(model, TRIED), first.learn(model, TRIED)], model)
    with contextlib.ExitStack() as ends:
        trainees, begun = [], []
        for source in sources:
            trainee = ends.enter_context(contextlib.closing(new_worker(backend)))
            trainees.append(trainee)
            begun.append(trainee.begin(Trainee, source, many))
        for answer in begun:
            answer.result()
        return _rounds(model, trainees, sync_every)


def _rounds(model: Any, trainees: Sequence[Worker], most: int | None) -> Any:
    """Learn and merge until all streams have ended."""
    while trainees:
        answers = [trainee.submit("learn", model, most) for trainee in trainees]
        learned = [answer.result() for answer in answers]
        model = _merged(learned, model)
        going_on = [count == most for count, _ in learned]
        trainees = list(itertools.compress(trainees, going_on))
    return copy.deepcopy(model)


def _merged(learned: Sequence[tuple[int, Any]], before: Any) -> Any:
    """The mean of models, weighted by the examples that each has learned since the last merging."""
    learned = [(count, model) for count, model in learned if count]
    if len(learned) < 2:  # one shard alone learns as any model does
        return learned[0][1] if learned else before
    counts, models = zip(*learned, strict=True)
    forget_common(list(models), before)
    return merge(models, [count / sum(counts) for count in counts])


class Trainee:
    """The object of a worker: it learns its stream, some examples at a time.

    `many`: rows of a matrix or a frame are learned together, which models of this package do
    exactly as one by one.
    """

    def __init__(self, stream: ShardStream, many: bool):
        given: Any = stream() if callable(stream) else stream
        self.batch: Batch | None = None
        rows: Any
        if isinstance(given, tuple) and len(given) == 2 and hasattr(given[0], "shape"):
            X, self.targets = given[0], Targets(given[1], len(given[0])).values
            if many:
                self.batch, self.at = batch_of(X), 0
            elif isinstance(X, np.ndarray):
                rows = (dict(enumerate(row.tolist())) for row in X)
                given = zip(rows, self.targets, strict=True)
            else:
                rows = dataframe.into_frame(X).iter_rows(named=True)
                given = zip(rows, self.targets, strict=True)
        self.examples = iter(given)

    def learn(self, model: Any, most: int | None) -> tuple[int, Any]:
        """Learn the next examples, at most `most`, with a copy of the model. Returns (number of
        examples, copy).
        """
        model = copy.deepcopy(model)
        if self.batch is not None:
            start, n = self.at, len(self.batch)
            stop = self.at = n if most is None else min(start + most, n)
            if stop > start:
                model.learn_many(self.batch.part(start, stop), self.targets[start:stop])
            return stop - start, model
        count = 0
        for example in itertools.islice(self.examples, most):
            learn_example(model, *example)
            count += 1
        return count, model
