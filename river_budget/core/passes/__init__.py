"""One compiled pass per algorithm of the papers."""
