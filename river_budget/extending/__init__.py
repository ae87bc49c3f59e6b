"""What an algorithm of your own needs, in one import (the guide: examples/extending.md).

`algorithm` makes what a class holds of a function of one example and, if there is a budget, of a
rule that removes vectors. `Classifier` and `Regressor` are the base classes; `Mutable`, `Fixed` and
the checks declare parameters; `register` lets files hold the class. The functions that such a
function calls are those of the algorithms of this package:

    loss_and_direction, is_mistake, squared_length      what the scores mean for the target
    insert, add_to, rescale, remove, add_or_project     change the support
    row_of_vector, self_kernel, along_row, weight_of    look at it
    remove_oldest, remove_random, remove_smallest, merge_pair, project_smallest      rules
    uniform, below                                      random numbers

`descent_on` makes a round of a loss, `removal_by` a rule of a criterion, `each_example` a pass for
a method, whose numbers `results_of` gives. A method reads the numbers of the model by `state_of`,
and tables beside the vectors, `algorithm(own=...)`, by `own_tables`. `check` asks of a model what
the tests of this package ask.
"""

from __future__ import annotations

from ..core.compiling import of_user as compiled
from ..core.expansion.kernels import along_row, row_of_vector, self_kernel
from ..core.expansion.support import add_to, insert, remove, rescale, weight_of
from ..core.random_numbers import below, uniform
from ..core.rounds.losses import is_mistake, loss_and_direction, squared_length
from ..model.algorithm import After, Algorithm, Files, unchanged
from ..model.estimators import BudgetClassifier as Classifier
from ..model.estimators import BudgetRegressor as Regressor
from ..model.stored import Vectors
from ..parameters import (
    Fixed,
    Mutable,
    boolean,
    not_negative,
    one_of,
    optional,
    positive,
    share,
    whole,
)
from ..saving import register
from .checking import check
from .making import algorithm, descent_on, each_example, own_tables, results_of, state_of
from .rules import (
    add_or_project,
    merge_pair,
    project_smallest,
    removal_by,
    remove_oldest,
    remove_random,
    remove_smallest,
)

__all__ = [
    "After",
    "Algorithm",
    "Classifier",
    "Files",
    "Fixed",
    "Mutable",
    "Regressor",
    "Vectors",
    "add_or_project",
    "add_to",
    "algorithm",
    "along_row",
    "below",
    "boolean",
    "check",
    "compiled",
    "descent_on",
    "each_example",
    "insert",
    "is_mistake",
    "loss_and_direction",
    "merge_pair",
    "not_negative",
    "one_of",
    "optional",
    "own_tables",
    "positive",
    "project_smallest",
    "register",
    "removal_by",
    "remove",
    "remove_oldest",
    "remove_random",
    "remove_smallest",
    "rescale",
    "results_of",
    "row_of_vector",
    "self_kernel",
    "share",
    "squared_length",
    "state_of",
    "unchanged",
    "uniform",
    "weight_of",
    "whole",
]
