"""The pages of the guide: `python tests/support/guide.py` runs all of them and draws their figures again."""

from __future__ import annotations

import contextlib
import doctest
import re
import sys

from folders import EXAMPLES

FOLDER = EXAMPLES / "guide"
PAGES = sorted(FOLDER.glob("*.md"))
FIRST = EXAMPLES / "index.md"  # the first page of the site
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


if __name__ == "__main__":
    import matplotlib

    matplotlib.use("Agg")
    chosen = [page for page in PAGES if not sys.argv[1:] or page.stem in sys.argv[1:]]
    with contextlib.chdir(FOLDER):
        for page in chosen:
            print(f"{page.name}: {run(page) or 'as it says'}")
