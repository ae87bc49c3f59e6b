"""AutoKernel, the learner without settings."""
