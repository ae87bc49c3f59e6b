"""`python -m river_budget`: the same as `river-budget`, for environments whose commands are not on
the path.
"""

import sys

from .experiments.command import main

sys.exit(main())
