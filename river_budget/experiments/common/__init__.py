"""What all rooms use: datasets at hand, and tables as text, Markdown, CSV or JSON."""
