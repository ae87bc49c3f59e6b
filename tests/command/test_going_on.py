"""What helps to go on from `try`: limits, seeds, a program with the best model, completion, and
rb.read.
"""

from __future__ import annotations

import csv
import datetime
import itertools
import json
import os
import random
import shutil
import signal
import subprocess

import pytest
from commands import run
from optional import package
from river import linear_model, preprocessing

import river_budget as rb
from river_budget.experiments import command
from river_budget.experiments.own_data import trial

COLUMNS = ["day", "price", "colour", "share", "note", "y"]


@pytest.fixture
def table(tmp_path):
    """A file with dates, amounts, words, percentages, sentences and gaps."""
    rng, path = random.Random(1), tmp_path / "table.csv"
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for t in range(300):
            price, colour = rng.gauss(2000, 500), rng.choice(["red", "blue", ""])
            day = datetime.date(2025, 1, 1) + datetime.timedelta(days=t)
            note = rng.choice(["good and cheap", "bad but quick", "it is as it is"])
            cells = [day, f"${price:,.2f}", colour, f"{rng.random():.1%}", f"{note} {t}"]
            writer.writerow([*cells, "yes" if (price > 2000) == (colour == "red") else "no"])
    return path


@pytest.mark.parametrize("one_hot", [False, True])
def test_read_gives_dates_amounts_and_words(table, one_hot):
    rows = list(rb.read(table, "y", text=["note"], one_hot=one_hot))
    assert len(rows) == 300
    x, y = rows[0]
    assert (x["day_weekday"], x["day_month"], x["day_days"]) == (2.0, 1.0, 0.0)
    assert 0.0 < x["share"] < 100.0 < x["price"] < 5000.0
    assert y in ("yes", "no")
    names = {name for x, _ in rows for name in x}
    assert names > {"note_cheap"} | ({"colour_red", "colour_blue"} if one_hot else {"colour"})
    cells = {x.get("colour") for x, _ in rows}
    assert cells == ({None} if one_hot else {"red", "blue", None})
    assert all(None not in x.values() for x, _ in rows) == one_hot
    model = rb.AutoKernelClassifier(seed=1)
    right = []
    for x, y in rows:
        right.append(model.predict_one(x) == y)
        model.learn_one(x, y)
    assert sum(right[100:]) > 150


def test_read_without_a_target_gives_all_columns(table):
    found = list(rb.read(table, drop=["note"]))
    with_target = [x for x, _ in rb.read(table, "y", drop=["note"])]
    assert [{k: v for k, v in x.items() if k != "y"} for x in found] == with_target
    assert {x["y"] for x in found} == {"yes", "no"}
    encoded = list(rb.read(table, drop=["note"], one_hot=True))
    assert {"y_yes", "y_no"} <= set(encoded[-1])


def test_what_a_model_for_numbers_gets_is_one_hot(table):
    one_hot = list(rb.read(table, "y", drop=["note"], one_hot=True))
    for (x, y), (encoded, label) in zip(rb.read(table, "y", drop=["note"]), one_hot, strict=True):
        colour = x.pop("colour")
        words = {f"colour_{each}": float(each == colour) for each in ("red", "blue") if colour}
        assert (x | words, y) == (encoded, label)


@pytest.mark.parametrize("models", [["AutoKernel"], ["LogisticRegression", "AutoKernel"]])
def test_try_and_predict_hand_words_and_gaps_to_auto_kernel(models, table, capsys, tmp_path):
    path = tmp_path / "model.rb"
    with open(table) as file:
        rows = list(csv.DictReader(file))
    with open(table, "w", newline="") as file:  # amounts that are missing, too
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for i, row in enumerate(rows):
            writer.writerow(row | {"price": ""} if i % 7 == 3 else row)
    options = ("--target", "y", "--drop", "note", "--quiet", "--save", path)
    code, out, _ = run(capsys, "try", table, *options, "--json", "--models", *models)
    assert code == command.GOOD
    wrong = {line["model"]: line["error %"] for line in json.loads(out)}
    model, own = rb.load(path), rb.AutoKernelClassifier(seed=1)
    stream, mistakes = list(rb.read(table, "y", drop=["note"])), 0
    for x, y in stream:
        mistakes += own.predict_one(x) != y
        own.learn_one(x, y)
    assert wrong["AutoKernel"] == pytest.approx(100 * mistakes / 300, abs=0.01)
    if models != ["AutoKernel"]:
        linear, mistakes = preprocessing.StandardScaler() | linear_model.LogisticRegression(), 0
        for x, y in rb.read(table, "y", drop=["note"], one_hot=True):
            shares = linear.predict_proba_one(x)
            mistakes += (shares[True] > shares[False]) != (y == "yes")
            linear.learn_one(x, y == "yes")
        assert wrong["LogisticRegression"] == pytest.approx(100 * mistakes / 300, abs=0.01)
        return
    assert model.importances() == own.importances()
    assert ("colour", "red") in model.importances()
    code, out, _ = run(capsys, "predict", path, table)
    assert [line.split(",")[0] for line in out.splitlines()[1:]] == [
        own.predict_one(x) for x, _ in stream
    ]


