"""Operations other than products, each against NumPy."""

import itertools

import numpy as np
import pytest
import rigblas as rig
import scipy.sparse as sp
from oracle import ACCUMULATE, allowed_places, csr_of, random_dense, random_sparse

BINARY = {
    "plus": np.add, "minus": np.subtract, "times": np.multiply, "minimum": np.minimum, "maximum": np.maximum,
    "first": lambda x, y: x + 0 * y, "second": lambda x, y: y + 0 * x,
    "logical_or": lambda x, y: ((x != 0) | (y != 0)).astype(x.dtype),
    "logical_and": lambda x, y: ((x != 0) & (y != 0)).astype(x.dtype),
    "equal": np.equal, "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal,
    "greater": np.greater, "greater_equal": np.greater_equal,
}
COMPARISONS = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}
UNARY = {
    "identity": lambda x: x, "negate": np.negative, "absolute": np.abs, "reciprocal": lambda x: 1 / x,
    "square": np.square, "square_root": np.sqrt, "exponential": np.exp, "logarithm": np.log,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "hyperbolic_tangent": np.tanh, "relu": lambda x: np.maximum(x, 0),
    "sign": np.sign, "floor": np.floor, "ceiling": np.ceil, "round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x), "logical_not": lambda x: x == 0,
    "one": np.ones_like,
}


def matrix_of(stored, values):
    return rig.matrix(csr_of(stored, values), shape=stored.shape)


def places_of(A):
    """(stored, values) of a Matrix."""
    stored = np.zeros(A.shape, dtype=bool)
    rows = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    stored[rows, A.indices] = True
    values = np.zeros(A.shape, dtype=A.dtype)
    values[rows, A.indices] = A.data
    return stored, values


