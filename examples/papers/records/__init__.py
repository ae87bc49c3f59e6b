"""Tables and figures of papers as records: cells, the tasks that measure them, and verdicts."""
