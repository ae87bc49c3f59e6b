"""The command line, `river-budget`: parsers of the verbs, exit codes, and the call of a verb."""

from ..common.console import GOOD, INTERRUPTED, NO_DATA, SHORT, USAGE
from .main import main, parser

__all__ = ["GOOD", "INTERRUPTED", "NO_DATA", "SHORT", "USAGE", "main", "parser"]
