"""The steps of a pipeline that files hold beside our models in a block: parameters, state, and what
each may be.

Most are River's. Linear models are saved with plain gradient descent at a constant rate, their
usual losses and no l1 penalty: the state of other optimizers is not known here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...guard.guard import with_steps
from ...wrappers.delayed import LARGEST_SURPRISE, TRUST
from ...wrappers.feature_budget import LARGEST_COUNT
from .encoding import PART, TABLE, ClassSpec, Model, Object, class_of
from .held import HeldRows, Shares
from .kinds import (
    ANY,
    BOOLEAN,
    COUNT,
    FRACTION,
    NAME,
    NUMBER,
    POSITIVE,
    TEXT,
    WEIGHT,
    Codec,
    ListOf,
    Optional,
    Table,
    TupleOf,
    Value,
    is_number,
    real,
    whole,
)
from .refits import LABELS, REFIT, REFIT_STATE, MixerState, is_a_refit
from .special import Categories, Imputer, Imputers, Kept, ScalerTable, Type, Weights
from .statistics import STATISTIC, STATISTIC_PARTS, WINDOW_SIZE

LONGEST_PHRASE = 10
# the tokens of River's classes. Another expression from a file could take a time that is
# exponential in a text's length
TOKENS = r"(?u)\b\w[\w\-]+\b"
MOST_FACTORS = 4  # of a product: their numbers of features are multiplied
MOST_POWER = 4
STEP = Model("transform_one")


def _is_range(value: Any) -> bool:
    whole = type(value) is tuple and [*map(type, value)] == [int, int]
    return whole and 1 <= value[0] <= value[1] <= LONGEST_PHRASE


def _is_fault(value: Any) -> bool:
    return type(value) is tuple and [*map(type, value)] == [str, str]


def _union(key: str) -> Callable[..., Any]:
    def made(transformers: dict[str, Any]) -> Any:
        union = class_of(key)()
        union.transformers.update(transformers)
        return union

    return made


def _is_spread(model: Any) -> bool:
    return bool(model.var._S >= 0.0)


def _is_of_one_kind(model: Any) -> bool:
    return all(type(one) is type(model.classifier) for one in model.classifiers.values())


def _is_in_time(model: Any) -> bool:
    """Whether the predictions that a Delayed holds were made before the next one."""
    return all(number < model._asked for number in model._held)


def _counts_labels(model: Any) -> bool:
    """Whether the labels of a mixture have the numbers 0, 1, ..."""
    return list(model._labels.values()) == list(range(len(model._labels)))


def _has_few_factors(product: Any) -> bool:
    return len(product.transformers) <= MOST_FACTORS


def _nothing(what: str) -> Value:
    return Value(lambda value: value is None or value is False, f"None: {what}")


NO_FUNCTION = "files hold no functions. Call it on the text before the pipeline"
NO_STEP = (
    "set. Files hold no functions: call it on each example before the pipeline, and save the steps "
    "behind it"
)


ANY_SIZE: dict[str, Codec] = {"window_size": Optional(WINDOW_SIZE)}


def _names(key: str) -> ClassSpec:
    return ClassSpec({f"*{key}": ListOf(NAME, set)})


WORDS: dict[str, Codec] = {
    "on": NAME,
    "strip_accents": BOOLEAN,
    "lowercase": BOOLEAN,
    "preprocessor": _nothing(NO_FUNCTION),
    "stop_words": Optional(ListOf(TEXT, set)),
    "tokenizer_pattern": Value(lambda value: value == TOKENS, f"River's default, {TOKENS!r}"),
    "tokenizer": _nothing(NO_FUNCTION),
    "ngram_range": Value(_is_range, f"a pair of numbers from 1 to {LONGEST_PHRASE}"),
}
LINEAR: dict[str, Codec] = {
    "optimizer": Object("optim.SGD"),
    "l2": WEIGHT,
    "l1": Value(lambda value: is_number(value) and value == 0, "0"),
    "intercept_init": WEIGHT,
    "intercept_lr": Object("optim.schedulers.Constant"),
    "clip_gradient": WEIGHT,
    "initializer": Object("optim.initializers.Zeros"),
}
LINEAR_STATE: dict[str, Codec] = {
    "_weights": Weights(WEIGHT),
    "intercept": WEIGHT,
    "_y_name": NAME,
}
MIXTURE: dict[str, Codec] = {"first_weights": Optional(ListOf(WEIGHT, tuple))}
MODELS: dict[str, ClassSpec] = {
    # pipelines and wrappers
    "compose.Pipeline": ClassSpec(
        {"steps": Table(Model("_supervised"), TEXT)},
        make=lambda steps: with_steps(list(steps.items())),
    ),
    "compose.TransformerProduct": ClassSpec(
        {"transformers": Table(STEP, TEXT)},
        make=_union("compose.TransformerProduct"),
        fits=_has_few_factors,
    ),
    "compose.TransformerUnion": ClassSpec(
        {"transformers": Table(STEP, TEXT)}, make=_union("compose.TransformerUnion")
    ),
    "multiclass.OneVsRestClassifier": ClassSpec(
        {"classifier": Model("predict_proba_one")},
        {"classifiers": Table(Model("predict_proba_one")), "_y_name": NAME},
        fits=_is_of_one_kind,
    ),
    "preprocessing.TargetStandardScaler": ClassSpec(
        {"regressor": Model("predict_one")}, {"var": PART}, fits=_is_spread
    ),
    "TargetStandardScaler": ClassSpec(
        {"regressor": Model("predict_one")}, {"var": PART, "target_name": NAME}, fits=_is_spread
    ),
    "Delayed": ClassSpec(
        {"classifier": Model("predict_proba_one"), "max_held": POSITIVE},
        {
            "_gains": TupleOf(*[WEIGHT] * len(TRUST)),
            "_likeness": TupleOf(WEIGHT, WEIGHT),
            "_recent": real(-LARGEST_SURPRISE, LARGEST_SURPRISE),
            "_shares": Shares(),
            "_learned": COUNT,
            "_asked": COUNT,
            "_unasked": COUNT,
            "_lag": COUNT,
            "_last_key": whole(-1, 2**53),
            "_last_learned": whole(-1, 2**53),
            "_held": HeldRows(),
        },
        fits=_is_in_time,
    ),
    "mixing.MixtureClassifier": ClassSpec(
        MIXTURE | {"*models": ListOf(Model("predict_proba_one"), tuple)},
        LABELS | {"_mixer": MixerState()},
        fits=_counts_labels,
    ),
    "mixing.MixtureRegressor": ClassSpec(
        MIXTURE | {"*models": ListOf(Model("predict_one"), tuple)}, {"_mixer": MixerState()}
    ),
    "mixing.RefittedClassifier": ClassSpec(REFIT, REFIT_STATE | LABELS, fits=is_a_refit),
    "mixing.RefittedRegressor": ClassSpec(REFIT, REFIT_STATE, fits=is_a_refit),
    # names and texts
    "FeatureBudget": ClassSpec(
        {"max_features": POSITIVE, "half_life": Optional(NUMBER)},
        {"_weight": real(1.0, LARGEST_COUNT), "_counts": Kept()},
    ),
    "compose.Discard": _names("keys"),
    "compose.FuncTransformer": ClassSpec({"func": Value(lambda value: False, NO_STEP)}),
    "compose.Prefixer": ClassSpec({"prefix": TEXT}),
    "compose.Renamer": ClassSpec({"mapping": Table(NAME)}),
    "compose.Select": _names("keys"),
    "compose.SelectType": ClassSpec({"*types": ListOf(Type(), list)}),
    "compose.Suffixer": ClassSpec({"suffix": TEXT}),
    "feature_extraction.BagOfWords": ClassSpec(WORDS),
    "feature_extraction.TFIDF": ClassSpec(
        {"normalize": BOOLEAN} | WORDS, {"dfs": Table(COUNT), "n": COUNT}
    ),
    "preprocessing.FeatureHasher": ClassSpec(
        {
            "n_features": whole(1, 2**31),
            "seed": Optional(whole(0, 2**32 - 1)),
            "alternate_sign": BOOLEAN,
        },
        {"_seed": whole(0, 2**32 - 1)},
    ),
    # categories and statistics of groups
    "feature_extraction.Agg": ClassSpec(
        {"on": NAME, "by": Optional(ListOf(TEXT, list)), "how": STATISTIC},
        {"_groups": Table(PART)},
    ),
    "feature_extraction.TargetAgg": ClassSpec(
        {"by": Optional(ListOf(TEXT, list)), "how": STATISTIC, "target_name": NAME},
        {"_groups": Table(PART)},
    ),
    "preprocessing.OneHotEncoder": ClassSpec(
        {
            "categories": Optional(Table(ListOf(NAME, set))),
            "drop_zeros": BOOLEAN,
            "drop_first": BOOLEAN,
        },
        {"values": Categories()},
    ),
    "preprocessing.OrdinalEncoder": ClassSpec(
        {
            "categories": Optional(Table(Table(NUMBER))),
            "unknown_value": Optional(NUMBER),
            "none_value": NUMBER,
        },
        {"values": Table(Table(NUMBER))},
    ),
    # missing values
    "Guard": ClassSpec(
        {"on_bad": TEXT},
        {
            "_last": Table(NAME),
            "_skipped": Table(COUNT, Value(_is_fault, "a feature and a reason")),
            "_in_a_row": COUNT,
            "_warned": BOOLEAN,
        },
    ),
    "preprocessing.PreviousImputer": ClassSpec(state={"_latest": Table(ANY)}),
    "preprocessing.StatImputer": ClassSpec({"*imputers": Imputers(Imputer(STATISTIC))}),
    # scales
    "MinMaxScaler": ClassSpec(state={"table": ScalerTable()}),
    "StandardScaler": ClassSpec({"with_std": BOOLEAN}, {"table": ScalerTable()}),
    "preprocessing.AdaptiveStandardScaler": ClassSpec(
        {"fading_factor": FRACTION}, {"vars": Table(PART), "means": Table(PART)}
    ),
    "preprocessing.Binarizer": ClassSpec({"threshold": NUMBER, "dtype": Type()}),
    "preprocessing.MaxAbsScaler": ClassSpec(ANY_SIZE, {"abs_max": Table(PART)}),
    "preprocessing.MinMaxScaler": ClassSpec(ANY_SIZE, {"min": Table(PART), "max": Table(PART)}),
    "preprocessing.Normalizer": ClassSpec({"order": real(0.0, 1000.0)}),
    "preprocessing.RobustScaler": ClassSpec(
        {
            "with_centering": BOOLEAN,
            "with_scaling": BOOLEAN,
            "q_inf": FRACTION,
            "q_sup": FRACTION,
        },
        {"median": Table(PART), "iqr": Table(PART)},
    ),
    "preprocessing.StandardScaler": ClassSpec(
        ANY_SIZE | {"with_std": BOOLEAN},
        {"counts": Table(COUNT), "means": Table(PART), "vars": Table(PART)},
    ),
    # choices and products of features
    "feature_extraction.PolynomialExtender": ClassSpec(
        {
            "degree": whole(1, MOST_POWER),
            "interaction_only": BOOLEAN,
            "include_bias": BOOLEAN,
            "bias_name": TEXT,
        }
    ),
    "feature_selection.SelectKBest": ClassSpec(
        {
            "similarity": Object("stats.Cov", "stats.PearsonCorr"),
            "k": whole(0, 2**53),
            "use_abs": BOOLEAN,
        },
        {"similarities": Table(PART), "leaderboard": Table(NUMBER)},
    ),
    "feature_selection.VarianceThreshold": ClassSpec(
        {"threshold": NUMBER, "min_samples": NUMBER}, {"variances": Table(PART)}
    ),
    # linear models and detectors
    "anomaly.QuantileFilter": ClassSpec(
        {
            "anomaly_detector": Model("score_one"),
            "q": FRACTION,
            "protect_anomaly_detector": BOOLEAN,
        },
        {"quantile": PART},
    ),
    "anomaly.ThresholdFilter": ClassSpec(
        {
            "anomaly_detector": Model("score_one"),
            "threshold": NUMBER,
            "protect_anomaly_detector": BOOLEAN,
        }
    ),
    "linear_model.LinearRegression": ClassSpec(
        LINEAR | {"loss": Object("optim.losses.Squared")}, LINEAR_STATE
    ),
    "linear_model.LogisticRegression": ClassSpec(
        LINEAR | {"loss": Object("optim.losses.Log")}, LINEAR_STATE
    ),
    "linear_model.SoftmaxRegression": ClassSpec(
        {
            "optimizer": Object("optim.SGD"),
            "loss": Object("optim.losses.CrossEntropy"),
            "l2": WEIGHT,
        },
        {"optimizers": Table(PART), "weights": Table(Table(WEIGHT))},
    ),
}
TABLE.update(STATISTIC_PARTS | MODELS)
