"""Clears up after a program that was killed: ends the processes of the cluster that it had started, and removes
their folder.

Runs by itself: `python watch.py folder program`, with a pipe as its input that closes when the program ends, in
whatever way. A program that has left its cluster has removed the folder, and then there is nothing to do. If it closes
the pipe and lives on, it is spared: it may have a log of that cluster open still.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

ROUNDS = 20  # processes that are about to end may start others, and files may come while they are removed
PAUSE = 0.2  # seconds


def watch(folder: str) -> subprocess.Popen[bytes] | None:
    """Have this folder cleared up, where the system lets one see what processes do."""
    if not os.path.isdir("/proc/self/fd"):
        return None
    return subprocess.Popen(
        [sys.executable, "-I", __file__, folder, str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _uses(process: pathlib.Path, folder: str) -> bool:
    """Whether a process names the folder, or has a file in it open."""
    if folder.encode() in (process / "cmdline").read_bytes():
        return True
    return any(os.readlink(link).startswith(folder) for link in (process / "fd").iterdir())


def _end_all(folder: str, program: int) -> None:
    for process in pathlib.Path("/proc").iterdir():
        if process.name.isdigit() and int(process.name) not in (os.getpid(), program):
            with contextlib.suppress(OSError):  # it has ended, or belongs to somebody else
                if _uses(process, folder):
                    os.kill(int(process.name), signal.SIGKILL)


def main() -> None:
    folder, program = sys.argv[1], int(sys.argv[2])
    sys.stdin.buffer.read()
    for _ in range(ROUNDS):
        if not os.path.isdir(folder):
            return
        _end_all(folder, program)
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(PAUSE)


if __name__ == "__main__":
    main()
