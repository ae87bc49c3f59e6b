"""The verbs: their options, and what runs them. A verb imports its code when it runs."""

from __future__ import annotations

import argparse
import functools
from typing import Any

from ..common.console import GOOD, check_drawing, check_names, draw, print_tables
from .options import (
    add_formats,
    add_seed,
    add_verb,
    flag,
    many,
    option,
    seconds,
    whole,
)


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
        "such as AutoKernel BSGD HAT (default: AutoKernel, LogisticRegression or LinearRegression, "
        "KNN and ARF)",
    )
    option(verb, "--examples", "at most so many rows (default: all)", whole)
    many(verb, "--drop", "columns to leave out (default: none)", [])
    text = "columns to take although they look like row numbers or names (default: none)"
    many(verb, "--keep", text, [])
    text = "columns of sentences, whose words become features (default: none)"
    many(verb, "--text", text, [])
    text = "rows that a label is late (default: it comes before the next row)"
    option(verb, "--delay", text, whole, default=0)
    text = (
        "how long a model may take; a slower one stops there, and the table says after how many "
        "rows"
    )
    option(verb, "--seconds", text, seconds, 60.0)
    add_seed(verb)
    option(verb, "--plot", "draw errors into this file (default: no picture)", metavar="FILE")
    flag(verb, "--code", "print a program in Python with the best model, to go on from there")
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
    text = (
        "whether the first row of a CSV holds names; without, columns are called 1, 2, 3 ...; "
        "auto: found out"
    )
    option(verb, "--header", text, choices=answers, default="auto")


def add_race(verbs: Any) -> None:
    """Options of `race`."""
    verb = add_verb(verbs, "race", run_race, "all algorithms on streams that ship with River")
    many(verb, "--data", "of phishing, bananas, image-segments, drift (default: all)")
    option(verb, "--examples", "at most so many of each stream (default: all)", whole)
    add_seed(verb)
    option(verb, "--plot", "draw the curves of errors (default: no picture)", metavar="FILE")
    add_formats(verb)


def run_race(options: argparse.Namespace) -> int:
    """Run all classifiers on a few streams."""
    from ..race import race

    check_names(options.data or (), list(race.STREAMS), "stream")
    check_drawing(options.plot)
    results = race.race(options.data, examples=options.examples, seed=options.seed)
    print_tables(options, (race.rows(results), race.CAPTION))
    if options.plot:
        title = "Wrong so far: River's models and the best eight of ours"
        draw(options.plot, race.panels(results), title)
    return GOOD


def add_auto(verbs: Any) -> None:
    """Options of `auto`."""
    verb = add_verb(verbs, "auto", run_auto, "the learners without settings beside River's models")
    many(verb, "--data", "only these streams (default: all at hand but rtree and the unseen)")
    flag(verb, "--unseen", "instead the streams that had no part in the development of AutoKernel")
    many(verb, "--models", "such as AutoKernel KNN (default: all)")
    text = "measure AutoKernel without each of these experts too: bins, 'vote far' (an ablation)"
    many(verb, "--without", text)
    option(verb, "--examples", "at most so many of each stream", whole, 3000)
    text = "the length of generated streams, which also sets the places of their drifts"
    option(verb, "--rows", text, whole, 10_000)
    add_seed(verb)
    option(verb, "--plot", "draw errors against times (default: no picture)", metavar="FILE")
    add_formats(verb)


def run_auto(options: argparse.Namespace) -> int:
    """Measure AutoKernel and River's models."""
    from ..auto import auto, auto_streams

    check_names(options.models or (), auto.MODELS, "model")
    check_names(options.without or (), auto.EXPERTS, "expert")
    check_drawing(options.plot)
    how = {
        "without": options.without or (),
        "examples": options.examples,
        "generated": options.rows,
        "seed": options.seed,
    }
    usual = list(auto_streams.UNSEEN) if options.unseen else auto_streams.USUAL
    results = auto.compare(auto.chosen_streams(options.data, usual), options.models, **how)
    if not results:
        raise RuntimeError(
            "none of this can be measured: no stream is at hand that suits the models"
        )
    tables = [(auto.rows(results, one), f"{auto.CAPTION[one]}\n") for one in (False, True)]
    print_tables(options, *(table for table in tables if table[0][1]))
    if options.plot:
        draw(options.plot, auto.panels(results), "Error against time, nothing set")
    return GOOD


