"""Common parts of the parsers of all verbs: help that shows defaults, hints for wrong words,
options.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from ..common.console import did_you_mean, visible


class Help(argparse.HelpFormatter):
    """Help that shows the default of each option; flags, which are off by default, show none."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        text = action.help
        shown = action.default not in (None, False, argparse.SUPPRESS, [], ())
        return f"{text} (default: %(default)s)" if shown and action.nargs != 0 else text


class Parser(argparse.ArgumentParser):
    """A parser that suggests a similar verb, option or choice for a wrong one."""

    def __init__(self, *arguments: Any, **named: Any):
        super().__init__(*arguments, **{"formatter_class": Help} | named)

    def error(self, message: str) -> NoReturn:
        """Print the error, and what the user may have meant."""
        super().error(visible(f"{message}{self._hint(message)}"))

    def _hint(self, message: str) -> str:
        wrong = re.search(r"invalid choice: '(.*?)'|unrecognized arguments: (\S+)", message)
        if wrong is None:
            return ""
        actions = [action for parser in self._all_parsers() for action in parser._actions]
        choices = [str(choice) for action in actions for choice in action.choices or ()]
        options = [name for action in actions for name in action.option_strings]
        hint = did_you_mean(wrong[1] or wrong[2], choices if wrong[1] else options)
        return f"; {hint}" if hint else ""

    def _all_parsers(self) -> Iterator[argparse.ArgumentParser]:
        """This parser, and those of its verbs."""
        yield self
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                yield from action.choices.values()


def option(
    verb: Any, name: str, text: str, kind: Any = None, default: Any = None, **more: Any
) -> None:
    """Add an option with one value."""
    verb.add_argument(name, help=text, type=kind, default=default, **more)


def many(verb: Any, name: str, text: str, default: Any = None) -> None:
    """Add an option with one value or more."""
    verb.add_argument(name, nargs="+", help=text, default=default)


def flag(verb: Any, name: str, text: str) -> None:
    """Add an option without a value."""
    verb.add_argument(name, action="store_true", help=text)


def add_verb(verbs: Any, name: str, run: Any, text: str) -> Any:
    """Add the parser of a verb, with the option that all verbs have."""
    found = verbs.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
    flag(found, "--quiet", "print results and errors only: no progress, no remarks")
    found.set_defaults(run=run)
    return found


def add_seed(verb: Any) -> None:
    """The option for random numbers."""
    option(verb, "--seed", "decides random numbers of models and streams", seed, 1)


def add_formats(verb: Any, *names: str) -> None:
    """The options for the format of a table."""
    form = verb.add_mutually_exclusive_group()
    texts = {
        "markdown": "print Markdown instead of text in columns",
        "csv": "print comma-separated values, one plain number in a cell",
        "json": "print a list of objects, with plain numbers",
    }
    for name in names or texts:
        text = texts[name]
        form.add_argument(f"--{name}", dest="format", action="store_const", const=name, help=text)
    verb.set_defaults(format="text")


def whole(text: str) -> int:
    """An integer of at least 1."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return value


def seed(text: str) -> int:
    """An integer of at least 0."""
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is less than 0")
    return value


def seconds(text: str) -> float:
    """A positive time; inf is one without an end."""
    value = float(text)
    if not value > 0.0:
        raise argparse.ArgumentTypeError(f"{text} is not more than 0")
    return value
