"""The gallery: each picture of the guide with the lines that make it, taken from the page that
shows it.
"""

from __future__ import annotations

import ast
import doctest
import re

ELSEWHERE = {  # pictures that a command or a program draws
    "auto.png": ("sh", "river-budget auto --plot auto.png"),
    "moa_time.png": ("sh", "python examples/papers moa --page examples/guide/against_the_best.md"),
    "moa_wins.png": ("sh", "python examples/papers moa --page examples/guide/against_the_best.md"),
    "paper_curve.png": ("sh", "python examples/paper_curve.py"),
}
HEAD = """\
# Gallery

Each picture comes with the code that draws it, ready to copy. `rb.plots` needs matplotlib (`pip install '.[plots]'`) and takes any River
models. Each title links to the page that explains the picture.
"""  # noqa: E501


FIRST = ("README", "choosing_a_model", "drift")  # pages whose pictures a newcomer draws first


def page(folder):
    """The text of the gallery, from the pages of a folder: thumbnails, and then each picture with
    its lines.
    """
    parts, thumbnails = [], []
    paths = sorted(folder.glob("*.md"))
    paths.sort(key=lambda path: FIRST.index(path.stem) if path.stem in FIRST else len(FIRST))
    for path in paths:
        text = path.read_text()
        code = [example.source for example in doctest.DocTestParser().get_examples(text)]
        for title, name in re.findall(r"!\[(.*?)\]\((.*?\.png)\)", text):
            language, lines = ELSEWHERE.get(name) or ("python", lines_for(name, code))
            anchor = name.partition(".")[0]
            thumbnails.append(f"[![{title}]({folder.name}/{name}) {title}](#{anchor})")
            parts.append(
                f"## [{title[0].upper()}{title[1:]}]({folder.name}/{path.name}) {{ #{anchor} }}\n\n"
                f"![{title}]({folder.name}/{name})\n\n```{language}\n{lines.strip()}\n```\n"
            )
    grid = ['<div class="thumbnails" markdown>', "", *thumbnails, "", "</div>"]
    return "\n".join([HEAD, *grid, "", *parts])


def lines_for(picture, code):
    """The statements that the one that saves a picture stands on, in their order."""
    trees = [ast.parse(source).body[0] for source in code]
    last = next(i for i, source in enumerate(code) if f'"{picture}"' in source)
    needed, kept = with_companions(loaded(trees[last]), trees), [last]
    for i in reversed(range(last)):
        made = bound(trees[i])
        if made & needed or changes(trees[i], needed):
            kept.insert(0, i)
            needed = (needed - made) | loaded_before(trees[i])
    imports = [code[i] for i in kept if is_import(trees[i])]
    others = [
        code[i] + "\n" * isinstance(trees[i], ast.FunctionDef)
        for i in kept
        if not is_import(trees[i])
    ]
    return "".join([*imports, "\n", *others])


def is_import(tree):
    return isinstance(tree, ast.Import | ast.ImportFrom)


def names(tree, context):
    return {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, context)
    }


def loaded(tree):
    return names(tree, ast.Load)


def bound(tree):
    """The names that a statement makes."""
    if is_import(tree):
        return {(alias.asname or alias.name).partition(".")[0] for alias in tree.names}
    if isinstance(tree, ast.FunctionDef):
        return {tree.name}
    if isinstance(tree, ast.Assign):
        return set().union(*(names(target, ast.Store) for target in tree.targets))
    return set()


def loaded_before(tree):
    """The names that a statement finds: `table = table[1:]` finds a table, and a function does not
    find itself.
    """
    return loaded(tree) - (bound(tree) if isinstance(tree, ast.FunctionDef) else set())


def with_companions(needed, trees):
    """Names, and those that the same statement makes: whoever draws on the axes changes the
    figure.
    """
    for tree in trees:
        if bound(tree) & needed and not is_import(tree):
            needed = needed | bound(tree)
    return needed


def changes(tree, needed):
    """Whether a loop, or an assignment to an entry, changes something that is needed."""
    if isinstance(tree, ast.For):
        return bool(loaded(tree) & needed)
    places = tree.targets if isinstance(tree, ast.Assign) else []
    return any(isinstance(place, ast.Subscript) and loaded(place) & needed for place in places)
