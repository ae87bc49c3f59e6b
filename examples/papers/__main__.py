"""`python examples/papers`: the verbs of command.py, for this folder as the package `papers`."""

import pathlib
import sys

if __name__ == "__main__":
    sys.path[0] = str(pathlib.Path(__file__).resolve().parents[1])

    from papers.command import main

    sys.exit(main())
