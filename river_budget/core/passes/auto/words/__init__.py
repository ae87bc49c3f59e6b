"""Examples of few names out of very many, of which new ones keep coming."""
