"""From scores to probabilities: online Newton steps on the log loss that forget, slow and literal.

Binary: P(+1) = sigmoid(slope f). Multi-class: P(r) ~ exp(slope f_r + lead [r is the first
highest]). The unknowns are t = log(slope) and lead; a is their matrix of second derivatives
(Gauss-Newton), of which every example used keeps 99 % (each of the first 1000, then one in three),
and a prior of 1 and 4 examples tops it up.
"""

from __future__ import annotations

import numpy as np

KEEP = 0.99
PRIOR = np.diag([1.0, 4.0])


class Calibration:
    def __init__(self):
        self.t, self.lead, self.judged = None, 0.0, 0
        self.curvature = PRIOR.copy()

    @property
    def slope(self):
        return 1.0 if self.t is None else float(np.exp(self.t))

    def probabilities(self, scores):
        """One per class; of two classes the negative one first."""
        scores = np.asarray(scores, dtype=float)
        if len(scores) == 1:
            scores, lead = np.array([0.0, scores[0]]), 0.0
        else:
            lead = self.lead
        logits = self.slope * (scores - scores.max())
        if np.ptp(scores) > 0:
            logits[np.argmax(scores)] += lead
        powers = np.exp(logits - logits.max())
        return powers / powers.sum()

    def learn(self, scores, target, weight=1.0):
        """Target: -1 or +1 with one score, else the number of the class."""
        scores = np.asarray(scores, dtype=float)
        binary = len(scores) == 1
        self.judged += weight > 0
        if weight == 0 or (self.judged > 1000 and self.judged % 3):
            return
        if scores[0] == 0 if binary else np.ptp(scores) == 0:
            return
        if binary:
            scores, target = np.array([0.0, scores[0]]), int(target > 0)
        if self.t is None:
            self.t = float(np.log(2.0 / np.ptp(scores)))
        # gradients of the logits, one row for t and one for lead; differences to the highest score
        along_t = np.maximum(self.slope * (scores - scores.max()), -50.0)
        along_lead = (
            np.zeros(len(scores)) if binary else 1.0 * (np.arange(len(scores)) == np.argmax(scores))
        )
        G, p = np.array([along_t, along_lead]), self.probabilities(scores)
        mean = G @ p
        gradient = weight * (G[:, int(target)] - mean)
        gradient[1] -= (1 - KEEP) * PRIOR[1, 1] * self.lead
        fisher = weight * ((G * p) @ G.T - np.outer(mean, mean))
        if binary:
            self.curvature[0, 0] = KEEP * self.curvature[0, 0] + (1 - KEEP) + fisher[0, 0]
            self.t += nearly(gradient[0] / self.curvature[0, 0])
            return
        self.curvature = KEEP * self.curvature + (1 - KEEP) * PRIOR + fisher
        step = np.linalg.solve(self.curvature, gradient)
        self.t += nearly(step[0])
        self.lead = min(max(self.lead + np.clip(step[1], -1, 1), 0.0), 5.0)


def nearly(step):
    """The step, at most 1, as the logarithm of a quotient: exp is not needed then."""
    step = np.clip(step, -1, 1)
    return np.log((2 + step) / (2 - step))
