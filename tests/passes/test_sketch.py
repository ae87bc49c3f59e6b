"""The polynomial count sketch: against Fourier transforms, and against the kernel."""

from __future__ import annotations

import numpy as np
import pytest
from forging import packed, unpacked
from oracles.sketch import sketch

import river_budget as rb
from river_budget.core.memory import views
from river_budget.core.random_numbers import uniforms
from river_budget.kernels import RBF, Linear, Polynomial
from river_budget.saving import opened

KERNELS = [Polynomial(1, 0.5, 0.0), Polynomial(2, "1/d", 1.0), Polynomial(4, 0.3, 0.7)]


def drawn(model):
    """Places and signs of the features and of the constant, a row for each factor."""
    block = views(model._block)
    columns = block.vectors[: len(model._features), : block.head.count].T
    constant = uniforms(int(block.head.random), block.head.count)
    places = np.column_stack([columns[::2], np.floor(constant[::2] * model.n_components)])
    signs = np.column_stack([columns[1::2], np.where(constant[1::2] < 0.5, -1.0, 1.0)])
    return places.astype(int), signs


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("n", [1, 7, 64])
def test_it_equals_its_reference(kernel, n):
    X = np.random.default_rng(1).normal(size=(20, 6)) * (np.arange(20)[:, None] % 7 != 3)
    model = rb.PolynomialCountSketch(n, kernel, seed=4, scale=2.0)
    model.learn_many(X)
    places, signs = drawn(model)
    gamma = kernel.header_fields(6)["gamma"]
    expected = [2.0 * sketch(x, gamma, kernel.coef0, places, signs, n) for x in X]
    assert model.transform_many(X) == pytest.approx(np.array(expected), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_inner_products_are_those_of_the_kernel_on_average(kernel):
    X = np.random.default_rng(2).normal(size=(15, 6))
    n, products = 128, []
    for seed in range(60):
        model = rb.PolynomialCountSketch(n, kernel, seed=seed, scale=1.0)
        model.learn_many(X)
        Z = model.transform_many(X)
        products.append(Z @ Z.T)
    fields = kernel.header_fields(6)
    K = (fields["gamma"] * X @ X.T + kernel.coef0) ** kernel.degree
    lengths = np.sqrt(np.outer(np.diag(K), np.diag(K)))
    errors = (np.array(products) - K) / lengths
    assert np.sqrt(np.mean(errors**2)) < 1.5 * np.sqrt(kernel.degree / n)
    assert np.abs(errors.mean(axis=0)).mean() < 3.0 / np.sqrt(60 * n)


def test_the_map_of_a_feature_depends_on_its_name_and_the_seed_only():
    x, more = {"a": 1.0, "b": -2.0}, {"z": 3.0, "b": -2.0, "a": 1.0, "c": 0.0}
    first, second = (rb.PolynomialCountSketch(30, Polynomial(2, 0.5), seed=9) for _ in range(2))
    first.learn_one(x)
    second.learn_one(more)
    assert first.transform_one(x) == pytest.approx(second.transform_one(x))
    assert first.transform_one(more) == pytest.approx(second.transform_one(more))
    fresh = rb.PolynomialCountSketch(30, Polynomial(2, 0.5), seed=9)
    assert fresh.transform_one(x) == pytest.approx(first.transform_one(x))
    other = rb.PolynomialCountSketch(30, Polynomial(2, 0.5), seed=8)
    assert other.transform_one(x) != pytest.approx(first.transform_one(x))


@pytest.mark.parametrize("kernel", [RBF(), Linear(), Polynomial(2, 1.0, -1.0)], ids=repr)
def test_other_kernels_are_refused(kernel):
    with pytest.raises(ValueError, match="Polynomial"):
        rb.PolynomialCountSketch(kernel=kernel)


def test_a_file_with_other_places_is_refused(tmp_path):
    model = rb.PolynomialCountSketch(10, seed=1)
    model.learn_one({"a": 1.0, "b": 2.0})
    rb.save(model, tmp_path / "good")
    assert rb.load(tmp_path / "good").transform_one({"a": 1.0}) == model.transform_one({"a": 1.0})
    head, arrays = unpacked((tmp_path / "good").read_bytes())
    arrays["0/vectors"][0, 0] = 1e9
    with pytest.raises(rb.SavedModelError, match="places and signs"):
        opened(packed(head, arrays))
