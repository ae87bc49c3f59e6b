"""A connection between this process and a worker on the same machine, for workers that are called often.

A call through Ray costs the sender half a millisecond, and the answer takes more than one. A socket between two
processes of one machine costs a tenth of that, and the answer takes a fifth. Ray still starts the worker, ends it,
and knows why it is gone.
"""

from __future__ import annotations

import collections
import contextlib
import os
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener

BROKEN = (EOFError, OSError)
NOT_HERE = (
    *BROKEN,
    AuthenticationError,
    ValueError,
)  # a ValueError where there are no such sockets
BUFFER = 2**22  # bytes that the system is asked to take before they are read; it may allow less
EXTRA = 2**11  # bytes that the system needs for a message besides its own


@contextlib.contextmanager
def address(place: str | None = None) -> Iterator[str]:
    """A path for a socket, in a folder at this place that only this user may enter. Both ends need it to connect,
    not later."""
    with tempfile.TemporaryDirectory(prefix="rb-", dir=place) as folder:
        yield os.path.join(folder, "channel")


def listen(path: str, key: bytes, answer: Callable[[bytes], bytes]) -> bool:
    """Serve requests at this path in a thread, to one who knows the key. False if that is not possible here: the
    path belongs to another machine, or there are no Unix sockets."""
    try:
        listener = Listener(path, authkey=key)
    except NOT_HERE:
        return False
    threading.Thread(target=_serve, args=(listener, answer), daemon=True).start()
    return True


def connect(path: str, key: bytes) -> Channel | None:
    """The channel to the process that listens at this path. None if no process does, or if it has another key."""
    try:
        return Channel(Client(path, authkey=key))
    except NOT_HERE:
        return None


def _serve(listener: Listener, answer: Callable[[bytes], bytes]) -> None:
    """Answer requests in their order until the other end is closed.

    One thread receives, calls and sends: a second thread would sometimes have to wait until another worker pauses.
    """
    with contextlib.suppress(*NOT_HERE), _accepted(listener) as caller:
        while True:
            caller.send_bytes(answer(caller.recv_bytes()))


def _accepted(listener: Listener) -> Connection:
    """The first connection, after which nobody else can connect."""
    try:
        return listener.accept()
    finally:
        with contextlib.suppress(FileNotFoundError):  # the other end may have removed the path
            listener.close()


class Channel:
    """One end of a connection. Requests go out, and their answers come back in the same order."""

    def __init__(self, peer: Connection):
        self.peer = peer
        self.waiting: collections.deque[Reply] = collections.deque()
        self.under_way = 0  # bytes of requests without an answer
        with socket.socket(fileno=os.dup(peer.fileno())) as same:
            same.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
            self.room = same.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) // 2

    def close(self) -> None:
        self.peer.close()

    def send(self, request: bytes) -> Reply:
        reply = Reply(self, len(request) + EXTRA)
        # Else both ends might wait, each until the other one takes what it sends.
        while self.waiting and self.under_way + reply.size > self.room:
            self.receive()
        self.waiting.append(reply)
        self.under_way += reply.size
        with self._unbroken():  # on a broken channel the reply will be None
            self.peer.send_bytes(request)
        return reply

    @contextlib.contextmanager
    def _unbroken(self) -> Iterator[None]:
        """Close the channel when it is interrupted: the rest of a message would be taken for the next one."""
        try:
            yield
        except BROKEN:
            pass
        except BaseException:
            self.close()
            raise

    def receive(self) -> None:
        """Give the next answer to its reply. The answer is None once the other end is gone."""
        answer = None
        with self._unbroken():
            answer = self.peer.recv_bytes()
        reply = self.waiting.popleft()
        self.under_way -= reply.size
        reply.come(answer)

    def ready(self) -> bool:
        """Whether `receive` would find something."""
        return self.peer.closed or self.peer.poll()


class Reply:
    """The answer to one request, now or later."""

    def __init__(self, channel: Channel, size: int):
        self.channel, self.size, self.done = channel, size, False
        self.answer: bytes | None = None

    def come(self, answer: bytes | None) -> None:
        self.answer, self.done = answer, True

    def ready(self) -> bool:
        while not self.done and self.channel.ready():
            self.channel.receive()
        return self.done

    def wait(self) -> bytes | None:
        """The answer. None if the other end is gone."""
        while not self.done:
            self.channel.receive()
        return self.answer
