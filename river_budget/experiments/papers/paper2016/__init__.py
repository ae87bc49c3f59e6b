"""J. Lu and others. Large scale online kernel learning. JMLR 17, 2016: all tables and figures."""
