"""What the site adds to the texts: pages made from other files, the version, and the weight of
pages in the search.

Made pages are the reference, the gallery, the scripts, the changelog and contributing.
"""

from __future__ import annotations

import inspect
import pathlib
import re
import sys

from mkdocs.structure.files import File

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import gallery

import river_budget as rb
from river_budget.model.base import StreamModel

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent
EXAMPLES = ROOT / "examples"
MODULES = ("kernels", "maintenance", "plots", "distributed", "export", "sklearn")
GROUPS = {  # headings of the reference: which of the names of the package itself stand below
    "Classifiers": r".*Classifier",
    "Regressors": r".*Regressor",
    "Anomalies and features": r"KernelOneClassSVM|RandomFourier|RBFSampler|Nystroem|Polynomial.*",
    "Pipelines and files": r".*",
}
# What users call; all else that is public is for authors of algorithms (examples/extending).
FOR_USERS = re.compile(
    r"(learn|predict|transform|score|explain|debug)_(one|many)|predict_proba_\w+|\w+_then_learn_\w+"
    r"|decision_function_one|last_iterate_one|n_(examples|support_vectors|words)|support_vectors"
    r"|summary|memory_usage|gradient_error|experts|importances|refine|slack_for|explain_one|mutate"
)
USUAL = (  # what a reader looks for first
    *(
        "learn_one",
        "predict_one",
        "predict_proba_one",
        "score_one",
        "transform_one",
        "predict_then_learn_one",
    ),
    *(
        "learn_many",
        "predict_many",
        "predict_proba_many",
        "transform_many",
        "summary",
        "support_vectors",
    ),
    *("memory_usage", "mutate"),
)
PAGES_TO_SEE = 4  # pages of the guide below a name of the reference
MOVED = {  # where links lead that leave examples/ or come from outside of it
    "../examples/": "",
    "examples/": "",
    "../CHANGELOG.md": "changelog.md",
    "../.github/CONTRIBUTING.md": "contributing.md",
    "../../.github/CONTRIBUTING.md#the-site": "../reference/index.md",
}
ASSETS = ("site.css", "tables.js", "prompts.js", "icon.svg")
SOURCE = "contributing/#where-things-are"  # where the header leads if nobody names a repository
MANY_WORDS = 2000  # longer pages have most words, so a search would find them first for anything
RECORDS = ("reproduced/", "changelog", "scripts")


def on_config(config):
    """Fill the sections of the navigation whose pages are found and not listed; show version and
    source.
    """
    config.extra["version_shown"] = rb.__version__
    config.repo_url = config.repo_url or SOURCE
    for section in config.nav:
        if "Reference" in section:
            section["Reference"] = ["reference/index.md", *reference_navigation()]
        if "Scripts" in section:
            section["Scripts"] = ["scripts.md", *(page_of(path) for path in scripts())]
    return config


def on_files(files, config):
    made = {
        "changelog.md": (ROOT / "CHANGELOG.md").read_text(),
        "contributing.md": (ROOT / ".github" / "CONTRIBUTING.md").read_text(),
        "gallery.md": gallery.page(EXAMPLES / "guide"),
        "reference/index.md": reference_index(),
        "scripts.md": scripts_page(),
    }
    made |= {page_of(path): script_page(path) for path in scripts()}
    made |= {
        place: f"::: {name}\n{options_of(kind)}\n{pages_about(name)}"
        for name, place, kind in public()
    }
    for place, text in made.items():
        files.append(File.generated(config, place, content=text))
    for name in ASSETS:
        files.append(
            File.generated(config, f"assets/{name}", abs_src_path=str(HERE / "assets" / name))
        )
    return files


def on_page_markdown(markdown, page, config, files):
    """Adapt a text of the repository to the site.

    Links to programs lead to their pages, links out of examples/ to the pages made of those files.
    """
    page.meta.setdefault("search", {"boost": boost(page.file.src_uri, markdown)})
    markdown = without_backslashes(as_sessions(markdown))
    markdown = re.sub(r"(\]\((?!https?:)[^)\s]*)\.py\)", r"\1.md)", markdown)
    for written, meant in MOVED.items():
        markdown = markdown.replace(f"]({written}", f"]({meant}")
    first = re.search(r"^(?![#|>`!<\-:]|See also)\w[^\n]*(\n\w[^\n]*)*", markdown, re.M)
    if first and "description" not in page.meta:
        text = re.sub(r"\[(.*?)\]\(.*?\)", r"\1", " ".join(first[0].split())).replace("`", "")
        page.meta["description"] = text[:155].rpartition(" ")[0] if len(text) > 155 else text
    return markdown


