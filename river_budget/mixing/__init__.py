"""Learners that are made of others: a mixture of models, and a batch learner that is refitted."""

from __future__ import annotations

from .mixture import Mixture, MixtureClassifier, MixtureRegressor
from .refitted import Refitted, RefittedClassifier, RefittedRegressor

__all__ = [
    "Mixture",
    "MixtureClassifier",
    "MixtureRegressor",
    "Refitted",
    "RefittedClassifier",
    "RefittedRegressor",
]
