"""Random numbers whose state is one number in the block, so that copies and files of a model
contain the state.

SplitMix64 (G. L. Steele, D. Lea, C. H. Flood. Fast splittable pseudorandom number generators.
OOPSLA 2014). Each random decision takes one draw, so the numbers do not depend on how the examples
were divided into calls.
"""

from __future__ import annotations

import numpy as np

from .compiling import entry_of, inner, passes

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1, MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
S11, S27, S30, S31 = np.uint64(11), np.uint64(27), np.uint64(30), np.uint64(31)


@inner
def mix(z):
    """The 53 random bits that follow from a state, as a number in [0, 2^53)."""
    z = (z ^ (z >> S30)) * MIX_1
    z = (z ^ (z >> S27)) * MIX_2
    return np.float64((z ^ (z >> S31)) >> S11)


@inner
def uniform(head):
    """A uniform random number in [0, 1); head = m.head[0]. Advances head.random."""
    head.random = head.random + GOLDEN
    return mix(head.random) * 2.0**-53


@inner
def below(head, n):
    """A uniform random integer in 0 .. n - 1; head = m.head[0]. Advances head.random."""
    return np.int64(uniform(head) * n)


@inner
def numbered(key, i):
    """Number i of the sequence that `uniforms` returns for this key."""
    return (mix(key + GOLDEN * np.uint64(i + 1)) + 0.5) * 2.0**-53


def uniforms(key, n):
    """n uniform numbers in (0, 1) that depend on the key alone; a larger n continues the same
    sequence.

    For a column of keys, a matrix with a row for each.
    """
    keys = np.array(key, np.uint64)
    drawn = np.empty((keys.size, n))
    arguments = keys.reshape(-1), drawn
    entry_of(fill_uniforms, arguments)(*arguments)
    return drawn if keys.ndim else drawn[0]


@passes
def fill_uniforms(keys, drawn):
    """Write the numbers of keys[i] to drawn[i]. Modifies `drawn` in place."""
    for i in range(keys.shape[0]):
        for j in range(drawn.shape[1]):
            drawn[i, j] = numbered(keys[i], j)