def add_compile(verbs: Any) -> None:
    """Options of `compile`."""
    verb = add_verb(verbs, "compile", run_compile, "compile now what the first use would")
    verb.add_argument("names", nargs="*", help="of estimators, as BSGD AutoKernel (default: all)")
    add_formats(verb)


def run_compile(options: argparse.Namespace) -> int:
    """Compile the code that the named estimators use, or load it."""
    from ..speed import compiling

    check_names(options.names, list(compiling.families()), "estimator")
    functions, anew, folder = compiling.compile_passes(options.names)
    if options.format == "text":
        kept = f"kept in {folder}" if folder else "not kept: no folder can be written"
        print(f"{functions} functions, {anew} compiled anew; {kept}")
    else:
        header = ["functions", "compiled anew", "folder"]
        print_tables(options, ((header, [[str(functions), str(anew), str(folder or "")]]), ""))
    return GOOD


def add_curve(verbs: Any) -> None:
    """Options of `curve`."""
    text = "mistakes along a stream, with bands over its orders"
    verb = add_verb(verbs, "curve", run_curve, text)
    verb.add_argument("data", help="a dataset at hand, or a stream of `auto`: german, phishing")
    many(verb, "--models", "such as BSGD FOGD KNN (default: seven, ours and linear)")
    option(verb, "--orders", "how often the stream is shuffled", whole, 5)
    option(verb, "--examples", "at most so many of each order", whole, 5000)
    option(verb, "--plot", "where it is drawn (default: curve-DATA.png)", metavar="FILE")
    add_formats(verb)


def run_curve(options: argparse.Namespace) -> int:
    """Draw the mistakes along one stream."""
    from ..race import curve

    check_names([options.data], curve.data_names(), "stream")
    stream = curve.stream_of(options.data)
    models = curve.models_for(stream)
    check_names(options.models or (), list(models), "model")
    chosen = {name: models[name] for name in options.models or curve.usual(models)}
    panel = curve.measure(options.data, stream, chosen, options.orders, options.examples)
    print_tables(options, (curve.rows(panel), curve.CAPTION))
    draw(options.plot or f"curve-{options.data}.png", [panel], "")
    return GOOD


def add_speed(verbs: Any) -> None:
    """Options of `speed`."""
    text = "against scikit-learn and River, as ratios"
    verb = add_verb(verbs, "speed", run_speed, text)
    many(verb, "--data", "of waveform, a9a, cod-rna, mnist (default: all)")
    option(verb, "--examples", "at most so many of each", whole, 20_000)
    option(verb, "--repeats", "how often each is measured", whole, 5)
    flag(verb, "--complete", "measure all models, and first calls")
    add_formats(verb)


def run_speed(options: argparse.Namespace) -> int:
    """Measure ratios of times."""
    from ..speed.speed import speed
    from ..speed.speed_cases import STREAMS

    check_names(options.data or (), list(STREAMS), "stream")
    tables = speed(options.data or (), options.examples, options.repeats, options.complete)
    print_tables(options, *tables)
    return GOOD


def add_completion(verbs: Any) -> None:
    """Options of `completion`."""
    text = "a script that lets your shell complete verbs and options"
    verb = add_verb(verbs, "completion", functools.partial(run_completion, verbs.choices), text)
    verb.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell")


def run_completion(verbs: dict[str, argparse.ArgumentParser], options: argparse.Namespace) -> int:
    """Print the script for these verbs."""
    from .completion import script

    print(script(verbs, options.shell))
    return GOOD
