"""Products with sparse results: matrix × matrix, vectors, and scores of edges."""

import itertools

import numpy as np
import pytest
import rigblas as rig
from oracle import ACCUMULATE, SEMIRINGS, TIMES, ADD, allowed_places, assert_equal, csr_of, random_sparse
from test_products import ONLY_FLOATS, result_type

TYPES = ["float32", "float64", "int32", "int64"]
FINISHED = {"mean_times", "mean_second"}


class SparseProduct:
    """T of two sparse operands, given as (stored, values)."""

    def __init__(self, a, b, semiring):
        add, times = semiring.split("_")
        (a_stored, a_values), (b_stored, b_values) = a, b
        wide = np.int64 if a_values.dtype.kind in "ib" and add != "mean" else np.float64
        shape = a_stored.shape[0], b_stored.shape[1]
        self.values, self.present, self.size = np.zeros(shape, wide), np.zeros(shape, bool), np.zeros(shape)
        for i, j in np.ndindex(shape):
            at = np.flatnonzero(a_stored[i] & b_stored[:, j])
            if len(at):
                terms = TIMES[times](a_values[i, at].astype(wide), b_values[at, j].astype(wide))
                n = len(terms) if add != "mean" else a_stored[i].sum()
                total = terms.sum() / n if add == "mean" else ADD[add](terms)
                self.values[i, j], self.present[i, j] = total, True
                self.size[i, j] = len(at) * np.abs(terms.astype(float)).sum()


def write(product, allowed, c=None, accum=None, replace=False):
    """(stored, values) of C⟨M, replace⟩ = C ⊙ T."""
    if c is None:
        c = np.zeros_like(product.present), np.zeros_like(product.values)
    c_stored, c_values = c
    if accum is None:
        z_stored, z = product.present, product.values
    else:
        z_stored = c_stored | product.present
        both = ACCUMULATE[accum](c_values.astype(product.values.dtype), product.values)
        z = np.where(c_stored & product.present, both, np.where(c_stored, c_values, product.values))
    outside = np.zeros_like(c_stored) if replace else c_stored
    return np.where(allowed, z_stored, outside), np.where(allowed, z, c_values)


def matrix_of(stored, values):
    return rig.matrix(csr_of(stored, values), shape=stored.shape)


def assert_same(got, expected, dtype, size=None):
    stored, values = expected
    assert got.dtype == np.dtype(dtype) and got.shape == stored.shape
    data, indices, indptr = csr_of(stored, values)
    np.testing.assert_array_equal(got.indptr, indptr)
    np.testing.assert_array_equal(got.indices, indices)
    assert_equal(np.asarray(got.data), data, dtype, None if size is None else size[np.nonzero(stored)])


def cases():
    for semiring, dtype in itertools.product(SEMIRINGS, TYPES):
        if not (semiring in ONLY_FLOATS and dtype == "int64"):
            yield semiring, dtype


@pytest.mark.parametrize("semiring,dtype", list(cases()))
def test_every_semiring(random, semiring, dtype):
    natural = result_type(semiring, dtype)
    for ta, tb in itertools.product([False, True], repeat=2):
        a, b = random_sparse(random, 8, 6, 0.4, dtype), random_sparse(random, 6, 7, 0.4, dtype)
        expected = SparseProduct(a, b, semiring)
        A = matrix_of(*(x.T for x in a)) if ta else matrix_of(*a)
        B = matrix_of(*(x.T for x in b)) if tb else matrix_of(*b)
        got = rig.mxm(A, B, semiring, transpose_a=ta, transpose_b=tb)
        assert_same(got, (expected.present, expected.values), natural, expected.size)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("semiring", ["plus_times", "max_second", "min_plus"])
def test_masks_and_accumulators(random, semiring, dtype):
    a, b = random_sparse(random, 8, 6, 0.4, dtype), random_sparse(random, 6, 7, 0.4, dtype)
    m, c = random_sparse(random, 8, 7, 0.5), random_sparse(random, 8, 7, 0.5, dtype)
    expected = SparseProduct(a, b, semiring)
    A, B, M = matrix_of(*a), matrix_of(*b), matrix_of(*m)
    for complement, structure in itertools.product([False, True], repeat=2):
        flags = dict(complement=complement, structure=structure)
        allowed = allowed_places((8, 7), m, **flags)
        assert_same(rig.mxm(A, B, semiring, mask=M, **flags), write(expected, allowed), dtype, expected.size)
        for accum, replace in itertools.product([None, "plus", "minus", "minimum", "second"], [False, True]):
            C = matrix_of(*c)
            assert rig.mxm(A, B, semiring, mask=M, out=C, accum=accum, replace=replace, **flags) is C
            assert_same(C, write(expected, allowed, c, accum, replace), dtype, expected.size + np.abs(c[1]))


