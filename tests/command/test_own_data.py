"""`river-budget try` and `predict`: files of one's own, well written or not."""

from __future__ import annotations

import itertools
import json
import sys
import tracemalloc

import pytest
from commands import LINEAR, run
from optional import package
from processes import output_of
from river import datasets

import river_budget as rb
from river_budget.experiments import command
from river_budget.experiments.own_data import csv_text, trial


def tried(capsys, path, *arguments, target="y", models=LINEAR):
    """The first line of the table, and the remarks."""
    named = ("--target", target) if target else ()
    code, out, err = run(capsys, "try", path, *named, *models, *arguments, "--json")
    assert code == command.GOOD, err
    return json.loads(out)[0], err


def written(tmp_path, text, name="data.csv", encoding="utf-8"):
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    return path


def lines(n=60, form="{a},{b},{y}\n", head="a,b,y\n"):
    """A file whose label says whether a is above 3."""
    rows = (
        {"a": i % 7 + 0.5, "b": i % 3, "y": "yes" if i % 7 > 3 else "no", "i": i} for i in range(n)
    )
    return head + "".join(form.format(**row) for row in rows)


@pytest.mark.parametrize("stream", [datasets.Phishing, datasets.Bananas])
def test_a_frame_written_by_pandas_needs_no_option_but_the_target(stream, capsys, tmp_path):
    path = tmp_path / "data.csv"
    rows = [{**x, "label": y} for x, y in itertools.islice(stream(), 400)]
    package("pandas").DataFrame(rows).to_csv(path)
    models = ("--models", "AutoKernel", "LogisticRegression")
    line, err = tried(capsys, path, target="label", models=models)
    assert line["rows"] == 400
    assert line["error %"] < 30
    assert "'column 1' counts the rows" in err
    model = rb.AutoKernelClassifier(seed=1)
    wrong = 0
    for x, y in itertools.islice(stream(), 400):
        wrong += model.predict_one(x) != y
        model.learn_one(x, y)
    assert line["error %"] == pytest.approx(wrong / 4, abs=0.3)


def test_numbers_are_estimated(capsys, tmp_path):
    path = written(tmp_path, lines(600, "{a},{i}.5,{b}.25\n"))
    line, err = tried(capsys, path, target="b", models=("--models", "LinearRegression"))
    assert "so regression" in err
    assert (set(line) > {"R2", "RMSE", "MAE"}, line["rows"]) == (True, 550)
    path = written(tmp_path, lines())
    code, _, err = run(capsys, "try", path, "--target", "y", "--task", "regression")
    assert (code, "the target 'y' holds words, as 'no', no numbers" in err) == (3, True)


def test_what_is_missing_is_left_out_and_counted(capsys, tmp_path):
    path = written(tmp_path, lines() + ",1,yes\nnan,1,no\nabc,1,no\n1,1,\n1,2\n")
    line, err = tried(capsys, path)
    assert line["rows"] == 63
    assert "missing: a 3" in err
    assert "of those in 'a', 1 is no number, first 'abc' in line 64" in err
    assert "1 row left out: no target" in err
    assert "1 row left out: another number of cells, first in line 66" in err


def test_words_become_features_of_their_own(capsys, tmp_path):
    text = lines(form="{y}!,{i},{y}\n", head="colour,n,y\n") + "new,60,yes\n"
    line, err = tried(capsys, written(tmp_path, text))
    assert "0 columns of numbers, 1 of words; left out (--keep takes them): 'n' counts" in err
    assert line["error %"] < 15
    assert "2 labels, no, yes, so classification" in err


@pytest.mark.parametrize(
    ("text", "encoding", "how"),
    [
        (lines(head=""), "utf-8", "no header: the columns are called 1 to 3"),
        (lines(), "utf-8-sig", "CSV with commas, a header"),
        (lines(), "utf-16", "CSV with commas, a header"),
        (lines(form="{a};{b},5;{y}\n", head="a;b;y\n"), "utf-8", "CSV with semicolons"),
        (lines(form="{a}\t{b}\t{y}\n", head="a\tb\ty\n"), "utf-8", "CSV with tabs"),
        (lines(form='{a},"{b}",{y}\n', head='a,"b, in m",y\n'), "utf-8", "CSV with commas"),
        (lines(form="{a},{b},{y},\n"), "utf-8", "CSV with commas, a header"),
    ],
)
def test_all_kinds_of_csv_are_read(text, encoding, how, capsys, tmp_path):
    path = written(tmp_path, text, encoding=encoding)
    line, err = tried(capsys, path, target="3" if "no header" in how else "y")
    assert how in err
    assert "2 columns of numbers" in err
    assert line["rows"] == 60


