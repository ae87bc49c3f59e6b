"""Times as ratios: against scikit-learn and River; compiling ahead."""
