"""What a full model gives up: removal, projection, merging."""
