"""Regression. As in the 2016 paper, features and target are scaled to [0, 1] over the whole set."""

from __future__ import annotations

from river.datasets.base import REG

from .definitions import Definition, listed, uci
from .preparing import everything_to_unit
from .reading import Csv, Reader
from .stored import StoredDataset

__all__ = [
    "Abalone",
    "AbaloneScaled",
    "Cadata",
    "Casp",
    "Cpusmall",
    "Housing",
    "Mg",
    "Parkinsons",
    "Slice",
    "Year",
]


def _uci(
    name: str, n_features: int, path: str, rows: int, member: str, reader: Reader
) -> Definition:
    """A set of the UCI repository."""
    files, prepare = (uci(path, rows, name, member, reader),), everything_to_unit
    return Definition(name, REG, n_features, None, files, prepare=prepare)


class Housing(StoredDataset):
    """Prices of houses in Boston.

    housing of the LIBSVM collection, scaled to [0, 1] with its target: equal to the authors'
    matrix. With the authors' permutations.
    """

    definition = listed("housing", everything_to_unit, authors=True)


class Mg(StoredDataset):
    """The chaotic time series of Mackey and Glass, predicted from six earlier values.

    mg of the LIBSVM collection, scaled to [0, 1] with its target, or the authors' matrix, on which
    it was tested. With the authors' permutations.
    """

    definition = listed("mg", everything_to_unit, authors=True)


class Abalone(StoredDataset):
    """The age of shellfish from their size and weight.

    abalone of the LIBSVM collection, scaled to [0, 1] with its target.
    """

    definition = listed("abalone", everything_to_unit)


class AbaloneScaled(StoredDataset):
    """The age of shellfish, with features between -1 and 1 and the rings as target. No paper here
    uses it.

    abalone_scale of the LIBSVM collection, as published.
    """

    definition = listed("abalone-scaled")


class Parkinsons(StoredDataset):
    """The total UPDRS score of people with Parkinson's disease from their voices, at home.

    From the UCI repository, scaled to [0, 1] with its target. The paper only says that there are 20
    features. Here they are all columns except the two scores: with motor_UPDRS as a feature the
    target would be so easy that the paper's losses could not be explained.
    """

    definition = _uci(
        "parkinsons",
        20,
        "189/parkinsons+telemonitoring.zip",
        5_875,
        "parkinsons_updrs.data",
        Csv(target=5, drop=(4,), header=True),
    )


class Cpusmall(StoredDataset):
    """The share of time in which a computer runs programs of users.

    cpusmall of the LIBSVM collection (Delve), scaled to [0, 1] with its target.
    """

    definition = listed("cpusmall", everything_to_unit)


class Cadata(StoredDataset):
    """Prices of houses in blocks of California.

    cadata of the LIBSVM collection (StatLib), scaled to [0, 1] with its target.
    """

    definition = listed("cadata", everything_to_unit)


class Casp(StoredDataset):
    """The error of predicted protein structures.

    CASP.csv of the UCI repository, scaled to [0, 1] with its target.
    """

    definition = _uci(
        "casp",
        9,
        "265/physicochemical+properties+of+protein+tertiary+structure.zip",
        45_730,
        "CASP.csv",
        Csv(target=0, header=True),
    )


class Slice(StoredDataset):
    """The position of a CT image along the body.

    From the UCI repository, scaled to [0, 1] with its target. The paper's 385 features include the
    patient's number, and so do these. Never fetched in a test.
    """

    definition = _uci(
        "slice",
        385,
        "206/relative+location+of+ct+slices+on+axial+axis.zip",
        53_500,
        "slice_localization_data.csv",
        Csv(target=385, header=True),
    )


class Year(StoredDataset):
    """The year of a song from its sound, the training file.

    YearPredictionMSD of the LIBSVM collection, scaled to [0, 1] with its target. Never fetched in a
    test.
    """

    definition = listed("year", everything_to_unit)
