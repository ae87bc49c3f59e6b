"""The records of the papers' tables and figures, a file per paper."""
