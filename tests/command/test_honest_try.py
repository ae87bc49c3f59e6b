"""`river-budget try`: errors of models that stopped learning, late labels; dates, amounts, texts
and encodings.
"""

from __future__ import annotations

import datetime
import gzip
import io
import json
import random
import re
import sys

import pytest
from commands import LINEAR, run
from optional import package

import river_budget as rb
from river_budget.experiments import command
from river_budget.experiments.common.scores import NumberScore
from river_budget.experiments.own_data import source, trial, values, verbs
from river_budget.experiments.own_data.columns import Columns, Dates, described


def tried(capsys, path, *arguments, models=LINEAR):
    """{model: line of the table}, and the remarks."""
    code, out, err = run(capsys, "try", path, "--target", "y", *models, *arguments, "--json")
    assert code == command.GOOD, err
    return {line["model"]: line for line in json.loads(out)}, err


def written(tmp_path, rows, head="a,b,y", encoding="utf-8"):
    path = tmp_path / "data.csv"
    path.write_bytes("".join(f"{line}\n" for line in [head, *rows]).encode(encoding))
    return path


# frozen errors


def visitors(n=1200):
    """Numbers that rise, and are larger on weekends: who stops learning falls behind."""
    rng, start = random.Random(3), datetime.date(2021, 1, 1)
    for i in range(n):
        day = start + datetime.timedelta(days=i)
        yield f"{day},{200 + i / 2 + 80 * (day.weekday() > 4) + 30 * rng.gauss(0, 1):.0f}"


def test_the_frozen_error_is_that_of_a_copy_that_learns_no_more(capsys, tmp_path):
    path = written(tmp_path, visitors(), "day,y")
    models = ("--models", "AutoKernel", "LinearRegression")
    found, err = tried(capsys, path, models=models)
    auto, linear = found["AutoKernel"], found["LinearRegression"]
    assert auto["R2"] > linear["R2"] > 0.9
    assert auto["frozen R2"] < linear["frozen R2"] < 0.8
    assert "of the frozen copies LinearRegression is better than AutoKernel: for `predict`" in err
    _, out, _ = run(capsys, "try", path, "--target", "y", *models)
    assert "Frozen: copies that did not learn the last " in out
    assert "A saved model does not learn in `predict`" in out


def test_the_frozen_error_is_what_predict_gives_on_rows_that_were_not_learned(capsys, tmp_path):
    rng, kept = random.Random(1), tmp_path / "model.rb"
    rows = [f"{a},{b},{'ny'[a * b > 0]}" for a, b in (
        (rng.gauss(0, 1), rng.gauss(0, 1)) for _ in range(900)
    )]  # fmt: skip
    path = written(tmp_path, rows)
    found, _ = tried(capsys, path, models=("--models", "BSGD"))
    tried(capsys, path, "--examples", 810, "--save", kept, models=("--models", "BSGD"))
    others = tmp_path / "others.csv"
    others.write_text("\n".join(["a,b,y", *rows[810:]]))
    err = run(capsys, "predict", kept, others)[2]
    assert f"error % {found['BSGD']['frozen error %']:.2f}, " in err
    assert "90 rows, of which 90 have their target" in err


@pytest.mark.parametrize("n", [5, 20, 100, 1000])
def test_of_standard_input_the_last_copies_but_one_count(n, capsys, tmp_path, monkeypatch):
    """The end is known only when it has come: between a tenth and a sixth of the rows are not
    learned.
    """
    rng = random.Random(1)
    pairs = [(rng.gauss(0, 1), rng.gauss(0, 1)) for _ in range(n)]
    rows = [f"{a},{b},{'ny'[a + b > 0]}" for a, b in pairs]
    text = written(tmp_path, rows).read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(text))))
    code, out, _ = run(capsys, "try", "-", "--target", "y", *LINEAR)
    assert (code, str(n) in out.splitlines()[2].replace(",", "").split()) == (command.GOOD, True)
    later = re.search(r"did not learn the last (\d+) rows, on these", out)
    assert ("frozen error %" in out) == (later is not None) == (n >= trial.FIRST_COPIES)
    assert later is None or n / 11 <= int(later[1]) <= n / 6 + 1


def test_of_standard_input_with_a_known_number_of_rows_the_last_tenth_counts(
    capsys, tmp_path, monkeypatch
):
    text = written(tmp_path, (f"{i % 7},{i % 3},{i % 7 > 3}" for i in range(300))).read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(text))))
    _, out, _ = run(capsys, "try", "-", "--target", "y", "--examples", 200, *LINEAR)
    assert "the last 20 rows, on these" in out


