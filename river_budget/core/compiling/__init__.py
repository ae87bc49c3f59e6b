"""How numba compiles the functions of core: the decorator, the cache, types, linking."""
