"""Budget maintenance of a full model: removal, projection, merging."""
