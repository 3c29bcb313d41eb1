"""Operators where SciPy has them."""

import numpy as np
import pytest
import rigblas as rig
import scipy.sparse as sp
from oracle import csr_of, random_dense, random_sparse

TYPES = ["float32", "float64", "int32", "int64"]


def pair(random, dtype, m=7, n=5):
    stored, values = random_sparse(random, m, n, 0.5, dtype, low=1)
    s = sp.csr_array(csr_of(stored, values), shape=(m, n))
    return rig.matrix(s), s


def assert_like(got, expected):
    if isinstance(got, rig.Matrix):
        expected = sp.csr_array(expected)
        assert got.shape == expected.shape and got.nnz == expected.nnz
        got = got.toarray()
        expected = expected.toarray()
    assert got.dtype == expected.dtype and got.shape == expected.shape
    np.testing.assert_allclose(got, expected, rtol=1e-5)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("other", TYPES)
def test_products(random, dtype, other):
    (A, a), (B, b) = pair(random, dtype), pair(random, other, 5, 6)
    x, y = random_dense(random, (5, 3), other), random_dense(random, (3, 7), other)
    assert_like(A @ x, a @ x)
    assert_like(A @ x[:, 0], a @ x[:, 0])
    assert_like(y @ A, y @ a)
    assert_like(y[0] @ A, y[0] @ a)
    assert_like(A @ B, a @ b)
    assert_like(A @ b, a @ b)
    assert_like(A.T @ y.T, a.T @ y.T)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("other", TYPES)
def test_element_by_element(random, dtype, other):
    (A, a), (B, b) = pair(random, dtype), pair(random, other)
    assert_like(A + B, a + b)
    assert_like(A + b, a + b)
    assert_like(A * B, a * b)
    difference = A - B
    np.testing.assert_array_equal(difference.toarray(), (a - b).toarray())
    x = random_dense(random, (7, 5), other)
    assert_like(A + x, (a + x))
    assert_like(x + A, (x + a))
    assert_like(A - x, (a - x))
    assert_like(x - A, (x - a))
    assert_like(A * x, a * x)
    assert_like(x * A, a * x)


@pytest.mark.parametrize("dtype", TYPES)
def test_numbers(random, dtype):
    A, a = pair(random, dtype)
    assert_like(A * 2, a * 2)
    assert_like(2 * A, 2 * a)
    assert_like(-A, -a)
    assert_like(abs(-A), abs(-a))
    for number in (2.0, np.float32(2), np.float64(2)):
        assert_like((A * number).astype("float64"), (a * number).astype("float64"))
    if dtype.startswith("f"):
        assert_like(A * 2.5, a * 2.5)
        assert (A / 2).dtype == np.dtype(dtype)
        np.testing.assert_array_equal((A / 2).toarray(), a.toarray() / 2)
    for bad in (lambda: A + 1, lambda: 1 + A, lambda: A - 1, lambda: 1 - A):
        with pytest.raises(TypeError):
            bad()


def test_integers_divide_as_numpys(random):
    A, a = pair(random, "int64")
    assert_like(A / 2, a / 2)
    np.testing.assert_array_equal((A / A).data, np.ones(A.nnz))
    np.testing.assert_allclose((3 / A).data, 3 / A.data)


def test_vectors():
    v = rig.vector(np.array([1.0, 0, 4]))
    np.testing.assert_array_equal((v + v).toarray(), [2, 0, 8])
    np.testing.assert_array_equal((v * 2).toarray(), [2, 0, 8])
    np.testing.assert_array_equal((-v).toarray(), [-1, 0, -4])
    np.testing.assert_array_equal((v - v).toarray(), [0, 0, 0])
    A = rig.matrix(np.eye(3))
    assert A @ v == v and v @ A == v


def test_wrong_operands():
    A = rig.matrix(np.eye(3))
    with pytest.raises(ValueError, match="3x3.*4x2"):
        A @ np.ones((4, 2))
    with pytest.raises(TypeError):
        A @ "text"
    with pytest.raises(TypeError):
        A + "text"
    with pytest.raises(TypeError):
        A @ 2


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "int8", "bool"])
def test_differences_with_other_types(dtype):
    x = np.array([[1.0, 0, 3], [2, 3, 0]])
    y = np.array([[1, 0, 0], [1, 1, 1]]).astype(dtype)
    if dtype == "int8":
        y[0, 0] = -128
    A, s = rig.matrix(x), sp.csr_array(y)
    for got in (A - s, A - rig.matrix(s), A - y):
        got = got if isinstance(got, np.ndarray) else got.toarray()
        np.testing.assert_array_equal(got, x - y.astype(float))
    np.testing.assert_array_equal(y - A, y.astype(float) - x)


def test_an_operator_of_scipy():
    from scipy.sparse.linalg import aslinearoperator, cg
    A = rig.matrix(np.array([[4.0, 1, 0], [1, 3, 1], [0, 1, 5]]))
    operator = aslinearoperator(A)
    x = np.arange(3.0)
    np.testing.assert_array_equal(operator @ x, A @ x)
    np.testing.assert_array_equal(operator.rmatvec(x), A.T @ x)
    found, failed = cg(operator, A @ x)
    assert failed == 0
    np.testing.assert_allclose(found, x, atol=1e-5)
    np.testing.assert_array_equal(A @ [0, 1, 2], A.dot(x))