def test_read_takes_what_pandas_wrote(table, tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    pandas = package("pandas")
    path = tmp_path / "table.parquet"
    pandas.read_csv(table).to_parquet(path)
    expected = list(itertools.islice(rb.read(table, "y", drop=["note"]), 20))
    assert list(itertools.islice(rb.read(path, "y", drop=["note"]), 20)) == expected


def test_read_says_what_is_wrong(table, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*nothing.csv"):
        rb.read(tmp_path / "nothing.csv", "y")
    with pytest.raises(LookupError, match="there is no column 'z'"):
        list(rb.read(table, "z"))
    with pytest.raises(LookupError, match="there is no column 'z'"):
        list(rb.read(table, drop=["z"]))


def test_a_slow_model_stops_and_the_table_says_so(table, capsys, monkeypatch):
    def slowly(self, x, y):
        self.seconds += 0.5 if self.name == "KNN" else 0.0
        learn(self, x, y)

    learn = trial.Entrant.learn
    monkeypatch.setattr(trial.Entrant, "learn", slowly)
    options = ("--models", "KNN", "LogisticRegression", "--drop", "note", "--seconds", "20")
    code, out, err = run(capsys, "try", table, "--target", "y", *options, "--json")
    assert code == command.GOOD
    rows = {line["model"]: line["rows"] for line in json.loads(out)}
    assert rows["LogisticRegression"] == 300
    assert 30 < rows["KNN"] <= 41
    assert f"KNN stopped after {rows['KNN']:,} rows: it has taken its 20 seconds (--seconds)" in err
    with pytest.raises(SystemExit):
        run(capsys, "try", table, "--target", "y", "--seconds", "0")


def test_a_seed_decides_random_numbers(table, capsys):
    options = ("--target", "y", "--models", "FOGD", "--drop", "note", "--json")
    found = []
    for seed in (1, 2, 1):
        _, out, _ = run(capsys, "try", table, *options, "--seed", seed)
        (line,) = json.loads(out)
        found.append({name: value for name, value in line.items() if name not in ("µs/row", "kB")})
    assert found[0] == found[2] != found[1]


@pytest.mark.parametrize(
    "options",
    [
        ("--models", "AutoKernel", "--text", "note"),
        ("--models", "LogisticRegression", "--drop", "note"),
        ("--models", "LogisticRegression", "--text", "note"),
        ("--models", "BSGD", "--drop", "note", "--seed", "3"),
        ("--target", "price", "--models", "KNN", "--drop", "note"),
    ],
)
def test_the_program_that_is_printed_does_what_try_did(options, table, capsys, tmp_path):
    target = () if "--target" in options else ("--target", "y")
    code, out, _ = run(capsys, "try", table, *target, *options, "--code")
    assert code == command.GOOD
    program = out[
        out.index("\nimport river_budget")
        if "from river" not in out
        else out.index("\nfrom river") :
    ]
    known = {}
    exec(program, known)
    saved = tmp_path / "model.rb"
    code, *_ = run(capsys, "try", table, *target, *options, "--save", saved)
    if code == command.GOOD:
        assert rb.summary(known["model"]) == rb.summary(rb.load(saved))
    assert known["prediction"] is not None


def test_sigterm_ends_a_program_like_ctrl_c(table, capsys, monkeypatch):
    meet = trial.Trial._meet

    def met(self, x, y):
        meet(self, x, y)
        if self.rows == 100:
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(trial.Trial, "_meet", met)
    before = signal.getsignal(signal.SIGTERM)
    options = ("--models", "LogisticRegression", "--drop", "note", "--json")
    code, out, err = run(capsys, "try", table, "--target", "y", *options)
    assert code == command.INTERRUPTED
    assert [line["rows"] for line in json.loads(out)] == [100]
    assert "Interrupted: the table is of the rows until then." in err
    assert signal.getsignal(signal.SIGTERM) == before


def test_help_groups_the_verbs(capsys):
    with pytest.raises(SystemExit):
        command.main(["--help"])
    shown = capsys.readouterr().out
    places = [shown.index(word) for word in ("your data:", "  try ", "comparisons:", "  race ")]
    assert places == sorted(places)


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
@pytest.mark.parametrize(
    ("words", "proposed"),
    [
        (["tr"], ["try"]),
        (["try", "--se"], ["--seconds", "--seed"]),
        (["try", "--task", "reg"], ["regression"]),
        (["predict", "dat"], []),
    ],
)
def test_bash_completes(words, proposed, capsys, tmp_path):
    _, script, _ = run(capsys, "completion", "bash")
    (tmp_path / "script").write_text(script)
    program = f"source {tmp_path / 'script'}; COMP_WORDS=(river-budget {' '.join(words)})"
    program += f'; COMP_CWORD={len(words)}; _river_budget; echo "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == proposed
    for shell in ("zsh", "fish"):
        assert "river-budget" in run(capsys, "completion", shell)[1]
