"""River's estimator classes, and functions that inspect models of any kind."""
