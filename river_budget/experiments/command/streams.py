"""The verbs that need no papers: race, auto, compile, curve and speed."""

from __future__ import annotations

import argparse
from typing import Any

from ...core.compiling.plain import PLAIN, VARIABLE
from ..common.console import (
    GOOD,
    check_drawing,
    check_names,
    draw,
    print_table,
    print_tables,
    say_missing,
)
from .moa import add_moa, run_moa
from .options import add_formats, add_jobs, add_verb, seed, whole


def add_race(verbs: Any) -> None:
    """Options of `race`."""
    verb = add_verb(verbs, "race", run_race, "all algorithms on streams that ship with River")
    verb.add_argument(
        "--data", nargs="+", help="of phishing, bananas, image-segments, drift (default: all)"
    )
    verb.add_argument(
        "--examples", type=whole, help="at most so many of each stream (default: all)"
    )
    verb.add_argument(
        "--seed", type=seed, default=1, help="decides random numbers of models and streams"
    )
    verb.add_argument(
        "--plot", metavar="PNG", help="draw the curves of errors (default: no picture)"
    )
    verb.add_argument(
        "--defaults", action="store_true", help="every estimator without settings, on more streams"
    )
    verb.add_argument(
        "--grid", action="store_true", help="with --defaults: beside the best of a grid of settings"
    )
    add_jobs(verb)
    add_formats(verb)


def run_race(options: argparse.Namespace) -> int:
    """Run all classifiers on a few streams."""
    if options.defaults:
        return run_defaults(options)
    from ..race import race
    from ..race.race_models import CAPTION, STREAMS

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
    """Measure `StandardScaler | model()` for every estimator."""
    from ..race import defaults

    check_names(options.data or (), list(defaults.STREAMS), "stream")
    grid, found = f" {defaults.GRID_CAPTION}" if options.grid else "", []
    for classification in (True, False):
        header, lines = defaults.table(classification, options.grid, options.data, options.jobs)
        if len(header) > 1:
            caption = f"{defaults.CAPTION[classification]}{grid} A star: kept for comparison.\n"
            found.append(((header, lines), caption))
    print_tables(options, found)
    return GOOD


def add_auto(verbs: Any) -> None:
    """Options of `auto`."""
    verb = add_verb(verbs, "auto", run_auto, "the learners without settings beside River's models")
    verb.add_argument(
        "--data", nargs="+", help="only these streams (default: all at hand; rtree only with --moa)"
    )
    verb.add_argument(
        "--models",
        nargs="+",
        help="such as AutoKernel KNN; with --moa such as SAMkNN (default: all)",
    )
    verb.add_argument("--examples", type=whole, default=3000, help="at most so many of each stream")
    verb.add_argument(
        "--rows",
        type=whole,
        default=10_000,
        help="the length of generated streams, which also sets the places of their drifts",
    )
    verb.add_argument(
        "--seed", type=seed, default=1, help="decides random numbers of models and streams"
    )
    verb.add_argument(
        "--plot", metavar="PNG", help="draw errors against times (default: no picture)"
    )
    add_moa(verb)
    add_formats(verb)


def run_auto(options: argparse.Namespace) -> int:
    """Measure AutoKernel and River's models."""
    if options.moa:
        return run_moa(options)
    from ..auto import auto
    from ..auto.auto_streams import STREAMS

    check_names(options.data or (), list(STREAMS), "stream")
    check_names(options.models or (), auto.MODELS, "model")
    check_drawing(options.plot)
    names = options.data or [name for name, stream in STREAMS.items() if stream.usual]
    missing = [name for name in names if not STREAMS[name].ready]
    say_missing(missing)
    data = [name for name in names if name not in missing]
    how = {"examples": options.examples, "generated": options.rows, "seed": options.seed}
    results = auto.compare(data, options.models, **how)
    if not results:
        raise RuntimeError(
            "none of this can be measured: no stream is at hand that suits the models"
        )
    tables = [(auto.rows(results, one), f"{auto.CAPTION[one]}\n") for one in (False, True)]
    print_tables(options, [(table, caption) for table, caption in tables if table[1]])
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
    passes, anew, folder = compiling.compile_passes(options.names)
    if options.format == "text":
        reason = f"{VARIABLE} is set" if PLAIN else "no folder can be written"
        kept = f"kept in {folder}" if folder else f"not kept: {reason}"
        print(f"{passes} passes, {anew} compiled anew; {kept}")
    else:
        header = ["passes", "compiled anew", "folder"]
        print_table(options, header, [[str(passes), str(anew), str(folder or "")]], "")
    return GOOD


def add_curve(verbs: Any) -> None:
    """Options of `curve`."""
    verb = add_verb(
        verbs, "curve", run_curve, "mistakes along a stream, with bands over its orders"
    )
    verb.add_argument("data", help="a dataset at hand, or a stream of `auto`: german, phishing")
    verb.add_argument(
        "--models", nargs="+", help="such as BSGD FOGD KNN (default: seven, ours and linear)"
    )
    verb.add_argument("--orders", type=whole, default=5, help="how often the stream is shuffled")
    verb.add_argument("--examples", type=whole, default=5000, help="at most so many of each order")
    verb.add_argument("--plot", metavar="PNG", help="where it is drawn (default: curve-DATA.png)")
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
    print_table(options, *curve.rows(panel), curve.CAPTION)
    draw(options.plot or f"curve-{options.data}.png", [panel], "")
    return GOOD


def add_speed(verbs: Any) -> None:
    """Options of `speed`."""
    verb = add_verb(
        verbs, "speed", run_speed, "against scikit-learn, River and the limit, as ratios"
    )
    verb.add_argument("--data", nargs="+", help="of waveform, a9a, cod-rna, mnist (default: all)")
    verb.add_argument("--examples", type=whole, default=20_000, help="at most so many of each")
    verb.add_argument("--repeats", type=whole, default=5, help="how often each is measured")
    verb.add_argument("--complete", action="store_true", help="measure all models, and first calls")
    verb.add_argument("--wide", action="store_true", help="print a column for every dataset")
    add_formats(verb)


def run_speed(options: argparse.Namespace) -> int:
    """Measure ratios of times."""
    from ..speed.speed import speed
    from ..speed.speed_streams import STREAMS

    check_names(options.data or (), list(STREAMS), "stream")
    how = {"complete": options.complete, "wide": options.wide, "form": options.format}
    speed(options.data or (), options.examples, options.repeats, **how)
    return GOOD
