"""The machine that a speed measurement ran on, and the clean environment variables that it needs."""

from __future__ import annotations

import importlib
import os
import platform
import sys
from collections.abc import Mapping
from typing import Any

import llvmlite.binding
import numpy as np

# variables that slow an algebra library, or give it more than one thread
SLOWING_VARIABLES = ("OPENBLAS", "GOTO", "MKL", "BLIS", "OMP", "VECLIB", "NUMEXPR", "ATLAS", "NPY_")
THREAD_VARIABLES = (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


def clean_environment(environment: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """(environment with one thread and without variables that change speed, the removed variables)"""
    aside = sorted(
        name
        for name in environment
        if name.startswith(SLOWING_VARIABLES)
        or (name.startswith("NUMBA_") and name != "NUMBA_CACHE_DIR")
    )
    clean = {name: value for name, value in environment.items() if name not in aside}
    clean |= dict.fromkeys(THREAD_VARIABLES, "1")
    clean["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    return clean, [name for name in aside if name not in THREAD_VARIABLES]


def described() -> str:
    """The processor and the algebra library of this process."""
    wide = "with" if llvmlite.binding.get_host_cpu_features().get("avx512f") else "without"
    vectors = f", {wide} AVX-512" if platform.machine() in ("x86_64", "AMD64") else ""
    name = f"{processor()} ({llvmlite.binding.get_host_cpu_name()}{vectors})"
    return f"{name}; one thread; BLAS: {algebra()}; numpy {np.__version__}"


def processor() -> str:
    """The name of the processor."""
    try:
        with open("/proc/cpuinfo") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:  # not Linux
        pass
    return platform.processor() or platform.machine()


def algebra() -> str:
    """The library that multiplies matrices, its kernel, and how many threads it may use."""
    try:
        libraries = importlib.import_module("threadpoolctl").threadpool_info
    except ImportError:
        config: Any = np.show_config(mode="dicts")  # type: ignore[call-overload,unused-ignore]
        found = config["Build Dependencies"]["blas"]
        return f"{found['name']} {found['version']}, built for {found.get('openblas configuration', 'any')}"
    np.ones((2, 2)) @ np.ones((2, 2))
    # scipy may have its own library, and the order of the list is random
    for library in sorted(libraries(), key=lambda library: "numpy" not in library["filepath"]):
        if library["user_api"] == "blas":
            kernel = library.get("architecture", "one kernel")
            return f"{library['internal_api']} {library['version']}, {kernel}"
    return "unknown"
