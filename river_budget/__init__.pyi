# The public names. They are written here and nowhere else: type checkers read this file, and so does `_names.py`, to  # noqa: E501
# know where a name is loaded from. `import *` leaves out what is marked `on demand`.

from . import datasets as datasets  # on demand
from . import distributed as distributed  # on demand
from . import export as export  # on demand
from . import kernels as kernels
from . import maintenance as maintenance
from . import plots as plots  # on demand
from . import saving as saving  # on demand
from . import sklearn as sklearn  # on demand
from .algorithms.auto.estimators import AutoKernelClassifier as AutoKernelClassifier
from .algorithms.auto.estimators import AutoKernelRegressor as AutoKernelRegressor
from .algorithms.features.fogd import FOGDClassifier as FOGDClassifier
from .algorithms.features.fogd import FOGDRegressor as FOGDRegressor
from .algorithms.features.fourier import RandomFourier as RandomFourier
from .algorithms.features.fourier import RBFSampler as RBFSampler
from .algorithms.features.nogd import NOGDClassifier as NOGDClassifier
from .algorithms.features.nogd import NOGDRegressor as NOGDRegressor
from .algorithms.features.nystroem import Nystroem as Nystroem
from .algorithms.features.sketch import PolynomialCountSketch as PolynomialCountSketch
from .algorithms.gaussian.krls_tracker import KRLSTRegressor as KRLSTRegressor
from .algorithms.gradient.bogd import BOGDClassifier as BOGDClassifier
from .algorithms.gradient.bogd import BOGDRegressor as BOGDRegressor
from .algorithms.gradient.bsgd import BSGDClassifier as BSGDClassifier
from .algorithms.gradient.bsgd import BSGDRegressor as BSGDRegressor
from .algorithms.gradient.norma import NORMAClassifier as NORMAClassifier
from .algorithms.gradient.norma import NORMARegressor as NORMARegressor
from .algorithms.gradient.ogd import KernelOGDClassifier as KernelOGDClassifier
from .algorithms.gradient.ogd import KernelOGDRegressor as KernelOGDRegressor
from .algorithms.gradient.one_class import KernelOneClassSVM as KernelOneClassSVM
from .algorithms.perceptrons.bpa import BPAClassifier as BPAClassifier
from .algorithms.perceptrons.budget_perceptron import (
    BudgetPerceptronClassifier as BudgetPerceptronClassifier,
)
from .algorithms.perceptrons.forgetron import ForgetronClassifier as ForgetronClassifier
from .algorithms.perceptrons.forgetron import ForgetronRegressor as ForgetronRegressor
from .algorithms.perceptrons.mistake_bounds import mistake_bound as mistake_bound
from .algorithms.perceptrons.perceptron import (
    KernelPerceptronClassifier as KernelPerceptronClassifier,
)
from .algorithms.perceptrons.perceptron import (
    KernelPerceptronRegressor as KernelPerceptronRegressor,
)
from .algorithms.perceptrons.projectron import ProjectronClassifier as ProjectronClassifier
from .algorithms.perceptrons.projectron import ProjectronPPClassifier as ProjectronPPClassifier
from .algorithms.perceptrons.projectron import ProjectronRegressor as ProjectronRegressor
from .algorithms.perceptrons.rbp import RBPClassifier as RBPClassifier
from .algorithms.perceptrons.rbp import RBPRegressor as RBPRegressor
from .algorithms.scaling.scalers import MinMaxScaler as MinMaxScaler
from .algorithms.scaling.scalers import StandardScaler as StandardScaler
from .algorithms.scaling.targets import TargetStandardScaler as TargetStandardScaler
from .algorithms.window.sbp import SBPClassifier as SBPClassifier
from .experiments.own_data.reading import read as read  # on demand
from .guard.guard import Guard as Guard
from .messages.stream_warnings import StreamWarning as StreamWarning
from .mixing.mixture import Mixture as Mixture
from .mixing.refitted import Refitted as Refitted
from .saving import SavedModelError as SavedModelError
from .saving import load as load
from .saving import save as save
from .saving.checkpoint import Checkpoint as Checkpoint
from .uniting import merge as merge
from .wrappers.delayed import Delayed as Delayed
from .wrappers.feature_budget import FeatureBudget as FeatureBudget
from .wrappers.pipelines import decision_function_one as decision_function_one
from .wrappers.pipelines import memory_usage as memory_usage
from .wrappers.pipelines import predict_then_learn_many as predict_then_learn_many
from .wrappers.pipelines import summary as summary
from .wrappers.pipelines import support_vectors as support_vectors

__all__: list[str]
__version__: str
