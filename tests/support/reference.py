"""The API reference, from the docstrings: `python tests/support/reference.py` writes examples/reference.md."""

from __future__ import annotations

import inspect
import re
import textwrap

from folders import EXAMPLES

import river_budget as rb
from river_budget.parameters import Mutable

PLACE = EXAMPLES / "reference.md"
SECTIONS = ("Parameters", "Examples", "References")
COMMON = """learn_one predict_one predict_proba_one decision_function_one learn_many predict_many predict_proba_many
predict_then_learn_many transform_one transform_many n_support_vectors support_vectors n_repairs n_examples summary
memory_usage"""
HEAD = """\
# Reference

Every public name. Made from the docstrings by `python tests/support/reference.py`, so `help(name)` says the same. What all
estimators do (frames, weights, pickles, files) is in the [README](../README.md).

Parameters marked *mutable* may change while a model lives, by `model.mutate({...})` or by assignment.

"""


def public():
    """(name, object) of everything that users see, in groups."""
    names = [name for name in rb.__all__ if not inspect.ismodule(getattr(rb, name))]
    for name in sorted(names, key=str.lower):
        yield f"rb.{name}", getattr(rb, name)
    for module in ("kernels", "maintenance", "plots", "distributed", "export", "sklearn"):
        for name in getattr(rb, module).__all__:
            yield f"rb.{module}.{name}", getattr(getattr(rb, module), name)


def parts_of(text):
    """The sections of a numpydoc docstring; what stands in front is called ""."""
    found, title = {"": []}, ""
    lines = inspect.cleandoc(text).splitlines()
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if below and set(below) == {"-"} and line.strip():
            title = line.strip()
            found[title] = []
        elif set(line) != {"-"} or not line:
            found[title].append(line)
    return {name: "\n".join(body).strip("\n") for name, body in found.items()}


def entries_of(section):
    """(name, text) of a section of parameters."""
    for entry in re.split(r"\n(?=\S)", section):
        name, _, text = entry.partition("\n")
        yield name, " ".join(textwrap.dedent(text).split())


def signature_of(kind):
    try:
        signature = inspect.signature(kind)
    except (TypeError, ValueError):
        return "(...)"
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    return str(inspect.Signature(plain))


def methods_of(kind):
    """Public methods and attributes that a class has in addition to those of all estimators."""
    common = {name for name in dir(rb.RBPClassifier) if name in dir(rb.FOGDClassifier)}
    for name, value in sorted(vars(kind).items()):
        text = inspect.getdoc(value) if callable(value) or isinstance(value, property) else None
        if text and not name.startswith("_") and name not in common and not inspect.isclass(value):
            yield name, text.splitlines()[0]


def described(name, kind):
    """One section of the reference."""
    parts = parts_of(kind.__doc__ or "")
    lines = [f"## {name}", "", f"`{name}{signature_of(kind)}`", "", parts[""], ""]
    if "Parameters" in parts:
        for parameter, text in entries_of(parts["Parameters"]):
            mutable = isinstance(getattr(kind, parameter, None), Mutable)
            lines.append(f"- `{parameter}`{' (*mutable*)' if mutable else ''}: {text}")
        lines.append("")
    methods = list(methods_of(kind)) if inspect.isclass(kind) else []
    for method, text in methods:
        lines.append(f"- `.{method}`: {text}")
    lines += [""] if methods else []
    if "Examples" in parts:
        lines += ["```python", parts["Examples"].strip(), "```", ""]
    if "References" in parts:
        lines += [
            re.sub(r"^\[\^\d+\]:", "-", line) for line in parts["References"].splitlines()
        ] + [""]
    return "\n".join(lines)


def in_common():
    """What estimators can do, as far as it applies to them: the first paragraph about each."""
    for name in COMMON.split():
        kind = next(k for k in (rb.BSGDClassifier, rb.Nystroem) if hasattr(k, name))
        first = inspect.getdoc(getattr(kind, name)).partition("\n\n")[0]
        yield f"- `.{name}`: {' '.join(first.split())}"


def reference():
    head = HEAD + "## Every estimator\n\n" + "\n".join(in_common()) + "\n\n"
    return head + "\n".join(described(name, kind) for name, kind in public())


if __name__ == "__main__":
    PLACE.write_text(reference())
