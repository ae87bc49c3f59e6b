"""Measured numbers: a command beside each on every page, which exists, and which prints what the
page shows.
"""

from __future__ import annotations

import re
import shlex

import guide
import pytest
from conftest import DATA
from folders import EXAMPLES, ROOT
from papers import command as papers
from scripts import load

from river_budget import datasets
from river_budget.experiments import command

PAGES = pytest.mark.parametrize(
    "page",
    [*guide.PAGES, guide.FIRST, EXAMPLES / "measured.md", ROOT / "README.md"],
    ids=lambda page: page.stem if page.parent != ROOT else "first",
)
TEXTS = [ROOT / "README.md", *sorted(EXAMPLES.rglob("*.md"))]
SCRIPTS = "guide_numbers", "text_numbers"
COMMAND = re.compile(r"(?:river-budget (?=\w)|python examples/\w+|pytest) ?[^`\n]*")
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*\.\d+|\d[\d,.]*(?= ?(?:%|µs|ms\b|seconds\b|kB|MB|GB))")
GIVEN = {  # decided, not measured: bounds, shares and versions that the code or the reader sets
    "a table of vectors takes at most 64 MB",
    "Their table takes at most 64 MB",
    "frequencies of many words (16 MB)",
    "of at most 32 MB holds",
    "anomalies above .5",
    "above 0.5 an example",
    "Python 3.11 to 3.14",
    "interval of 50 % should cover half of the targets, that of 90 %",
}


def sections(text):
    """The sections of a page, each with its code."""
    return [part for part in re.split(r"^(?=#{1,3} )", hidden(text), flags=re.M) if part.strip()]


def hidden(text):
    """A page whose comments in code are no headings, without what the command above it writes."""
    written = r"<!-- (measured|boosters) -->.*?<!-- end of \1 -->"
    text = re.sub(written, "", text, flags=re.S)
    return guide.FENCE.sub(lambda found: found[0].replace("\n#", "\n #"), text)


def unproved(section):
    """Measured numbers of a section in which no command stands and whose code does not print
    them.
    """
    code = "".join(found for _, found in guide.FENCE.findall(section))
    prose = guide.FENCE.sub("", section)
    for phrase in GIVEN:
        prose = prose.replace(phrase, "")
    if COMMAND.search(code) or any(
        COMMAND.match(quoted) for quoted in re.findall(r"`([^`]+)`", prose)
    ):
        return []
    prose = re.sub(r"`[^`\n]*`|\]\([^)]*\)", "", prose)
    return [number for number in NUMBER.findall(prose) if number not in code]


def commands(text):
    """The commands in the prose of a page and in its blocks for the shell."""
    found = re.findall(r"`([^`]+)`", guide.FENCE.sub("", text).replace("\n", " "))
    for language, code in guide.FENCE.findall(text):
        found += re.sub(" *#.*", "", code).splitlines() if language == "sh" else []
    return [code for code in found if COMMAND.match(code)]


@PAGES
def test_a_measured_number_has_a_command_in_its_section(page):
    for section in sections(page.read_text()):
        assert unproved(section) == [], section.partition("\n")[0]


def test_a_number_without_a_command_is_found():
    section = "## Speed\n\nIt is 12.5 % faster (`river-budget speed`).\n"
    assert unproved(section) == []
    assert unproved(section.replace("`river-budget speed`", "really")) == ["12.5"]


def test_commands_of_all_pages_exist():
    found = 0
    for code in [code for page in TEXTS for code in commands(page.read_text())]:
        words, found = shlex.split(code.replace("[NAMES]", "")), found + 1
        if words[0] == "river-budget":
            command.parser().parse_args(words[1:])
        elif words[0] == "python" and words[1] == "examples/papers":
            papers.parser().parse_args(words[2:])
        elif words[0] == "python":
            assert (ROOT / words[1]).exists(), code
            if words[1].endswith("_numbers.py"):
                assert words[2] in load(words[1][9:-3]).TABLES, code
    assert found > 90


def tables():
    """(script, table) for all tables; but for one they take some minutes together."""
    for script in SCRIPTS:
        for table in load(script).TABLES:
            slow = [] if table == "widths" else [pytest.mark.slow]
            yield pytest.param(script, table, marks=slow)


@pytest.mark.parametrize(("script", "table"), list(tables()))
def test_a_table_shows_what_its_command_prints(script, table, capsys, monkeypatch):
    """All its rows stand on a page of the guide."""
    monkeypatch.setenv("RIVER_BUDGET_DATA", str(DATA))
    try:
        getattr(load(script), table)()
    except datasets.DatasetUnavailable as missing:
        pytest.skip(str(missing))
    printed = capsys.readouterr().out.splitlines()
    shown = {line for page in guide.PAGES for line in page.read_text().splitlines()}
    assert printed
    assert [line for line in printed if line not in shown] == []
