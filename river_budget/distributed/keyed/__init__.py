"""A model for every key of a stream, over shards."""
