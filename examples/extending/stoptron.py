"""The Stoptron: a Perceptron that stores every mistake, until its budget is full."""

from river_budget import extending as ext


@ext.compiled
def round_of(m, state, x, norm, f, y, w):
    loss, sign, plus, minus = ext.loss_and_direction(m.head[0], f, y, 0.0)
    if m.head[0].count < m.head[0].budget and ext.is_mistake(m.head[0], f, loss, sign, plus, minus):
        ext.add_to(m, ext.insert(m, x, norm), plus, minus, w * sign)


@ext.register
class StoptronClassifier(ext.Classifier):
    """A Perceptron that stops at its budget."""

    algorithm = ext.algorithm(round_of, keep=ext.remove_oldest)

    def __init__(self, budget: int = 100, kernel=None, classes: tuple | None = None):
        super().__init__(locals())
