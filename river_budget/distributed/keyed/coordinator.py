"""Sends chunks to all shards, gathers their answers, and has them write checkpoints together.

The client of a shard stores the messages without an answer, and those to repeat if the worker is lost.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..precompile import precompile
from ..workers import backends
from ..workers.backends import Worker, WorkerLost
from .chunks import Chunk, shard_of
from .shard import Shard
from .storage import Folder, Form

MODELS_AT_ONCE = 1000  # at most so many models in one message
# The largest number of messages without an answer: enough to keep a shard busy, and few to hold in memory.
WINDOW = 4
# The largest number of losses in a row: after more, the next worker would probably be lost too.
PATIENCE = 3


@dataclasses.dataclass(slots=True, eq=False)
class Message:
    """A call of a method of a shard."""

    method: str
    arguments: tuple[Any, ...]
    asked: bool  # whether somebody will ask for the answer
    ticket: Any = None  # None: it is answered
    done: bool = False
    value: Any = None
    error: Exception | None = None


class ShardClient:
    """Sends messages to one shard in order. If the worker is lost, a new one takes its place.

    The new worker begins at the last complete checkpoint and is sent all messages since then. Answers that
    were received before are ignored.
    """

    def __init__(self, start: Callable[[int], Worker], checkpoint: int, recovers: bool):
        self.start, self.checkpoint, self.recovers = start, checkpoint, recovers
        self.worker = start(checkpoint)
        self.waiting: collections.deque[Message] = collections.deque()
        self.log: collections.deque[Message] = collections.deque()
        self.error: Exception | None = None  # the first one that no answer reports
        self.losses = 0

    def send(self, method: str, *arguments: Any, changes: bool = False, asked: bool = True) -> Any:
        """Send a message. Waits first if too many messages are without an answer."""
        while self.waiting and (len(self.waiting) >= WINDOW or self.waiting[0].ticket.ready()):
            self._settle()
        message = Message(method, arguments, asked)
        if changes and self.recovers:
            self.log.append(message)
        self._submit(message)
        self.waiting.append(message)
        return message

    def answer(self, message: Message) -> Any:
        """Wait for the answer of a message."""
        while not message.done:
            self._settle()
        value, message.value = message.value, None
        if message.error is not None:
            raise message.error
        return value

    def drain(self) -> None:
        """Wait until all messages are answered."""
        while self.waiting:
            self._settle()

    def raise_error(self) -> None:
        """Raise the first error of a message whose answer was not asked for."""
        error, self.error = self.error, None
        if error is not None:
            raise error

    def complete(self, checkpoint: int, seal: Message) -> None:
        """Forget messages before a checkpoint that all shards have written: they need not be sent again."""
        self.checkpoint = checkpoint
        while self.log and self.log.popleft() is not seal:
            pass

    # inside

    def _submit(self, message: Message) -> None:
        message.ticket = self.worker.submit(message.method, *message.arguments)

    def _settle(self) -> None:
        """Wait for the answer to the oldest message without one."""
        message = self.waiting[0]
        try:
            message.value = message.ticket.result()
        except WorkerLost as loss:
            self._revive(loss)
            return
        except Exception as error:
            message.error = error
            if not message.asked:
                self.error = self.error or error
        self.waiting.popleft()
        message.done, message.ticket, self.losses = True, None, 0

    def _revive(self, loss: WorkerLost) -> None:
        """Start a new worker in the place of a lost one, and send it the messages since its checkpoint."""
        if not self.recovers:
            raise WorkerLost(
                f"{loss}. Its models are lost with it: with checkpoint=folder a run goes on"
            ) from None
        self.losses += 1
        if self.losses > PATIENCE:
            raise WorkerLost(f"{loss}. That was the case {self.losses} times in a row") from None
        self.worker.stop()
        self.worker = self.start(self.checkpoint)
        try:
            for message in self.log:
                if message.done:
                    self._replay(message)
        except WorkerLost as another:
            self._revive(another)
            return
        for message in self.waiting:
            self._submit(message)

    def _replay(self, message: Message) -> None:
        """Send an answered message again. Ignores an error, which is the same as the first time."""
        self._submit(message)
        try:
            message.ticket.result()
        except WorkerLost:
            raise
        except Exception:
            pass
        message.ticket = None


Sent = tuple[ShardClient, Any, Message]  # (client, places of the rows in the chunk, message)


class Coordinator:
    """Knows the clients of all shards and the progress of checkpoints."""

    def __init__(
        self,
        template: Any,
        form: Form,
        backend: str,
        shards: int,
        capacity: int | None,
        folder: Folder | None,
        checkpoint_every: int,
    ):
        self.template, self.form, self.capacity = template, form, capacity
        self.folder, self.checkpoint_every = folder, checkpoint_every
        self.rows_done = 0 if folder is None else folder.rows
        self.rows_saved = self.rows_sealed = self.rows_done
        self.number = 0 if folder is None else folder.checkpoint
        self.seals: list[Message] = []  # those for the checkpoint in progress
        self.clients: list[ShardClient] = []
        self.backend = backends.open(backend, shards)
        try:
            if backend != "serial":
                precompile(template)
            self.clients += [self._client(place) for place in range(shards)]
            self.ask_all("resident")
        except BaseException:
            self.stop()
            raise

    def _client(self, place: int) -> ShardClient:
        path = None if self.folder is None else self.folder.shard(place)

        def start(checkpoint: int) -> Worker:
            arguments = (self.template, self.form, path, checkpoint, self.capacity)
            return self.backend.worker(Shard, *arguments)

        return ShardClient(start, self.number, recovers=path is not None)

    def stop(self) -> None:
        """End all workers at once."""
        for client in self.clients:
            client.worker.stop()
        self.clients.clear()
        self.backend.close()

    # sending and gathering

    def learn(self, chunk: Chunk, predict: bool) -> list[Sent]:
        """Send the rows of a chunk to be learned."""
        sent: list[Sent] = []
        for start, piece in chunk.pieces():
            options = {"changes": True, "asked": predict}
            for client, places, rows in self._addressed(piece):
                message = client.send("learn", rows, predict, **options)
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
        sent = [client.send(method) for client in self.clients]
        return [client.answer(message) for client, message in zip(self.clients, sent, strict=True)]

    def drain(self) -> None:
        """Wait until all messages are answered."""
        for client in self.clients:
            client.drain()

    def raise_error(self) -> None:
        """Raise the error of an earlier message, if there is one."""
        for client in self.clients:
            client.raise_error()

    # all models

    def names(self) -> list[tuple[bytes, int]]:
        """All keys in the order of their bytes, with their shards."""
        found = self.ask_all("keys")
        return sorted((name, shard) for shard, names in enumerate(found) for name in names)

    def models(self) -> Iterator[tuple[bytes, bytes]]:
        """Key and state of all models, in the order of `names`."""
        names = self.names()
        for start in range(0, len(names), MODELS_AT_ONCE):
            batch = names[start : start + MODELS_AT_ONCE]
            found: dict[bytes, bytes] = {}
            for shard in {shard for _, shard in batch}:
                own = [name for name, owner in batch if owner == shard]
                found |= zip(own, self.ask(shard, "states_of", own), strict=True)
            for name, _ in batch:
                yield name, found[name]

    def adopt(self, models: Iterable[tuple[bytes, bytes]]) -> None:
        """Spread models over the shards."""
        batches: list[list[tuple[bytes, bytes]]] = [[] for _ in self.clients]
        for name, state in models:
            shard = shard_of(name, len(self.clients))
            batches[shard].append((name, state))
            if len(batches[shard]) == MODELS_AT_ONCE:
                self._send_models(shard, batches[shard])
                batches[shard] = []
        for shard, batch in enumerate(batches):
            self._send_models(shard, batch)

    def _send_models(self, shard: int, batch: list[tuple[bytes, bytes]]) -> None:
        self.clients[shard].send("adopt", batch, changes=True, asked=False)

    # checkpoints

    def checkpoint(self) -> None:
        """Write a checkpoint, and wait until it is complete."""
        self._complete()
        self._seal()
        self._complete()

    def _continue_checkpoints(self) -> None:
        if self.folder is None:
            return
        if self.seals and all(seal.done for seal in self.seals):
            self._complete()
        if self.rows_done - self.rows_sealed >= self.checkpoint_every:
            self._complete()
            self._seal()

    def _seal(self) -> None:
        """Tell all shards to write a checkpoint, after the messages that they have already."""
        assert self.folder is not None
        self.number, self.rows_sealed = self.number + 1, self.rows_done
        arguments = (self.number, self.folder.checkpoint)
        self.seals = [client.send("seal", *arguments, changes=True) for client in self.clients]

    def _complete(self) -> None:
        """Wait for a checkpoint that is being written, if there is one."""
        seals, self.seals = self.seals, []
        if not seals:
            return
        assert self.folder is not None
        for client, seal in zip(self.clients, seals, strict=True):
            client.answer(seal)
        self.folder.complete(self.number, self.rows_sealed)
        self.rows_saved = self.rows_sealed
        for client, seal in zip(self.clients, seals, strict=True):
            client.complete(self.number, seal)
