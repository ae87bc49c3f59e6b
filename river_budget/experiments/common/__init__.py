"""Code for all experiments: available datasets, and tables as text, Markdown, CSV or JSON."""
