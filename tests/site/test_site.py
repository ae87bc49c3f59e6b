"""The site is built and looked at: `python -m pytest -m slow tests/site` (needs `pip install -e
'.[docs]'` and Chromium).
"""

from __future__ import annotations

import functools
import html.parser
import http.server
import importlib.util
import os
import re
import subprocess
import sys
import threading
import urllib.parse

import browser
import pytest
from folders import EXAMPLES, ROOT

import river_budget as rb

CONFIGURATION = ROOT / ".site" / "mkdocs.yml"
BROKEN = (ROOT / "tests" / "site" / "broken.js").read_text()
CONTRAST = (ROOT / "tests" / "site" / "contrast.js").read_text()
WIDTHS = (1400, 390)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(browser.found() is None, reason="there is no Chromium here"),
    pytest.mark.skipif(
        importlib.util.find_spec("mkdocs") is None, reason="pip install -e '.[docs]' brings mkdocs"
    ),
    pytest.mark.skipif(not CONFIGURATION.exists(), reason="the site is not part of this copy"),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site, freshly built; a warning fails."""
    folder = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
    ]  # -q would hide warnings from it
    command += ["-f", str(CONFIGURATION), "-d", str(folder)]
    done = subprocess.run(
        command,
        env=os.environ | {"PYTHONPATH": str(ROOT), "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


# Links


class Page(html.parser.HTMLParser):
    """What a page refers to, and what may be referred to in it."""

    def __init__(self, path):
        super().__init__()
        self.targets, self.names, self.pictures, self.head, self.language = [], set(), [], {}, None
        self.title, self._in_title = "", False
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.names |= {found[key] for key in ("id", "name") if found.get(key)}
        self.targets += [found[key] for key in ("href", "src") if found.get(key)]
        self._in_title = tag == "title" and not self.title
        if tag == "html":
            self.language = found.get("lang")
        elif tag == "meta":
            self.head[found.get("name")] = found.get("content")
        elif tag == "img":
            self.pictures.append(found.get("alt"))

    def handle_endtag(self, tag):
        self._in_title = False

    def handle_data(self, text):
        self.title += text if self._in_title else ""


@pytest.fixture(scope="module")
def pages(site):
    """{path below the site: page}, but for the one that answers wrong addresses."""
    found = {path.relative_to(site): Page(path) for path in sorted(site.rglob("*.html"))}
    return {str(path): page for path, page in found.items() if path.name != "404.html"}


def test_every_link_and_every_anchor_leads_somewhere(site, pages):
    dead = []
    for path, page in pages.items():
        for target in page.targets:
            place, _, anchor = urllib.parse.unquote(target).partition("#")
            if urllib.parse.urlsplit(target).scheme:
                continue
            goal = os.path.normpath(os.path.join(os.path.dirname(path), place)) if place else path
            goal = os.path.join(goal, "index.html") if (site / goal).is_dir() else goal
            goal = os.path.normpath(goal)
            if not (site / goal).is_file() or (anchor and anchor not in pages[goal].names):
                dead.append((path, target))
    assert not dead


def test_every_page_has_a_title_a_description_a_language_and_words_for_its_pictures(pages):
    assert len({page.title for page in pages.values()}) > 0.9 * len(pages)
    lacking = [
        path
        for path, page in pages.items()
        if not (page.title and page.language and 20 < len(page.head.get("description") or "") < 300)
        or not all(page.pictures)
    ]
    assert not lacking


# In a browser


class Handler(http.server.SimpleHTTPRequestHandler):
    """Gives files as they are: other hosts compress texts to a third."""

    def end_headers(self):
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def address(site):
    handler = functools.partial(Handler, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def tab(address):
    with browser.Browser() as opened:
        yield opened


STILL = """document.head.append(
    Object.assign(document.createElement("style"), {textContent: "* {transition: none !important}"})
)"""


def switch_scheme(tab):
    """Press the button that changes from light to dark."""
    tab.run("document.querySelector('label.md-header__button[title=Dark]:not([hidden])').click()")


@pytest.fixture(scope="module")
def seen(tab, address, pages):
    """What goes wrong: {kind: [(page, what)]} of every page, wide and narrow, in light and in
    dark.
    """
    found = {"error": [], "elsewhere": [], "sideways": [], "pale": [], "broken": []}
    box, scheme = "document.documentElement", "document.body.getAttribute('data-md-color-scheme')"
    for path in pages:
        tab.look(WIDTHS[0])
        tab.open(address + path.removesuffix("index.html"))
        tab.run(STILL)  # colours on their way from one to another are not measured
        for width in reversed(WIDTHS):
            tab.look(width)
            if tab.run(f"{box}.scrollWidth > {box}.clientWidth"):
                found["sideways"].append((path, width))
            found["broken"] += [(path, width, word) for word in tab.run(BROKEN)]
        found["pale"] += [(path, *pale) for pale in tab.run(CONTRAST)]
        switch_scheme(tab)
        assert tab.run(scheme) == "slate"
        found["pale"] += [(path, "dark", *pale) for pale in tab.run(CONTRAST)]
        found["error"] += [(path, problem) for problem in tab.problems]
        found["elsewhere"] += [
            (path, asked)
            for asked in tab.asked_for
            if not asked.startswith((address, "data:", "blob:"))
        ]
    return found


def test_a_visitor_who_prefers_dark_gets_it(tab, address):
    tab.look(WIDTHS[0], dark=True)
    tab.open(address)
    assert tab.run("document.body.getAttribute('data-md-color-scheme')") == "slate"


def test_every_page_loads_without_an_error(seen):
    assert not seen["error"]


def test_nothing_is_asked_of_another_host(seen):
    assert not seen["elsewhere"]


def test_no_page_scrolls_sideways(seen):
    assert not seen["sideways"]


def test_no_word_breaks_inside(seen):
    assert not seen["broken"]


def test_text_stands_out_from_what_is_behind_it(seen):
    """By 4.5 to 1, large text by 3 to 1, as the guidelines of the web ask for."""
    assert not seen["pale"]


def test_the_first_page_is_small(tab, address):
    tab.look(WIDTHS[0])
    tab.open(address)
    tab.wait_for("document.querySelector('img').complete")
    assert 50_000 < tab.received < 500_000


def type_into(tab, field, text):
    """Type as a visitor does."""
    tab.run(f"document.querySelector({field!r}).focus()")
    tab.ask("Input.insertText", text=text)


def searched(tab, address, text):
    """The links that a search finds, the best first."""
    tab.open(address)
    tab.run("document.querySelector('label[for=__search]').click()")
    type_into(tab, ".md-search__input", text)
    results = "[...document.querySelectorAll('.md-search-result__link')].map(link => link.href)"
    tab.wait_for(f"{results}.length > 0")
    return tab.run(results)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_search_finds_a_class(tab, address, width):
    tab.look(width)
    links = searched(tab, address, "AutoKernel")
    assert any("reference/AutoKernelClassifier" in link for link in links)


SEARCHES = {
    "imbalanced": "guide/imbalance/",
    "categorical": "guide/categories/",
    "hyperparameter": "guide/tuning/",
    "benchmark": "measured/",
    "license": "",  # the first page
    "one-hot": "guide/categories/",
    "multilabel": "guide/many_targets/",
    "quickstart": "guide/tutorial/",
    "tutorial": "guide/tutorial/",
    "recommender": "guide/categories/",
    "forecast": "guide/time_series/",
    "polars": "guide/frames/",
}
SOMEWHERE = ("gpu", "lightgbm")


@pytest.mark.parametrize("word", SEARCHES)
def test_the_search_knows_the_words_of_newcomers(tab, address, word):
    tab.look(WIDTHS[0])
    best = searched(tab, address, word)[0].removeprefix(address)
    assert best.partition("?")[0].partition("#")[0] == SEARCHES[word]


@pytest.mark.parametrize("word", SOMEWHERE)
def test_the_search_answers_other_words_of_newcomers(tab, address, word):
    tab.look(WIDTHS[0])
    assert searched(tab, address, word)


def test_code_is_copied_without_prompts_and_outputs(tab, address):
    tab.open(address + "guide/tutorial/")
    sessions = (
        "[...document.querySelectorAll('.highlight code')].filter(c => c.querySelector('.gp'))"
    )
    copied = tab.run(f"{sessions}.map(code => code.dataset.copy).join('\\n')")
    compile(copied, "the page", "exec")
    assert "import river_budget as rb" in copied
    assert "arrive late" in copied.replace("24% arrive late", "")


def test_no_table_shows_a_backslash_before_a_bar(tab, address):
    tab.open(address)
    cells = tab.run("[...document.querySelectorAll('td')].map(cell => cell.textContent)")
    assert "StandardScaler() | BSGDClassifier()" in cells


def test_the_header_leads_to_the_source_and_says_the_version(tab, address):
    tab.look(WIDTHS[0])
    tab.open(address + "guide/drift/")
    assert rb.__version__ in tab.run("document.querySelector('.md-header .md-source').textContent")
    assert tab.run("document.querySelector('.md-header .md-source').href.length") > len(address)


def test_tables_of_measurements_can_be_searched(tab, address):
    tab.look(WIDTHS[0])
    tab.open(address + "reproduced/2016/")
    shown = "[...document.querySelectorAll('.md-typeset__table')][0].closest('article')"
    rows = f"[...{shown}.querySelectorAll('tbody tr')].filter(row => !row.hidden).length"
    before = tab.run(rows)
    type_into(tab, ".table-filter", "a9a bsgd-merge")
    assert 0 < tab.run(rows) < before


# The gallery


def gallery():
    spec = importlib.util.spec_from_file_location("gallery", ROOT / ".site" / "gallery.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_lines_beside_a_picture_draw_it(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    text = gallery().page(EXAMPLES / "guide")
    shown = re.findall(r"^!\[.*?\]\(guide/(\w+\.png)\)\n\n```python\n(.*?)^```", text, re.M | re.S)
    assert len(shown) >= 8
    for name, lines in shown:
        exec(lines, {})
        assert (tmp_path / name).stat().st_size > 5000, name
