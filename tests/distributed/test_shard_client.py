"""Messages to a shard: how many may wait, and whom their answers and errors reach."""

from __future__ import annotations

import pytest

from river_budget.distributed import WorkerLost
from river_budget.distributed.keyed.coordinator import WINDOW, ShardClient


class Scribe:
    """A worker that writes down what it is told when it is asked for the answer."""

    def __init__(self, ready=False):
        self.told, self.ready = [], ready

    def submit(self, method, *arguments):
        return Slip(self, method, arguments)


class Slip:
    def __init__(self, scribe, method, arguments):
        self.scribe, self.method, self.arguments = scribe, method, arguments

    def done(self):
        return self.scribe.ready

    def result(self):
        if self.method == "lose":
            raise WorkerLost("a worker is gone")
        self.scribe.told.append(self.method)
        if self.method == "wrong":
            raise ValueError("wrong")
        return self.arguments


def client_of(scribe, back=None):
    return ShardClient(scribe, back)


def test_no_more_messages_wait_than_the_window_allows():
    scribe = Scribe()
    client = client_of(scribe)
    for i in range(20):
        client.send("learn", i, asked=False)
        assert len(client.waiting) == min(i + 1, WINDOW)
        assert len(scribe.told) == max(0, i + 1 - WINDOW)


def test_answers_that_are_there_are_not_left_to_wait():
    client = client_of(Scribe(ready=True))
    for i in range(5):
        client.send("learn", i)
        assert len(client.waiting) == 1


def test_answers_belong_to_their_messages_in_any_order():
    client = client_of(Scribe())
    messages = [client.send("predict", i) for i in range(3)]
    assert [client.answer(messages[i]) for i in (2, 0, 1)] == [(2,), (0,), (1,)]


def test_an_error_comes_to_whoever_asks_or_waits_for_the_next():
    client = client_of(Scribe())
    with pytest.raises(ValueError, match="wrong"):
        client.answer(client.send("wrong"))
    client.drain()
    client.raise_error()
    client.send("wrong", asked=False)
    client.drain()
    with pytest.raises(ValueError, match="wrong"):
        client.raise_error()
    client.raise_error()


@pytest.mark.parametrize("asked", [False, True])
def test_a_loss_is_told_at_once_whoever_asked(asked):
    losses = []

    def back(client, loss):
        losses.append((client, str(loss)))
        raise loss

    client = client_of(Scribe(), back)
    client.send("lose", asked=asked)
    with pytest.raises(WorkerLost):
        client.drain()
    assert losses == [(client, "a worker is gone")]
