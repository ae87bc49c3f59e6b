"""The tables and figures of five papers, a file or a folder for each paper."""
