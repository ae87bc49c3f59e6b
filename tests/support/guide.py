"""The pages of the guide: `python tests/support/guide.py` runs all of them and draws their figures
again.

A page named in NOTEBOOKS is written as a notebook too, with the outputs that it shows in full.
"""

from __future__ import annotations

import contextlib
import doctest
import json
import re
import sys

from folders import EXAMPLES

FOLDER = EXAMPLES / "guide"
PAGES = sorted(FOLDER.glob("*.md"))
FIRST = EXAMPLES / "index.md"  # the first page of the site
NOTEBOOKS = {FOLDER / "tutorial.md": EXAMPLES / "flights.ipynb"}
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


def run(page):
    """Run all code of a page as a reader would. Returns the doctest failures."""
    test = doctest.DocTestParser().get_doctest(page.read_text(), {}, page.name, str(page), 0)
    runner = doctest.DocTestRunner(optionflags=OPTIONS, verbose=False)
    said = []
    runner.run(test, out=said.append, clear_globs=True)
    return "".join(said)


def blocks(page, language):
    return [code for found, code in FENCE.findall(page.read_text()) if found == language]


def pictures(page):
    return re.findall(r"!\[.*?\]\((.*?)\)", page.read_text())


def notebook_of(page):
    """A page as a notebook: its prose, and its code with the outputs that stand below it.

    A block is several cells where output stands in its middle, as a cell shows its last value only.
    """
    cells, end, text = [], 0, page.read_text()
    for fence in FENCE.finditer(text):
        cells.append(cell("markdown", for_a_notebook(text[end : fence.start()])))
        end = fence.end()
        if fence[1] == "sh":
            command = fence[2].replace("pip install '.[plots]'", "%pip install matplotlib")
            cells.append(cell("code", command))
        else:
            cells += cells_of(fence[2])
    cells.append(cell("markdown", for_a_notebook(text[end:])))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    found = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    for number, one in enumerate(cells):
        one["id"] = f"cell-{number}"
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def cells_of(block):
    """Cells of code; each ends at the first statement that shows something."""
    lines, end = [], 0
    for example in doctest.DocTestParser().get_examples(block):
        gap = "\n" * bool(lines and example.lineno > end)
        lines.append(gap + example.source)
        end = example.lineno + example.source.count("\n")
        if example.want:
            yield cell("code", "".join(lines), example.want * ("..." not in example.want))
            lines = []
    if lines:
        yield cell("code", "".join(lines))


def cell(kind, text, shown=""):
    source = text.strip().splitlines(keepends=True)
    if kind == "markdown":
        return {"cell_type": kind, "metadata": {}, "source": source}
    output = {"name": "stdout", "output_type": "stream", "text": shown.splitlines(keepends=True)}
    outputs = [output] if shown else []
    code = {"execution_count": None, "outputs": outputs}
    return {"cell_type": kind, "metadata": {}, "source": source} | code


def for_a_notebook(text):
    """Links as seen from the folder of notebooks; pictures and the link to the notebook itself stay
    out.
    """
    text = re.sub(r"!\[.*?\]\(.*?\)\n", "", text)
    text = re.sub(r" \(The page is a \[notebook\].*\)", "", text)
    return re.sub(r"\]\((?!https?:)", "](guide/", text)


if __name__ == "__main__":
    import matplotlib

    matplotlib.use("Agg")
    chosen = [page for page in PAGES if not sys.argv[1:] or page.stem in sys.argv[1:]]
    with contextlib.chdir(FOLDER):
        for page in chosen:
            print(f"{page.name}: {run(page) or 'as it says'}")
            if page in NOTEBOOKS:
                NOTEBOOKS[page].write_text(notebook_of(page))
