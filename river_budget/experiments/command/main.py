"""The list of verbs, and the call of a verb.

Exit codes: 0 success; 1 a result is worse than is known to be possible (`examples/papers`); 2 wrong
usage; 3 data that is needed is not available; 130 interrupted, with finished results kept.

A verb imports its code when it runs: `--help` and `--version` load neither numpy nor any model.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence

from ..._version import __version__
from ..common.console import GOOD, INTERRUPTED, NO_DATA, USAGE, say
from . import verbs as all_verbs
from .options import Parser

GROUPS = {
    "your data": ("try", "predict", "compile"),
    "comparisons": ("race", "auto", "curve", "speed"),
    "your shell": ("completion",),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a verb, and return its exit code."""
    return run(parser(), arguments)


def run(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> int:
    """Run the verb that a parser finds, and return its exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a Windows pipe cannot encode "≈"
    options = parser.parse_args(arguments)
    try:
        with _terminable(), _silence() if options.quiet else contextlib.nullcontext():
            code: int = options.run(options)
            sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        kept = " What was finished is kept." if getattr(options, "results", None) else ""
        print(f"\nInterrupted.{kept}", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # `| head`
        sys.stderr.close()
        return GOOD
    except LookupError as error:
        say(error.args[0])
        return USAGE
    except RuntimeError as error:  # data or an extra is missing
        say(str(error))
        return NO_DATA


def parser() -> argparse.ArgumentParser:
    """The parser of all verbs, in the order in which `--help` lists them."""
    top = Parser(
        "river-budget",
        description="Kernel learning on streams, measured.",
        usage="%(prog)s [-h] [--version] verb ...",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=__version__)
    verbs = top.add_subparsers(
        prog="river-budget", dest="command", required=True, metavar="verb", help=argparse.SUPPRESS
    )
    for names in GROUPS.values():
        for name in names:
            getattr(all_verbs, f"add_{name}")(verbs)
    # argparse has no groups of verbs
    texts = {name: each.description or "" for name, each in verbs.choices.items()}
    top.epilog = "\n\n".join(
        "\n".join([f"{group}:", *(f"  {name:<12}{in_help(texts[name])}" for name in names)])
        for group, names in GROUPS.items()
    )
    return top


def in_help(text: str) -> str:
    """A description as part of a list."""
    return f"{text[:1].lower()}{text[1:].removesuffix('.')}"


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    """Let SIGTERM, which `timeout` and `kill` send, do what Ctrl-C does: results so far are
    shown.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Discard progress and remarks: redirect the standard error stream of this and of other
    processes to nowhere.
    """
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stderr(nowhere):
        kept = os.dup(2)
        try:
            os.dup2(nowhere.fileno(), 2)
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
