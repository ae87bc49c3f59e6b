"""A socket between this process and a worker on the same machine, for workers that are called often.

A call through Ray costs the sender half a millisecond, and the answer takes more than one. A socket between two
processes of one machine costs a tenth of that, and the answer takes a fifth. Ray still starts the worker, ends it,
and knows why it is gone.
"""

from __future__ import annotations

import collections
import contextlib
import os
import select
import socket
import struct
import tempfile
import threading
from collections.abc import Callable, Iterator

HEADER = struct.Struct("!Q")  # how many bytes follow
ROOM = 2**22  # bytes on their way; the system may allow less
BROKEN = (EOFError, OSError)


@contextlib.contextmanager
def address(place: str | None = None) -> Iterator[str]:
    """A path for a socket, in a folder at this place that only this user may enter. Both ends need it to connect,
    not later."""
    with tempfile.TemporaryDirectory(prefix="rb-", dir=place) as folder:
        yield os.path.join(folder, "channel")


def listen(path: str, answer: Callable[[bytearray], bytes]) -> bool:
    """Serve requests at this socket in a thread. False if it cannot be opened here: the path belongs to another
    machine, or there are no Unix sockets."""
    listener = _socket(lambda new: new.bind(path))
    if listener is None:
        return False
    listener.listen(1)
    threading.Thread(target=_serve, args=(listener, answer), daemon=True).start()
    return True


def connect(path: str) -> Channel | None:
    """The channel to the process that listens at this path. None if no process does."""
    caller = _socket(lambda new: new.connect(path))
    if caller is None:
        return None
    caller.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, ROOM)
    return Channel(caller)


def _socket(attach: Callable[[socket.socket], None]) -> socket.socket | None:
    if not hasattr(socket, "AF_UNIX"):
        return None
    new = socket.socket(socket.AF_UNIX)
    try:
        attach(new)
    except OSError:
        new.close()
        return None
    return new


def _serve(listener: socket.socket, answer: Callable[[bytearray], bytes]) -> None:
    """Answer requests in their order until the other end is closed.

    One thread receives, calls and sends: a second thread would sometimes have to wait until another worker pauses.
    """
    with listener:
        caller, _ = listener.accept()
    with caller, contextlib.suppress(*BROKEN):
        while True:
            caller.sendall(_framed(answer(_received(caller))))


def _framed(message: bytes) -> bytes:
    return HEADER.pack(len(message)) + message


def _received(peer: socket.socket) -> bytearray:
    """The next message."""
    (size,) = HEADER.unpack(_exactly(peer, HEADER.size))
    return _exactly(peer, size)


def _exactly(peer: socket.socket, size: int) -> bytearray:
    message = bytearray(size)
    rest = memoryview(message)
    while rest:
        count = peer.recv_into(rest)
        if not count:
            raise EOFError
        rest = rest[count:]
    return message


class Channel:
    """One end of the socket. Requests go out, and their answers come back in the same order."""

    def __init__(self, peer: socket.socket):
        self.peer = peer
        self.waiting: collections.deque[Reply] = collections.deque()

    def close(self) -> None:
        self.peer.close()

    def send(self, request: bytes) -> Reply:
        reply = Reply(self)
        self.waiting.append(reply)
        with self._unbroken():  # on a broken channel the reply will be None
            self._send(memoryview(_framed(request)))
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

    def _send(self, rest: memoryview) -> None:
        while rest:
            try:
                rest = rest[self.peer.send(rest, socket.MSG_DONTWAIT) :]
            except BlockingIOError:
                # The other end may be waiting too, until this end takes an answer.
                if self._next(select.POLLIN | select.POLLOUT, None) & select.POLLIN:
                    self.receive()

    def _next(self, events: int, patience: int | None) -> int:
        """Which of these events have happened, after so many milliseconds at most."""
        poll = select.poll()
        poll.register(self.peer, events)
        return sum(event for _, event in poll.poll(patience))

    def receive(self) -> None:
        """Give the next answer to its reply. The answer is None once the other end is gone."""
        answer = None
        with self._unbroken():
            answer = _received(self.peer)
        self.waiting.popleft().come(answer)

    def ready(self) -> bool:
        """Whether `receive` would find something."""
        return self.peer.fileno() < 0 or bool(self._next(select.POLLIN, 0))


class Reply:
    """The answer to one request, now or later."""

    def __init__(self, channel: Channel):
        self.channel, self.done = channel, False
        self.answer: bytearray | None = None

    def come(self, answer: bytearray | None) -> None:
        self.answer, self.done = answer, True

    def ready(self) -> bool:
        while not self.done and self.channel.ready():
            self.channel.receive()
        return self.done

    def wait(self) -> bytearray | None:
        """The answer. None if the other end is gone."""
        while not self.done:
            self.channel.receive()
        return self.answer
