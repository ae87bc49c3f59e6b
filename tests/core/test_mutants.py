"""The small mistakes of tests/support/mutants.py still apply to the package. (Whether tests notice them takes hours.)"""

from __future__ import annotations

from mutants import MUTANTS, applies, describe, files_of


def test_every_mutant_applies():
    """What it changes occurs once in its file. A mutant of code that has gone goes too, others move with it."""
    assert [describe(mutant) for mutant in MUTANTS if not applies(mutant)] == []


def test_every_mutant_changes_something():
    assert [describe(mutant) for mutant in MUTANTS if mutant.old == mutant.new] == []


def test_every_mutant_names_tests_that_there_are():
    for mutant in MUTANTS:
        assert files_of(mutant)
