"""The experiments: verdicts, records, what is kept, and the command line."""

from __future__ import annotations

import json
import re
import sys

import numpy as np
import pytest
from conftest import DATA

import river_budget as rb
from river_budget.experiments import auto, command, printing, race, records, tasks, verdicts
from river_budget.experiments.measure import measure
from river_budget.experiments.papers import paper2016_printed
from river_budget.experiments.records import Cell, Record, rows
from river_budget.experiments.store import Store
from river_budget.experiments.tasks import Task
from river_budget.experiments.verdicts import Printed, verdict

RECORDS = {record.name: record for record in command.all_records()}

needs_data = pytest.mark.skipif(
    not DATA.is_dir(),
    reason="no real datasets here: RIVER_BUDGET_DATA names the folder that holds them",
)


# Verdicts.


@pytest.mark.parametrize(
    ("mean", "deviation", "printed", "word"),
    [
        (35.22, 0.90, Printed("35.2", "0.9"), "EXACT"),
        (29.58, 0.58, Printed("29.5", "0.5"), "EXACT"),  # cut off
        (35.62, 1.52, Printed("35.6", "1.5"), "EXACT"),
        (20.67, 0.85, Printed("20.7", "0.9"), "EXACT"),  # rounded
        (35.62, 1.52, Printed("35.6", "1.6"), "MATCH"),  # another deviation
        (35.12, 0.90, Printed("35.2", "0.9"), "MATCH"),
        (36.20, 0.90, Printed("35.2", "0.9"), "CLOSE"),
        (36.05, 0.90, Printed("35.2", "0.1"), "CLOSE"),  # 2.5 % of the figure
        (38.20, 0.90, Printed("35.2", "0.9"), "NO"),
        (0.04017, 0.00043, Printed("0.04017", "0.00043"), "EXACT"),
        (0.04018, 0.00043, Printed("0.04017", "0.00043"), "MATCH"),
    ],
)
def test_verdicts_follow_the_rule(mean, deviation, printed, word):
    assert verdict(mean, deviation, 20, printed, exact=True) == word


def test_what_is_random_or_has_other_orders_is_never_exact():
    assert verdict(35.22, 0.90, 20, Printed("35.2", "0.9"), exact=False) == "MATCH"


def test_two_standard_errors_of_ours_are_a_match_too():
    assert verdict(30.4, 1.0, 16, Printed("30.0", "0.1"), exact=False) == "MATCH"
    assert verdict(30.6, 1.0, 16, Printed("30.0", "0.1"), exact=False) == "CLOSE"


def test_without_a_printed_deviation_there_is_ours():
    assert verdict(84.0, 0.0, 1, Printed("84.0"), exact=True) == "MATCH"
    assert verdict(83.0, 0.0, 1, Printed("84.0"), exact=True) == "CLOSE"


# Records.


def test_all_tables_and_figures_are_there():
    names = [f"2016-table-{n}" for n in (3, 5, 7, 9)] + [f"2016-figure-{n}" for n in range(1, 7)]
    names += ["2010-table-1", *(f"2010-figure-{n}" for n in (1, 2, 3)), "2005-figure-2"]
    names += ["2018-table-1", "2018-table-2", *(f"2018-figure-{n}" for n in range(1, 6))]
    assert sorted(RECORDS) == sorted([*names, "2012-figure-2"])


@pytest.mark.parametrize("record", RECORDS.values(), ids=lambda record: record.name)
def test_a_record_has_tasks_with_keys_of_their_own(record):
    assert record.cells
    for cell in record.cells:
        keys = [task.key for task in cell.tasks]
        assert keys
        assert len(set(keys)) == len(keys)
    assert (record.panels is not None) == (record.kind == "figure")
    places = [(cell.row, cell.column, cell.tasks[0].key) for cell in record.cells]
    assert len(set(places)) == len(places)


@pytest.mark.parametrize(
    "record", [r for r in RECORDS.values() if r.panels], ids=lambda record: record.name
)
def test_a_figure_shows_all_that_was_measured(record, tmp_path):
    store = Store(tmp_path)
    assert list(record.panels(record, store)) == [] or record.name == "2016-figure-3"
    measurement = {"at": [1, 2], "values": [0.5, 0.4], "seconds": [0.1, 0.2], "scoring": 0.05}
    measurement["lines"] = {"SBP": [[1, 2], [0.5, 0.4]]}
    for task in record.tasks():
        store._measurements[task.key] = measurement
    panels = list(record.panels(record, store))
    assert all(panel.lines for panel in panels)
    drawn = sum(len(line.x) for panel in panels for line in panel.lines)
    assert drawn >= len(record.cells)
    lasts = {round(line.y[-1], 9) for panel in panels for line in panel.lines}
    assert lasts <= {0.4, 0.2, 0.75}


