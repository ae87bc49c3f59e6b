"""Docstrings, from which the reference is made, say what they must."""

from __future__ import annotations

import inspect
import re
from collections import Counter

import pytest
from folders import EXAMPLES

import river_budget as rb
from river_budget.model.base import StreamModel

pytest.importorskip("sklearn", reason="scikit-learn is not installed, and rb.sklearn stands on it")
pytest.importorskip("onnx", reason="onnx is not installed, and rb.export stands on it")


def public():
    """(name, object) of everything that users see, in groups."""
    names = [name for name in rb.__all__ if not inspect.ismodule(getattr(rb, name))]
    for name in sorted(names, key=str.lower):
        yield f"rb.{name}", getattr(rb, name)
    for module in ("kernels", "maintenance", "plots", "distributed", "export", "sklearn"):
        for name in getattr(rb, module).__all__:
            yield f"rb.{module}.{name}", getattr(getattr(rb, module), name)


def parts_of(text):
    """The sections of a numpydoc docstring; the text before them has the key ""."""
    found, title = {"": []}, ""
    lines = inspect.cleandoc(text).splitlines()
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if below and set(below) == {"-"} and line.strip():
            title = line.strip()
            found[title] = []
        elif set(line) != {"-"} or not line:
            found[title].append(line)
    return {name: "\n".join(body).strip("\n") for name, body in found.items()}


def parameter_texts(kind):
    """{name: text} of the section Parameters of a docstring."""
    section = parts_of(kind.__doc__ or "").get("Parameters", "")
    entries = [entry.partition("\n") for entry in re.split(r"\n(?=\S)", section) if entry]
    return {name: " ".join(text.split()) for name, _, text in entries}


PUBLIC = list(public())
each_name = pytest.mark.parametrize(("name", "kind"), PUBLIC, ids=[name for name, _ in PUBLIC])


@each_name
def test_every_public_name_describes_each_of_its_parameters(name, kind):
    parts = parts_of(kind.__doc__ or "")
    assert parts[""], f"{name} does not say what it is for"
    if inspect.isclass(kind) and issubclass(kind, Exception):
        return  # made by the package and not by users
    parameters = [p for p in inspect.signature(kind).parameters if p not in ("args", "kwargs")]
    assert list(parameter_texts(kind)) == parameters, f"{name} does not describe its parameters"


@each_name
def test_every_public_name_says_when_it_is_bad_shows_its_point_and_names_its_sources(name, kind):
    parts = parts_of(kind.__doc__ or "")
    paragraphs = parts[""].split("\n\n")
    assert len(paragraphs[0]) > 10, f"{name} does not say what it is for"
    assert any(p.startswith("Not for ") for p in paragraphs), f'{name}: a paragraph "Not for ..."'
    assert ">>> " in parts.get("Examples", ""), f"{name} has no example"
    references = parts.get("References", "")
    assert re.search(r"^\[\^1\]: .", references, re.M), f"{name} has no reference"
    for target in re.findall(r"\]\((guide/[^)#]*)", references):
        assert (EXAMPLES / target).exists(), target
    known = ["", "Parameters", "Returns", "Examples", "References"]  # of numpydoc, in this order
    assert list(parts) == [title for title in known if title in parts]


# Estimators

ESTIMATORS = [
    kind for _, kind in PUBLIC if isinstance(kind, type) and issubclass(kind, StreamModel)
]
OWN_WORDS = {  # parameters that mean something else, or more, in these families
    "budget": (
        "AutoKernel KernelPerceptron BSGD KernelOneClassSVM NOGD NORMA Nystroem Projectron "
        "ProjectronPP"
    ),
    "classes": "BudgetPerceptron NORMA SBP",
    "epsilon": "NORMA",
    "kernel": "FOGD PolynomialCountSketch RandomFourier",
    "eta_linear": "NOGD",
    "l2": "BSGD",
    "scale": "PolynomialCountSketch RBFSampler RandomFourier",
    "learning_rate": "BSGD FOGD KernelOneClassSVM KernelOGD BOGD NOGD Forgetron RBP",
    "maintenance": "KernelOneClassSVM KernelPerceptron",
    "n_components": "PolynomialCountSketch RandomFourier RBFSampler",
    "nu": "KernelOneClassSVM NORMA",
    "project_to_ball": "BSGD",
    "rank": "Nystroem",
    "removal": "BOGD",
    "sampling": "BOGD",
    "seed": (
        "AutoKernel BSGD KernelPerceptron FOGD KernelOneClassSVM PolynomialCountSketch "
        "RandomFourier RBFSampler"
    ),
    "threshold": "ProjectronPP",
}


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_what_may_change_is_said_before_the_parameters(kind):
    text = inspect.cleandoc(kind.__doc__).partition("Parameters\n----------\n")[0]
    sentence = re.search(r"may change ([^.]*)\.", " ".join(text.split()))
    said = re.findall(r"`(\w+)`", sentence[1]) if sentence else []
    assert set(said) == kind()._mutable_attributes


def all_texts():
    return {kind.__name__: parameter_texts(kind) for kind in ESTIMATORS}


@pytest.mark.parametrize("parameter", sorted({p for texts in all_texts().values() for p in texts}))
def test_a_parameter_is_described_in_the_same_words_everywhere(parameter):
    found = {  # which width stands for None differs
        name: re.sub(r"`RBF\(.*?\)`", "`RBF`", texts[parameter])
        for name, texts in all_texts().items()
        if parameter in texts
    }
    usual, _ = Counter(found.values()).most_common(1)[0]
    others = {
        re.sub("(Classifier|Regressor)$", "", name) for name, text in found.items() if text != usual
    }
    assert others <= set(OWN_WORDS.get(parameter, "").split())
