"""What goes around models and into pipelines, and functions of whole pipelines."""
