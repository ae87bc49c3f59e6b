"""The classes that files hold beside our models in a block: parameters, state, and what each may be (attributes.py).

Most are River's, as steps around one of ours. Linear models are saved with plain gradient descent at a constant
rate, their usual losses and no l1 penalty: the state of other optimizers is not known here.
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Callable
from typing import Any

from ..delayed import MOST_EVIDENCE, TRUST
from ..feature_budget import LARGEST_COUNT
from ..guard import with_steps
from .archive import text_of
from .attributes import (
    ANY,
    BOOLEAN,
    COUNT,
    NAME,
    NUMBER,
    PART,
    TABLE,
    TEXT,
    Compiled,
    Kind,
    Known,
    Model,
    Object,
    Optional,
    Reading,
    Row,
    Several,
    Table,
    Value,
    Writing,
    class_of,
    is_number,
    real,
    whole,
)
from .errors import SavedModelError, damaged
from .held import HeldRows

TYPES = {"bool": bool, "float": float, "int": int, "str": str, "numbers.Number": numbers.Number}
LONGEST_PATTERN, MOST_REPETITIONS, LONGEST_PHRASE = 200, 2, 10
MOST_FACTORS = 4  # of a product: their numbers of features are multiplied
MOST_POWER = 4
WEIGHT = real(-1e300, 1e300)
STEP = Model("transform_one")


# attributes of one class


class Type(Kind):
    """A type of values, by its name."""

    def encoded(self, value: Any, write: Writing) -> Any:
        for name, kind in TYPES.items():
            if kind is value:
                return name
        raise SavedModelError(f"{value!r} cannot be saved: it must be one of {', '.join(TYPES)}")

    def decoded(self, node: Any, old: Any, read: Reading) -> Any:
        if not isinstance(node, str) or node not in TYPES:
            raise damaged("it names no type")
        return TYPES[node]


class Categories(Kind):
    """What a OneHotEncoder has seen, (feature, value) in the order of its columns; they are learned again."""

    rows = Several(Row(NAME, NAME), list)

    def of(self, owner: Any, name: str, write: Writing) -> Any:
        if owner.categories is not None:
            return []
        places = {column: place for place, column in enumerate(owner._zero_dict)}
        seen = [(feature, value) for feature, values in owner.values.items() for value in values]
        rows = self.rows.encoded(seen, write)
        order = [
            (places[f"{feature}_{value}"], text_of(row), row)
            for (feature, value), row in zip(seen, rows, strict=True)
        ]
        return [row for _, _, row in sorted(order)]

    def put(self, owner: Any, name: str, node: Any, read: Reading) -> None:
        for feature, value in self.rows.decoded(node, None, read):
            owner.learn_one({feature: value})


class Imputer(Kind):
    """What replaces a missing value: [a constant], or a statistic."""

    def encoded(self, value: Any, write: Writing) -> Any:
        if type(value).__name__ == "Constant":
            return [ANY.encoded(value.value, write)]
        return STATISTIC.encoded(value, write)

    def decoded(self, node: Any, old: Any, read: Reading) -> Any:
        if isinstance(node, list):
            return Row(ANY).decoded(node, None, read)[0]
        return STATISTIC.decoded(node, None, read)


class Imputers(Table):
    """The features of a StatImputer, each with a statistic that has learned or a constant."""

    def of(self, owner: Any, name: str, write: Writing) -> Any:
        return self.encoded(owner.stats, write)

    def decoded(self, node: Any, old: Any, read: Reading) -> Any:
        return super().decoded(node, None, read).items()


class Weights(Table):
    """The weights of a linear model, which River keeps in a dict of its own."""

    def put(self, owner: Any, name: str, node: Any, read: Reading) -> None:
        weights = self.decoded(node, None, read)
        setattr(owner, name, class_of("utils.VectorDict")(weights, owner.initializer))


class SortedWindow(Kind):
    """A window that River keeps in order: its numbers as they came."""

    rows = Several(real(-math.inf), list)

    def encoded(self, value: Any, write: Writing) -> Any:
        return self.rows.encoded(value.unsorted_window, write)

    def decoded(self, node: Any, old: Any, read: Reading) -> Any:
        for number in self.rows.decoded(node, None, read):
            old.append(number)
        return old


class Window(Kind):
    """What a statistic over a window has learned and will forget: one number each."""

    rows = Several(NUMBER, list)

    def encoded(self, value: Any, write: Writing) -> Any:
        if any(len(given) != 1 or named for given, named in value):
            raise SavedModelError("windows of more than one number at a time cannot be saved")
        return self.rows.encoded([number for (number,), _ in value], write)

    def decoded(self, node: Any, old: Any, read: Reading) -> Any:
        old.extend(((number,), {}) for number in self.rows.decoded(node, None, read))
        return old


class Rows(Kind):
    """The table of one of our scalers."""

    rows = Several(Row(NAME, real(0.0, 2.0**53), NUMBER, NUMBER), list)

    def of(self, owner: Any, name: str, write: Writing) -> Any:
        return self.rows.encoded(owner.table(), write)

    def put(self, owner: Any, name: str, node: Any, read: Reading) -> None:
        owner.set_table(self.rows.decoded(node, None, read))


class Kept(Kind):
    """The names of a FeatureBudget, in order of arrival."""

    rows = Several(Row(NAME, WEIGHT, COUNT), list)

    def of(self, owner: Any, name: str, write: Writing) -> Any:
        return self.rows.encoded(owner.kept(), write)

    def put(self, owner: Any, name: str, node: Any, read: Reading) -> None:
        rows = self.rows.decoded(node, None, read)
        arrivals = [arrival for _, _, arrival in rows]
        if len(rows) > owner.max_features or len(set(arrivals)) < len(rows):
            raise damaged("it keeps more names than it may")
        owner.restore(rows, owner._weight)


# what classes need beside their attributes


def _is_pattern(value: Any) -> bool:
    """Whether this is a regular expression that is quick on any text: without groups and with few repetitions."""
    if type(value) is not str or len(value) > LONGEST_PATTERN:
        return False
    plain = value.removeprefix("(?u)")
    escaped = re.sub(r"\\.", "", plain)
    if "(" in escaped or len(re.findall(r"[*+{]", escaped)) > MOST_REPETITIONS:
        return False
    try:
        re.compile(value)
    except (re.error, RecursionError, OverflowError):
        return False
    return True


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


def _rolling(obj: Any, window_size: int) -> Any:
    made = class_of("utils.Rolling")(class_of("stats.Mean"), window_size)
    made.obj = obj
    return made


def _has_its_window(rolling: Any) -> bool:
    counted = getattr(rolling.obj, "n", len(rolling.window)) == len(rolling.window)
    return counted and hasattr(rolling.obj, "revert")


def _is_spread(model: Any) -> bool:
    return bool(model.var._S >= 0.0)


def _is_of_one_kind(model: Any) -> bool:
    return all(type(one) is type(model.classifier) for one in model.classifiers.values())


def _is_in_time(model: Any) -> bool:
    """Whether the predictions that a Delayed holds were made before the next one."""
    return all(number < model._asked for number in model._held)


def _has_few_factors(product: Any) -> bool:
    return len(product.transformers) <= MOST_FACTORS


def _nothing(what: str) -> Value:
    return Value(lambda value: value is None or value is False, f"None: {what}")


NO_FUNCTION = "files hold no functions. Call it on the text before the pipeline"
NO_STEP = "set. Files hold no functions: call it on each example before the pipeline, and save the steps behind it"


# the table

POSITIVE = whole(1, 2**53)
FRACTION = real(0.0, 1.0)
WINDOW_SIZE = whole(1, 2**31)
ANY_SIZE: dict[str, Kind] = {"window_size": Optional(WINDOW_SIZE)}


def _names(key: str) -> Known:
    return Known({f"*{key}": Several(NAME, set)})


STATISTICS: dict[str, Known] = {
    "stats.AbsMax": Known(state={"abs_max": NUMBER}),
    "stats.BayesianMean": Known({"prior": NUMBER, "prior_weight": real(0.0)}, {"_mean": PART}),
    "stats.Count": Known(state={"n": COUNT}),
    "stats.Cov": Known({"ddof": COUNT}, {"mean_x": PART, "mean_y": PART, "cov": NUMBER}),
    "stats.EWMean": Known({"fading_factor": FRACTION}, {"_ewmean": Compiled("<3d?d")}),
    "stats.EWVar": Known({"fading_factor": FRACTION}, {"_ewvar": Compiled("<3d?3d?2d")}),
    "stats.IQR": Known(
        {"q_inf": FRACTION, "q_sup": FRACTION},
        {"_iqr": Compiled("<21dB?21dB?2d"), "_is_updated": BOOLEAN},
    ),
    "stats.Kurtosis": Known({"bias": BOOLEAN}, {"_kurtosis": Compiled("<?7d?")}),
    "stats.Max": Known(state={"max": NUMBER}),
    "stats.Mean": Known(state={"n": real(0.0), "_mean": NUMBER}),
    "stats.Min": Known(state={"min": NUMBER}),
    "stats.Mode": Known({"k": whole(-1, 2**53)}, {"counts": Table(COUNT)}),
    "stats.PeakToPeak": Known(state={"_ptp": Compiled("<2d"), "_is_updated": BOOLEAN}),
    "stats.PearsonCorr": Known({"ddof": COUNT}, {"var_x": PART, "var_y": PART, "cov_xy": PART}),
    "stats.Quantile": Known(
        {"q": FRACTION}, {"_quantile": Compiled("<21dB?"), "_is_updated": BOOLEAN}
    ),
    "stats.RollingAbsMax": Known({"window_size": WINDOW_SIZE}, {"window": SortedWindow()}),
    "stats.RollingMax": Known({"window_size": WINDOW_SIZE}, {"window": SortedWindow()}),
    "stats.RollingMin": Known({"window_size": WINDOW_SIZE}, {"window": SortedWindow()}),
    "stats.SEM": Known({"ddof": COUNT}, {"mean": PART, "_S": NUMBER}),
    "stats.Shift": Known({"amount": COUNT, "fill_value": ANY}, {"buffer": Several(ANY, list)}),
    "stats.Skew": Known({"bias": BOOLEAN}, {"_skew": Compiled("<7d2?")}),
    "stats.Sum": Known(state={"sum": NUMBER}),
    "stats.Var": Known({"ddof": COUNT}, {"mean": PART, "_S": NUMBER}),
}
STATISTIC = Object(*STATISTICS, "utils.Rolling")
PARTS = STATISTICS | {
    "utils.Rolling": Known(
        {"obj": Object(*STATISTICS), "window_size": WINDOW_SIZE},
        {"obj": PART, "window": Window()},
        _rolling,
        _has_its_window,
    ),
    "optim.SGD": Known({"lr": Object("optim.schedulers.Constant")}, {"n_iterations": COUNT}),
    "optim.initializers.Zeros": Known(),
    "optim.losses.CrossEntropy": Known({"class_weight": Table(NUMBER)}),
    "optim.losses.Log": Known({"weight_pos": NUMBER, "weight_neg": NUMBER}),
    "optim.losses.Squared": Known(),
    "optim.schedulers.Constant": Known({"learning_rate": WEIGHT}),
}

WORDS: dict[str, Kind] = {
    "on": NAME,
    "strip_accents": BOOLEAN,
    "lowercase": BOOLEAN,
    "preprocessor": _nothing(NO_FUNCTION),
    "stop_words": Optional(Several(TEXT, set)),
    "tokenizer_pattern": Value(
        _is_pattern, f"a pattern without groups and with at most {MOST_REPETITIONS} repetitions"
    ),
    "tokenizer": _nothing(NO_FUNCTION),
    "ngram_range": Value(_is_range, f"a pair of numbers from 1 to {LONGEST_PHRASE}"),
}
LINEAR: dict[str, Kind] = {
    "optimizer": Object("optim.SGD"),
    "l2": WEIGHT,
    "l1": Value(lambda value: is_number(value) and value == 0, "0"),
    "intercept_init": WEIGHT,
    "intercept_lr": Object("optim.schedulers.Constant"),
    "clip_gradient": WEIGHT,
    "initializer": Object("optim.initializers.Zeros"),
}
LINEAR_STATE: dict[str, Kind] = {
    "_weights": Weights(WEIGHT),
    "intercept": WEIGHT,
    "_y_name": NAME,
}
MODELS: dict[str, Known] = {
    # pipelines and wrappers
    "compose.Pipeline": Known(
        {"steps": Table(Model("_supervised"), TEXT)},
        make=lambda steps: with_steps(list(steps.items())),
    ),
    "compose.TransformerProduct": Known(
        {"transformers": Table(STEP, TEXT)},
        make=_union("compose.TransformerProduct"),
        fits=_has_few_factors,
    ),
    "compose.TransformerUnion": Known(
        {"transformers": Table(STEP, TEXT)}, make=_union("compose.TransformerUnion")
    ),
    "multiclass.OneVsRestClassifier": Known(
        {"classifier": Model("predict_proba_one")},
        {"classifiers": Table(Model("predict_proba_one")), "_y_name": NAME},
        fits=_is_of_one_kind,
    ),
    "preprocessing.TargetStandardScaler": Known(
        {"regressor": Model("predict_one")}, {"var": PART}, fits=_is_spread
    ),
    "TargetStandardScaler": Known(
        {"regressor": Model("predict_one")}, {"var": PART, "target_name": NAME}, fits=_is_spread
    ),
    "Delayed": Known(
        {"classifier": Model("predict_proba_one"), "max_held": POSITIVE},
        {
            "_evidence": Row(*[real(-MOST_EVIDENCE, MOST_EVIDENCE)] * len(TRUST)),
            "_frequencies": Table(FRACTION),
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
    # names and texts
    "FeatureBudget": Known(
        {"max_features": POSITIVE, "half_life": Optional(NUMBER)},
        {"_weight": real(1.0, LARGEST_COUNT), "_counts": Kept()},
    ),
    "compose.Discard": _names("keys"),
    "compose.FuncTransformer": Known({"func": Value(lambda value: False, NO_STEP)}),
    "compose.Prefixer": Known({"prefix": TEXT}),
    "compose.Renamer": Known({"mapping": Table(NAME)}),
    "compose.Select": _names("keys"),
    "compose.SelectType": Known({"*types": Several(Type(), list)}),
    "compose.Suffixer": Known({"suffix": TEXT}),
    "feature_extraction.BagOfWords": Known(WORDS),
    "feature_extraction.TFIDF": Known(
        {"normalize": BOOLEAN} | WORDS, {"dfs": Table(COUNT), "n": COUNT}
    ),
    "preprocessing.FeatureHasher": Known(
        {
            "n_features": whole(1, 2**31),
            "seed": Optional(whole(0, 2**32 - 1)),
            "alternate_sign": BOOLEAN,
        },
        {"_seed": whole(0, 2**32 - 1)},
    ),
    # categories and statistics of groups
    "feature_extraction.Agg": Known(
        {"on": NAME, "by": Optional(Several(TEXT, list)), "how": STATISTIC},
        {"_groups": Table(PART)},
    ),
    "feature_extraction.TargetAgg": Known(
        {"by": Optional(Several(TEXT, list)), "how": STATISTIC, "target_name": NAME},
        {"_groups": Table(PART)},
    ),
    "preprocessing.OneHotEncoder": Known(
        {
            "categories": Optional(Table(Several(NAME, set))),
            "drop_zeros": BOOLEAN,
            "drop_first": BOOLEAN,
        },
        {"values": Categories()},
    ),
    "preprocessing.OrdinalEncoder": Known(
        {
            "categories": Optional(Table(Table(NUMBER))),
            "unknown_value": Optional(NUMBER),
            "none_value": NUMBER,
        },
        {"values": Table(Table(NUMBER))},
    ),
    # missing values
    "Guard": Known(
        {"on_bad": TEXT},
        {
            "_last": Table(NAME),
            "_skipped": Table(COUNT, Value(_is_fault, "a feature and a reason")),
            "_in_a_row": COUNT,
            "_warned": BOOLEAN,
        },
    ),
    "preprocessing.PreviousImputer": Known(state={"_latest": Table(ANY)}),
    "preprocessing.StatImputer": Known({"*imputers": Imputers(Imputer())}),
    # scales
    "MinMaxScaler": Known(state={"table": Rows()}),
    "StandardScaler": Known({"with_std": BOOLEAN}, {"table": Rows()}),
    "preprocessing.AdaptiveStandardScaler": Known(
        {"fading_factor": FRACTION}, {"vars": Table(PART), "means": Table(PART)}
    ),
    "preprocessing.Binarizer": Known({"threshold": NUMBER, "dtype": Type()}),
    "preprocessing.MaxAbsScaler": Known(ANY_SIZE, {"abs_max": Table(PART)}),
    "preprocessing.MinMaxScaler": Known(ANY_SIZE, {"min": Table(PART), "max": Table(PART)}),
    "preprocessing.Normalizer": Known({"order": real(0.0, 1000.0)}),
    "preprocessing.RobustScaler": Known(
        {
            "with_centering": BOOLEAN,
            "with_scaling": BOOLEAN,
            "q_inf": FRACTION,
            "q_sup": FRACTION,
        },
        {"median": Table(PART), "iqr": Table(PART)},
    ),
    "preprocessing.StandardScaler": Known(
        ANY_SIZE | {"with_std": BOOLEAN},
        {"counts": Table(COUNT), "means": Table(PART), "vars": Table(PART)},
    ),
    # choices and products of features
    "feature_extraction.PolynomialExtender": Known(
        {
            "degree": whole(1, MOST_POWER),
            "interaction_only": BOOLEAN,
            "include_bias": BOOLEAN,
            "bias_name": TEXT,
        }
    ),
    "feature_selection.SelectKBest": Known(
        {
            "similarity": Object("stats.Cov", "stats.PearsonCorr"),
            "k": whole(0, 2**53),
            "use_abs": BOOLEAN,
        },
        {"similarities": Table(PART), "leaderboard": Table(NUMBER)},
    ),
    "feature_selection.VarianceThreshold": Known(
        {"threshold": NUMBER, "min_samples": NUMBER}, {"variances": Table(PART)}
    ),
    # linear models and detectors
    "anomaly.QuantileFilter": Known(
        {
            "anomaly_detector": Model("score_one"),
            "q": FRACTION,
            "protect_anomaly_detector": BOOLEAN,
        },
        {"quantile": PART},
    ),
    "anomaly.ThresholdFilter": Known(
        {
            "anomaly_detector": Model("score_one"),
            "threshold": NUMBER,
            "protect_anomaly_detector": BOOLEAN,
        }
    ),
    "linear_model.LinearRegression": Known(
        LINEAR | {"loss": Object("optim.losses.Squared")}, LINEAR_STATE
    ),
    "linear_model.LogisticRegression": Known(
        LINEAR | {"loss": Object("optim.losses.Log")}, LINEAR_STATE
    ),
    "linear_model.SoftmaxRegression": Known(
        {
            "optimizer": Object("optim.SGD"),
            "loss": Object("optim.losses.CrossEntropy"),
            "l2": WEIGHT,
        },
        {"optimizers": Table(PART), "weights": Table(Table(WEIGHT))},
    ),
}
TABLE.update(PARTS | MODELS)
