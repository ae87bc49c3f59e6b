"""What lines look like.

An algorithm looks the same in every figure: its colour, its dashes and its marker come from a table. Dashes and
markers repeat what the colour says, for grey paper and for readers who do not tell all colours apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import cycle, product
from typing import NamedTuple

Dashes = tuple[float, ...]


class Look(NamedTuple):
    colour: str
    dashes: Dashes
    marker: str


# Colours of Okabe & Ito and of Tol, which most colour-blind readers tell apart.
BLACK, GREY, BROWN, WINE = "#000000", "#808080", "#7a4a1e", "#882255"
BLUE, SKY, INDIGO, GREEN = "#0072b2", "#56b4e9", "#5b3fb5", "#009e73"
VERMILLION, ORANGE, PINK, OLIVE = "#d55e00", "#e69f00", "#dd77b0", "#8c8c1a"
COLOURS = (BLUE, VERMILLION, GREEN, PINK, BLACK, ORANGE, SKY, WINE, OLIVE, INDIGO, GREY, BROWN)

# Ink and gap in turn, in line widths.
SOLID: Dashes = ()
DASHED: Dashes = (5, 2)
DOTTED: Dashes = (1.2, 1.4)
DASH_DOT: Dashes = (7, 1.8, 1.2, 1.8)
LONG_DASHED: Dashes = (11, 3)
DASH_DOT_DOT: Dashes = (7, 1.8, 1.2, 1.8, 1.2, 1.8)
DASHES = (SOLID, DASHED, DASH_DOT, DOTTED, LONG_DASHED, DASH_DOT_DOT)

MARKERS = "osD^vP*X<>hpd"

# Algorithms that one paper compares differ in colour. Variants share it and differ in dashes and marker.
KNOWN = {
    "Perceptron": Look(BLACK, SOLID, "o"),
    "OGD": Look(GREY, SOLID, "s"),
    "RBP": Look(PINK, SOLID, "v"),
    "Forgetron": Look(ORANGE, SOLID, "^"),
    "Projectron": Look(SKY, SOLID, "D"),
    "Projectron++": Look(BLUE, SOLID, "p"),
    "BPA": Look(OLIVE, SOLID, "P"),
    "BPA-S": Look(OLIVE, DASHED, "P"),
    "BPA-NN": Look(OLIVE, DASH_DOT, "p"),
    "BPA-P": Look(OLIVE, DOTTED, "h"),
    "BOGD": Look(WINE, SOLID, "X"),
    "BOGD++": Look(WINE, DASHED, "*"),
    "FOGD": Look(VERMILLION, SOLID, "<"),
    "NOGD": Look(GREEN, SOLID, ">"),
    "BSGD": Look(INDIGO, LONG_DASHED, "s"),
    "BSGD-merge": Look(INDIGO, SOLID, "h"),
    "BSGD-project": Look(INDIGO, DASHED, "D"),
    "BSGD-remove": Look(INDIGO, DOTTED, "v"),
    "BSGD-remove-smallest": Look(INDIGO, DASH_DOT_DOT, "<"),
    "BSGD-remove-oldest": Look(INDIGO, DASH_DOT, "^"),
    "BSGD-remove-random": Look(PINK, DASH_DOT, ">"),
    "SBP": Look(BROWN, SOLID, "*"),
    "Pegasos": Look(GREEN, DASHED, "s"),
    "SDCA": Look(SKY, DASH_DOT, "^"),
    "SVC": Look(BLACK, DASHED, "X"),
    "CKS": Look(VERMILLION, DASHED, "D"),
    "BudgetPerceptron": Look(VERMILLION, DASH_DOT, "d"),
    "NORMA": Look(BROWN, DASHED, "d"),
    "LogisticRegression": Look(GREY, DASHED, "<"),
    "KNN": Look(GREY, DOTTED, "P"),
    "ARF": Look(BLACK, DOTTED, ">"),
    "RandomFourier": Look(ORANGE, DASHED, "o"),
    "RBFSampler": Look(ORANGE, DOTTED, "h"),
    "Nystroem": Look(SKY, DOTTED, "v"),
}


def _spare_looks(taken: Iterable[Look]) -> Iterator[Look]:
    """Looks for other names, without end. Each colour comes with other dashes than those taken."""
    pairs = {(look.colour, look.dashes) for look in taken}
    free = [(colour, dashes) for dashes, colour in product(DASHES, COLOURS)]
    free = [pair for pair in free if pair not in pairs]
    for (colour, dashes), marker in zip(cycle(free), cycle(MARKERS), strict=False):
        yield Look(colour, dashes, marker)


def looks_of(names: Iterable[str]) -> dict[str, Look]:
    """The look of each name, in the order in which names come first."""
    names = dict.fromkeys(names)
    # A figure of other things, such as datasets, may use what algorithms look like elsewhere.
    spare = _spare_looks(KNOWN.values() if KNOWN.keys() & names else ())
    return {name: KNOWN.get(name) or next(spare) for name in names}
