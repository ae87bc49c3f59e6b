"""What long tests measure."""

from __future__ import annotations

import resource


def resident():
    """Bytes of memory that this process has now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()
