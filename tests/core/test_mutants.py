"""The small mistakes of tests/support/mutants.txt still apply to the package. (Whether tests notice them takes hours.)"""

from __future__ import annotations

import ast

from changes import applies, changed
from mutants import MUTANTS, describe, files_of


def test_every_mutant_applies():
    """What it changes occurs once in its file. A mutant of code that has gone goes too, others move with it."""
    assert [describe(mutant) for mutant in MUTANTS if not applies(mutant.change)] == []


def test_every_mutant_changes_something():
    assert [describe(mutant) for mutant in MUTANTS if mutant.change.old == mutant.change.new] == []


def test_every_mutant_is_python():
    """Whatever test is run notices a file that is none."""
    for mutant in MUTANTS:
        ast.parse(changed(mutant.change))


def test_every_mutant_names_tests_that_there_are():
    for mutant in MUTANTS:
        assert files_of(mutant)