def assert_matrix(A, stored, values, dtype=None):
    if dtype is not None:
        assert A.dtype == np.dtype(dtype)
    got_stored, got = places_of(A)
    np.testing.assert_array_equal(got_stored, stored)
    np.testing.assert_array_equal(got[stored], values[stored].astype(A.dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("op", BINARY)
def test_element_by_element(random, op, dtype):
    (xs, x), (ys, y) = (random_sparse(random, 7, 9, 0.5, dtype) for _ in range(2))
    natural = "bool" if op in COMPARISONS else dtype
    both = BINARY[op](x, y)
    assert_matrix(rig.ewise_mult(matrix_of(xs, x), matrix_of(ys, y), op), xs & ys, both, natural)
    alone = np.where(xs, x, y)
    if natural == "bool":
        alone = alone != 0
    union = np.where(xs & ys, both, alone)
    assert_matrix(rig.ewise_add(matrix_of(xs, x), matrix_of(ys, y), op), xs | ys, union, natural)
    turned = rig.ewise_add(matrix_of(xs.T, x.T), matrix_of(ys.T, y.T), op, transpose_a=True, transpose_b=True)
    assert_matrix(turned, xs | ys, union, natural)


def test_divide(random):
    (xs, x), (ys, y) = (random_sparse(random, 7, 9, 0.5, low=1) for _ in range(2))
    with np.errstate(all="ignore"):
        assert_matrix(rig.ewise_mult(matrix_of(xs, x), matrix_of(ys, y), "divide"), xs & ys, x / y)


@pytest.mark.parametrize("op", ["plus", "times", "minus", "first"])
def test_beside_an_array(random, op):
    xs, x = random_sparse(random, 7, 4, 0.5)
    d = random.random((7, 4))
    A = matrix_of(xs, x)
    np.testing.assert_array_equal(rig.ewise_add(A, d, op), np.where(xs, BINARY[op](x, d), d))
    np.testing.assert_array_equal(rig.ewise_add(d, A, op), np.where(xs, BINARY[op](d, x), d))
    assert_matrix(rig.ewise_mult(A, d, op), xs, BINARY[op](x, d))
    assert_matrix(rig.ewise_mult(d, A, op), xs, BINARY[op](d, x))
    np.testing.assert_array_equal(rig.ewise_mult(d, d, op), BINARY[op](d, d))


def test_vectors_element_by_element():
    u, v = rig.vector([0, 2], [1.0, 2.0], size=4), rig.vector([2, 3], [5.0, 7.0], size=4)
    np.testing.assert_array_equal(rig.ewise_add(u, v).toarray(), [1, 0, 7, 7])
    np.testing.assert_array_equal(rig.ewise_mult(u, v).toarray(), [0, 0, 10, 0])
    np.testing.assert_array_equal(rig.ewise_add(u, np.arange(4.0)), [1, 1, 4, 3])
    assert isinstance(rig.ewise_mult(u, np.arange(4.0)), rig.Vector)


@pytest.mark.parametrize("complement,structure,replace", list(itertools.product([False, True], repeat=3)))
@pytest.mark.parametrize("accum", [None, "plus", "minus", "second"])
def test_masks_and_accumulators(random, accum, complement, structure, replace):
    (xs, x), (ys, y), (cs, c), (ms, m) = (random_sparse(random, 6, 8, 0.5, low=0, high=3) for _ in range(4))
    C = matrix_of(cs, c)
    made = rig.ewise_add(matrix_of(xs, x), matrix_of(ys, y), mask=matrix_of(ms, m), out=C, accum=accum,
                         complement=complement, structure=structure, replace=replace)
    assert made is C
    ts, t = xs | ys, np.where(xs & ys, x + y, np.where(xs, x, y))
    if accum is None:
        zs, z = ts, t
    else:
        zs, z = cs | ts, np.where(cs & ts, ACCUMULATE[accum](c, t), np.where(cs, c, t))
    allowed = allowed_places((6, 8), (ms, m), complement, structure)
    assert_matrix(C, np.where(allowed, zs, cs & (not replace)), np.where(allowed, z, c))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("op", UNARY)
def test_unary(random, op, dtype):
    xs, x = random_sparse(random, 7, 5, 0.5, dtype)
    with np.errstate(all="ignore"):
        expected = UNARY[op](x)
    got = rig.apply(matrix_of(xs, x), op)
    assert got.dtype == np.dtype(dtype)
    _, values = places_of(got)
    np.testing.assert_allclose(values[xs], expected[xs], rtol=1e-6 if dtype == "float32" else 1e-14)
    full = rig.apply(x, op)
    np.testing.assert_allclose(full, expected, rtol=1e-6 if dtype == "float32" else 1e-14)


@pytest.mark.parametrize("op", [op for op in BINARY if op not in ("logical_or", "logical_and")] + ["divide"])
@pytest.mark.parametrize("first", [False, True])
def test_apply_with_a_number(random, op, first):
    function = BINARY.get(op, np.divide)
    xs, x = random_sparse(random, 7, 5, 0.5, low=1)
    y = np.full_like(x, 2)
    with np.errstate(all="ignore"):
        expected = function(y, x) if first else function(x, y)
    assert_matrix(rig.apply(matrix_of(xs, x), op, 2, first=first), xs, expected,
                  "bool" if op in COMPARISONS else "float64")


def test_the_type_of_a_number():
    ints = rig.matrix(np.eye(3, dtype="int64"))
    assert rig.apply(ints, "times", 2).dtype == np.int64
    assert rig.apply(ints, "times", 2.5).dtype == np.float64
    assert rig.apply(ints.astype("float32"), "times", 2.5).dtype == np.float32
    assert rig.apply(ints, "less", 0.5).dtype == bool
    with pytest.raises(ValueError, match="4294967296"):
        rig.apply(ints.astype("int32"), "plus", 2**32)


def test_select(random):
    xs, x = random_sparse(random, 7, 9, 0.6)
    A = matrix_of(xs, x)
    i, j = np.indices(x.shape)
    rules = {
        "lower": j <= i + 1, "upper": j >= i + 1, "diagonal": j == i + 1, "off_diagonal": j != i + 1,
        "row_at_most": i <= 1, "row_above": i > 1, "column_at_most": j <= 1, "column_above": j > 1,
        "equal": x == 1, "not_equal": x != 1, "less": x < 1, "less_equal": x <= 1, "greater": x > 1,
        "greater_equal": x >= 1,
    }
    for op, rule in rules.items():
        assert_matrix(rig.select(A, op, 1), xs & rule, x)
    assert_matrix(rig.select(A, "lower"), xs & (j <= i), x)
    assert_matrix(rig.select(A, "lower", transpose_a=True), (xs & (j >= i)).T, x.T)
    assert rig.select(rig.vector([0, 3], [1.0, 5.0]), "greater", 2).nnz == 1
    with pytest.raises(ValueError, match="0.5"):
        rig.select(A, "lower", 0.5)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_reduce(random, dtype):
    xs, x = random_sparse(random, 7, 9, 0.4, dtype, low=1)
    xs[3] = xs[:, 4] = False
    A = matrix_of(xs, x)
    full = np.where(xs, x, 0)
    assert rig.reduce(A) == full.sum()
    assert type(rig.reduce(A)) is (float if dtype.startswith("f") else int)
    assert rig.reduce(A, "maximum") == x[xs].max() and rig.reduce(A, "minimum") == x[xs].min()
    rows, columns = rig.reduce_rows(A), rig.reduce_columns(A)
    assert isinstance(rows, rig.Vector) and rows.size == 7 and columns.size == 9 and rows.dtype == full.sum().dtype
    np.testing.assert_array_equal(rows.indices, np.flatnonzero(xs.any(axis=1)))
    np.testing.assert_array_equal(rows.toarray(), full.sum(axis=1))
    np.testing.assert_array_equal(columns.toarray(), full.sum(axis=0))
    np.testing.assert_array_equal(rig.reduce_rows(A, "maximum").toarray(), full.max(axis=1))
    np.testing.assert_array_equal(rig.reduce_rows(A, transpose_a=True).toarray(), full.sum(axis=0))
    np.testing.assert_array_equal(rig.reduce_rows(x), x.sum(axis=1))
    np.testing.assert_array_equal(rig.reduce_columns(x), x.sum(axis=0))
    assert rig.reduce(x) == x.sum()
    assert rig.reduce(rig.vector(np.array([1.0, 0, 4]))) == 5


def test_sums_of_booleans_count():
    xs = np.array([[True, True, False], [False, False, False]])
    A = rig.matrix(sp.csr_array(xs))
    assert rig.reduce(A) == rig.reduce(xs) == 2 and rig.reduce(A, "maximum") is True
    np.testing.assert_array_equal(rig.reduce_rows(A).toarray(), [2, 0])
    np.testing.assert_array_equal(rig.reduce_rows(xs), [2, 0])


@pytest.mark.parametrize("op,of", [("square_root", np.sqrt), ("exponential", np.exp), ("reciprocal", np.reciprocal)])
def test_functions_of_integers_are_floats(op, of):
    x = np.array([[1, 4, 9]])
    want = of(x.astype(float))
    for got in (rig.apply(x, op), rig.apply(rig.matrix(x), op).toarray()):
        assert got.dtype == np.float64
        np.testing.assert_allclose(got, want)


PARTS = [
    (None, None), (slice(1, 5), None), (None, slice(None, None, 2)), (slice(None, None, -1), slice(5, 1, -2)),
    ([2, 0, 2], None), ([1, 3], [4, 0]), (np.array([6]), slice(0, 0)), ([], [1]), (slice(-3, None), [-0]),
    ([True, False, True, False, False, True, True], None),
]


@pytest.mark.parametrize("rows,columns", PARTS)
def test_extract_and_assign(random, rows, columns):
    xs, x = random_sparse(random, 7, 9, 0.5)
    at = np.ix_(np.arange(7)[slice(None) if rows is None else rows], np.arange(9)[slice(None) if columns is None else columns]) \
        if not (isinstance(rows, list) and not rows) else np.ix_(np.arange(0), np.arange(9)[columns])
    A = matrix_of(xs, x)
    part = rig.extract(A, rows, columns)
    assert_matrix(part, xs[at], x[at])
    np.testing.assert_array_equal(rig.extract(x, rows, columns), x[at])
    turned = rig.extract(matrix_of(xs.T, x.T), rows, columns, transpose_a=True)
    assert turned == part
    if isinstance(rows, list) and len(set(rows)) < len(rows):
        return
    ys, y = random_sparse(random, *part.shape, 0.5)
    C = matrix_of(xs, x)
    assert rig.assign(C, matrix_of(ys, y), rows, columns) is C
    cs, c = xs.copy(), x.copy()
    cs[at], c[at] = ys, y
    assert_matrix(C, cs, c)
    c = x.copy()
    expected = x.copy()
    expected[at] = y
    assert rig.assign(c, y, rows, columns) is c
    np.testing.assert_array_equal(c, expected)
    expected[at] += 3
    rig.assign(c, 3, rows, columns, accum="plus")
    np.testing.assert_array_equal(c, expected)


def test_a_number_is_a_place():
    x = np.arange(12.0).reshape(3, 4)
    A = rig.matrix(x + 1)
    np.testing.assert_array_equal(rig.extract(A, -1).toarray(), x[[-1]] + 1)
    np.testing.assert_array_equal(rig.extract(x, np.int64(1), 2), x[[1]][:, [2]])
    with pytest.raises(ValueError):
        rig.extract(A, 3)


def test_parts_of_vectors():
    v = rig.vector([0, 2, 3], [1.0, 2.0, 3.0], size=5)
    np.testing.assert_array_equal(rig.extract(v, [3, 0, 1]).toarray(), [3, 1, 0])
    np.testing.assert_array_equal(rig.extract(v, slice(1, 4)).toarray(), [0, 2, 3])
    rig.assign(v, 9, [1])
    np.testing.assert_array_equal(v.toarray(), [1, 9, 2, 3, 0])
    rig.assign(v, rig.vector([0], [4.0], size=2), [4, 0])
    np.testing.assert_array_equal(v.toarray(), [0, 9, 2, 3, 4])
    with pytest.raises(ValueError, match="columns"):
        rig.extract(v, [0], [0])


def test_assign_under_a_mask():
    c = np.zeros(4)
    rig.assign(c, 1, mask=rig.vector([1, 3], size=4), structure=True)
    np.testing.assert_array_equal(c, [0, 1, 0, 1])
    C = rig.matrix(np.eye(3))
    rig.assign(C, 2, mask=C, structure=True, complement=True)
    np.testing.assert_array_equal(C.toarray(), 2 - np.eye(3))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "int64", "bool"])
