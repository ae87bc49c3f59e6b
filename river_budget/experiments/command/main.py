"""The list of verbs, and the call of a verb.

Exit codes: 0 success; 1 a result is worse than is known to be possible (`examples/papers`); 2 wrong usage; 3 data
that is needed is not available; 130 interrupted, with finished results kept.

A verb imports its code when it runs: `--help` and `--version` load neither numpy nor any model.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
from collections.abc import Iterator, Sequence

from ..._version import __version__
from ..common.console import GOOD, INTERRUPTED, NO_DATA, USAGE, say
from . import verbs as all_verbs
from .options import Parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a verb, and return its exit code."""
    return run(parser(), arguments)


def run(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> int:
    """Run the verb that a parser finds, and return its exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a Windows pipe cannot encode "≈"
    options = parser.parse_args(arguments)
    try:
        with _silence() if options.quiet else contextlib.nullcontext():
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
    top = Parser("river-budget", description="Kernel learning on streams, measured.")
    top.add_argument("--version", action="version", version=__version__)
    verbs = top.add_subparsers(dest="command", required=True)
    for name in ("try", "predict", "race", "auto", "curve", "compile", "speed"):
        getattr(all_verbs, f"add_{name}")(verbs)
    return top


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Discard progress and remarks: redirect the standard error stream of this and of other processes to nowhere."""
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stderr(nowhere):
        kept = os.dup(2)
        try:
            os.dup2(nowhere.fileno(), 2)
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
