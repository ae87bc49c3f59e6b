"""Measurements of long tests."""

from __future__ import annotations

import mmap
import os

import pytest


def resident():
    """Bytes of memory that this process has now."""
    if not os.path.exists("/proc/self/statm"):
        pytest.skip("memory is read from /proc, which this system has not")
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * mmap.PAGESIZE
