"""The style of a line: its colour, its dashes and its marker.

An algorithm has the same style in every figure: a table says which. Dashes and
markers repeat the colour, for grey paper and for readers who do not tell all colours apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import cycle, product
from typing import NamedTuple

Dashes = tuple[float, ...]


class LineStyle(NamedTuple):
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
    "AutoKernel": LineStyle(WINE, DASH_DOT, "*"),
    "Perceptron": LineStyle(BLACK, SOLID, "o"),
    "OGD": LineStyle(GREY, SOLID, "s"),
    "RBP": LineStyle(PINK, SOLID, "v"),
    "Forgetron": LineStyle(ORANGE, SOLID, "^"),
    "Projectron": LineStyle(SKY, SOLID, "D"),
    "Projectron++": LineStyle(BLUE, SOLID, "p"),
    "BPA": LineStyle(OLIVE, SOLID, "P"),
    "BPA-S": LineStyle(OLIVE, DASHED, "P"),
    "BPA-NN": LineStyle(OLIVE, DASH_DOT, "p"),
    "BPA-P": LineStyle(OLIVE, DOTTED, "h"),
    "BOGD": LineStyle(WINE, SOLID, "X"),
    "BOGD++": LineStyle(WINE, DASHED, "*"),
    "FOGD": LineStyle(VERMILLION, SOLID, "<"),
    "NOGD": LineStyle(GREEN, SOLID, ">"),
    "BSGD": LineStyle(INDIGO, LONG_DASHED, "s"),
    "BSGD-merge": LineStyle(INDIGO, SOLID, "h"),
    "BSGD-project": LineStyle(INDIGO, DASHED, "D"),
    "BSGD-remove": LineStyle(INDIGO, DOTTED, "v"),
    "BSGD-remove-smallest": LineStyle(INDIGO, DASH_DOT_DOT, "<"),
    "BSGD-remove-oldest": LineStyle(INDIGO, DASH_DOT, "^"),
    "BSGD-remove-random": LineStyle(PINK, DASH_DOT, ">"),
    "SBP": LineStyle(BROWN, SOLID, "*"),
    "Pegasos": LineStyle(GREEN, DASHED, "s"),
    "SDCA": LineStyle(SKY, DASH_DOT, "^"),
    "SVC": LineStyle(BLACK, DASHED, "X"),
    "CKS": LineStyle(VERMILLION, DASHED, "D"),
    "BudgetPerceptron": LineStyle(VERMILLION, DASH_DOT, "d"),
    "NORMA": LineStyle(BROWN, DASHED, "d"),
    "LogisticRegression": LineStyle(GREY, DASHED, "<"),
    "KNN": LineStyle(GREY, DOTTED, "P"),
    "ARF": LineStyle(BLACK, DOTTED, ">"),
    "RandomFourier": LineStyle(ORANGE, DASHED, "o"),
    "RBFSampler": LineStyle(ORANGE, DOTTED, "h"),
    "Nystroem": LineStyle(SKY, DOTTED, "v"),
    "PolynomialCountSketch": LineStyle(SKY, DASHED, "P"),
    "as sure as right": LineStyle(GREY, DASH_DOT_DOT, ""),
}

# Names that stand in the figures of one paper only, beside few others.
OF_ONE_PAPER = {
    "SMO": LineStyle(INDIGO, SOLID, "X"),
    "Fourier features": LineStyle(VERMILLION, DASHED, "<"),
    "LIBSVM": LineStyle(BLACK, DOTTED, ""),
    "best trade-offs": LineStyle(BLACK, DASHED, ""),
    **{
        f"B = {budget}": LineStyle(shade, DOTTED, marker)
        for budget, shade, marker in zip(
            (120, 600, 1200, 1800, 2500),
            ("#a8a8a8", "#989898", "#888888", "#787878", "#686868"),
            "o^DvP",
            strict=True,
        )
    },
    "M = 2": LineStyle("#333333", SOLID, "s"),
    "M = 3": LineStyle(BLUE, SOLID, "s"),
    "M = 4": LineStyle(GREEN, DASHED, "s"),
    "M = 5": LineStyle(ORANGE, DASH_DOT, "s"),
    "M = 7": LineStyle(VERMILLION, SOLID, "s"),
    "M = 9": LineStyle(WINE, SOLID, "s"),
    "M = 11": LineStyle(SKY, SOLID, "s"),
}


def _spare_styles(taken: Iterable[LineStyle]) -> Iterator[LineStyle]:
    """Styles for other names, without end. Each colour comes with other dashes than those taken."""
    pairs = {(style.colour, style.dashes) for style in taken}
    free = [(colour, dashes) for dashes, colour in product(DASHES, COLOURS)]
    free = [pair for pair in free if pair not in pairs]
    for (colour, dashes), marker in zip(cycle(free), cycle(MARKERS), strict=False):
        yield LineStyle(colour, dashes, marker)


def line_styles_of(names: Iterable[str]) -> dict[str, LineStyle]:
    """The style of each name, in the order of first appearance. Behind a comma a name may say more."""
    known: dict[str, LineStyle | None] = {}
    for name in names:
        style = (OF_ONE_PAPER | KNOWN).get(name) or KNOWN.get(name.partition(",")[0])
        known.setdefault(name, None if style in known.values() else style)
    # A figure of other things, such as datasets, may use the styles of algorithms elsewhere.
    spare = _spare_styles(KNOWN.values() if any(known.values()) else ())
    return {name: style or next(spare) for name, style in known.items()}
