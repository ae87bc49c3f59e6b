"""The archive of the automatic kernel learners, plainly: entries are objects, and a search sorts
what it has found.

It holds the latest 12 budgets of rows as they came, in float32, numbered in a ring, in which those
that the memory holds are passed over. An entry has 16 links, at first to itself: 8 to the nearest
entries when it came, and one of 8 others, by the number of the row, to each row that came later and
linked to it. A search begins with the 20 nearest of the memory. A step follows the links of the 2
nearest entries that have not been followed yet, leaves out what was seen or is in the memory, and
keeps the 20 nearest of all. There are 3 steps, and 10 with 8 classes or more.
"""

from __future__ import annotations

import numpy as np

TIMES, K, LINKED, FOLLOWED = 12, 20, 8, 2


class Entry:
    def __init__(self, x, y, weight, error, number):
        self.x, self.y, self.number = np.float32(x), y, number
        self.weight, self.error = max(weight, 1e-9), error
        self.links = [number] * (2 * LINKED)


class Archive:
    def __init__(self, budget):
        self.size = TIMES * budget
        self.entries, self.held, self.count = {}, set(), 0

    def search(self, near, z, a, steps):
        """[distance, entry, whether it was followed], the nearest first, from those of the
        memory.
        """
        pool = [list(item) for item in near]
        seen = set(self.held)
        for _ in range(steps):
            found = []
            for item in [item for item in pool if not item[2]][:FOLLOWED]:
                item[2] = True
                for number in item[1].links:
                    if number not in seen:
                        entry = self.entries[number]
                        found.append([np.sum(a * (z - entry.x) ** 2), entry, False])
                    seen.add(number)
            pool = sorted(pool + found, key=lambda item: item[0])[:K]
        return pool

    def add(self, x, y, weight, error, pool):
        while self.count % self.size in self.held:
            self.count += 1
        entry = Entry(x.copy(), y, weight, error, self.count % self.size)
        for k, (_, other, _) in enumerate(pool[:LINKED]):
            entry.links[k] = other.number
            other.links[LINKED + entry.number % LINKED] = entry.number
        self.entries[entry.number] = entry
        self.held.add(entry.number)
        self.count += 1
        return entry


def vote(pool, beta):
    """(entries, their shares, the effective number of them)"""
    D = np.array([item[0] for item in pool])
    entries = [item[1] for item in pool]
    pi = np.exp(-beta * (D - D[0]) / max(D[-1], 1e-9)) * [entry.weight for entry in entries]
    pi /= pi.sum()
    return entries, pi, 1.0 / np.sum(pi**2)
