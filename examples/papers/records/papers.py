"""The papers, whose records stand on a page each, and the numbers that they print besides cells."""

from __future__ import annotations

from typing import NamedTuple


class Paper(NamedTuple):
    """A paper: its year, which begins the names of its records and names its page, and its authors
    and title.
    """

    year: str
    authors: str
    title: str
    absent: str = ""  # what the paper names or announces and is not measured, and why

    @property
    def page(self) -> str:
        """The file of its page."""
        return f"{self.year}.md"


PAPERS = (
    Paper(
        "2016",
        "J. Lu, S. Hoi, J. Wang, P. Zhao, Z. Liu",
        "Large scale online kernel learning",
        "Its table 1 lists TVM, the Twin Support Vector Machine of Wang and Vucetic (2009), among "
        "the rivals and measures "
        "it nowhere. Its update takes time in proportion to the square of the budget, as that "
        "table says, and BSGD with merging "
        "comes from the same authors. So it is no model here.",
    ),
    Paper(
        "2010",
        "Z. Wang, K. Crammer, S. Vucetic",
        "Multi-class Pegasos on a budget",
        "The paper names merging the best of all B (B - 1) / 2 pairs, and does not measure it: all "
        "its figures are of the "
        "best partner for the smallest vector. So is `Merge`, and so is the paper of 2018.",
    ),
    Paper(
        "2005",
        "O. Dekel, S. Shalev-Shwartz, Y. Singer",
        "The Forgetron: a kernel-based Perceptron on a fixed budget",
        "The paper announces a family of Forgetrons for a long version. That version calls a "
        "Forgetron self-tuned if it takes "
        "the largest factor that keeps the damage below 15/32 of the mistakes. This is the rule of "
        "figure 1 of the "
        "paper, and so of `ForgetronClassifier`.",
    ),
    Paper(
        "2018",
        "S. Qaadan, T. Glasmachers",
        "Multi-merge budget maintenance for stochastic gradient descent SVM training",
    ),
    Paper(
        "2012",
        "A. Cotter, S. Shalev-Shwartz, N. Srebro",
        "The kernelized stochastic batch Perceptron",
        "SIMBA, which section 4.1 compares with in words only, trains linear SVMs. It needs the "
        "features themselves, and "
        "the paper says that it is not clear how it would be applied with a kernel. So it is no "
        "rival here.",
    ),
)

# Printed numbers that are no cells
NO_CELLS = (
    "numbers of support vectors: in columns of their own (2010 table 1, 2018 figure 5), and the "
    "14,626 and 1,886 of the "
    "Perceptron in 2005 figure 2, in its note",
    "seconds: as multiples, where a table of ours has times; so the 36 of 2016 table 3 for testing "
    "have no counterpart, "
    "as ours are those of learning",
    "the six nu of 2012 table 2, which the paper computes from the optimum: those of Reuters "
    "(6.34e-4) and of adult without "
    "and with a bias (1.10e-2, 5.79e-4) are settings of SBP here, as the paper gives them; the "
    "data of the other three are "
    "not at hand",
    "the speed-ups in the abstract of 2018, 30 to 50 % for three at once and a factor of five for "
    "ten: its figures 2 to 4 "
    "show ours",
    "the sizes of the datasets, and parameters",
)
