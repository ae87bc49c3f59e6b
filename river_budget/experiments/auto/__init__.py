"""AutoKernel beside River's models, all with nothing set."""
