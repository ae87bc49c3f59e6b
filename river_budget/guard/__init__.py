"""A first step of a pipeline that keeps out values which are no finite numbers."""
