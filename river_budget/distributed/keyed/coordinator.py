"""Sends chunks to all shards, gathers their answers, and has them write checkpoints together.

If a worker is lost, or its database fails, all shards go back to the last complete checkpoint, and the rows after it
must be sent again. One shard alone could not: it would learn rows twice that the others have, or miss some.
"""

from __future__ import annotations

import collections
import itertools
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..precompile import precompile
from ..workers import backends
from ..workers.serial import Answer, Worker, WorkerLost
from .chunks import Chunk
from .keys import shard_of
from .shard import Shard
from .storage import Folder

MODELS_AT_ONCE = 1000  # at most so many models in one message
# The largest number of messages without an answer: enough to keep a shard busy, and few to hold in memory.
WINDOW = 4
# errors after which a shard no longer holds what it has learned
LOSSES = (WorkerLost, sqlite3.Error)


class ShardClient:
    """Sends messages to one shard in order, from one checkpoint to go back to until the next time.

    `back` is called with this client and the error if the shard has lost what it held. It raises.
    """

    def __init__(self, worker: Worker, back: Callable[[ShardClient, Exception], None]):
        self.worker, self.back = worker, back
        self.waiting: collections.deque[tuple[Answer, bool]] = collections.deque()
        self.error: Exception | None = None  # the first one that no answer reports

    def send(self, method: str, *arguments: Any, asked: bool = True) -> Answer:
        """Send a message. Waits first if too many are without an answer. `asked`: somebody will ask for the answer."""
        while self.waiting and (len(self.waiting) >= WINDOW or self.waiting[0][0].done()):
            self._settle()
        message = self.worker.submit(method, *arguments)
        self.waiting.append((message, asked))
        return message

    def answer(self, message: Answer) -> Any:
        """Wait for the answer to a message."""
        try:
            return message.result()
        except LOSSES as loss:
            self.back(self, loss)

    def drain(self) -> None:
        """Wait until all messages are answered."""
        while self.waiting:
            self._settle()

    def raise_error(self) -> None:
        """Raise the first error of a message whose answer was not asked for."""
        error, self.error = self.error, None
        if error is not None:
            raise error

    def _settle(self) -> None:
        """Wait for the answer to the oldest message without one."""
        message, asked = self.waiting[0]
        try:
            self.answer(message)
        except LOSSES:
            raise
        except Exception as error:
            if not asked:
                self.error = self.error or error
        self.waiting.popleft()


Sent = tuple[ShardClient, Any, Answer]  # (client, places of the rows in the chunk, their message)


