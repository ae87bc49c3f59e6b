"""The estimators: one file per algorithm, named as its class and as its file in core."""
