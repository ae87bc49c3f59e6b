"""`river-budget try` and `predict` on files that are too wide, cut off, without lines, or that
write to the terminal.
"""

from __future__ import annotations

import gzip
import io
import json
import sys

import pytest
from commands import LINEAR, Terminal, run

import river_budget as rb
from river_budget.experiments import command
from river_budget.experiments.common import console
from river_budget.experiments.own_data import csv_text, finding, source
from river_budget.experiments.own_data.columns import Columns

# Wide files


class Counted(str):
    """A name that counts how often it is compared."""

    __slots__ = ()
    comparisons = 0

    def __eq__(self, other):
        Counted.comparisons += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_equal_names_are_numbered_without_trying_all_numbers():
    names = csv_text._names(["a", "a 3", *["a"] * 20_000, "b"])
    assert names[:4] == ["a", "a 3", "a 2", "a 4"]
    assert len(set(names)) == 20_003


def test_columns_are_found_in_one_look_at_each_name(monkeypatch):
    monkeypatch.setattr(Counted, "comparisons", 0)
    n = 5000
    names = [Counted(f"column {i}") for i in range(n)]
    columns = Columns([f"column {i}" for i in reversed(range(n))], {})
    columns.place(names)
    assert columns.features([str(i) for i in range(n)], 1)["column 17"] == 17.0
    assert Counted.comparisons < 10 * n


def test_a_header_is_compared_with_few_of_many_expected_names(monkeypatch):
    asked = []
    monkeypatch.setattr(csv_text, "did_you_mean", lambda name, cells: asked.append(name) or "")
    expected = [f"column {i}" for i in range(5000)]
    assert not csv_text._is_header(["1", "x"], expected)
    assert asked == expected[: csv_text.MOST_COMPARED]
    assert csv_text._is_header(["1", "column 4999"], expected)


def test_wide_rows_have_a_short_preview_and_errors_name_few_columns(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(finding, "PREVIEW_CELLS", 100 * 50)
    head = ",".join(f"c{i}" for i in range(99))
    text = f"{head},y\n" + "".join("1.5," * 99 + f"{i % 2}\n" for i in range(200))
    path = tmp_path / "wide.csv"
    path.write_text(text)
    with source.opened(str(path), expected=["y"]) as found:
        assert len(finding.preview_of(found)) == 50
    code, out, err = run(capsys, "try", path, "--target", "y", *LINEAR, "--json")
    assert (code, json.loads(out)[0]["rows"]) == (command.GOOD, 200)
    for arguments in ((), ("--target", "z")):
        _, _, err = run(capsys, "try", path, *arguments)
        assert "c19 ... (100 in all)" in err
        assert "c20" not in err


# Files that end too early, or do not end


def cut_off(tmp_path, rows, bytes_left=0.5):
    """A packed file without its end."""
    text = "a,b,y\n" + "".join(f"{i * 37 % 101}.5,{i * 53 % 97},{i % 2}\n" for i in range(rows))
    whole = gzip.compress(text.encode())
    path = tmp_path / "data.csv.gz"
    path.write_bytes(whole[: int(bytes_left * len(whole))])
    return path


def test_what_was_learned_from_a_packed_file_that_is_cut_off_is_kept(capsys, tmp_path):
    path, kept = cut_off(tmp_path, 20_000), tmp_path / "model.rb"
    arguments = ("try", path, "--target", "y", *LINEAR, "--json")
    code, out, err = run(capsys, *arguments, "--save", kept)
    rows = json.loads(out)[0]["rows"]
    assert code == command.NO_DATA
    assert 1000 < rows < 20_000
    assert f"line {rows + 2}, cannot be read: Compressed file ended" in err
    assert err.endswith("what stands above is of the rows before\n")
    assert rb.load(kept).predict_one({"a": 1.0, "b": 2.0}) in (True, False)
    assert "what stands above" in run(capsys, *arguments, "--quiet")[2]

    code, out, err = run(capsys, "predict", kept, path)
    assert (code, len(out.splitlines())) == (command.NO_DATA, rows + 1)
    assert "only the rows before have predictions" in err


def test_a_short_file_that_is_cut_off_is_learned_too(capsys, tmp_path):
    arguments = ("--target", "y", *LINEAR, "--json")
    code, out, _ = run(capsys, "try", cut_off(tmp_path, 40, 0.98), *arguments)
    assert (code, json.loads(out)[0]["rows"] > 10) == (command.NO_DATA, True)
    code, out, err = run(capsys, "try", cut_off(tmp_path, 40, 0.05), *arguments)
    assert (code, out, "cannot be read: Compressed file ended" in err) == (3, "", True)


class Endless(io.RawIOBase):
    """A stream of one line without end."""

    def readable(self):
        return True

    def readinto(self, room):
        room[:] = b"1" * len(room)
        return len(room)


@pytest.mark.parametrize("kind", ["csv", "libsvm"])
def test_a_line_without_end_ends_in_a_sentence(kind, capsys, monkeypatch):
    monkeypatch.setattr(source, "LONGEST_LINE", 100_000)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Endless())))
    code, out, err = run(capsys, "try", "-", "--target", "y", "--read", kind)
    assert (code, out) == (command.NO_DATA, "")
    assert err == (
        "-, line 1 has more than 100,000 characters: files of CSV, Parquet and LIBSVM are read, "
        "also packed as .gz, .bz2 or .xz\n"
    )


