"""Names whose keys collide, and examples that act while they are read.

The key of a feature is the CRC-32 of its text (river_budget/model/inputs/sparse_examples.py). `python tests/support/odd_examples.py` finds words
that have the same one, and prints FOUND. What stands before or behind both words of a pair makes another pair.
"""

from __future__ import annotations

import copy
import itertools
import random
import sys
import threading
import zlib

from saved_models import file_of, is_supervised

from river_budget.core.block.blocks import views

FOUND = """
lolucebe befehoro bukesale nimiroje didilona hubemaha bonugeso ledeloce butejado nirikobo
dipevoti huviwari binivomi nuhewaki judifanu fibegohu jipilabo fuvemodo cekapuke navamido
jibecamo fudiboko diremola hutilaja dikekaju humijolu nimecado bukibobo medefove conumefo
duhilahi hinemoni nihigala bunefoja bimifodi nukegabi namopira tosikiji vatisiji lojohira
lapohoti vonisola birijojo nutekalo humefado dikigobo fevopuho kakomige butikoji nirejali
cepanude namasiko vavomiki lohivisa pamilota josowoli memehevo cogucofe ranoweti hopilela
holopeka rarikesi fuvevaju jipiwolu jomowova pasiloni tovoseki nahihesa ramowepa hosilehi
dutevoli hiriwaji bubiloju nidemalu nulilaba bijemoda kiticaha gurebona kideraki gubisomi
"""
PAIRS = list(zip(FOUND.split()[::2], FOUND.split()[1::2], strict=True))

# All eight of these have one key, and with the same text behind them another one
GROUP = [
    first + second + third
    for first in ("plumless", "buckeroo")
    for second, third in itertools.product(PAIRS[0], PAIRS[1])
]
WORDS = ["plumless", "buckeroo", *itertools.chain(*PAIRS)]
NUMBERS = [2**53, 2**53 + 1, 2**53 + 2, *(zlib.crc32(word.encode()) for word in WORDS[:20:2])]
TUPLES = [("g", 1), ("plumless", "buckeroo"), ("buckeroo", "plumless"), ("plumless",)]
COLLIDING = [
    *WORDS,
    *(first + second for pair, other in itertools.pairwise(PAIRS[:20]) for first in pair for second in other),
    *GROUP,
    *(f"{word} {i}" for word in WORDS for i in range(2)),
    *NUMBERS,
    *TUPLES,
    *map(repr, TUPLES),
]  # fmt: skip
ALLOWED = (RuntimeError, ValueError, TypeError)


class Trouble(Exception):
    """What an example of a user raises."""


class Act:
    """Something that happens when it is called for the n-th time, while it is armed."""

    def __init__(self, work, n):
        self.work, self.left, self.armed = work, n, False

    def __call__(self):
        self.left -= self.armed
        if self.armed and self.left == 0:
            self.work()


class Name:
    """A name whose hash is that of a text, and that acts when it is compared."""

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
    """A kind of text or of whole numbers that acts when it is compared; it is made of a text."""

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
    """A number that acts when it is asked for."""

    def __init__(self, act):
        self.act = act

    def __float__(self):
        self.act()
        return 0.5

    __index__ = None


def kind_of_number(kind, value):
    """The same as a kind of float or of whole numbers."""

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
    """A kind of dict that acts when it is looked at."""

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
    """What a model has learned, without a look at its names."""
    if model.block is None:
        return None
    block = views(model.block)
    n = int(block.head.count)
    sums = (block.head.scale * block.coefficients[:, :n]).tobytes()
    return n, int(block.head.arrived), sums


ASKING = "predict_one", "predict_proba_one", "decision_function_one", "score_one", "transform_one"


def ask(model, x):
    """All that the model says of an example."""
    for name in ASKING:
        if hasattr(model, name):
            getattr(model, name)(x)


def change(x, stop, rng):
    """Empty and fill a dict, over and over."""
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
    """Operations of the fuzzer with such examples. They are done to a copy of the model.

    They may raise what the user's object raises, or a clear error, and then nothing has been learned.
    """

    OPERATIONS = ["odd_name", "odd_value", "odd_example"] * 2 + ["changing_example"]

    def acts(self, model, x):
        """What an object may do: name and function. Those that learn do change the model."""

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
        """A name that acts, first in the example that is learned, then among those that the model knows."""
        model, x = copy.deepcopy(self.model), dict(self.any_example())
        texts = [name for name in x if type(name) is str]
        if not texts:
            return
        kind, act = self.acts(model, x)
        odd = self.rng.choice(NAMES)(self.rng.choice(texts), act)
        self.try_all(model, kind, act, [dict(x), {odd: 1.0} | x, x, {odd: 2.0}, x, dict(x)])

    def odd_value(self):
        """A value that acts while it becomes a number."""
        model, x = copy.deepcopy(self.model), dict(self.any_example())
        kind, act = self.acts(model, x)
        act.left = 1
        x[self.rng.choice([*x, "a"])] = self.rng.choice(VALUES)(act)
        before = file_of(model)
        learned = self.try_all(model, kind, act, [x])
        if not learned and kind != "learn":
            assert file_of(model) == before, f"changed by a value that is refused ({kind})"

    def odd_example(self):
        """A dict that acts."""
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
        """Learn and ask for each. Whether any was learned. A refused one leaves all as it was.

        Unless what the user's object does is to let the model learn: as long as the model has only looked at the example
        (its label, its numbers) nobody has the turn, so that inner example is learned like any other. What it changed
        stays when the outer one is refused, and is no fault.
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


def colliding_pairs(n, syllables=3, seed=0):
    """So many pairs of words with the same CRC-32, by the birthdays of random words."""
    rng, seen, found = random.Random(seed), {}, []
    while len(found) < n:
        word = "".join(
            rng.choice("bcdfghjklmnprstvw") + rng.choice("aeiou") for _ in range(syllables + 1)
        )
        other = seen.setdefault(zlib.crc32(word.encode()), word)
        if other != word:
            found.append((other, word))
    return found


if __name__ == "__main__":
    for pair in colliding_pairs(40):
        print(*pair)
