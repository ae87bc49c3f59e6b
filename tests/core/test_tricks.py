"""The tricks of the core (tests/support/tricks.txt) stand where their entries say. (What they gain takes an hour.)"""

from __future__ import annotations

from changes import applies
from tricks import IN_NAMED_USE, ON_DEFAULTS, TRICKS, USES


def test_what_tricks_replace_stands_where_they_say():
    changes = [(name, change) for name, trick in TRICKS.items() for change in trick.changes]
    assert [(name, change) for name, change in changes if not applies(change)] == []


def test_every_entry_compares_two_things_in_a_use_that_there_is():
    for name, trick in TRICKS.items():
        assert trick.changes or trick.plain_model, name
        assert trick.use in USES, name
        assert float(trick.least) in (ON_DEFAULTS, IN_NAMED_USE), name
        assert all(change.old != change.new for change in trick.changes), name
