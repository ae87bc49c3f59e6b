"""The verbs for a user's own file: try and predict."""

from __future__ import annotations

import argparse
from typing import Any

from .options import add_formats, add_verb, whole


def run_on_own(options: argparse.Namespace) -> int:
    """Run one of these verbs, which load the code that reads files."""
    from ..own_data import verbs

    return verbs.run_try(options) if options.command == "try" else verbs.run_predict(options)


def add_try(verbs: Any) -> None:
    """Options of `try`."""
    verb = add_verb(
        verbs, "try", run_on_own, "models on a file of your own, in one pass over its rows"
    )
    _add_data(verb)
    verb.add_argument("--target", help="the column to predict; LIBSVM files have it first")
    verb.add_argument(
        "--task",
        choices=("auto", "classification", "regression"),
        default="auto",
        help="what the target is; auto: labels if it holds words, true or false, or few whole numbers",
    )
    verb.add_argument(
        "--models",
        nargs="+",
        help="such as AutoKernel BSGD HAT (default: AutoKernel, LogisticRegression or LinearRegression, KNN and ARF)",
    )
    verb.add_argument("--examples", type=whole, help="at most so many rows (default: all)")
    verb.add_argument("--drop", nargs="+", default=[], help="columns to leave out (default: none)")
    verb.add_argument(
        "--keep",
        nargs="+",
        default=[],
        help="columns to take although they look like row numbers or names (default: none)",
    )
    verb.add_argument(
        "--plot", metavar="PNG", help="draw errors into this file (default: no picture)"
    )
    verb.add_argument(
        "--save",
        metavar="FILE",
        help="keep the best model in this file, for `predict` (default: not kept)",
    )
    add_formats(verb)


def add_predict(verbs: Any) -> None:
    """Options of `predict`."""
    verb = add_verb(
        verbs, "predict", run_on_own, "predictions of a saved model, one for each row of a file"
    )
    verb.add_argument("model", help="a file that `river-budget try --save` wrote")
    _add_data(verb)
    add_formats(verb, "csv", "json")


def _add_data(verb: Any) -> None:
    """Options for the file, and for how to read it."""
    verb.add_argument("data", help="a file of CSV, Parquet or LIBSVM, or - for standard input")
    verb.add_argument(
        "--read",
        choices=("auto", "csv", "parquet", "libsvm"),
        default="auto",
        help="the format of the file; auto: found out",
    )
    verb.add_argument(
        "--header",
        choices=("auto", "yes", "no"),
        default="auto",
        help="whether the first row of a CSV holds names; without, columns are called 1, 2, 3 ...; auto: found out",
    )
