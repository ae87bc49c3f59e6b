"""What cannot be exported."""

from __future__ import annotations


def not_exported(what: str) -> NotImplementedError:
    return NotImplementedError(
        f"{what} cannot be exported. What can: the kernel expansions, AutoKernel, FOGD and NOGD of river_budget, its maps "
        "RandomFourier, RBFSampler, Nystroem and PolynomialCountSketch, Guard, and River's StandardScaler, MinMaxScaler, "
        "OneHotEncoder, Select, Discard, TransformerUnion, TargetStandardScaler, OneVsRestClassifier, LinearRegression, "
        "LogisticRegression and SoftmaxRegression"
    )