def test_decimal_commas_are_numbers():
    text = [f"{i},5;{i},25;{i % 2}\n" for i in range(20)]
    assert csv_text.separator_of(text) == ";"


@pytest.mark.parametrize(
    ("text", "target", "code", "sentence"),
    [
        ("", "y", 3, "is empty"),
        ("\n\n", "y", 3, "nothing but empty lines"),
        ("a,b,y\n", "y", 3, "there is a header and no row below it"),
        (
            "a,b,y\n1,2\n",
            "y",
            3,
            "no row has 3 cells as the first; the first that has not is line 2",
        ),
        ("y\n1\n2\n", "y", 3, "beside 'y' there is no column to learn from"),
        ("a,y\n1,\n2,\n", "y", 3, "the target 'y' is empty in the first 2 rows"),
        ("\x89PNG\0\0", "y", 3, "is no text: files of CSV, Parquet and LIBSVM are read"),
        (
            "a,lable\n1,2\n",
            "label",
            2,
            "no column 'label'; did you mean 'lable'? There are a, lable",
        ),
        ("1,2\n3,4\n", None, 2, "--target is missing; there are 1, 2"),
        ("a,y\n1,2\n" + '"' + "\n" * 2000, "y", 3, "line 3: a quote opens and is never closed"),
    ],
)
def test_what_cannot_be_learned_is_told_in_a_sentence(
    text, target, code, sentence, capsys, tmp_path
):
    path = written(tmp_path, text)
    found, _, err = run(capsys, "try", path, *(("--target", target) if target else ()), *LINEAR)
    assert (found, sentence in err) == (code, True), err


def test_a_file_that_is_not_there_is_told(capsys, tmp_path):
    assert run(capsys, "try", tmp_path / "no.csv", "--target", "y")[0] == command.NO_DATA
    assert run(capsys, "predict", tmp_path / "no.rb", "x.csv")[0] == command.NO_DATA


def test_parquet_is_read_as_the_same_csv(capsys, tmp_path, monkeypatch):
    pandas = package("pandas")
    package("pyarrow")
    path = tmp_path / "data.parquet"
    pandas.read_csv(written(tmp_path, lines())).to_parquet(path)
    assert tried(capsys, path)[0]["error %"] == tried(capsys, tmp_path / "data.csv")[0]["error %"]
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    code, _, err = run(capsys, "try", path, "--target", "y")
    assert (code, "pip install pyarrow" in err) == (command.NO_DATA, True)


def test_libsvm_has_its_target_first(capsys, tmp_path):
    text = "".join(f"{1 if i % 7 > 3 else -1} 1:{i % 7 + 0.5} 4:1 # no\n" for i in range(60))
    line, err = tried(capsys, written(tmp_path, text, "data"), target=None)
    assert "LIBSVM; 2 features" in err
    assert line["rows"] == 60
    broken = written(tmp_path, text + "1 1:x\n", "data")
    code, _, err = run(capsys, "try", broken, *LINEAR)
    assert (code, "line 61: a line of LIBSVM is" in err) == (command.NO_DATA, True)


def test_more_labels_may_come_and_sorted_rows_are_noticed(capsys, tmp_path):
    text = "a,b,y\n" + "".join(f"{i % 5},{i // 40},{'xyz'[i // 40]}\n" for i in range(120))
    path = written(tmp_path, text)
    assert "in the order of the target: shuffle them" in tried(capsys, path)[1]
    late = lines(1000) + "1,2,perhaps\n"
    _, err = tried(capsys, written(tmp_path, late))
    assert "LogisticRegression knows two labels (no; yes) and took all others for no" in err


