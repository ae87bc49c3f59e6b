"""The tables and figures of five papers, a file or two for each paper."""