def test_who_is_no_better_than_a_constant_gets_no_star(capsys, tmp_path):
    rng = random.Random(1)
    noise = (f"{rng.random()},{rng.random()},{'ny'[rng.random() < 0.1]}" for _ in range(300))
    arguments = ("try", written(tmp_path, noise), "--target", "y", *LINEAR)
    _, out, _ = run(capsys, *arguments)
    assert "No model is better than always saying n, so there is no star" in out
    assert "*" not in out
    written(tmp_path, (f"{i % 7},{i % 3},{'ny'[i % 7 > 3]}" for i in range(300)))
    _, out, _ = run(capsys, *arguments)
    assert "A star marks the best" in out
    assert "*" in out


def test_what_diverged_is_called_so():
    score = NumberScore()
    for guess in (1e200, 0.0, 2.0):
        score.add(guess, guess % 3)
    assert score.cells() == ["-inf", "inf", "inf"]
    table = ["model", "R2", "MAE"], [["linear", "*-inf", "inf"], ["inf. trees", "0.3", "5"]]
    assert verbs.in_words(table)[1] == [
        ["linear", "diverged", "diverged"],
        ["inf. trees", "0.3", "5"],
    ]


def test_late_labels_are_learned_late(capsys, tmp_path):
    rng, state, rows = random.Random(1), False, []
    for i in range(2000):
        state = i % 2 > 0 if i < 50 else state ^ (rng.random() < 0.01)
        rows.append(f"{rng.gauss(state, 2)},{rng.gauss(0, 1)},{state}")
    path = written(tmp_path, rows)
    at_once, _ = tried(capsys, path, models=("--models", "AutoKernel"))
    late, _ = tried(capsys, path, "--delay", 100, models=("--models", "AutoKernel", "Delayed"))
    assert at_once["AutoKernel"]["error %"] < 20 < late["AutoKernel"]["error %"]
    assert late["AutoKernel"]["log loss"] > 0.8 > 0.72 > late["Delayed"]["log loss"]
    usual = run(capsys, "try", path, "--target", "y", "--delay", 9, "--examples", 60)[1]
    assert "learned 9 rows later (before the first label none counts)" in usual
    assert [line.split()[0] for line in usual.splitlines()[2:7]] == [
        "AutoKernel",
        "Delayed",
        "LogisticRegression",
        "KNN",
        "ARF",
    ]


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_without_a_label_before_the_end_there_is_no_table(task, capsys, tmp_path):
    path = written(tmp_path, (f"{i % 7}.5,{i % 3},{i % 7}" for i in range(200)))
    arguments = ["try", path, "--target", "y", "--task", task, "--models", "AutoKernel"]
    code, out, err = run(capsys, *arguments, "--delay", 200)
    assert (code, out) == (command.NO_DATA, "")
    assert "200 rows: with --delay 200 no label comes before the end" in err
    # nothing was learned before the last tenth: the copies are made when the first label has come
    out = run(capsys, *arguments, "--delay", 190)[1]
    assert "did not learn the last 10 rows, on these" in out


def test_of_copies_that_are_as_good_none_is_called_better(capsys, tmp_path):
    """The first of the stream's errors decides then."""
    rows = [f"{i % 7},{i % 3},{'ny'[i % 7 > 3 or i < 20]}" for i in range(300)]
    found, err = tried(capsys, written(tmp_path, rows), models=("--models", "KNN", "ARF"))
    first, second = found.values()
    assert first["frozen error %"] == second["frozen error %"] == 0
    assert first["error %"] > second["error %"]
    assert "better" not in err


def test_all_late_rows_are_learned_in_the_end(capsys, tmp_path):
    path, kept = written(tmp_path, (f"{i % 7}.5,{i % 3},{i % 7 > 3}" for i in range(200))), []
    for late in ([], ["--delay", 1], ["--delay", 50]):
        file = tmp_path / f"{len(kept)}.rb"
        tried(capsys, path, *late, "--save", file, models=("--models", "BSGD"))
        kept.append(rb.load(file)["BSGDClassifier"])
    assert [model.n_examples for model in kept] == [200, 200, 200]
    assert kept[0].support_vectors() == kept[1].support_vectors()


# what cells say


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("$12,345", 12345.0),
        ("55.1%", 55.1),
        ("-€3.50", -3.5),
        ("£ -1,234,567.25", -1234567.25),
        ("1,234", 1234.0),
        ("12 €", 12.0),
        (" +7 ", 7.0),
        ("1e3", 1000.0),
        (".5%", 0.5),
        ("12,34", None),
        ("--5", None),
        ("-$-5", None),
        ("1,2345", None),
        ("$", None),
        ("%", None),
        ("12 kg", None),
        ("inf", None),
    ],
)
def test_amounts_are_numbers(cell, value):
    assert values.number(cell) == value


