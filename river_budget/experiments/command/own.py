"""The verbs for a user's own file: try and predict."""

from __future__ import annotations

import argparse
from typing import Any

from .options import add_formats, add_verb, many, option, whole


def run_on_own(options: argparse.Namespace) -> int:
    """Run one of these verbs, which load the code that reads files."""
    from ..own_data import verbs

    return verbs.run_try(options) if options.command == "try" else verbs.run_predict(options)


def add_try(verbs: Any) -> None:
    """Options of `try`."""
    text = "models on a file of your own, in one pass over its rows"
    verb = add_verb(verbs, "try", run_on_own, text)
    _add_data(verb)
    option(verb, "--target", "the column to predict; LIBSVM files have it first")
    option(
        verb,
        "--task",
        "what the target is; auto: labels if it holds words, true or false, or few whole numbers",
        choices=("auto", "classification", "regression"),
        default="auto",
    )
    many(
        verb,
        "--models",
        "such as AutoKernel BSGD HAT (default: AutoKernel, LogisticRegression or LinearRegression, KNN and ARF)",
    )
    option(verb, "--examples", "at most so many rows (default: all)", whole)
    many(verb, "--drop", "columns to leave out (default: none)", [])
    text = "columns to take although they look like row numbers or names (default: none)"
    many(verb, "--keep", text, [])
    option(verb, "--plot", "draw errors into this file (default: no picture)", metavar="PNG")
    text = "keep the best model in this file, for `predict` (default: not kept)"
    option(verb, "--save", text, metavar="FILE")
    add_formats(verb)


def add_predict(verbs: Any) -> None:
    """Options of `predict`."""
    text = "predictions of a saved model, one for each row of a file"
    verb = add_verb(verbs, "predict", run_on_own, text)
    verb.add_argument("model", help="a file that `river-budget try --save` wrote")
    _add_data(verb)
    add_formats(verb, "csv", "json")


def _add_data(verb: Any) -> None:
    """Options for the file, and for how to read it."""
    verb.add_argument("data", help="a file of CSV, Parquet or LIBSVM, or - for standard input")
    kinds, answers = ("auto", "csv", "parquet", "libsvm"), ("auto", "yes", "no")
    text = "the format of the file; auto: found out"
    option(verb, "--read", text, choices=kinds, default="auto")
    text = "whether the first row of a CSV holds names; without, columns are called 1, 2, 3 ...; auto: found out"
    option(verb, "--header", text, choices=answers, default="auto")
