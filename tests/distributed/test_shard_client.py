"""Messages to a shard: how many may wait, and what is sent again when a worker is lost."""

from __future__ import annotations

import pytest

from river_budget.distributed import WorkerLost
from river_budget.distributed.keyed.coordinator import PATIENCE, WINDOW, ShardClient


class Ledger:
    """Workers that write down what they are told. They answer when they are asked, and may be lost then."""

    def __init__(self, fatal=(), ready=False):
        self.fatal = list(fatal)  # messages that end a worker, each once
        self.ready = ready
        self.workers = []

    def start(self, checkpoint):
        self.workers.append(Scribe(self, checkpoint))
        return self.workers[-1]


class Scribe:
    def __init__(self, ledger, checkpoint):
        self.ledger, self.checkpoint = ledger, checkpoint
        self.told, self.lost = [], False

    def submit(self, method, *arguments):
        return Slip(self, (method, *arguments))

    def stop(self):
        self.lost = True


class Slip:
    def __init__(self, scribe, message):
        self.scribe, self.message = scribe, message

    def ready(self):
        return self.scribe.ledger.ready

    def result(self):
        method, *rest = self.message
        ledger = self.scribe.ledger
        if method in ledger.fatal:
            ledger.fatal.remove(method)
            self.scribe.lost = True
        if self.scribe.lost:
            raise WorkerLost("a worker is gone")
        self.scribe.told.append(self.message)
        if method == "wrong":
            raise ValueError("wrong")
        return rest


def client_of(ledger, recovers=True):
    return ShardClient(ledger.start, 0, recovers)


def test_no_more_messages_wait_than_the_window_allows():
    ledger = Ledger()
    client = client_of(ledger)
    for i in range(20):
        client.send("learn", i, changes=True, asked=False)
        assert len(client.waiting) == min(i + 1, WINDOW)
        assert len(ledger.workers[0].told) == max(0, i + 1 - WINDOW)


def test_answers_that_are_there_are_not_left_to_wait():
    client = client_of(Ledger(ready=True))
    for i in range(5):
        client.send("learn", i, changes=True)
        assert len(client.waiting) == 1


def test_answers_belong_to_their_messages_in_any_order():
    client = client_of(Ledger())
    messages = [client.send("predict", i) for i in range(3)]
    assert [client.answer(messages[i]) for i in (2, 0, 1)] == [[2], [0], [1]]


@pytest.mark.parametrize("fatal", ["a", "b", "c", "d", "ask"])
def test_after_a_loss_the_next_worker_hears_all_since_the_checkpoint_once(fatal):
    ledger = Ledger([fatal])
    client = client_of(ledger)
    messages = [client.send(name, 2 * name, changes=True) for name in "abc"]
    messages.append(client.send("ask"))
    messages.append(client.send("d", "dd", changes=True))
    client.drain()
    answers = [client.answer(message) for message in messages]
    assert answers == [["aa"], ["bb"], ["cc"], [], ["dd"]]
    told = [method for method, *_ in ledger.workers[-1].told if method != "ask"]
    assert told == [*"abcd"]
    assert len(ledger.workers) == 2


def test_what_a_checkpoint_contains_is_not_sent_again():
    ledger = Ledger(["d"])
    client = client_of(ledger)
    client.send("a", changes=True)
    seal = client.send("seal", 1, changes=True)
    client.send("b", changes=True)
    client.drain()
    client.complete(1, seal)
    client.send("d", changes=True)
    client.drain()
    assert ledger.workers[-1].checkpoint == 1
    assert ledger.workers[-1].told == [("b",), ("d",)]


def test_a_loss_while_messages_are_sent_again_is_a_loss_too():
    ledger = Ledger(["c", "a", "b"])
    client = client_of(ledger)
    ledger.fatal = []
    for name in "ab":
        client.send(name, changes=True)
    client.drain()
    ledger.fatal = ["c", "a", "b"]
    assert client.answer(client.send("c", changes=True)) == []
    told = [[method for (method,) in worker.told] for worker in ledger.workers[2:]]
    assert told == [["a"], ["a", "b", "c"]]


def test_a_message_that_no_worker_survives_is_given_up():
    ledger = Ledger(["poison"] * 50)
    client = client_of(ledger)
    with pytest.raises(WorkerLost, match=f"{PATIENCE + 1} times in a row"):
        client.answer(client.send("poison", changes=True))
    assert len(ledger.workers) == PATIENCE + 1


def test_without_checkpoints_a_loss_is_the_end():
    client = client_of(Ledger(["b"]), recovers=False)
    client.answer(client.send("a", changes=True))
    with pytest.raises(WorkerLost, match="checkpoint=folder"):
        client.answer(client.send("b", changes=True))
    assert not client.log


def test_an_error_comes_to_whoever_asks_or_waits_for_the_next():
    client = client_of(Ledger())
    with pytest.raises(ValueError, match="wrong"):
        client.answer(client.send("wrong", changes=True))
    client.raise_error()
    client.send("wrong", changes=True, asked=False)
    client.drain()
    with pytest.raises(ValueError, match="wrong"):
        client.raise_error()
    client.raise_error()


def test_an_error_is_not_raised_again_when_messages_are_sent_again():
    ledger = Ledger(["a"])
    client = client_of(ledger)
    with pytest.raises(ValueError, match="wrong"):
        client.answer(client.send("wrong", changes=True))
    assert client.answer(client.send("a", changes=True)) == []
    assert ledger.workers[1].told == [("wrong",), ("a",)]