def test_printed_tables_are_read_as_they_stand():
    table = paper2016_printed.printed_table(paper2016_printed.TABLE_5)
    assert table["Forgetron", "ijcnn1"] == Printed("16.99", "0.32")
    assert len(table) == 90
    assert ("OGD", "poker") not in paper2016_printed.printed_table(paper2016_printed.TABLE_7)


def test_only_cells_without_chance_can_be_exact():
    cells = {(c.row, c.column): c for c in RECORDS["2016-table-5"].cells}
    assert records.is_exact(cells["Forgetron", "german"])
    assert not records.is_exact(cells["RBP", "german"])
    assert not records.is_exact(cells["FOGD", "german"])
    cells = {(c.row, c.column): c for c in RECORDS["2016-table-7"].cells}
    assert records.is_exact(cells["BOGD", "dna"])  # takes a seed, and forgets the oldest


# Measuring. These sets are generated, so they need no files.


def small(n=400, repeats=2):
    model = rb.BSGDClassifier(20, rb.kernels.RBF(4.0), l2=1e-3)
    options = (("n", n), ("held_out", 200))
    made = [Task("holdout", "checkerboard", i, model, options) for i in range(repeats)]
    other = [Task("holdout", "waveform", i, model, options) for i in range(repeats)]
    cells = (
        Cell("merge", "checkerboard", tuple(made), Printed("85", "20"), 100.0),
        Cell("merge", "waveform", tuple(other), None, 100.0),
    )
    return Record("2010-table-0", "small", "accuracy, %", 2, cells)


def text(record, store):
    return printing.as_text(*printing.table(record, rows(record, store)))


def test_tables_do_not_depend_on_the_number_of_jobs(tmp_path):
    found = []
    for jobs in (1, 3):
        store = Store(tmp_path / str(jobs))
        measure(small().tasks(), store, jobs)
        found.append(text(small(), store))
    assert found[0] == found[1]
    assert "MATCH" in found[0]


def test_a_wide_table_has_a_column_for_every_dataset(tmp_path):
    store = Store(tmp_path)
    measure(small().tasks(), store, 2)
    header, lines = printing.wide(small(), rows(small(), store))
    assert header == ["ours, paper", "checkerboard", "waveform"]
    assert len(lines) == 1
    assert re.fullmatch(r"\d\d\.\d\d ≈ 85", lines[0][1])


def test_what_is_finished_is_kept_and_not_run_again(tmp_path, monkeypatch):
    record, store = small(), Store(tmp_path)
    measure(record.tasks()[:2], store, 1)
    lines = store.path.read_text()
    store.path.write_text(lines + '{"key": "cut off in the mid')
    ran = []
    run = Task.run
    monkeypatch.setattr(Task, "run", lambda task: ran.append(task.key) or run(task))
    again = Store(tmp_path)
    measure(record.tasks(), again, 2)
    assert sorted(ran) == sorted(task.key for task in record.tasks()[2:])
    assert text(record, Store(tmp_path)) == text(record, again)


def test_measurements_of_another_core_are_not_used(tmp_path, monkeypatch):
    store = Store(tmp_path)
    store.add("a", {"values": [1.0]})
    assert "a" in Store(tmp_path)
    monkeypatch.setattr("river_budget.experiments.store.stamp", lambda: "another")
    assert "a" not in Store(tmp_path)


def test_an_interrupt_keeps_what_is_finished(tmp_path, monkeypatch, capsys):
    record, run = small(), Task.run

    def interrupted(task):
        if task.data == "waveform":
            raise KeyboardInterrupt
        return run(task)

    monkeypatch.setattr(Task, "run", interrupted)
    monkeypatch.setattr(command, "all_records", lambda: [record])
    arguments = ["table", record.name, "--results", str(tmp_path), "--jobs", "1"]
    assert command.main(arguments) == command.INTERRUPTED
    assert "kept" in capsys.readouterr().err
    assert len(Store(tmp_path).path.read_text().splitlines()) == 2


def test_progressive_measurements_are_those_of_one_call(tmp_path, monkeypatch):
    X, y = np.random.default_rng(0).normal(size=(300, 3)), np.arange(300) % 3
    monkeypatch.setattr(tasks, "in_order", lambda name, repeat: (X, y))
    model = rb.ForgetronClassifier(10, rb.kernels.RBF(1.0))
    measurement = Task("progressive", "made up", 0, model).run()
    predicted = model.clone({"classes": (0, 1, 2)}).predict_then_learn_many(X, y)
    assert measurement["values"][-1] == pytest.approx(np.mean(predicted != y))
    assert measurement["at"][-1] == 300
    assert len(measurement["at"]) == len(measurement["values"]) == len(measurement["seconds"]) == 40
    measurement = Task("progressive", "made up", 0, model, (("positive", (0, 2)),)).run()
    predicted = model.clone().predict_then_learn_many(X, y != 1)
    assert measurement["values"][-1] == pytest.approx(np.mean(predicted != (y != 1)))


# The command line.


