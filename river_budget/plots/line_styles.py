"""The style of a line: its colour, its dashes and its marker.

An algorithm has the same style in every figure, so that readers recognise it. Dashes and markers
say the same as the colour, for print without colours and for colour-blind readers.
"""

from __future__ import annotations

from collections.abc import Iterable
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

# Lengths of dash and gap, alternately, in line widths: solid, dashed, dash-dot, dotted, long
# dashes, dash-dot-dot.
DASHES: tuple[Dashes, ...] = (
    (),
    (5, 2),
    (7, 1.8, 1.2, 1.8),
    (1.2, 1.4),
    (11, 3),
    (7, 1.8, 1.2, 1.8, 1.2, 1.8),
)
MARKERS = "osD^vPpX<>h*"

# The names of each colour, in the order of DASHES. Algorithms that one paper compares differ in
# colour, and variants of one algorithm share it.
ALGORITHMS = {
    BLACK: "Perceptron, SVC, ARF",
    GREY: "OGD, LogisticRegression, perfect calibration, KNN",
    PINK: "RBP, BSGD-remove-random",
    ORANGE: "Forgetron, RandomFourier, RBFSampler",
    SKY: "Projectron, PolynomialCountSketch, SDCA, Nystroem",
    BLUE: "Projectron++",
    OLIVE: "BPA, BPA-S, BPA-NN, BPA-P",
    WINE: "BOGD, BOGD++, AutoKernel",
    VERMILLION: "FOGD, CKS, BudgetPerceptron",
    GREEN: "NOGD, Pegasos",
    BROWN: "SBP, NORMA, KRLST",
    INDIGO: "BSGD-merge, BSGD-project, BSGD-remove-oldest, BSGD-remove, BSGD, BSGD-remove-smallest",
}
WITHOUT_MARKER = "perfect calibration"
KNOWN = {
    name: LineStyle(
        colour, DASHES[k], "" if name == WITHOUT_MARKER else MARKERS[(i + 5 * k) % len(MARKERS)]
    )
    for i, (colour, names) in enumerate(ALGORITHMS.items())
    for k, name in enumerate(names.split(", "))
}


def line_styles_of(names: Iterable[str]) -> dict[str, LineStyle]:
    """The style of each name, in the order of first appearance. What follows a comma in a name does
    not matter.
    """
    known: dict[str, LineStyle | None] = {}
    for name in names:
        style = KNOWN.get(name.partition(",")[0])
        known.setdefault(name, None if style in known.values() else style)
    # A figure without algorithms, such as one of datasets, may use their styles for other names.
    taken = {style[:2] for style in KNOWN.values()} if any(known.values()) else set()
    free = [(c, d) for d, c in product(DASHES, COLOURS) if (c, d) not in taken]
    first = {colour: (colour, dashes) for colour, dashes in reversed(free)}
    free.sort(key=lambda pair: pair != first[pair[0]])  # another colour before other dashes
    pairs = zip(cycle(free), cycle(MARKERS), strict=False)
    spare = (LineStyle(*pair, marker) for pair, marker in pairs)
    return {name: style or next(spare) for name, style in known.items()}