def test_amounts_with_decimal_commas():
    cells = {"3,5": 3.5, "1.234,5": 1234.5, "€ 1.234.567": 1234567.0, "5,1%": 5.1}
    assert {cell: values.number(cell, decimal_comma=True) for cell in cells} == cells


def test_a_column_of_amounts_is_one_of_numbers(capsys, tmp_path):
    rows = [f'"${1000 + i * 37 % 991:,}",{i % 50}.5%,{i * 37 % 991 > 500}' for i in range(300)]
    found, err = tried(capsys, written(tmp_path, rows))
    assert "2 columns of numbers" in err
    assert found["LogisticRegression"]["error %"] < 15


MOMENT = datetime.datetime(2024, 5, 31, 18, 30)


@pytest.mark.parametrize(
    ("cells", "form"),
    [
        (["2024-05-31 18:30", "2024-06-01"], "ISO"),
        (["2024-05-31T18:30:00Z", "2024-05-31T18:30:00+02:00"], "ISO"),
        (["31.05.2024 18:30"], "%d.%m.%Y %H:%M"),
        (["31/05/2024 18:30"], "%d/%m/%Y %H:%M"),
        (["05/31/2024 06:30 PM", "05/06/2024 06:30 PM"], "%m/%d/%Y %I:%M %p"),
        (["05/06/2024 18:30", "05/31/2024 18:30"], "%m/%d/%Y %H:%M"),
        (["May 31, 2024 18:30"], "%b %d %Y %H:%M"),
        ([MOMENT, MOMENT.date()], "ISO"),
    ],
)
def test_dates_are_recognised(cells, form):
    assert values.form_of(cells, 0.9) == form
    found = values.moment(cells[0] if "31" in str(cells[0]) else cells[-1], form)
    assert found == MOMENT


@pytest.mark.parametrize("cells", [["20240531"], ["12.5"], ["Monday"], ["31/31/2024"], [3], []])
def test_other_cells_are_no_dates(cells):
    assert values.form_of(cells, 0.9) is None


def test_a_date_becomes_hour_weekday_month_and_days():
    columns = Columns([], {}, dates={"t": Dates("ISO", datetime.datetime(2024, 5, 30), True)})
    columns.place(["t"])
    assert columns.features(["2024-05-31 18:30"], 1) == {
        "t_weekday": 4.0,
        "t_month": 5.0,
        "t_days": pytest.approx(1.0 + 18.5 / 24.0),
        "t_hour": 18.5,
    }
    for missing in (columns.features(["yesterday"], 2), columns.features([""], 3)):
        assert set(missing.values()) == {None}
        assert columns.encoded(missing) == {}
    assert columns.unreadable == {"t": [2, "yesterday", 1]}


def test_weekdays_of_a_date_are_learned_and_a_file_keeps_them(capsys, tmp_path):
    start, kept = datetime.datetime(2021, 1, 1, 9), tmp_path / "model.rb"
    days = [start + datetime.timedelta(hours=7 * i) for i in range(1200)]
    rows = [f"{day:%d/%m/%Y %H:%M},1,{day.weekday() > 4}" for day in days]
    path = written(tmp_path, rows, "when,b,y")
    found, err = tried(capsys, path, "--save", kept, models=("--models", "AutoKernel"))
    assert "dates (hour, weekday, month, days since the first row): when %d/%m/%Y %H:%M" in err
    assert found["AutoKernel"]["error %"] < 6
    _, out, _ = run(capsys, "predict", kept, path)
    assert out.splitlines()[1:] != []
    assert sum(a.split(",")[0] == str(d.weekday() > 4) for a, d in zip(
        out.splitlines()[1:], days, strict=True)
    ) > 1100  # fmt: skip


def test_dates_of_parquet_are_dates(capsys, tmp_path):
    pandas = package("pandas")
    package("pyarrow")
    start = datetime.datetime(2021, 1, 1)
    days = [start + datetime.timedelta(hours=9 * i) for i in range(300)]
    frame = pandas.DataFrame({"when": days, "y": [day.hour > 11 for day in days]})
    frame.to_parquet(tmp_path / "data.parquet")
    found, err = tried(capsys, tmp_path / "data.parquet")
    assert "when ISO" in err
    assert found["LogisticRegression"]["error %"] < 12


# texts and encodings

PARTS = ["the", "room", "was", "clean", "and", "we", "had", "food", "with", "a", "view"]


