"""One model from several streams."""
