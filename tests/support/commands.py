"""Run the command line in this process, on files that tests write."""

from __future__ import annotations

import io

from river_budget.experiments import command

LINEAR = ("--models", "LogisticRegression")


def run(capsys, *arguments, main=command.main):
    """(exit code, what was printed, errors)"""
    code = main(list(map(str, arguments)))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


class Terminal(io.StringIO):
    def isatty(self):
        return True

    def lines(self):
        """What was on its last line, one after the other."""
        return [line.rstrip() for line in self.getvalue().rstrip("\n").split("\r")[1:]]
