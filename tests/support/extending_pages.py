"""The two pages for authors of algorithms, made of docstrings and comments of the package:

    python tests/support/extending_pages.py

writes examples/extending/model.md and functions.md.
"""

from __future__ import annotations

import ast
import inspect
import io
import re
import textwrap
import tokenize

from folders import EXAMPLES

from river_budget import extending
from river_budget.core import codes, memory
from river_budget.core.expansion import examples
from river_budget.core.rounds import losses, observe
from river_budget.model import algorithm

FOLDER = EXAMPLES / "extending"
MADE = "<!-- made by: python tests/support/extending_pages.py -->"
FIRST_OF_SCRATCH = "row"  # the first field of Model that is no table of the block

ROUND = """
A round is called as `round_of(m, state, x, norm, f, y, w)`, with own tables as `round_of(m, state,
own, x, norm, f, y, w)`.
"""
FEATURES = """
So the features of x are `places[i]` and `values[i]` for i below `len(places)`, and that of vector j
with the same name is `m.vectors[places[i], j]`. k(x, x) is `self_kernel(m, norm)`.
"""
NAMES = """
`m.coefficients[r, j]` belongs to output r and to the vector in slot j. Loops over vectors run to
`m.head[0].count`. A slot is no age: `remove` moves the last vector into the gap, so ask
`m.arrivals`. A rule is called as `keep(m, state)`, with own tables as `keep(m, state, own)`; the
newcomer, if there is one, is the last vector.
"""
BLOCK = "Files, copies and pickles contain these. Functions of the package write them."
SCRATCH = """
Nothing here survives a function that says it overwrites it. At the beginning of a round `m.row` has
the kernel values of its example.
"""

GROUPS = {
    "What a class is made of": "algorithm descent_on removal_by each_example compiled register",
    "What the scores mean": "loss_and_direction is_mistake squared_length",
    "Change the support": "insert add_to rescale remove add_or_project",
    "Look at it": "row_of_vector self_kernel along_row weight_of",
    "Rules that keep a budget": (
        "remove_oldest remove_random remove_smallest merge_pair project_smallest"
    ),
    "Random numbers": "uniform below",
    "In methods of the class": "state_of own_tables results_of",
    "Check the class": "check",
}
CHECKS = "positive not_negative share boolean whole(1) one_of('first','second') optional(positive)"
PARAMETERS = """
A parameter of `__init__` needs a check in its class: `shift = Mutable(positive)`, if it may change
in a living model, else `Fixed(positive)`. `budget`, `kernel`, `learning_rate`, `l2`, `epsilon`,
`seed`, `classes`, `maintenance` and `average` have theirs in `Classifier` and `Regressor`. A check
of your own is a function `(name, value)` that raises ValueError.
"""
OPTIONS = """
What `algorithm(...)` takes beside its own arguments. It sets `learn`, `state` and `shrink`. A value
in `header` and `start` may be a function of the model.
"""
NOT_OPTIONS = {"learn", "state", "shrink", "columns", "prepare", "mean"}  # of insiders


def page_of_the_model():
    model, rows = comments_of(memory.Model), comments_of(memory.Rows)
    names = list(model)
    scratch = names.index(FIRST_OF_SCRATCH)
    parts = [
        "# The model on one page",
        MADE,
        f"What a round and a rule see ([extending](../extending.md)).\n{ROUND.strip()}",
        table("it has", "what it is", rounds(), code=False),
        f"The example:\n\n```\n{indented(examples)}\n```",
        FEATURES.strip(),
        f"Targets, and what `loss_and_direction` gives:\n\n```\n{indented(losses)}\n```",
        f"## Tables\n\n{BLOCK}\n{NAMES.strip()}",
        table("`m.`", "shape: what it is", {n: model[n] for n in names[:scratch] if n != "head"}),
        "## Header",
        "`head = m.head[0]` has these fields; read them, and write none but by the functions.",
        table("`head.`", "what it is", header()),
        f"## Scratch space\n\n{SCRATCH.strip()}",
        table("`m.`", "shape: what it is", {n: model[n] for n in names[scratch:]}),
        "## Rows",
        "A pass, which `algorithm` makes of a round, is called as `(m, states, rows)`: `state` is "
        f"`states[0]`, and `rows` has the examples. {paragraph(memory.Rows)}",
        table("`rows.`", "shape: what it is", {n: text for n, text in rows.items() if text}),
    ]
    return "\n\n".join(parts) + "\n"


def page_of_functions():
    parts = [
        "# The functions on one page",
        MADE,
        "All of `from river_budget.extending import ...`; [the model](model.md) has what `m`, "
        "`state` and `x` are.",
    ]
    for title, names in GROUPS.items():
        parts.append(f"## {title}")
        parts += [entry(name) for name in names.split()]
    parts += [
        f"## Parameters\n\n{PARAMETERS.strip()}",
        table("check", "what it takes", {name: taken_by(name) for name in CHECKS.split()}),
        f"## Options\n\n{OPTIONS.strip()}",
    ]
    for kind in (algorithm.Algorithm, algorithm.After, algorithm.Files):
        fields = {n: text for n, text in comments_of(kind).items() if n not in NOT_OPTIONS}
        title = "`algorithm(...)`" if kind is algorithm.Algorithm else f"`{kind.__name__}(...)`"
        parts += [table(title, "what it is", fields)]
    parts.append(f"`unchanged`: {first('unchanged')}")
    return "\n\n".join(parts) + "\n"


