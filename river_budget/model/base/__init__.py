"""The base class of all models: a block with parameters, copies of it, one example and batches."""
