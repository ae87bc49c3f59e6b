"""What every estimator stands on: the block, River's shells, features, targets, calls."""
