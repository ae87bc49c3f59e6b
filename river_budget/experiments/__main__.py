"""`python -m river_budget.experiments`"""

import sys

from .command import main

sys.exit(main())
