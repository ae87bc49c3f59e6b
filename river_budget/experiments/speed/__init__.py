"""Times as ratios: against scikit-learn, River and the limit of the processor; compiling ahead."""
