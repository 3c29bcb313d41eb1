"""Features of graph networks: MaxK, bytes, normalisation, orders."""

import numpy as np
import pytest
import rigblas as rig
import scipy.sparse as sp
from oracle import csr_of, random_sparse


@pytest.fixture
def graph(random):
    stored, values = random_sparse(random, 12, 12, 0.3, "float32", low=1)
    return rig.matrix(csr_of(stored, values), shape=(12, 12))


def kept_by_hand(x, k):
    kept = np.zeros_like(x)
    for row, out in zip(x, kept):
        at = np.argsort(-row, kind="stable")[:k]
        out[at] = row[at]
    return kept


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("k", [1, 3, 8])
def test_maxk(random, dtype, k):
    x = random.permutation(96).reshape(12, 8).astype(dtype) - 40
    c = rig.maxk(x, k)
    assert (c.shape, c.k, c.dtype, c.device) == ((12, 8), k, np.dtype(dtype), "cpu")
    assert c.values.shape == c.indices.shape == (12, k) and c.indices.dtype == np.int32
    np.testing.assert_array_equal(c.dense(), kept_by_hand(x, k))
    np.testing.assert_array_equal(np.take_along_axis(x, c.indices, axis=1), c.values)
    with pytest.raises(ValueError):
        c.values[:] = 0
    assert repr(c) == f"<rigblas.Cbsr 12x8, k = {k}, {dtype}, on cpu>"


def test_maxk_product_and_its_gradient(random, graph):
    x = random.random((12, 8)).astype("float32")
    c = rig.maxk(x, 3)
    full = graph.toarray()
    np.testing.assert_allclose(rig.mxm(graph, c), full @ c.dense(), rtol=1e-5)
    dy = random.random((12, 8)).astype("float32")
    back = rig.mxm(graph, dy, mask=c, structure=True, transpose_a=True)
    assert isinstance(back, rig.Cbsr)
    np.testing.assert_array_equal(back.indices, c.indices)
    np.testing.assert_allclose(back.values, np.take_along_axis(full.T @ dy, c.indices, axis=1), rtol=1e-5)
    np.testing.assert_array_equal(rig.maxk_gradient(dy, c).values, np.take_along_axis(dy, c.indices, axis=1))
    with pytest.raises(ValueError, match="structure"):
        rig.mxm(graph, dy, mask=c)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("columns", [8, 300])
def test_cbsr_of_arrays(random, graph, dtype, columns):
    indices = np.sort([random.permutation(columns)[:3] for _ in range(12)])
    values = random.random((12, 6)).astype(dtype)[:, ::2]
    for places in (indices, indices.astype("int32"), indices.astype("uint16"), indices.tolist()):
        c = rig.cbsr(values, places, columns)
        assert (c.shape, c.k, c.dtype) == ((12, columns), 3, np.dtype(dtype))
        np.testing.assert_array_equal(c.values, values)
        np.testing.assert_array_equal(c.indices, indices)
    again = rig.cbsr(c.values, c.indices, columns)
    np.testing.assert_array_equal(again.dense(), c.dense())
    if dtype == "float32":
        np.testing.assert_allclose(rig.mxm(graph, c), graph.toarray() @ c.dense(), rtol=1e-5)
    for wrong, error, words in (
        ((values, indices[:, :2], columns), ValueError, "values are 12x3, indices 12x2"),
        ((values, indices + columns, columns), ValueError, "column|index"),
        ((values, indices[:, ::-1], columns), ValueError, "ascend|order"),
        ((values, indices, 2), ValueError, "k is 3|columns"),
        ((values, indices + 2**40, columns), ValueError, "index"),
        ((values, indices * 1.0, columns), TypeError, "indices are float64; give integers"),
        ((indices, indices, columns), TypeError, "elements are int64"),
        ((values, indices, 2**17), ValueError, "65"),
    ):
        with pytest.raises(error, match=words):
            rig.cbsr(*wrong)


def test_a_view_of_a_cbsr_outlives_it(random):
    x = random.random((12, 8)).astype("float32")
    values = rig.maxk(x, 3).values
    again = [np.full(100, -1.0) for _ in range(100)]
    np.testing.assert_array_equal(values, rig.maxk(x, 3).values)
    del again