def boost(place, text):
    """How much a page counts in the search."""
    if place.startswith(RECORDS):
        return 0.1
    return 0.5 if len(text.split()) > MANY_WORDS else 1


def as_sessions(markdown):
    """Code with prompts is coloured as a session; the copy button leaves prompts and outputs out
    (prompts.js).
    """
    return re.sub(r"^```python\n(?=>>> )", "```pycon\n", markdown, flags=re.M)


def without_backslashes(markdown):
    """In code in a table GitHub wants a backslash before a bar, and Python-Markdown shows it."""
    return re.sub(
        r"^\|.*$",
        lambda row: re.sub(r"`[^`\n]*`", lambda code: code[0].replace(r"\|", "|"), row[0]),
        markdown,
        flags=re.M,
    )


# Reference


def public():
    """(name, page, object) of everything that users see."""
    for module in ("", *MODULES):
        owner = getattr(rb, module) if module else rb
        for name in owner.__all__:
            kind = getattr(owner, name)
            if not inspect.ismodule(kind):
                path = f"{module}.{name}" if module else name
                yield f"river_budget.{path}", f"reference/{path}.md", kind


def options_of(kind):
    """Of models only what users call, the usual first."""
    if not (inspect.isclass(kind) and issubclass(kind, StreamModel)):
        return ""
    names = [name for name in dir(kind) if FOR_USERS.fullmatch(name)]
    names.sort(key=lambda name: USUAL.index(name) if name in USUAL else len(USUAL))
    return f"    options:\n      members: [{', '.join(names)}]\n"


def pages_about(name):
    """Links to the pages of the guide that use a name most."""
    word, found = re.compile(rf"\brb\.{re.escape(name.removeprefix('river_budget.'))}\b"), []
    for path in sorted((EXAMPLES / "guide").glob("*.md")):
        text = path.read_text()
        if count := len(word.findall(text)):
            title = text.partition("\n")[0].removeprefix("# ")
            found.append((-count, f"[{title}](../guide/{path.name})"))
    links = [link for _, link in sorted(found)[:PAGES_TO_SEE]]
    return f"\nSee also: {', '.join(links)}.\n" if links else ""


def grouped():
    """{heading: [(short name, page, object)]}."""
    found = {heading: [] for heading in GROUPS} | {f"rb.{module}": [] for module in MODULES}
    for name, place, kind in public():
        short = name.removeprefix("river_budget.")
        module, _, _ = short.rpartition(".")
        heading = (
            f"rb.{module}"
            if module
            else next(h for h, p in GROUPS.items() if re.fullmatch(p, short))
        )
        found[heading].append((short, place, kind))
    return found


def reference_navigation():
    return [
        {heading: [{short: place} for short, place, _ in rows]}
        for heading, rows in grouped().items()
    ]


def reference_index():
    lines = [
        "# Reference",
        "",
        "Every public name, from the docstrings: `help(name)` says the same.",
    ]
    for heading, rows in grouped().items():
        lines += ["", f"## {heading}", "", "| name | what it is |", "|---|---|"]
        for short, place, kind in rows:
            first = " ".join((inspect.getdoc(kind) or "").partition("\n\n")[0].split())
            lines.append(f"| [`{short}`]({place.removeprefix('reference/')}) | {first} |")
    return "\n".join(lines) + "\n"


# Scripts


def scripts():
    """The programs of one file: not the folder `papers`."""
    left_out = {"__pycache__", "papers"}
    return sorted(path for path in EXAMPLES.rglob("*.py") if not left_out & set(path.parts))


def page_of(path):
    return path.relative_to(EXAMPLES).with_suffix(".md").as_posix()


def parts_of(path):
    """The first sentence, the rest of the docstring, and the code of a program."""
    _, text, code = path.read_text().split('"""', 2)
    first, _, rest = text.partition("\n\n")
    return " ".join(first.split()), rest.strip("\n"), code.strip("\n")


def script_page(path):
    first, rest, code = parts_of(path)
    name = path.relative_to(ROOT).as_posix()
    return f'# {path.name}\n\n{first}\n\n{rest}\n\n```python title="{name}"\n{code}\n```\n'


def scripts_page():
    rows = [f"| [{page_of(p)[:-3]}.py]({page_of(p)}) | {parts_of(p)[0]} |" for p in scripts()]
    table = "\n".join(["| program | what it shows |", "|---|---|", *rows])
    return f"# Scripts\n\nPrograms to run, read and copy; the tests run them all.\n\n{table}\n"
