"""The small mistakes of tests/support/mutants.txt, and the tricks of tricks.txt, still stand where their entries say.

(Whether tests notice the mistakes takes hours, what the tricks gain takes one.)
"""

from __future__ import annotations

import ast

from changes import applies, changed
from mutants import MUTANTS, describe, files_of
from tricks import IN_NAMED_USE, ON_DEFAULTS, TRICKS, USES


def test_every_mutant_applies():
    """What it changes occurs once in its file. A mutant of code that has gone goes too, others move with it."""
    assert [describe(mutant) for mutant in MUTANTS if not applies(mutant.change)] == []


def test_every_mutant_is_another_program_and_names_tests_that_there_are():
    for mutant in MUTANTS:
        assert mutant.change.old != mutant.change.new, describe(mutant)
        ast.parse(changed(mutant.change))  # whatever test is run notices a file that is no Python
        assert files_of(mutant)


# tricks


def test_every_trick_applies():
    changes = [(name, change) for name, trick in TRICKS.items() for change in trick.changes]
    assert [(name, change) for name, change in changes if not applies(change)] == []


def test_every_entry_compares_two_things_in_a_use_that_there_is():
    for name, trick in TRICKS.items():
        assert trick.changes, name
        assert trick.use in USES, name
        assert float(trick.least) in (ON_DEFAULTS, IN_NAMED_USE), name
        assert all(change.old != change.new for change in trick.changes), name