def test_transpose(random, dtype):
    xs, x = random_sparse(random, 7, 9, 0.5, dtype)
    A = matrix_of(xs, x)
    assert_matrix(rig.transpose(A), xs.T, x.T, dtype)
    assert A.T.T == A
    np.testing.assert_array_equal(rig.transpose(x), x.T)
    s = sp.csr_array(np.where(xs, x, 0).astype("float64"))
    np.testing.assert_array_equal(rig.transpose(s).toarray(), s.T.toarray())


def test_kronecker(random):
    (xs, x), (ys, y) = random_sparse(random, 3, 4, 0.5, low=1), random_sparse(random, 2, 3, 0.5, low=1)
    A, B = matrix_of(xs, x), matrix_of(ys, y)
    full = np.kron(np.where(xs, x, 0), np.where(ys, y, 0))
    np.testing.assert_array_equal(rig.kronecker(A, B).toarray(), full)
    stored = np.kron(xs, ys).astype(bool)
    assert_matrix(rig.kronecker(A, B, "plus"), stored, np.kron(x, np.ones_like(y)) + np.kron(np.ones_like(x), y))


@pytest.mark.parametrize("k", [-2, 0, 1])
def test_diagonals(k):
    v = rig.vector([0, 2], [1.5, 2.5], size=3)
    D = rig.diag(v, k)
    np.testing.assert_array_equal(D.toarray(), np.diag([1.5, 0, 2.5], k))
    assert rig.diagonal(D, k) == v
    x = np.arange(12.0).reshape(3, 4) + 1
    np.testing.assert_array_equal(rig.diagonal(rig.matrix(x), k).toarray(), np.diag(x, k))


