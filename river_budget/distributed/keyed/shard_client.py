"""The client of one shard: it stores the messages without an answer, and those to repeat if the worker is lost."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable
from typing import Any

from ..workers.interface import Ticket, Worker, WorkerLost

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
    ticket: Ticket | None = None
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
        while self.waiting and (len(self.waiting) >= WINDOW or self._is_ready(self.waiting[0])):
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

    def stop(self) -> None:
        """End the worker at once."""
        self.worker.stop()

    # inside

    def _submit(self, message: Message) -> None:
        message.ticket = self.worker.submit(message.method, *message.arguments)

    def _is_ready(self, message: Message) -> bool:
        return message.ticket is not None and message.ticket.ready()

    def _settle(self) -> None:
        """Wait for the answer to the oldest message without one."""
        message = self.waiting[0]
        assert message.ticket is not None
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
        assert message.ticket is not None
        try:
            message.ticket.result()
        except WorkerLost:
            raise
        except Exception:
            pass
        message.ticket = None