def test_a_damaged_parquet_file_keeps_what_was_learned(capsys, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "data.parquet"
    frame = pandas.DataFrame({"a": range(4000), "y": [i % 2 for i in range(4000)]})
    frame["a"] *= 0.37
    frame.to_parquet(path, row_group_size=2048, compression="gzip")
    content = bytearray(path.read_bytes())
    content[len(content) * 2 // 3 : len(content) * 2 // 3 + 200] = bytes(200)
    path.write_bytes(content)
    code, out, err = run(capsys, "try", path, "--target", "y", *LINEAR, "--json")
    assert (code, json.loads(out)[0]["rows"]) == (command.NO_DATA, 2048)
    assert "cannot be read as Parquet" in err


# Control characters

STEER = "\x1b[2J\x9b31m\x07"  # clears a terminal, colours it and rings


def steering(tmp_path):
    """A file that would steer a terminal by names, cells, labels and its own name."""
    path = tmp_path / f"da{STEER}ta.csv"
    rows = (f"{i % 7}.5,{STEER}{i % 3},{STEER}{i % 7 > 3}\n" for i in range(60))
    path.write_text(f"a{STEER},b{STEER},y\n" + "".join(rows) + f"{STEER},1,2\n{STEER}\n")
    return path


def is_calm(text):
    return all(c.isprintable() or c == "\n" for c in text)


def test_what_is_visible():
    assert console.visible("é € 東\n") == "é € 東\n"
    assert console.visible("\x1b[0m\u202e\x9b\r") == r"\x1b[0m\u202e\x9b\r"


@pytest.mark.parametrize(
    "arguments",
    [
        ("--target", "y"),
        ("--target", "y", "--markdown"),
        ("--target", f"y{STEER}"),
        (),
        ("--target", "y", "--drop", STEER),
        ("--target", f"b{STEER}", "--task", "regression"),
    ],
)
def test_no_control_character_of_a_file_reaches_the_terminal(arguments, capsys, tmp_path):
    _, out, err = run(capsys, "try", steering(tmp_path), *LINEAR, *arguments)
    assert r"\x1b[2J" in out + err
    assert is_calm(out + err)


def test_nor_does_a_wrong_argument(capsys):
    with pytest.raises(SystemExit):
        command.main(["try", "x.csv", f"--{STEER}"])
    assert is_calm(capsys.readouterr().err)


def test_labels_are_written_as_they_are_but_not_on_a_terminal(capsys, tmp_path, monkeypatch):
    path, kept = steering(tmp_path), tmp_path / "model.rb"
    run(capsys, "try", path, "--target", "y", "--models", "BSGD", "--save", kept)
    _, out, err = run(capsys, "predict", kept, path)
    assert f"{STEER}True" in out
    assert is_calm(err)
    _, out, _ = run(capsys, "predict", kept, path, "--json")
    assert is_calm(out)
    assert f"{STEER}True" in {row["prediction"] for row in json.loads(out)}
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    command.main(["predict", str(kept), str(path)])
    assert is_calm(terminal.getvalue())
    assert r"\x1b[2J\x9b31m\x07True" in terminal.getvalue()
