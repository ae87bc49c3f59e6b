"""River's and our models with nothing set, or with one kernel for a stream: errors, times, memory, curves."""
