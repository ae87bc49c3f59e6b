"""Many settings of a model over one stream."""
