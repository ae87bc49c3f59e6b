"""The splitmix64 generator in plain Python integers, so that random choices can be replayed."""

from __future__ import annotations

MASK = 2**64 - 1


def splitmix64(state):
    """Advance the 64-bit state once; returns (new state, 64-bit output word)."""
    state = (state + 0x9E3779B97F4A7C15) & MASK
    z = state
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return state, z ^ (z >> 31)


class SplitMix:
    """A stream of splitmix64 words turned into uniform numbers and indices."""

    def __init__(self, state):
        self.state = state & MASK

    def word(self):
        self.state, word = splitmix64(self.state)
        return word

    def uniform(self):
        """A float in [0, 1): the upper 53 bits of the next word."""
        return (self.word() >> 11) * 2.0**-53

    def below(self, n):
        """An index in 0..n-1 (one word is used)."""
        return int(n * self.uniform())
