"""Run the command line in this process, on files that tests write."""

from __future__ import annotations

from river_budget.experiments import command

LINEAR = ("--models", "LogisticRegression")


def run(capsys, *arguments):
    """(exit code, what was printed, errors)"""
    code = command.main(list(map(str, arguments)))
    captured = capsys.readouterr()
    return code, captured.out, captured.err