def run(capsys, *arguments):
    code = command.main(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@needs_data
def test_a_table_has_the_digits_of_the_paper(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = run(capsys, "table", "2016-table-9", "--data", "housing", "--json")
    assert code == command.GOOD
    found = {line["algorithm"]: line for line in json.loads(out)}
    exact = {name for name, line in found.items() if line["verdict"] == "EXACT"}
    assert exact == {"OGD", "Perceptron", "NORMA", "Forgetron", "Projectron", "BOGD", "NOGD"}
    assert found["Forgetron"]["ours"] == "0.05848 ± 0.00216"
    again = run(capsys, "table", "2016-table-9", "--data", "housing", "--csv", "--jobs", "1")[1]
    assert again.splitlines()[0] == "data,algorithm,paper,ours,runs,verdict"
    assert (tmp_path / command.RESULTS / "outcomes.jsonl").is_file()


@needs_data
def test_fewer_repeats_are_never_exact_and_fall_short(capsys, tmp_path):
    arguments = ["table", "2016-table-9", "--data", "housing", "--repeats", "2"]
    code, out, _ = run(capsys, *arguments, "--results", str(tmp_path))
    assert code == command.SHORT
    assert "EXACT" not in out.partition("\n\n")[0]
    assert "falls short of EXACT" in out


def test_a_figure_is_drawn(capsys, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    record = small()
    model = record.cells[0].tasks[0].model
    options = (("n", 400), ("held_out", 200), ("curve", True))
    cells = [Cell("BSGD-merge", "waveform", (Task("holdout", "waveform", 0, model, options),))]
    panels = records.curves("accuracy", log_x=True)
    made = Record("2010-figure-0", "small", "accuracy", 2, tuple(cells), "", panels)
    monkeypatch.setattr(command, "all_records", lambda: [made])
    monkeypatch.chdir(tmp_path)
    code, _, err = run(capsys, "figure", "2010-figure-0")
    assert code == command.GOOD
    assert "2010-figure-0.png" in err
    assert (tmp_path / "2010-figure-0.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "arguments",
    [["race", "--plot", "x.png"], ["auto", "--plot", "x.png"], ["figure", "2016-figure-1"]],
)
def test_without_matplotlib_a_picture_is_refused_before_anything_runs(
    arguments, capsys, monkeypatch
):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(command, "at_hand", lambda name: True)
    for module, name in ((race, "race"), (auto, "compare"), (command, "measure")):
        monkeypatch.setattr(module, name, lambda *anything, **named: pytest.fail("it ran"))
    code, _, err = run(capsys, *arguments)
    assert code == command.NO_DATA
    assert "pip install matplotlib" in err


def test_reproduce_writes_a_document(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "all_records", lambda: [small()])
    monkeypatch.chdir(tmp_path)
    first = run(capsys, "reproduce", "--output", "made")
    document = (tmp_path / "made" / "README.md").read_text()
    assert first[0] == command.GOOD
    assert "## 2010-table-0: small" in document
    assert re.search(
        r"\| checkerboard \| merge \| 85 ± 20 \| [\d.]+ ± [\d.]+ \| 2 \| MATCH \|", document
    )
    assert verdicts.__doc__.splitlines()[-1] in document
    run(capsys, "reproduce", "--output", "again", "--jobs", "1")
    assert (tmp_path / "again" / "README.md").read_text() == document


def test_wrong_names_and_missing_data_have_exit_codes_of_their_own(capsys, tmp_path, monkeypatch):
    code, _, err = run(capsys, "table", "2016-table-4")
    assert code == command.USAGE
    assert "2016-table-5" in err
    assert run(capsys, "figure", "2016-table-5")[0] == command.USAGE
    monkeypatch.setattr(command, "at_hand", lambda name: False)
    arguments = ["table", "2016-table-5", "--results", str(tmp_path)]
    code, _, err = run(capsys, *arguments)
    assert code == command.NO_DATA
    assert "german" in err
    with pytest.raises(SystemExit) as error:
        command.main(["table", "2016-table-5", "--jobs", "0"])
    assert error.value.code == 2


def test_the_list_names_records_and_datasets(capsys):
    code, out, _ = run(capsys, "list")
    assert code == command.GOOD
    assert all(name in out for name in RECORDS)
    assert "datasets at hand:" in out


def test_speed_prints_a_ratio_for_every_contest(capsys, monkeypatch):
    monkeypatch.delenv("RIVER_BUDGET_DATA", raising=False)
    code, out, _ = run(capsys, "speed", "--examples", "400", "--repeats", "1")
    assert code == command.GOOD
    table, _, caption = out.partition("\n\n")
    assert "Medians of 1 runs" in caption
    lines = table.splitlines()[1:]
    assert len(lines) == 15
    pattern = r" \d+\.\d\d +(scikit-learn|LogisticRegression|RBFSampler\(100\) \| linear)$"
    assert all(re.search(pattern, line) for line in lines)


def test_the_command_says_its_version(capsys):
    with pytest.raises(SystemExit) as end:
        command.main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out.strip() == rb.__version__
