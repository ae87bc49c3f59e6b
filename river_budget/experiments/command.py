"""The command line: race, auto, compile, curve, list, table, figure, speed, reproduce.

Exit codes: 0 all went well; 1 a figure falls short of what is known to be possible; 2 wrong usage; 3 data that
is needed is not at hand; 130 interrupted, and what was finished is kept.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
from collections.abc import Sequence

from .._version import __version__
from ..progress import Progress
from . import printing
from .measure import measure
from .records import Record, Row, rows
from .store import Store
from .tasks import at_hand, ready

GOOD, SHORT, USAGE, NO_DATA, INTERRUPTED = 0, 1, 2, 3, 130
RESULTS = "river-budget-results"  # the folder where measurements are kept


def all_records() -> list[Record]:
    from .papers import paper2005, paper2010, paper2012, paper2016, paper2018

    modules = (paper2016, paper2010, paper2005, paper2018, paper2012)
    return [record for module in modules for record in module.records()]


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        "river-budget", description="Kernel learning on streams, measured."
    )
    top.add_argument("--version", action="version", version=__version__)
    commands = top.add_subparsers(dest="command", required=True)

    race = commands.add_parser("race", help="all algorithms on streams that ship with River")
    race.add_argument("--data", nargs="+", help="phishing, bananas, image-segments, drift")
    race.add_argument("--examples", type=_whole, help="at most so many of each stream")
    race.add_argument("--seed", type=_seed, default=1)
    race.add_argument("--plot", metavar="PNG", help="draw the curves of errors")
    race.add_argument(
        "--defaults", action="store_true", help="every estimator without settings, on more streams"
    )
    race.add_argument("--grid", action="store_true", help="with --defaults: beside their best")
    _jobs(race)
    _formats(race)

    auto = commands.add_parser("auto", help="the learners without settings beside River's models")
    auto.add_argument("--data", nargs="+", help="only these streams; by default all at hand")
    auto.add_argument("--models", nargs="+", help="only these models, as AutoKernel KNN")
    auto.add_argument(
        "--examples", type=_whole, default=3000, help="at most so many of each stream"
    )
    auto.add_argument("--seed", type=_seed, default=1)
    auto.add_argument("--plot", metavar="PNG", help="draw errors against times")
    _formats(auto)

    ready = commands.add_parser("compile", help="compile now what the first use would")
    ready.add_argument("names", nargs="*", help="of estimators, as BSGD AutoKernel; none: all")

    curve = commands.add_parser("curve", help="mistakes along a stream, with bands over its orders")
    curve.add_argument("data", help="a dataset at hand, or a stream of `auto`: german, phishing")
    curve.add_argument("--models", nargs="+", help="only these models, as BSGD FOGD KNN")
    curve.add_argument("--orders", type=_whole, default=5, help="how often it is shuffled")
    curve.add_argument(
        "--examples", type=_whole, default=5000, help="at most so many of each order"
    )
    curve.add_argument("--plot", metavar="PNG", help="where it is drawn, by default curve-DATA.png")
    _formats(curve)

    commands.add_parser("list", help="the tables and figures, and the datasets at hand")
    for kind in ("table", "figure"):
        one = commands.add_parser(kind, help=f"measure a {kind} of a paper again")
        one.add_argument("name", help=f"such as 2016-{kind}-5; see `river-budget list`")
        one.add_argument("--data", nargs="+", help="only these datasets")
        one.add_argument("--repeats", type=_whole, help="at most so many orders of the examples")
        shape = one.add_mutually_exclusive_group()
        shape.add_argument("--times", action="store_true", help="print seconds too")
        shape.add_argument("--wide", action="store_true", help="a column for every dataset")
        one.add_argument("--plot", metavar="PNG", help="draw the curves (a figure: NAME.png)")
        _jobs(one)
        _formats(one)
        _results(one)

    speed = commands.add_parser(
        "speed", help="against scikit-learn, River and the limit, as ratios"
    )
    speed.add_argument("--data", nargs="+", help="waveform, a9a, cod-rna, mnist; by default all")
    speed.add_argument("--examples", type=_whole, default=20_000, help="at most so many of each")
    speed.add_argument("--repeats", type=_whole, default=5)
    speed.add_argument("--complete", action="store_true", help="all models, and first calls")
    speed.add_argument("--wide", action="store_true", help="a column for every dataset")
    _formats(speed)

    every = commands.add_parser("reproduce", help="everything that the data at hand allows")
    every.add_argument("--output", default="reproduced", help="a folder for the document and plots")
    every.add_argument("--only", nargs="+", help="only these tables and figures")
    _jobs(every)
    _results(every)
    return top


def _jobs(command: argparse.ArgumentParser) -> None:
    command.add_argument("--jobs", type=_whole, default=2, help="how many runs at once")


def _results(command: argparse.ArgumentParser) -> None:
    command.add_argument("--results", default=RESULTS, help="where finished runs are kept")


def _formats(command: argparse.ArgumentParser) -> None:
    form = command.add_mutually_exclusive_group()
    for name in ("markdown", "csv", "json"):
        form.add_argument(f"--{name}", dest="format", action="store_const", const=name)
    command.set_defaults(format="text")


def _whole(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return value


def _seed(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is less than 0")
    return value


def main(arguments: Sequence[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    try:
        code: int = COMMANDS[options.command](options)
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


def run_race(options: argparse.Namespace) -> int:
    if options.defaults:
        return run_defaults(options)
    from .contestants import CAPTION, STREAMS
    from .race import race
    from .race import rows as rows_of

    _known(options.data or (), list(STREAMS), "stream")
    _check_drawing(options.plot)
    results = race(options.data, examples=options.examples, seed=options.seed, jobs=options.jobs)
    print(printing.FORMATS[options.format](*rows_of(results)))
    if options.format == "text":
        print(f"\n{CAPTION}")
    if options.plot:
        from .race import panels

        title = "Wrong so far: River's models and the best eight of ours"
        draw(options.plot, panels(results), title)
    return GOOD


def run_auto(options: argparse.Namespace) -> int:
    from .auto import CAPTION, MODELS, compare, panels, rows
    from .auto_streams import STREAMS

    _known(options.data or (), list(STREAMS), "stream")
    _known(options.models or (), MODELS, "model")
    _check_drawing(options.plot)
    missing = [name for name in options.data or STREAMS if not STREAMS[name].ready]
    if missing:
        print(f"left out, as they are not at hand: {', '.join(missing)}", file=sys.stderr)
    data = [name for name in options.data or STREAMS if name not in missing]
    results = compare(data, options.models, examples=options.examples, seed=options.seed)
    for regression in (False, True):
        header, lines = rows(results, regression)
        if lines:
            print(printing.FORMATS[options.format](header, lines))
            if options.format == "text":
                print(f"\n{CAPTION[regression]}\n")
    if options.plot:
        draw(options.plot, panels(results), "Error against time, nothing set")
    return GOOD if results else NO_DATA


def run_curve(options: argparse.Namespace) -> int:
    from . import curve

    _known([options.data], curve.data_names(), "stream")
    stream = curve.stream_of(options.data)
    models = curve.models_for(stream)
    _known(options.models or (), list(models), "model")
    chosen = {name: models[name] for name in options.models or curve.usual(models)}
    panel = curve.measure(options.data, stream, chosen, options.orders, options.examples)
    print(printing.FORMATS[options.format](*curve.rows(panel)))
    if options.format == "text":
        print(f"\n{curve.CAPTION}")
    draw(options.plot or f"curve-{options.data}.png", [panel], "")
    return GOOD


def run_defaults(options: argparse.Namespace) -> int:
    """What `StandardScaler | model()` does, for every estimator."""
    from . import defaults

    _known(options.data or (), list(defaults.STREAMS), "stream")
    for classification in (True, False):
        header, lines = defaults.table(classification, options.grid, options.data, options.jobs)
        if len(header) == 1:
            continue
        print(printing.FORMATS[options.format](header, lines))
        if options.format == "text":
            grid = f" {defaults.GRID_CAPTION}" if options.grid else ""
            print(f"\n{defaults.CAPTION[classification]}{grid} A star: kept for comparison.\n")
    return GOOD


def run_compile(options: argparse.Namespace) -> int:
    from . import compiling

    _known(options.names, list(compiling.families()), "estimator")
    print(compiling.compile_passes(options.names))
    return GOOD


def run_list(options: argparse.Namespace) -> int:
    from .. import datasets

    for record in all_records():
        missing = [name for name in record.datasets() if not at_hand(name)]
        text = f"  (not at hand: {', '.join(missing)})" if missing else ""
        print(f"{record.name:15}  {record.title}{text}")
    here = [name for name in datasets.names() if at_hand(name)]
    print(f"\ndatasets at hand: {', '.join(here)}")
    print(f"to be downloaded: {', '.join(n for n in datasets.names() if n not in here)}")
    return GOOD


def find(name: str, kind: str) -> Record:
    records = {record.name: record for record in all_records() if record.kind == kind}
    _known([name], list(records), kind)
    return records[name]


def _known(names: Sequence[str], all_names: Sequence[str], kind: str) -> None:
    for name in names:
        if name not in all_names:
            raise LookupError(f"there is no {kind} {name!r}; there are {', '.join(all_names)}")


def narrowed(record: Record, options: argparse.Namespace) -> Record:
    """To the datasets that were asked for, or else to those at hand."""
    names = record.datasets()
    if options.data is not None:
        _known(options.data, names, "dataset of this record")
        return record.only(options.data, options.repeats)
    here = record.available(ready)
    missing = [name for name in names if name not in here.datasets()]
    if missing:
        print(f"left out, as they are not at hand: {', '.join(missing)}", file=sys.stderr)
    return here.at_most(options.repeats)


def run_record(options: argparse.Namespace) -> int:
    record, store = narrowed(find(options.name, options.command), options), Store(options.results)
    if not record.tasks():
        print("none of the data is at hand: name it with --data to download it", file=sys.stderr)
        return NO_DATA
    plot = options.plot or (f"{record.name}.png" if options.command == "figure" else None)
    _check_drawing(plot)
    tasks = [task for task in record.tasks() if task.key not in store]
    with Progress(len(tasks), record.name) as progress:
        measure(tasks, store, 1 if record.alone else options.jobs, progress)
    found = rows(record, store)
    shape = (
        printing.wide(record, found)
        if options.wide
        else printing.table(record, found, options.times)
    )
    print(printing.FORMATS[options.format](*shape))
    if options.format == "text":
        _remarks(record, found)
        for claim in record.claims:
            print(claim.sentence(record, store))
    if plot and record.panels is not None:
        draw(plot, list(record.panels(record, store)), record.title, record.columns)
    return SHORT if any(row.short for row in found) else GOOD


def _remarks(record: Record, found: list[Row]) -> None:
    unit, words = record.unit, printing.summary(found)
    print(f"\n{unit}; mean and standard deviation over the runs. {words}".rstrip(". ") + ".")
    if record.note:
        print(record.note)
    for row in found:
        if row.short:
            print(f"{row.cell.row} on {row.cell.column} falls short of {row.cell.expected}")


def _check_drawing(plot: str | None) -> None:
    """Raise where a picture is wanted and cannot be drawn, before hours are spent on its numbers."""
    if plot:
        from ..plots.axes import load_matplotlib

        load_matplotlib()


def draw(
    path: str | pathlib.Path, panels: Sequence[object], title: str, columns: int | None = None
) -> None:
    from ..plots.figures import draw

    draw(path, panels, title=title, columns=columns)  # type: ignore[arg-type]
    print(f"drawn: {path}", file=sys.stderr)


def run_speed(options: argparse.Namespace) -> int:
    from .speed import speed
    from .speed_streams import STREAMS

    _known(options.data or (), list(STREAMS), "stream")
    how = {"complete": options.complete, "wide": options.wide, "form": options.format}
    speed(options.data or (), options.examples, options.repeats, **how)
    return GOOD


def run_reproduce(options: argparse.Namespace) -> int:
    from .document import write

    records = all_records()
    if options.only:
        _known(options.only, [record.name for record in records], "table or figure")
        records = [record for record in records if record.name in options.only]
    store = Store(options.results)
    parts = [record.available(ready) for record in records]
    tasks = {task.key: task for part in parts for task in part.tasks() if task.key not in store}
    with Progress(len(tasks), "reproduce") as progress:
        for part in parts:
            measure(part.tasks(), store, 1 if part.alone else options.jobs, progress)
            # after every record, so that the document shows what is finished
            write(options.output, parts, store)
    found = [row for part in parts for row in rows(part, store)]
    print(f"{printing.summary(found)}; see {pathlib.Path(options.output) / 'README.md'}")
    return SHORT if any(row.short for row in found) else GOOD


COMMANDS = {
    "race": run_race,
    "auto": run_auto,
    "compile": run_compile,
    "curve": run_curve,
    "list": run_list,
    "table": run_record,
    "figure": run_record,
    "speed": run_speed,
    "reproduce": run_reproduce,
}
