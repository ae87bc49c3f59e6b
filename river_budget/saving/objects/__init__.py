"""Objects that are no models in a block: River's steps and statistics, and our wrappers."""
