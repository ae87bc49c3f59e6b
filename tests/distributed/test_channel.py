"""The connection to a worker: everything arrives, in order, however large; and what happens when one end is gone."""

from __future__ import annotations

import contextlib
import gc
import os
import socket

import pytest

import river_budget as rb
from river_budget.distributed.workers import channel

pytestmark = pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="sockets of POSIX")


KEY = b"key"


@contextlib.contextmanager
def channel_to(answer):
    """A channel to a thread that answers."""
    with channel.address() as path:
        assert channel.listen(path, KEY, answer)
        end = channel.connect(path, KEY)
    assert not os.path.exists(path)
    with contextlib.closing(end):
        yield end


def test_answers_come_in_the_order_of_the_requests():
    with channel_to(lambda request: bytes(request) * 2) as end:
        replies = [end.send(str(i).encode()) for i in range(100)]
        assert replies[-1].wait() == b"9999"
        assert [bytes(reply.wait()) for reply in replies] == [b"%d%d" % (i, i) for i in range(100)]


def test_an_empty_message_is_a_message():
    with channel_to(lambda request: b"") as end:
        assert end.send(b"").wait() == b""


@pytest.mark.parametrize("buffer", [1, channel.BUFFER])
@pytest.mark.parametrize(("size", "n"), [(2**23, 6), (50_000, 200), (100, 5000)])
def test_both_ends_may_send_more_than_the_socket_takes(buffer, size, n, monkeypatch):
    monkeypatch.setattr(channel, "BUFFER", buffer)
    message = bytes(range(100)) * (size // 100)
    with channel_to(bytes) as end:
        replies = [end.send(message) for _ in range(n)]
        assert all(reply.wait() == message for reply in replies)
        assert end.under_way == 0


def test_a_reply_says_when_it_is_ready():
    with channel_to(bytes) as end:
        first, second = end.send(b"1"), end.send(b"2")
        assert second.wait() == b"2"
        assert first.ready()
        assert first.wait() == b"1"


def leave(request):
    raise EOFError


def test_nothing_is_answered_once_the_other_end_is_gone():
    with channel_to(leave) as end:
        replies = [end.send(bytes(2**23)) for _ in range(3)]
        assert [reply.wait() for reply in replies] == [None] * 3
        late = end.send(b"")
        assert late.wait() is None
        assert late.ready()


def test_nothing_is_answered_once_this_end_is_closed():
    with channel_to(bytes) as end:
        before = end.send(b"1")
        end.close()
        assert before.ready()
        assert before.wait() is None
        assert end.send(b"2").wait() is None


class Interrupted:
    """A connection whose reader presses Ctrl-C."""

    def __init__(self, peer):
        self.peer = peer

    def recv_bytes(self):
        os.read(self.peer.fileno(), 1)
        raise KeyboardInterrupt

    def __getattr__(self, name):
        return getattr(self.peer, name)


def test_after_an_interruption_no_answer_is_taken_for_another():
    with channel_to(bytes) as end:
        replies = [end.send(b"1"), end.send(b"2")]
        end.peer = Interrupted(end.peer)
        with pytest.raises(KeyboardInterrupt):
            replies[0].wait()
        end.peer = end.peer.peer
        assert [reply.wait() for reply in replies] == [None, None]


def test_where_no_socket_can_be_there_is_no_channel(tmp_path):
    assert not channel.listen(str(tmp_path / "nowhere" / "channel"), KEY, bytes)
    assert channel.connect(str(tmp_path / "nobody"), KEY) is None


def test_without_the_key_there_is_no_channel():
    with channel.address() as path:
        assert channel.listen(path, KEY, bytes)
        assert channel.connect(path, b"another key") is None


NOBODY = 65534


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_another_user_cannot_connect():
    """The folder of the socket may be entered by its owner only, from its first moment on."""
    with channel.address() as path:
        assert channel.listen(path, KEY, bytes)
        assert os.stat(os.path.dirname(path)).st_mode & 0o777 == 0o700
        if os.geteuid() == 0:
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    os.setgroups([])
                    os.setgid(NOBODY)
                    os.setuid(NOBODY)
                    status = 0 if channel.connect(path, KEY) is None else 2
                finally:
                    os._exit(status)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        end = channel.connect(path, KEY)  # the first to be let in
    with contextlib.closing(end):
        assert end.send(b"1").wait() == b"1"
    assert channel.connect(path, KEY) is None


def test_a_worker_of_another_version_says_so():
    from river_budget.distributed.workers.ray import RayHost

    threshold = gc.get_threshold()
    try:
        for version in ("0.0.1", ""):
            value, error = RayHost(version, dict, [("a", 1)]).call("get", "a")
            assert value is None
            with pytest.raises(RuntimeError, match=f"river_budget {rb.__version__}.*{version}"):
                raise error
        assert RayHost(rb.__version__, dict, [("a", 1)]).call("get", "a") == (1, None)
    finally:
        gc.set_threshold(*threshold)