def reviews(n=600):
    rng = random.Random(1)
    for _ in range(n):
        good = rng.random() < 0.5
        words = [
            *rng.sample(PARTS, 6),
            rng.choice(["lovely", "great"] if good else ["awful", "poor"]),
        ]
        rng.shuffle(words)
        yield f"{' '.join(words)}.,{rng.random():.3f},{good}"


def test_sentences_are_hinted_at_and_become_words(capsys, tmp_path):
    path, kept = written(tmp_path, reviews(), "review,b,y"), tmp_path / "model.rb"
    models = ("--models", "AutoKernel", "LogisticRegression")
    found, err = tried(capsys, path, models=models)
    assert found["AutoKernel"]["error %"] > 40
    assert "'review' holds sentences, whose words --text review takes as features" in err
    found, err = tried(capsys, path, "--text", "review", "--save", kept, models=models)
    assert "1 column of numbers, 1 of texts (their words)" in err
    assert found["AutoKernel"]["error %"] < 10
    assert found["LogisticRegression"]["error %"] < 20  # it would be 50 behind a StandardScaler
    other = tmp_path / "other.csv"
    other.write_text("b,review\n0.5,It was AWFUL!\n0.5,Great - great view\n")
    _, out, _ = run(capsys, "predict", kept, other)
    assert [line.split(",")[0] for line in out.splitlines()[1:]] == ["False", "True"]
    code, _, err = run(capsys, "try", path, "--target", "y", "--text", "revue")
    assert (code, "did you mean 'review'?" in err) == (command.USAGE, True)


@pytest.mark.parametrize("measured", [[], ["a", "day_hour"]])
def test_with_texts_scalers_see_numbers_only(measured):
    found = trial.entrants([1.5, 2.5], True, ["AutoKernel", "LinearRegression"], 0, measured)
    assert repr(found[0].model).startswith("AutoKernelRegressor")
    scaler = found[1].model.regressor["StandardScaler"]
    for i in range(9):
        x = {"a": i, "day_hour": 2.0 * i, "review_good": 1.0, "b_x": 0.0}
        scaler.learn_one(x)
    expected = {"review_good": 1.0, "b_x": 0.0}
    expected |= dict.fromkeys(measured, pytest.approx(1.549, abs=1e-3)) or {
        "a": 8,
        "day_hour": 16.0,
    }
    assert scaler.transform_one(x) == expected


def test_with_texts_numbers_keep_their_scaler_and_a_file_keeps_it(capsys, tmp_path):
    rng, kept = random.Random(1), tmp_path / "model.rb"
    rows = []
    for text in reviews(900):
        size = rng.gauss(1e4, 10)
        rows.append(f"{text.split(',')[0]},{size},{3 * size + 30 * ('lovely' in text)}")
    path = written(tmp_path, rows, "review,b,y")
    models = ("--models", "LinearRegression")
    found, _ = tried(capsys, path, "--text", "review", "--save", kept, models=models)
    assert found["LinearRegression"]["R2"] > 0.8  # behind a MaxAbsScaler sizes would all be 1
    _, _, err = run(capsys, "predict", kept, path)
    assert float(re.search(r"R2 (\S+),", err)[1]) > 0.9


@pytest.mark.parametrize("packed", [False, True])
def test_latin_1_is_guessed_and_named(packed, capsys, tmp_path):
    rows = [f"{'Köln' if i % 2 else 'Zürich'},{i % 3},{i % 2}" for i in range(300)]
    # the first letter that is no UTF-8 comes late
    path = written(tmp_path, [*["Bonn,1,0"] * 2000, *rows], "town,b,y", "latin-1")
    if packed:
        path.write_bytes(gzip.compress(path.read_bytes()))
        path = path.rename(tmp_path / "data.csv.gz")
    _, err = tried(capsys, path)
    assert "no UTF-8, so read as latin-1 (cp1252)" in err
    with source.opened(str(path), expected=["y"]) as found:
        assert {row[0] for _, row in found.rows} == {"Bonn", "Köln", "Zürich"}
    written(tmp_path, rows, "town,b,y")
    assert "UTF-8" not in tried(capsys, tmp_path / "data.csv")[1]


def test_a_description_of_columns_is_checked_when_it_is_read():
    dates = {"t": Dates("ISO", MOMENT, False)}
    known = Columns(["a"], {"w": ["x"]}, True, ["s"], dates).description()
    again = described(json.loads(json.dumps(known)))
    assert (again.description(), again.growing) == (known, False)
    for dates in ({"t": ["%Q", "2024-01-01", False]}, {"t": ["ISO", "soon", False]}, {"t": 1}):
        with pytest.raises((ValueError, TypeError)):
            described(known | {"dates": dates})
