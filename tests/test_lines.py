"""Messages to a shard: how many may wait, and what is sent again when a worker is lost."""

from __future__ import annotations

import pytest

from river_budget.distributed import WorkerLost
from river_budget.distributed.keyed.shard_client import PATIENCE, WINDOW, Line


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


def line_to(ledger, recovers=True):
    return Line(ledger.start, 0, recovers)


def test_no_more_messages_wait_than_the_window_allows():
    ledger = Ledger()
    line = line_to(ledger)
    for i in range(20):
        line.send("learn", i, changes=True, asked=False)
        assert len(line.waiting) == min(i + 1, WINDOW)
        assert len(ledger.workers[0].told) == max(0, i + 1 - WINDOW)


def test_answers_that_are_there_are_not_left_to_wait():
    line = line_to(Ledger(ready=True))
    for i in range(5):
        line.send("learn", i, changes=True)
        assert len(line.waiting) == 1


def test_answers_belong_to_their_messages_in_any_order():
    line = line_to(Ledger())
    messages = [line.send("predict", i) for i in range(3)]
    assert [line.answer(messages[i]) for i in (2, 0, 1)] == [[2], [0], [1]]


@pytest.mark.parametrize("fatal", ["a", "b", "c", "d", "ask"])
def test_after_a_loss_the_next_worker_hears_all_since_the_checkpoint_once(fatal):
    ledger = Ledger([fatal])
    line = line_to(ledger)
    messages = [line.send(name, changes=True) for name in "abc"]
    messages.append(line.send("ask"))
    messages.append(line.send("d", changes=True))
    line.drain()
    assert [line.answer(message) for message in messages] == [[1], [2], [3], [], [4]]
    told = [message for message in ledger.workers[-1].told if message != ("ask",)]
    assert told == [("a", 1), ("b", 2), ("c", 3), ("d", 4)]
    assert len(ledger.workers) == 2


def test_what_a_checkpoint_contains_is_not_sent_again():
    ledger = Ledger(["d"])
    line = line_to(ledger)
    line.send("a", changes=True)
    seal = line.send("seal", 1, changes=True)
    line.send("b", changes=True)
    line.drain()
    line.complete(1, seal)
    line.send("d", changes=True)
    line.drain()
    assert ledger.workers[-1].checkpoint == 1
    assert ledger.workers[-1].told == [("b", 1), ("d", 2)]


def test_a_loss_while_messages_are_sent_again_is_a_loss_too():
    ledger = Ledger(["c", "a", "b"])
    line = line_to(ledger)
    ledger.fatal = []
    for name in "ab":
        line.send(name, changes=True)
    line.drain()
    ledger.fatal = ["c", "a", "b"]
    assert line.answer(line.send("c", changes=True)) == [3]
    assert [worker.told for worker in ledger.workers[2:]] == [
        [("a", 1)],
        [("a", 1), ("b", 2), ("c", 3)],
    ]


def test_a_message_that_no_worker_survives_is_given_up():
    ledger = Ledger(["poison"] * 50)
    line = line_to(ledger)
    with pytest.raises(WorkerLost, match=f"{PATIENCE + 1} times in a row"):
        line.answer(line.send("poison", changes=True))
    assert len(ledger.workers) == PATIENCE + 1


def test_without_checkpoints_a_loss_is_the_end():
    line = line_to(Ledger(["b"]), recovers=False)
    line.answer(line.send("a", changes=True))
    with pytest.raises(WorkerLost, match="checkpoint=folder"):
        line.answer(line.send("b", changes=True))
    assert not line.log


def test_an_error_comes_to_whoever_asks_or_waits_for_the_next():
    line = line_to(Ledger())
    with pytest.raises(ValueError, match="wrong"):
        line.answer(line.send("wrong", changes=True))
    line.raise_error()
    line.send("wrong", changes=True, asked=False)
    line.drain()
    with pytest.raises(ValueError, match="wrong"):
        line.raise_error()
    line.raise_error()


def test_an_error_is_not_raised_again_when_messages_are_sent_again():
    ledger = Ledger(["a"])
    line = line_to(ledger)
    with pytest.raises(ValueError, match="wrong"):
        line.answer(line.send("wrong", changes=True))
    assert line.answer(line.send("a", changes=True)) == [2]
    assert ledger.workers[1].told == [("wrong", 1), ("a", 2)]