def comments_of(kind):
    """{field: the comment above and behind it} of a class."""
    source = textwrap.dedent(inspect.getsource(kind))
    lines = source.splitlines()
    found = {}
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = {t.start[0]: t.string.lstrip("# ") for t in tokens if t.type == tokenize.COMMENT}
    for node in ast.parse(source).body[0].body:
        if isinstance(node, ast.AnnAssign):
            above, line = [], node.lineno - 1
            while lines[line - 1].lstrip().startswith("#"):
                above.insert(0, comments[line])
                line -= 1
            behind = [comments[n] for n in (node.lineno, node.end_lineno) if n in comments]
            found[node.target.id] = " ".join(above + behind[:1])
    sizes = {"WORK_ROWS": memory.WORK_ROWS, "ROUGH_ROWS": memory.ROUGH_ROWS}
    pattern = "|".join(sizes)
    return {
        name: re.sub(pattern, lambda size: str(sizes[size[0]]), text)
        for name, text in found.items()
    }


def header():
    """{fields: their meaning} from the comment on the fields of the header."""
    comment = re.search(r"# The fields of the header.*?\n#\n((?:# .*\n)+)", source(memory))[1]
    rows = [re.split(r" {2,}", line.removeprefix("# "), maxsplit=1) for line in comment.split("\n")]
    return dict(row for row in rows if len(row) == 2)


def rounds():
    """{arguments of a round: their meaning} from the docstring that defines rounds."""
    rows = re.findall(r"^        (\w[\w, ]*?) {2,}(\w.*)$", observe.__doc__, re.M)
    found = {f"`{names}`": meaning for names, meaning in rows}
    found["`m`"] = "the model; the kernel row of x is in `m.row`"
    found["`state`"] = "the algorithm's own record: the numbers named in `fields`"
    found["`x, norm`"] = "the example, `x = (places, values, rest)`, and its norm"
    found["`f, y, w`"] = (
        "its scores `f[r]`, one for each output, before it is learned; its target; its weight, "
        "which is positive"
    )
    task = ", ".join(f"{kind.name} = {kind.value}" for kind in codes.Task)
    return found | {
        "`own`": 'own tables: `own.gram[i, j]`, `own.labels[j]`, with the capacity for "B"',
        "`m.head[0].task`": task,
    }


def indented(module):
    """The indented block of a docstring, and what belongs to it."""
    lines = module.__doc__.strip().split("\n\n")[1:]
    return "\n\n".join(part for part in lines if re.search("^ {4,}|  ", part, re.M))


def source(module):
    return inspect.getsource(module)


def table(left, right, rows, code=True):
    """A table in Markdown."""
    lines = [f"| {left} | {right} |", "|---|---|"]
    for name, meaning in rows.items():
        shown = ", ".join(f"`{each}`" for each in name.split(", ")) if code else name
        lines.append(f"| {shown} | {meaning.replace('|', chr(92) + '|')} |")
    return "\n".join(lines)


def function_of(name):
    value = getattr(extending, name)
    return getattr(value, "py_func", value)


def first(name):
    """The first paragraph of a docstring, in one line."""
    return " ".join(inspect.getdoc(function_of(name)).partition("\n\n")[0].split())


def paragraph(kind):
    return " ".join(inspect.getdoc(kind).split())


def taken_by(check):
    """What a check takes, as its error says."""
    try:
        eval(check, vars(extending))("it", object())
    except ValueError as error:
        words = re.search("it must be (.*), not <", str(error))[1]
    return f"{words}, or None" if check.startswith("optional") else words


def entry(name):
    """A function: its arguments, and its docstring."""
    function = function_of(name)
    given = ", ".join(map(argument, inspect.signature(function).parameters.values()))
    text = re.sub(r"(?<=\n)\w+\n(?: {4}.*\n?)+", listed, inspect.getdoc(function) + "\n")
    return f"**`{name}({given})`**\n\n{text.strip()}"


def argument(parameter):
    stars = "**" if parameter.kind is parameter.VAR_KEYWORD else ""
    default = "" if parameter.default is parameter.empty else f"={parameter.default!r}"
    return f"{stars}{parameter.name}{default}"


def listed(match):
    """The description of an argument as an item of a list."""
    name, _, text = match[0].partition("\n")
    return f"- `{name}`: {' '.join(text.split())}\n"


def pages():
    """{file: its text}"""
    return {"model.md": page_of_the_model(), "functions.md": page_of_functions()}


if __name__ == "__main__":
    for name, text in pages().items():
        (FOLDER / name).write_text(text)