@pytest.mark.parametrize("per", ["matrix", "column"])
@pytest.mark.parametrize("rounding", ["nearest", "floor"])
def test_quantized(random, graph, per, rounding):
    x = random.normal(size=(12, 5)).astype("float32")
    q = rig.quantize(x, per=per, rounding=rounding)
    assert q.shape == (12, 5) and q.per_column == (per == "column")
    assert q.codes.dtype == np.uint8 and q.codes.shape == (12, 5)
    axis = 0 if per == "column" else None
    step = (x.max(axis=axis) - x.min(axis=axis)) / 255
    np.testing.assert_allclose(q.low, np.atleast_1d(x.min(axis=axis)), rtol=1e-6)
    np.testing.assert_allclose(q.step, np.atleast_1d(step), rtol=1e-6)
    assert (np.abs(q.dense() - x) <= step * (1.01 if rounding == "floor" else 0.51)).all()
    np.testing.assert_allclose(q.dense(), q.low + q.step * q.codes, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(rig.mxm(graph, q), graph.toarray() @ q.dense(), rtol=1e-4, atol=1e-4)
    assert "Quantized 12x5" in repr(q)


def test_normalisation(graph):
    full = graph.toarray().astype(float)
    mean = rig.mean_normalise(graph).toarray()
    np.testing.assert_allclose(mean, full / np.maximum((full != 0).sum(axis=1, keepdims=True), 1), rtol=1e-5)
    soft = rig.edge_softmax(graph)
    for i in range(12):
        row = slice(graph.indptr[i], graph.indptr[i + 1])
        e = np.exp(graph.data[row] - graph.data[row].max(initial=0))
        np.testing.assert_allclose(soft.data[row], e / e.sum(), rtol=1e-5)
    ones = rig.iso(graph)
    gcn = rig.gcn_normalise(ones).toarray()
    looped = np.maximum((graph.toarray() != 0).astype(float), np.eye(12))
    d = looped.sum(axis=1)
    np.testing.assert_allclose(gcn, looped / np.sqrt(np.outer(d, d)), rtol=1e-5)
    assert rig.gcn_normalise(rig.matrix(np.eye(3, dtype="int64"))).dtype == np.float32


def test_structure(graph):
    full = graph.toarray()
    looped = rig.add_self_loops(graph, 5)
    want = np.where(np.eye(12, dtype=bool) & (full == 0), 5, full)
    np.testing.assert_array_equal(looped.toarray(), want)
    both = rig.symmetrise(graph)
    np.testing.assert_array_equal(both.toarray() != 0, (full != 0) | (full.T != 0))


@pytest.mark.parametrize("by", ["loa", "degree", "rcm"])
def test_orders(by):
    A = rig.generate("karate")
    p = rig.reorder(A, by)
    assert p.dtype == np.int32 and p.shape == (34,)
    np.testing.assert_array_equal(np.sort(p), np.arange(34))
    B = rig.permute(A, p)
    full = np.zeros((34, 34))
    full[np.ix_(p, p)] = A.toarray()
    np.testing.assert_array_equal(B.toarray(), full)
    x = np.arange(68.0).reshape(34, 2)
    moved = rig.permute(x, p)
    np.testing.assert_array_equal(moved[p], x)
    assert rig.permute(x[:, 0].copy(), p).shape == (34,)
    np.testing.assert_allclose(rig.mxm(B, moved)[p], rig.mxm(A, x))


def test_devices():
    here = rig.devices()[0]
    assert here["device"] == "cpu" and here["threads"] >= 1
    rig.synchronise("cpu")
    with pytest.raises(ValueError, match="device"):
        rig.synchronise("gpu")


def test_scipy_goes_in_everywhere():
    s = sp.csr_array(np.eye(4, dtype="float32"))
    np.testing.assert_array_equal(rig.mxm(s, np.ones((4, 2), dtype="float32")), np.ones((4, 2)))
    assert rig.symmetrise(s).nnz == 4
