"""The command line: race, auto, compile, curve, list, table, figure, speed, reproduce.

Exit codes: 0 all went well; 1 a figure falls short of what is known to be possible; 2 wrong usage; 3 data that
is needed is not at hand; 130 interrupted, and what was finished is kept.

A verb imports what it runs when it runs: `--help` loads no experiment, and a race no paper.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from .._version import __version__
from .common.console import (
    GOOD,
    INTERRUPTED,
    NO_DATA,
    USAGE,
    check_drawing,
    check_names,
    draw,
    print_table,
    say_missing,
)

RESULTS = "river-budget-results"  # the folder where measurements are kept


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a verb, and return its exit code."""
    options = parser().parse_args(arguments)
    try:
        code: int = options.run(options)
        return code
    except KeyboardInterrupt:
        kept = " What was finished is kept." if hasattr(options, "results") else ""
        print(f"\nInterrupted.{kept}", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # `| head`
        sys.stderr.close()
        return GOOD
    except LookupError as error:
        print(error.args[0], file=sys.stderr)
        return USAGE
    except RuntimeError as error:  # of data or of an extra that is not there
        print(error, file=sys.stderr)
        return NO_DATA


def parser() -> argparse.ArgumentParser:
    """The parser of all verbs, in the order in which `--help` lists them."""
    top = argparse.ArgumentParser(
        "river-budget", description="Kernel learning on streams, measured."
    )
    top.add_argument("--version", action="version", version=__version__)
    verbs = top.add_subparsers(dest="command", required=True)
    for add in (add_race, add_auto, add_compile, add_curve, add_list):
        add(verbs)
    for kind in ("table", "figure"):
        add_record(verbs, kind)
    for add in (add_speed, add_reproduce):
        add(verbs)
    return top


# options that several verbs have


def _verb(verbs: Any, name: str, run: Any, text: str) -> Any:
    """The parser of a verb."""
    found = verbs.add_parser(name, help=text)
    found.set_defaults(run=run)
    return found


def _jobs(verb: Any) -> None:
    """The option for the number of runs at once."""
    verb.add_argument("--jobs", type=_whole, default=2, help="how many runs at once")


def _results(verb: Any) -> None:
    """The option for the folder of measurements."""
    verb.add_argument("--results", default=RESULTS, help="where finished runs are kept")


def _formats(verb: Any) -> None:
    """The options for the format of a table."""
    form = verb.add_mutually_exclusive_group()
    for name in ("markdown", "csv", "json"):
        form.add_argument(f"--{name}", dest="format", action="store_const", const=name)
    verb.set_defaults(format="text")


def _whole(text: str) -> int:
    """A number from 1 on."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return value


def _seed(text: str) -> int:
    """A number from 0 on."""
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is less than 0")
    return value


# verbs about streams


def add_race(verbs: Any) -> None:
    """Options of `race`."""
    verb = _verb(verbs, "race", run_race, "all algorithms on streams that ship with River")
    verb.add_argument("--data", nargs="+", help="phishing, bananas, image-segments, drift")
    verb.add_argument("--examples", type=_whole, help="at most so many of each stream")
    verb.add_argument("--seed", type=_seed, default=1)
    verb.add_argument("--plot", metavar="PNG", help="draw the curves of errors")
    verb.add_argument(
        "--defaults", action="store_true", help="every estimator without settings, on more streams"
    )
    verb.add_argument("--grid", action="store_true", help="with --defaults: beside their best")
    _jobs(verb)
    _formats(verb)


def run_race(options: argparse.Namespace) -> int:
    """All classifiers on a few streams."""
    if options.defaults:
        return run_defaults(options)
    from .race import race
    from .race.race_models import CAPTION, STREAMS

    check_names(options.data or (), list(STREAMS), "stream")
    check_drawing(options.plot)
    how = {"examples": options.examples, "seed": options.seed, "jobs": options.jobs}
    results = race.race(options.data, **how)
    print_table(options, *race.rows(results), CAPTION)
    if options.plot:
        title = "Wrong so far: River's models and the best eight of ours"
        draw(options.plot, race.panels(results), title)
    return GOOD


def run_defaults(options: argparse.Namespace) -> int:
    """What `StandardScaler | model()` does, for every estimator."""
    from .race import defaults

    check_names(options.data or (), list(defaults.STREAMS), "stream")
    for classification in (True, False):
        header, lines = defaults.table(classification, options.grid, options.data, options.jobs)
        if len(header) > 1:
            grid = f" {defaults.GRID_CAPTION}" if options.grid else ""
            caption = f"{defaults.CAPTION[classification]}{grid} A star: kept for comparison.\n"
            print_table(options, header, lines, caption)
    return GOOD


def add_auto(verbs: Any) -> None:
    """Options of `auto`."""
    verb = _verb(verbs, "auto", run_auto, "the learners without settings beside River's models")
    verb.add_argument("--data", nargs="+", help="only these streams; by default all at hand")
    verb.add_argument("--models", nargs="+", help="only these models, as AutoKernel KNN")
    verb.add_argument(
        "--examples", type=_whole, default=3000, help="at most so many of each stream"
    )
    verb.add_argument("--seed", type=_seed, default=1)
    verb.add_argument("--plot", metavar="PNG", help="draw errors against times")
    _formats(verb)


def run_auto(options: argparse.Namespace) -> int:
    """AutoKernel beside River's models."""
    from .auto import auto
    from .auto.auto_streams import STREAMS

    check_names(options.data or (), list(STREAMS), "stream")
    check_names(options.models or (), auto.MODELS, "model")
    check_drawing(options.plot)
    missing = [name for name in options.data or STREAMS if not STREAMS[name].ready]
    say_missing(missing)
    data = [name for name in options.data or STREAMS if name not in missing]
    results = auto.compare(data, options.models, examples=options.examples, seed=options.seed)
    for regression in (False, True):
        header, lines = auto.rows(results, regression)
        if lines:
            print_table(options, header, lines, f"{auto.CAPTION[regression]}\n")
    if options.plot:
        draw(options.plot, auto.panels(results), "Error against time, nothing set")
    return GOOD if results else NO_DATA


def add_compile(verbs: Any) -> None:
    """Options of `compile`."""
    verb = _verb(verbs, "compile", run_compile, "compile now what the first use would")
    verb.add_argument("names", nargs="*", help="of estimators, as BSGD AutoKernel; none: all")


def run_compile(options: argparse.Namespace) -> int:
    """Compile what the named estimators use, or load it."""
    from .speed import compiling

    check_names(options.names, list(compiling.families()), "estimator")
    print(compiling.compile_passes(options.names))
    return GOOD


def add_curve(verbs: Any) -> None:
    """Options of `curve`."""
    verb = _verb(verbs, "curve", run_curve, "mistakes along a stream, with bands over its orders")
    verb.add_argument("data", help="a dataset at hand, or a stream of `auto`: german, phishing")
    verb.add_argument("--models", nargs="+", help="only these models, as BSGD FOGD KNN")
    verb.add_argument("--orders", type=_whole, default=5, help="how often it is shuffled")
    verb.add_argument("--examples", type=_whole, default=5000, help="at most so many of each order")
    verb.add_argument("--plot", metavar="PNG", help="where it is drawn, by default curve-DATA.png")
    _formats(verb)


def run_curve(options: argparse.Namespace) -> int:
    """Mistakes along one stream, drawn."""
    from .race import curve

    check_names([options.data], curve.data_names(), "stream")
    stream = curve.stream_of(options.data)
    models = curve.models_for(stream)
    check_names(options.models or (), list(models), "model")
    chosen = {name: models[name] for name in options.models or curve.usual(models)}
    panel = curve.measure(options.data, stream, chosen, options.orders, options.examples)
    print_table(options, *curve.rows(panel), curve.CAPTION)
    draw(options.plot or f"curve-{options.data}.png", [panel], "")
    return GOOD


def add_speed(verbs: Any) -> None:
    """Options of `speed`."""
    verb = _verb(verbs, "speed", run_speed, "against scikit-learn, River and the limit, as ratios")
    verb.add_argument("--data", nargs="+", help="waveform, a9a, cod-rna, mnist; by default all")
    verb.add_argument("--examples", type=_whole, default=20_000, help="at most so many of each")
    verb.add_argument("--repeats", type=_whole, default=5)
    verb.add_argument("--complete", action="store_true", help="all models, and first calls")
    verb.add_argument("--wide", action="store_true", help="a column for every dataset")
    _formats(verb)


def run_speed(options: argparse.Namespace) -> int:
    """Ratios of times."""
    from .speed.speed import speed
    from .speed.speed_streams import STREAMS

    check_names(options.data or (), list(STREAMS), "stream")
    how = {"complete": options.complete, "wide": options.wide, "form": options.format}
    speed(options.data or (), options.examples, options.repeats, **how)
    return GOOD


# verbs about the tables and figures of papers


def run_on_records(options: argparse.Namespace) -> int:
    """Run one of these verbs, which load the papers' records and the methods that they compare."""
    from .reports.verbs import VERBS

    return VERBS[options.command](options)


def add_list(verbs: Any) -> None:
    """The verb `list`, which has no options."""
    _verb(verbs, "list", run_on_records, "the tables and figures, and the datasets at hand")


def add_record(verbs: Any, kind: str) -> None:
    """Options of `table` and `figure`."""
    verb = _verb(verbs, kind, run_on_records, f"measure a {kind} of a paper again")
    verb.add_argument("name", help=f"such as 2016-{kind}-5; see `river-budget list`")
    verb.add_argument("--data", nargs="+", help="only these datasets")
    verb.add_argument("--repeats", type=_whole, help="at most so many orders of the examples")
    shape = verb.add_mutually_exclusive_group()
    shape.add_argument("--times", action="store_true", help="print seconds too")
    shape.add_argument("--wide", action="store_true", help="a column for every dataset")
    verb.add_argument("--plot", metavar="PNG", help="draw the curves (a figure: NAME.png)")
    _jobs(verb)
    _formats(verb)
    _results(verb)


def add_reproduce(verbs: Any) -> None:
    """Options of `reproduce`."""
    verb = _verb(verbs, "reproduce", run_on_records, "everything that the data at hand allows")
    verb.add_argument("--output", default="reproduced", help="a folder for the document and plots")
    verb.add_argument("--only", nargs="+", help="only these tables and figures")
    _jobs(verb)
    _results(verb)
