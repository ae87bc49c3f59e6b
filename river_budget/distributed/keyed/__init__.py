"""A model for every key of a stream, distributed over shards."""