@pytest.mark.parametrize("model", ["LogisticRegression", "BSGD"])
def test_a_saved_model_predicts_other_files(model, capsys, tmp_path):
    text = lines(100, "{y}!,{b},{a},{y}\n", "colour,b,a,y\n")
    path, kept = written(tmp_path, text), tmp_path / "model.rb"
    _, err = tried(capsys, path, "--save", kept, models=("--models", model, "KNN"))
    assert f"saved: {model}" in err
    code, out, err = run(capsys, "predict", kept, path)
    assert code == command.GOOD
    guesses = [line.split(",")[0] for line in out.splitlines()]
    assert guesses == ["prediction", *(line.rpartition(",")[2] for line in text.split()[1:])]
    assert "100 rows, of which 100 have their target: error % 0.00" in err
    x = {"colour_no!": 1.0, "colour_yes!": 0.0, "b": 1.0, "a": 1.5}
    assert rb.load(kept).predict_one(x) in ("no", False)

    other = written(tmp_path, "a,b,colour,more\n6.5,1,yes!,9\n6.5\n0.5,,red,9\n", "other.csv")
    code, out, err = run(capsys, "predict", kept, other, "--json")
    rows = json.loads(out)
    assert [set(row) for row in rows] == [{"prediction", "probability"}] * 3
    assert (rows[0]["prediction"], rows[1]["prediction"]) == ("yes", None)
    assert "words in 'colour' that count as none: 1, not seen in training" in err

    strange = written(tmp_path, "a,b,colour,y\n6.5,1,yes!,perhaps\n", "strange.csv")
    assert (
        "label 'perhaps', not seen in training, so never"
        in run(capsys, "predict", kept, strange)[2]
    )

    lacking = written(tmp_path, "a,color,c\n1,red,2\n", "lacking.csv")
    code, _, err = run(capsys, "predict", kept, lacking)
    assert (code, "there is no column 'b'" in err) == (command.USAGE, True)


def test_a_model_without_columns_is_refused(capsys, tmp_path):
    rb.save(rb.BSGDClassifier(), tmp_path / "bare.rb")
    code, _, err = run(capsys, "predict", tmp_path / "bare.rb", "data.csv")
    assert (code, "without its columns" in err) == (command.NO_DATA, True)


def test_errors_are_drawn(capsys, tmp_path):
    package("matplotlib")
    tried(capsys, written(tmp_path, lines()), "--plot", tmp_path / "drawn.png")
    assert (tmp_path / "drawn.png").read_bytes().startswith(b"\x89PNG")


def test_an_interrupt_shows_what_was_measured(capsys, tmp_path, monkeypatch):
    meet = trial.Trial._meet

    def interrupted(self, x, y):
        if self.rows == 40:
            raise KeyboardInterrupt
        meet(self, x, y)

    monkeypatch.setattr(trial.Trial, "_meet", interrupted)
    path = written(tmp_path, lines())
    code, out, err = run(capsys, "try", path, "--target", "y", *LINEAR, "--json")
    assert (code, json.loads(out)[0]["rows"]) == (command.INTERRUPTED, 40)
    assert "Interrupted" in err


def test_quiet_leaves_results_and_errors(capfd, tmp_path):
    path = written(tmp_path, lines())
    code, out, err = run(capfd, "try", path, "--target", "y", *LINEAR, "--quiet", "--csv")
    assert (code, err, out.splitlines()[0][:11]) == (command.GOOD, "", "model,rows,")
    assert "no column 'z'" in run(capfd, "try", path, "--target", "z", "--quiet")[2]


def endless():
    yield "a,b,y\n"
    for i in itertools.count():
        yield f"{i % 7},{i % 3},{i % 2}\n"


def test_the_reader_holds_no_rows():
    rows = csv_text.opened(endless(), "endless", "auto", ["y"])[3]
    for _ in itertools.islice(rows, 1000):
        pass
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in itertools.islice(rows, 20_000):
        pass
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 200_000  # ten bytes a row


PEAK = """
import sys, tracemalloc
from river_budget.experiments import command
tracemalloc.start()
command.main(sys.argv[1:])
print(tracemalloc.get_traced_memory()[1])
"""


@pytest.mark.slow
def test_a_million_rows_take_no_more_memory_than_a_thousand(tmp_path):
    """In processes of their own: in that of the tests others allocate too, such as Ray's
    threads.
    """
    path = tmp_path / "million.csv"
    with path.open("w") as file:
        file.writelines(itertools.islice(endless(), 1_000_001))
    peaks = []
    for rows in (2000, 1_000_000):
        options = ("--target", "y", *LINEAR, "--examples", rows, "--json", "--quiet")
        table, peak = output_of("-c", PEAK, "try", path, *options).strip().rsplit("\n", 1)
        assert json.loads(table)[0]["rows"] == rows
        peaks.append(int(peak))
    assert peaks[1] < peaks[0] + 1_000_000


def test_similar_models_are_proposed(capsys, tmp_path):
    path = written(tmp_path, lines())
    code, _, err = run(capsys, "try", path, "--target", "y", "--models", "autokernel")
    assert (code, "did you mean 'AutoKernel'?" in err) == (command.USAGE, True)
