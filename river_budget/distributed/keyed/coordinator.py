"""Sends chunks to all shards, gathers their answers, and has them write checkpoints together.

If a worker is lost, or its database fails, all shards go back to the last complete checkpoint, and
the rows after it must be sent again. One shard alone could not: it would learn rows twice that the
others have, or miss some.
"""

from __future__ import annotations

import collections
import dataclasses
import heapq
import itertools
import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any

from ..workers import new_worker
from ..workers.serial import Answer, Worker, WorkerLost
from .chunks import Chunk
from .keys import shard_of
from .shard import Shard
from .storage import Folder

MODELS_AT_ONCE = 1000  # at most so many models in one message
# Chunks that are not learned yet: enough to keep the shards busy, and few to hold in memory.
WINDOW = 4
# errors after which a shard no longer holds what it has learned
LOSSES = (WorkerLost, sqlite3.Error)


@dataclasses.dataclass(eq=False)
class Sent:
    """A chunk, and the messages that it has become."""

    chunk: Chunk
    epoch: int  # of the workers
    parts: list[tuple[Any, Answer]]  # (places of the rows in the chunk, the answer of their shard)

    def done(self) -> bool:
        return all(answer.done() for _, answer in self.parts)


class Coordinator:
    """Knows the workers of all shards and the progress of checkpoints."""

    def __init__(
        self,
        template: Any,
        backend: str,
        shards: int,
        capacity: int | None,
        folder: Folder | None,
        checkpoint_every: int,
    ):
        self.template, self.capacity = template, capacity
        self.folder, self.checkpoint_every = folder, checkpoint_every
        self.epoch = 0  # how often the shards have begun
        self.workers: list[Worker] = []
        try:
            for _ in range(shards):
                self.workers.append(new_worker(backend))
            self._begin()
        except BaseException:
            self.stop()
            raise

    def _begin(self) -> None:
        """Have all shards begin where the last complete checkpoint is."""
        self.epoch += 1
        self.rows_done = self.rows_saved
        self.number = 0 if self.folder is None else self.folder.checkpoint  # of the last one begun
        self.waiting: collections.deque[Sent] = collections.deque()
        begun = []
        for place, worker in enumerate(self.workers):
            # without a folder, a database in memory to which nothing is written
            path = ":memory:" if self.folder is None else self.folder.shard(place)
            begun.append(worker.begin(Shard, self.template, path, self.number, self.capacity))
        for answer in begun:
            answer.result()

    @property
    def rows_saved(self) -> int:
        """How many rows the last complete checkpoint contains."""
        return 0 if self.folder is None else self.folder.rows

    def _go_back(self, epoch: int, loss: Exception) -> None:
        """Have all shards go back to the last complete checkpoint, and raise the error. The answer
        to a message of an earlier epoch takes nothing back.
        """
        if self.folder is None:
            raise WorkerLost(
                f"{loss}. Its models are lost with it: with checkpoint=folder a run goes on"
            ) from None
        if epoch == self.epoch:
            try:
                self._begin()
            except LOSSES as another:  # the next call goes back once more
                loss = another
        *rest, reason = loss.args  # an error of the system begins with its number
        raise type(loss)(
            *rest,
            f"{reason}. All shards are back at the last checkpoint: send the rows again, from row "
            f"{self.rows_done} on (counted from 0)",
        ) from None

    def stop(self) -> None:
        for worker in self.workers:
            worker.close()
        self.workers = []

    # sending and gathering

    def learn(self, chunk: Chunk, predict: bool) -> Sent:
        """Send the rows of a chunk to be learned. Waits if too many chunks are not learned yet."""
        while len(self.waiting) >= WINDOW or (self.waiting and self.waiting[0].done()):
            self._answers(self.waiting[0])
        sent = self.send(chunk, True, predict)
        self.waiting.append(sent)
        self.rows_done += len(chunk)
        if self.folder is not None and self.rows_done - self.rows_saved >= self.checkpoint_every:
            self.checkpoint()
        return sent

    def send(self, chunk: Chunk, learn: bool, predict: bool) -> Sent:
        """Send the rows of a chunk, to be predicted or learned or both."""
        parts = [
            (places, self.workers[shard].submit("run", rows, learn, predict))
            for shard, places, rows in chunk.by_shard(len(self.workers))
        ]
        return Sent(chunk, self.epoch, parts)

    def _answers(self, sent: Sent) -> list[tuple[Any, Any]]:
        """(places, answer of their shard) for a chunk, which waits no more. Raises its error."""
        if sent in self.waiting:
            self.waiting.remove(sent)
        return [(places, self._result(answer, sent.epoch)) for places, answer in sent.parts]

    def _result(self, answer: Answer, epoch: int) -> Any:
        try:
            return answer.result()
        except LOSSES as loss:
            self._go_back(epoch, loss)

    def gather(self, sent: Sent) -> Any:
        """The predictions of all shards, in the order and the form of the rows."""
        values = [None] * len(sent.chunk)
        for places, found in self._answers(sent):
            for place, value in zip(places.tolist(), found, strict=True):
                values[place] = value
        return sent.chunk.series(values)

    def ask(self, shard: int, method: str, *arguments: Any) -> Any:
        return self._result(self.workers[shard].submit(method, *arguments), self.epoch)

    def ask_all(self, method: str, *arguments: Any) -> list[Any]:
        answers = [worker.submit(method, *arguments) for worker in self.workers]
        return [self._result(answer, self.epoch) for answer in answers]

    def drain(self) -> None:
        """Wait until all rows are learned."""
        while self.waiting:
            self._answers(self.waiting[0])
        self.ask_all("resident")  # a shard that has nothing to learn may be lost too

    # all models

    def names(self) -> list[bytes]:
        """All keys in the order of their bytes."""
        return sorted(itertools.chain.from_iterable(self.ask_all("keys")))

    def models(self) -> Iterable[tuple[bytes, bytes]]:
        """Key and state of all models, in the order of `names`."""
        return heapq.merge(*map(self._models_of, range(len(self.workers))))

    def _models_of(self, shard: int) -> Iterator[tuple[bytes, bytes]]:
        names = iter(self.ask(shard, "keys"))
        while some := list(itertools.islice(names, MODELS_AT_ONCE)):
            yield from zip(some, self.ask(shard, "states_of", some), strict=True)

    def adopt(self, models: Iterator[tuple[bytes, bytes]], rows: int) -> None:
        """Spread models that have learned so many rows over the shards."""
        if self.number:
            raise ValueError("checkpoint must be a new folder: this one holds checkpoints already")
        while some := list(itertools.islice(models, MODELS_AT_ONCE)):
            shares: list[list[tuple[bytes, bytes]]] = [[] for _ in self.workers]
            for name, state in some:
                shares[shard_of(name, len(shares))].append((name, state))
            for shard, share in enumerate(shares):
                self.ask(shard, "adopt", share)
        self.rows_done = rows
        self.checkpoint()

    def checkpoint(self) -> None:
        """Wait until all rows are learned. Have all shards write a checkpoint, if there is a
        folder, and note it when they have.
        """
        self.drain()
        if self.folder is None:
            return
        self.number += 1
        self.ask_all("seal", self.number, self.folder.checkpoint)
        try:
            self.folder.complete(self.number, self.rows_done)
        except OSError as full:
            self._go_back(self.epoch, full)
