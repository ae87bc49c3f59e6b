"""Where workers live and how they are called."""
