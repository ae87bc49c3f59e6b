"""Examples that run code while they are read."""

from __future__ import annotations

import copy
import random
import sys
import threading

from saved_models import file_of, is_supervised

from river_budget.core.block.blocks import views

ALLOWED = (RuntimeError, ValueError, TypeError)


class Trouble(Exception):
    """The error that a user's example raises."""


class Act:
    """A function that runs at the n-th call while it is armed."""

    def __init__(self, work, n):
        self.work, self.left, self.armed = work, n, False

    def __call__(self):
        self.left -= self.armed
        if self.armed and self.left == 0:
            self.work()


class Name:
    """A name with the hash of a text that runs code when it is compared."""

    def __init__(self, text, act):
        self.text, self.act = text, act

    def __hash__(self):
        return hash(self.text)

    def __eq__(self, other):
        self.act()
        return False

    def __repr__(self):
        return self.text

    def __deepcopy__(self, memo):
        return self


def kind_of_name(kind, of_text):
    """A subclass of str or int that runs code when it is compared; instances are made from a text."""

    class Compared(kind):
        def __new__(cls, text, act):
            self = super().__new__(cls, of_text(text))
            self.act = act
            return self

        __hash__ = kind.__hash__

        def __eq__(self, other):
            self.act()
            return kind.__eq__(self, other)

        def __deepcopy__(self, memo):
            return self

    return Compared


class Value:
    """A number that runs code when it is read."""

    def __init__(self, act):
        self.act = act

    def __float__(self):
        self.act()
        return 0.5

    __index__ = None


def kind_of_number(kind, value):
    """`Value` as a subclass of float or int."""

    class Asked(kind):
        def __new__(cls, act):
            self = super().__new__(cls, value)
            self.act = act
            return self

        def __float__(self):
            self.act()
            return float(value)

        if kind is int:

            def __index__(self):
                self.act()
                return value

    return Asked


def _acting(name):
    plain = getattr(dict, name)

    def method(self, *arguments):
        self.act()
        return plain(self, *arguments)

    return method


class Example(dict):
    """A subclass of dict that runs code when it is read."""

    def __init__(self, x, act):
        super().__init__(x)
        self.act = act

    def __deepcopy__(self, memo):
        return self


LOOKS = "items keys values __iter__ __len__ __getitem__ __contains__ get copy"
for each in LOOKS.split():
    setattr(Example, each, _acting(each))

Text, Whole = kind_of_name(str, str), kind_of_name(int, hash)
NAMES = (Name, Text, Whole)
VALUES = (Value, kind_of_number(float, 0.5), kind_of_number(int, 3))


def content(model):
    """The content of a model, without comparing its names."""
    if model.block is None:
        return None
    block = views(model.block)
    n = int(block.head.count)
    sums = (block.head.scale * block.coefficients[:, :n]).tobytes()
    return n, int(block.head.arrived), sums


ASKING = "predict_one", "predict_proba_one", "decision_function_one", "score_one", "transform_one"


def ask(model, x):
    """All predictions and scores of an example."""
    for name in ASKING:
        if hasattr(model, name):
            getattr(model, name)(x)


def change(x, stop, rng):
    """Empty and fill a dict repeatedly."""
    items = list(x.items())
    while not stop.is_set():
        kind = rng.randrange(4)
        if kind == 0:
            x.clear()
        elif kind == 1 and x:
            x.popitem()
        elif kind == 2:
            x[f"late {rng.randrange(50)}"] = float(rng.randrange(9))
        x.update(items)


class TroubledOperations:
    """Fuzzer operations with such examples, on a copy of the model.

    They may raise the user's error or another clear one; then the model must be unchanged.
    """

    OPERATIONS = ["odd_name", "odd_value", "odd_example"] * 2 + ["changing_example"]

    def acts(self, model, x):
        """(name, function) of what an object may do. Those that learn change the model."""

        def fail():
            raise Trouble("of the user's own")

        def learn():
            self.learn_into(model, {"a": 1.0, f"inner {self.rng.randrange(9)}": 2.0})

        kinds = {
            "fail": fail,
            "empty": x.clear,
            "add": lambda: x.update({f"more {i}": 1.0 for i in range(50)}),
            "ask": lambda: ask(model, {"a": 1.0}),
            "learn": learn,
            "interrupt": lambda: sys.setswitchinterval(sys.getswitchinterval()),
        }
        name = self.rng.choice(list(kinds))
        return name, Act(kinds[name], self.rng.randrange(1, 9))

    def learn_into(self, model, x):
        if is_supervised(model):
            model.learn_one(x, self.target())
        else:
            model.learn_one(x)

    def odd_name(self):
        """A name that runs code, first in the example, then among the model's known names."""
        model, x = copy.deepcopy(self.model), dict(self.any_example())
        texts = [name for name in x if type(name) is str]
        if not texts:
            return
        kind, act = self.acts(model, x)
        odd = self.rng.choice(NAMES)(self.rng.choice(texts), act)
        self.try_all(model, kind, act, [dict(x), {odd: 1.0} | x, x, {odd: 2.0}, x, dict(x)])

    def odd_value(self):
        """A value that runs code while it is converted to a float."""
        model, x = copy.deepcopy(self.model), dict(self.any_example())
        kind, act = self.acts(model, x)
        act.left = 1
        x[self.rng.choice([*x, "a"])] = self.rng.choice(VALUES)(act)
        before = file_of(model)
        learned = self.try_all(model, kind, act, [x])
        if not learned and kind != "learn":
            assert file_of(model) == before, f"changed by a value that is refused ({kind})"

    def odd_example(self):
        """A dict that runs code."""
        model, x = copy.deepcopy(self.model), dict(self.any_example())
        odd = Example(x, lambda: None)
        kind, act = self.acts(model, odd)
        odd.act = act
        before = file_of(model)
        learned = self.try_all(model, kind, act, [odd])
        if not learned and kind != "learn":
            assert file_of(model) == before, f"changed by an example that is refused ({kind})"

    def changing_example(self):
        """A dict that another thread changes while it is read."""
        model, x = copy.deepcopy(self.model), dict(self.any_example())
        stop, before = threading.Event(), sys.getswitchinterval()
        thread = threading.Thread(target=change, args=(x, stop, random.Random(self.rng.random())))
        sys.setswitchinterval(1e-6)
        thread.start()
        try:
            self.try_all(model, "learn", Act(None, 0), [x] * 20)
        finally:
            stop.set()
            thread.join()
            sys.setswitchinterval(before)

    def try_all(self, model, kind, act, examples):
        """Learn and predict each example. Returns whether any was learned. Refused ones must leave the model unchanged.

        The exception is an object that lets the model learn: as long as the model only reads the example (its label,
        its numbers), its lock is free, so it learns this inner example. The change remains if the outer example is
        refused, and is no error.
        """
        learned = False
        for x in examples:
            for work in (ask, self.learn_into):
                before = content(model)
                act.armed = True
                done = self.may_be_refused(work, model, x, kind)
                act.armed = False
                learned |= done and work == self.learn_into
                if not done and kind != "learn":
                    assert content(model) == before, f"changed by what it refused ({kind})"
        mine, self.model = self.model, model
        try:
            self.check()
        finally:
            self.model = mine
        return learned

    def may_be_refused(self, work, model, x, kind):
        """Whether it was done."""
        try:
            work(model, x)
        except Trouble:
            self.refused[f"{kind}: of the user's own"] += 1
            return False
        except ALLOWED as error:
            self.refused[f"{kind}: {type(error).__name__}"] += 1
            return False
        return True