def test_fill_is_refused(random):
    A = rig.matrix(np.eye(3))
    with pytest.raises(ValueError, match="fill"):
        rig.mxm(A, A, fill=1)


def test_sampled_dense_dense(random):
    m = random_sparse(random, 8, 7, 0.4)
    M = matrix_of(*m)
    x, y = random.random((8, 5)), random.random((5, 7))
    full = x @ y
    for complement, structure in ((False, True), (False, False)):
        got = rig.mxm(x, y, mask=M, structure=structure, complement=complement)
        allowed = allowed_places((8, 7), m, complement, structure)
        i, j = np.nonzero(allowed)
        s = got.to_scipy("coo")
        np.testing.assert_array_equal(s.row, i)
        np.testing.assert_array_equal(s.col, j)
        np.testing.assert_allclose(s.data, full[i, j])
    scores = rig.mxm(x, y.T.copy(), mask=M, structure=True, transpose_b=True)
    assert scores == rig.mxm(x, y, mask=M, structure=True)
    assert np.shares_memory(scores.indices, M.indices)
    with pytest.raises(ValueError, match="mask"):
        rig.mxm(x, y)


@pytest.mark.parametrize("semiring", [s for s in SEMIRINGS if s not in FINISHED])
def test_vectors(random, semiring):
    a = random_sparse(random, 7, 6, 0.4)
    A = matrix_of(*a)
    for axis, size in (("mxv", 6), ("vxm", 7)):
        u_stored, u_values = random_sparse(random, 1, size, 0.5)
        u = rig.vector(np.flatnonzero(u_stored[0]), u_values[0][u_stored[0]], size=size)
        natural = result_type(semiring, "float64")
        if axis == "mxv":
            expected = SparseProduct(a, (u_stored.T, u_values.T), semiring)
            got = rig.mxv(A, u, semiring)
            again = rig.mxv(matrix_of(*(x.T for x in a)), u, semiring, transpose_a=True)
            stored, values, bound = expected.present[:, 0], expected.values[:, 0], expected.size[:, 0]
        else:
            expected = SparseProduct((u_stored, u_values), a, semiring)
            got = rig.vxm(u, A, semiring)
            again = rig.vxm(u, matrix_of(*(x.T for x in a)), semiring, transpose_b=True)
            stored, values, bound = expected.present[0], expected.values[0], expected.size[0]
        assert isinstance(got, rig.Vector) and got == again
        np.testing.assert_array_equal(got.indices, np.flatnonzero(stored))
        assert_equal(np.asarray(got.data), values[stored], natural, bound[stored])


def test_mean_of_a_vector(random):
    a = random_sparse(random, 7, 6, 0.6, low=1)
    u = rig.vector(np.arange(6), np.arange(1.0, 7.0), size=6)
    got = rig.mxv(matrix_of(*a), u, "mean_second")
    want = [np.arange(1.0, 7.0)[row].mean() for row in a[0] if row.any()]
    np.testing.assert_allclose(got.data, want)


def test_search_by_vectors():
    """Levels of a search: a frontier, and a mask of what is found."""
    A = rig.matrix(np.array([[0, 1, 2, 4], [1, 2, 3, 0]]), shape=(5, 5), dtype=bool)
    level = np.full(5, -1, dtype=np.int32)
    frontier, depth = rig.vector([0], True, size=5, dtype=bool), 0
    while frontier.nnz:
        level[frontier.indices] = depth
        frontier = rig.vxm(frontier, A, "any_pair", mask=level >= 0, complement=True)
        depth += 1
    np.testing.assert_array_equal(level, [0, 1, 2, 3, -1])


def test_results_that_are_refused():
    A = rig.matrix(np.eye(3))
    v = rig.vector([0], [1.0], size=3)
    with pytest.raises(ValueError, match="arg_max_second"):
        rig.mxm(A, A, "arg_max_second")
    with pytest.raises(TypeError, match="Vector"):
        rig.mxm(A, v)
    with pytest.raises(ValueError, match="transpose"):
        rig.mxm(np.eye(3), A)
    with pytest.raises(TypeError):
        rig.mxv(v, A)
    with pytest.raises(TypeError):
        rig.vxm(A, v)