def test_toarray(random):
    xs, x = random_sparse(random, 3, 4, 0.5, "int32")
    np.testing.assert_array_equal(rig.toarray(matrix_of(xs, x), absent=-1), np.where(xs, x, -1))
    assert rig.toarray(matrix_of(xs, x), dtype="float64", absent=np.nan).dtype == np.float64
    assert rig.toarray(x) is x


@pytest.mark.parametrize("of,to", list(itertools.permutations(["float32", "float64", "float16", "int32", "int64", "bool"], 2)))
def test_astype(random, of, to):
    xs, x = random_sparse(random, 4, 5, 0.6, of, low=0)
    assert_matrix(matrix_of(xs, x).astype(to), xs, x.astype(to), to)
    assert rig.iso(matrix_of(xs, x), 3, dtype="int32").astype(to).dtype == np.dtype(to)


def test_dtype_of_a_result(random):
    A = rig.matrix(np.eye(2, dtype="float32"))
    assert rig.ewise_add(A, A, dtype="float64").dtype == np.float64
    assert rig.ewise_add(A, A.astype("int32")).dtype == np.float64
    assert rig.apply(A, "negate", dtype="int32").dtype == np.int32
    assert rig.reduce_rows(A, dtype="float64").dtype == np.float64
    assert rig.ewise_add(random_dense(random, (2, 2), "int32"), random_dense(random, (2, 2), "int64")).dtype == np.int64
