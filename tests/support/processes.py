"""Programs in processes of their own, and functions in threads."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # on Windows the other ends a process as surely


def output_of(*arguments, **variables):
    """What Python prints with these arguments and variables of the environment. Fails unless it ends well."""
    command = [sys.executable, "-W", "ignore", *map(str, arguments)]
    done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True)
    assert done.returncode == 0, f"exit code {done.returncode}:\n{done.stderr[-3000:]}"
    return done.stdout


def in_threads(*works):
    """All of these at once; returns when they have ended."""
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