class Coordinator:
    """Knows the clients of all shards and the progress of checkpoints."""

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
        self.backend = backends.open(backend)
        try:
            if backend != "serial":
                precompile(template)
            workers = [self.backend.worker(Shard, *self._arguments(i)) for i in range(shards)]
            self._begin(workers)
        except BaseException:
            self.stop()
            raise

    def _arguments(self, place: int) -> tuple[Any, ...]:
        """What makes the shard of this place, as it was at the last complete checkpoint."""
        folder = self.folder
        path, checkpoint = (None, 0) if folder is None else (folder.shard(place), folder.checkpoint)
        return self.template, path, checkpoint, self.capacity

    def _begin(self, workers: list[Worker]) -> None:
        """All shards are where the last complete checkpoint is."""
        self.number = 0 if self.folder is None else self.folder.checkpoint
        self.rows_done = 0 if self.folder is None else self.folder.rows
        self.rows_saved = self.rows_sealed = self.rows_done
        self.seals: list[Answer] = []  # those for the checkpoint in progress
        self.clients = [ShardClient(worker, self._go_back) for worker in workers]
        for worker in workers:
            worker.begun.result()

    def _go_back(self, client: ShardClient, loss: Exception) -> None:
        """Have all shards go back to the last complete checkpoint, and raise the error. An error of a client from
        before the last time does not count."""
        if self.folder is None:
            raise WorkerLost(
                f"{loss}. Its models are lost with it: with checkpoint=folder a run goes on"
            ) from None
        if client in self.clients:
            for place, each in enumerate(self.clients):
                each.worker.begin(Shard, *self._arguments(place))
            try:
                self._begin([each.worker for each in self.clients])
            except LOSSES as another:  # the next call goes back once more
                loss = another
        *rest, reason = loss.args  # an error of the system begins with its number
        raise type(loss)(
            *rest,
            f"{reason}. All shards are back at the last checkpoint: send the rows again, from row "
            f"{self.rows_done} on (counted from 0)",
        ) from None

    def stop(self) -> None:
        """End all workers at once."""
        self.clients = []
        self.backend.close()

    # sending and gathering

    def learn(self, chunk: Chunk, predict: bool) -> list[Sent]:
        """Send the rows of a chunk to be learned."""
        sent: list[Sent] = []
        for start, piece in chunk.pieces():
            for client, places, rows in self._addressed(piece):
                message = client.send("learn", rows, predict, asked=predict)
                if predict:
                    sent.append((client, start + places, message))
            self.rows_done += len(piece)
            self._continue_checkpoints()
        return sent

    def predict(self, chunk: Chunk) -> list[Sent]:
        """Send the rows of a chunk to be predicted."""
        return [
            (client, start + places, client.send("predict", rows))
            for start, piece in chunk.pieces()
            for client, places, rows in self._addressed(piece)
        ]

    def _addressed(self, piece: Chunk) -> Iterator[tuple[ShardClient, Any, Any]]:
        for shard, places, rows in piece.by_shard(len(self.clients)):
            yield self.clients[shard], places, rows

    def gather(self, n: int, sent: list[Sent]) -> list[Any]:
        """The answers of all shards, in the order of the rows."""
        values = [None] * n
        for client, places, message in sent:
            for place, value in zip(places.tolist(), client.answer(message), strict=True):
                values[place] = value
        return values

    def ask(self, shard: int, method: str, *arguments: Any) -> Any:
        """The answer of one shard."""
        client = self.clients[shard]
        return client.answer(client.send(method, *arguments))

    def ask_all(self, method: str) -> list[Any]:
        """The answers of all shards."""
        sent = [(client, client.send(method)) for client in self.clients]
        return [client.answer(message) for client, message in sent]

    def drain(self) -> None:
        """Wait until all messages are answered."""
        for client in self.clients:
            client.drain()

    def raise_error(self) -> None:
        """Raise the error of an earlier message, if there is one."""
        for client in self.clients:
            client.raise_error()

    # all models

    def names(self) -> list[bytes]:
        """All keys in the order of their bytes."""
        return sorted(itertools.chain.from_iterable(self.ask_all("keys")))

    def models(self) -> Iterator[tuple[bytes, bytes]]:
        """Key and state of all models, in the order of `names`."""
        names = iter(self.names())
        while some := list(itertools.islice(names, MODELS_AT_ONCE)):
            found: dict[bytes, bytes] = {}
            for shard, own in self._by_shard(some):
                found |= zip(own, self.ask(shard, "states_of", own), strict=True)
            for name in some:
                yield name, found[name]

    def adopt(self, models: Iterator[tuple[bytes, bytes]]) -> None:
        """Spread models over the shards."""
        while some := dict(itertools.islice(models, MODELS_AT_ONCE)):
            for shard, own in self._by_shard(some):
                self.clients[shard].send("adopt", [(k, some[k]) for k in own], asked=False)

    def _by_shard(self, names: Iterable[bytes]) -> Iterator[tuple[int, list[bytes]]]:
        """(shard, its keys) of every shard that has some of these."""
        found: dict[int, list[bytes]] = {}
        for name in names:
            found.setdefault(shard_of(name, len(self.clients)), []).append(name)
        yield from found.items()

    # checkpoints

    def checkpoint(self) -> None:
        """Write a checkpoint, and wait until it is complete."""
        self._complete()
        self._seal()
        self._complete()

    def _continue_checkpoints(self) -> None:
        if self.folder is None:
            return
        if self.seals and all(seal.done() for seal in self.seals):
            self._complete()
        if self.rows_done - self.rows_sealed >= self.checkpoint_every:
            self._complete()
            self._seal()

    def _seal(self) -> None:
        """Tell all shards to write a checkpoint, after the messages that they have already."""
        assert self.folder is not None
        self.number, self.rows_sealed = self.number + 1, self.rows_done
        arguments = (self.number, self.folder.checkpoint)
        self.seals = [client.send("seal", *arguments) for client in self.clients]

    def _complete(self) -> None:
        """Wait for a checkpoint that is being written, if there is one."""
        seals, self.seals = self.seals, []
        if not seals:
            return
        assert self.folder is not None
        for client, seal in zip(self.clients, seals, strict=True):
            client.answer(seal)
        try:
            self.folder.complete(self.number, self.rows_sealed)
        except OSError as full:
            self._go_back(self.clients[0], full)
        self.rows_saved = self.rows_sealed
