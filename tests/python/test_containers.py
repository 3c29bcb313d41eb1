"""Matrices and vectors: what they are made of, what is copied, and how long memory lives."""

import copy
import gc
import pathlib
import pickle
import weakref

import networkx as nx
import numpy as np
import pytest
import rigblas as rig
import scipy.sparse as sp
from oracle import csr_of, random_sparse

DTYPES = ["float32", "float64", "float16", "int32", "int64", "bool"]


def dense_of(stored, values):
    return np.where(stored, values, 0)


@pytest.fixture
def parts(random):
    return random_sparse(random, 7, 5, 0.4)


@pytest.mark.parametrize("dtype", DTYPES)
def test_csr_arrays(random, dtype):
    stored, values = random_sparse(random, 6, 4, dtype=dtype, low=0, high=2)
    A = rig.matrix(csr_of(stored, values), shape=(6, 4))
    assert (A.shape, A.nnz, A.dtype, A.device, A.iso, A.ndim) == ((6, 4), stored.sum(), dtype, "cpu", False, 2)
    np.testing.assert_array_equal(A.toarray(), dense_of(stored, values))


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix], ids=["array", "matrix"])
def test_scipy(parts, kind, make):
    full = make(dense_of(*parts))
    A = rig.matrix(full.asformat(kind))
    np.testing.assert_array_equal(A.toarray(), full.toarray())
    assert A.dtype == full.dtype


def test_coordinates_are_summed_as_scipy_does():
    i, j, v = [2, 0, 2, 2], [1, 3, 1, 0], [1.5, 2.0, 4.0, -1.0]
    A = rig.matrix((v, (i, j)), shape=(3, 4))
    np.testing.assert_array_equal(A.toarray(), sp.coo_array((v, (i, j)), shape=(3, 4)).toarray())
    assert A.nnz == 3
    assert rig.matrix((v, (i, j))).shape == (3, 4)
    both = rig.matrix((np.array([True, True]), ([0, 0], [0, 0])))
    assert both.dtype == bool and both.toarray() == [[True]]


def test_edges_with_weights():
    edges, weights = np.array([[0, 1], [1, 2]]), np.array([2.0, 3.0])
    np.testing.assert_array_equal(rig.matrix((weights, edges)).toarray(), [[0, 2, 0], [0, 0, 3]])


def test_edges():
    A = rig.matrix(np.array([[0, 2, 0], [1, 0, 1]]))
    assert A.iso and A.shape == (3, 3) and A.dtype == np.float32 and A.nnz == 2
    assert rig.matrix(np.array([[0], [1]]), shape=(4, 9), dtype="int64").dtype == np.int64
    empty = rig.matrix(np.zeros((2, 0), dtype=np.int64))
    assert empty.shape == (0, 0) and empty.nnz == 0


def test_dense_leaves_zeros_out():
    x = np.array([[0, 1.5, 0], [2, 0, np.nan]])
    A = rig.matrix(x)
    assert A.nnz == 3
    np.testing.assert_array_equal(A.toarray(), x)
    np.testing.assert_array_equal(rig.matrix(np.asfortranarray(x)).toarray(), x)
    np.testing.assert_array_equal(rig.matrix(x[::-1, ::2]).toarray(), x[::-1, ::2])


def test_networkx():
    G = nx.karate_club_graph()
    A = rig.matrix(G)
    np.testing.assert_array_equal(A.toarray(), nx.to_numpy_array(G))
    D = nx.DiGraph([(3, 1), (1, 2)])
    A = rig.matrix(D)
    assert A.iso and A.dtype == np.float32
    np.testing.assert_array_equal(A.toarray(), nx.to_numpy_array(D))
    M = nx.MultiGraph([(0, 1), (0, 1), (1, 1)])
    np.testing.assert_array_equal(rig.matrix(M).toarray(), nx.to_numpy_array(M))


def test_file(tmp_path, parts):
    A = rig.matrix(dense_of(*parts))
    rig.write(tmp_path / "a.mtx", A)
    assert rig.matrix(tmp_path / "a.mtx", dtype="float64") == A
    assert rig.matrix(str(tmp_path / "a.mtx")).dtype == np.float32


def test_a_matrix_is_returned(parts):
    A = rig.matrix(dense_of(*parts))
    assert rig.matrix(A) == A
    assert rig.matrix(A, dtype="float32").dtype == np.float32


def test_a_number_makes_it_iso():
    A = rig.matrix((2.5, [1, 0], [0, 1, 2]), shape=(2, 2))
    assert A.iso and A.dtype == np.float64
    np.testing.assert_array_equal(A.data, [2.5, 2.5])
    assert "all 2.5" in repr(A)
    assert rig.matrix((3, ([0, 1], [1, 0])), dtype="int32").dtype == np.int32
    assert A.with_values(np.float32(3)).dtype == np.float32 and A.with_values(3.0).dtype == np.float64
    assert A.with_values(True).dtype == bool and rig.matrix((1e300, ([0], [0]))).data[0] == 1e300
    B = rig.iso(A, 7, dtype="int64")
    assert B.iso and B.dtype == np.int64 and set(B.data) == {7}


@pytest.mark.parametrize("value,want", [(3, 6), (0.5, 1.0), (True, True), (np.float32(2), 4)])
def test_a_repeated_number_is_summed(value, want):
    A = rig.matrix((value, ([0, 0, 1], [1, 1, 0])))
    np.testing.assert_array_equal(A.data, [want, value])


def test_bfloat16_is_no_numpy_array():
    A = rig.matrix(np.eye(3)).astype("bfloat16")
    for read in (lambda: A.data, A.to_scipy, A.entries):
        with pytest.raises(TypeError, match=r"bfloat16, which NumPy lacks.*float32"):
            read()


@pytest.mark.parametrize("made", [rig.matrix(np.diag([1.0, 0, 4])), rig.generate("karate"),
                                  rig.matrix(np.eye(2)).astype("bfloat16"), rig.vector([1, 2], [3.0, 4.0]),
                                  rig.vector([1, 2]), rig.matrix(np.zeros((2, 3)))], ids=repr)
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies(made, again):
    other = again(made)
    assert other is not made and other == made
    assert (other.dtype, other.shape, other.iso) == (made.dtype, made.shape, made.iso)


def test_a_matrix_is_no_array():
    A = rig.matrix(np.eye(2))
    for use in (np.asarray, np.transpose, lambda x: np.dot(x, np.ones(2))):
        with pytest.raises(TypeError, match="toarray"):
            use(A)


def test_masked_arrays_are_refused():
    x = np.ma.array([1.0, 2.0], mask=[True, False])
    with pytest.raises(TypeError, match="masked"):
        rig.matrix(np.eye(2)) @ x
    with pytest.raises(TypeError, match="masked"):
        rig.matrix(np.ma.array(np.eye(2), mask=np.eye(2)))


def test_arrays_of_scipy_may_be_longer_than_their_entries():
    s = sp.csr_array((np.arange(5.0), np.arange(5), np.array([0, 2, 4])), shape=(2, 5))
    assert rig.matrix(s).nnz == 4


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (4, 4)])
def test_empty(shape):
    for A in (rig.matrix(sp.csr_array(shape)), rig.matrix(np.zeros(shape)),
              rig.matrix((np.zeros(0), ([], [])), shape=shape)):
        assert A.shape == shape and A.nnz == 0
        assert A.toarray().shape == shape
        assert A.T.shape == shape[::-1]
        assert A.to_scipy().shape == shape
        assert list(A.entries()) == []


def test_attributes(parts):
    stored, values = parts
    data, indices, indptr = csr_of(stored, values)
    A = rig.matrix((data, indices, indptr), shape=stored.shape)
    np.testing.assert_array_equal(A.indptr, indptr)
    np.testing.assert_array_equal(A.indices, indices)
    np.testing.assert_array_equal(A.data, data)
    assert A.indices.dtype == np.int32
    for view in (A.indptr, A.indices, A.data):
        with pytest.raises(ValueError):
            view[:1] = 0
    i, j = np.nonzero(stored)
    assert list(A.entries()) == list(zip(i.tolist(), j.tolist(), data.tolist()))
    np.testing.assert_array_equal(A.toarray(absent=-1), np.where(stored, values, -1))
    assert A.toarray(dtype="float32").dtype == np.float32
    assert repr(A) == f"<rigblas.Matrix 7x5, {A.nnz} entries, float64, on cpu>"
    assert "7x5 matrix" in str(A)
    with pytest.raises(TypeError):
        hash(A)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_to_scipy(parts, kind):
    A = rig.matrix(dense_of(*parts))
    back = A.to_scipy(kind)
    assert back.format == kind
    np.testing.assert_array_equal(back.toarray(), dense_of(*parts))
    if kind == "csr":
        assert np.shares_memory(back.data, A.data)
    iso = rig.iso(A, 3).to_scipy(kind)
    np.testing.assert_array_equal(iso.toarray(), np.where(dense_of(*parts) != 0, 3, 0))
    np.testing.assert_array_equal((iso @ np.ones(5)), iso.toarray() @ np.ones(5))


def test_prepare_and_derived():
    A = rig.generate("karate")
    assert A.prepare(transpose_a=True) is A
    assert any(name == "transpose" for name, _ in A.derived_structures())
    A.drop_derived()
    assert A.derived_structures() == []


def test_equality(parts):
    A = rig.matrix(dense_of(*parts))
    assert A == rig.matrix(dense_of(*parts).astype("float32"))
    assert A != A.with_values(A.data + 1)
    assert A != "A" and (A == None) is False  # noqa: E711


# What is viewed and what is copied.


def shares(A, data, indices, indptr):
    return tuple(np.shares_memory(x, y) for x, y in ((A.data, data), (A.indices, indices), (A.indptr, indptr)))


def test_csr_of_int32_is_viewed(parts):
    csr = csr_of(*parts)
    assert shares(rig.matrix(csr, shape=parts[0].shape), *csr) == (True, True, True)
    s = sp.csr_array(csr, shape=parts[0].shape)
    assert shares(rig.matrix(s), s.data, s.indices, s.indptr) == (True, True, True)


def test_copy_copies(parts):
    csr = csr_of(*parts)
    A = rig.matrix(csr, shape=parts[0].shape, copy=True)
    assert shares(A, *csr) == (False, False, False)
    s = sp.csr_array(csr, shape=parts[0].shape)
    assert shares(rig.matrix(s, copy=True), s.data, s.indices, s.indptr) == (False, False, False)


@pytest.mark.parametrize("make", [lambda A: A, rig.iso, lambda A: A.astype("bfloat16")], ids=["", "iso", "bfloat16"])
def test_a_matrix_is_copied_too(parts, make):
    csr = csr_of(*parts)
    given = make(rig.matrix(csr, shape=parts[0].shape))
    made = rig.matrix(given, copy=True)
    assert made == given and (made.dtype, made.iso) == (given.dtype, given.iso)
    for name in ("indices", "indptr") if made.dtype == "bfloat16" else ("data", "indices", "indptr"):
        assert not np.shares_memory(getattr(made, name), getattr(given, name))


def test_int64_columns_are_narrowed(parts):
    data, indices, indptr = csr_of(*parts)
    indices, indptr = indices.astype(np.int64), indptr.astype(np.int64)
    A = rig.matrix((data, indices, indptr), shape=parts[0].shape)
    assert A.indices.dtype == np.int32
    assert shares(A, data, indices, indptr) == (True, False, False)
    np.testing.assert_array_equal(A.toarray(), dense_of(*parts))
    s = sp.csr_array((data, indices, indptr), shape=parts[0].shape)
    assert rig.matrix(s) == A
    with pytest.raises(ValueError, match="2147483648|4294967296"):
        rig.matrix((np.ones(1), np.array([2**32]), np.array([0, 1])), shape=(1, 4))


def test_unsorted_columns_are_sorted():
    data, indices, indptr = np.array([1.0, 2.0, 3.0]), np.array([2, 0, 1], np.int32), np.array([0, 2, 3], np.int32)
    A = rig.matrix((data, indices, indptr), shape=(2, 3))
    np.testing.assert_array_equal(A.toarray(), [[2, 0, 1], [0, 3, 0]])
    np.testing.assert_array_equal(indices, [2, 0, 1])  # the caller's stay
    s = sp.csr_array((data, indices.copy(), indptr), shape=(2, 3))
    np.testing.assert_array_equal(rig.matrix(s).toarray(), s.toarray())


def test_duplicate_columns():
    csr = (np.array([1.0, 2.0]), np.array([1, 1], np.int32), np.array([0, 2], np.int32))
    with pytest.raises(ValueError, match=r"two entries at \(0, 1\); give \(data, \(row, col\)\)"):
        rig.matrix(csr, shape=(1, 2))
    s = sp.csr_array(csr, shape=(1, 2))
    np.testing.assert_array_equal(rig.matrix(s).toarray(), [[0, 3]])
    assert s.nnz == 2  # the caller's stays


def test_docstring_says_what_is_viewed():
    assert "viewed" in rig.matrix.__doc__ and "copy" in rig.matrix.__doc__


def test_strided_and_foreign_arrays(parts):
    data, indices, indptr = csr_of(*parts)
    wide = np.repeat(data, 2)
    A = rig.matrix((wide[::2], np.repeat(indices, 2)[::2], indptr), shape=parts[0].shape)
    np.testing.assert_array_equal(A.toarray(), dense_of(*parts))
    big = rig.matrix((data.astype(">f8"), indices.astype(">i4"), indptr.astype(">i8")), shape=parts[0].shape)
    assert big == A
    small = rig.matrix((data, indices.astype(np.uint8), indptr.astype(np.uint16)), shape=parts[0].shape)
    assert small == A
    for x in (data, indices, indptr):
        x.flags.writeable = False
    assert rig.matrix((data, indices, indptr), shape=parts[0].shape) == A


# Lifetime. A NumPy array of a class with a weak reference says when it goes.


class Tracked(np.ndarray):
    pass


def tracked(x):
    made = Tracked(x.shape, x.dtype)
    made[...] = x
    return made, weakref.ref(made)


def test_a_matrix_keeps_its_arrays(parts):
    data, indices, indptr = csr_of(*parts)
    expected = dense_of(*parts)
    (data, d), (indices, i), (indptr, p) = map(tracked, (data, indices, indptr))
    A = rig.matrix((data, indices, indptr), shape=expected.shape)
    del data, indices, indptr
    gc.collect()
    np.testing.assert_array_equal(A.toarray(), expected)
    del A
    gc.collect()
    assert d() is None and i() is None and p() is None


def test_views_keep_the_matrix(parts):
    views = []
    for _ in range(50):
        A = rig.matrix(dense_of(*parts)) * 1.0
        views.append((A.data, A.indices, A.indptr, A.to_scipy()))
        del A
    gc.collect()
    garbage = [np.full(1000, -1.0) for _ in range(100)]
    for data, indices, indptr, s in views:
        np.testing.assert_array_equal(s.toarray(), dense_of(*parts))
        np.testing.assert_array_equal(sp.csr_array((data, indices, indptr), s.shape).toarray(), dense_of(*parts))
    del garbage


RESULTS = {
    "apply": lambda A: rig.apply(A, "negate"),
    "identity": lambda A: rig.apply(A, "identity"),
    "with_values": lambda A: A.with_values(np.arange(A.nnz, dtype=float)),
    "with_a_number": lambda A: A.with_values(2),
    "iso": lambda A: rig.iso(A),
    "astype": lambda A: A.astype("float64"),
    "astype_other": lambda A: A.astype("float32"),
    "T": lambda A: A.T,
    "T.T": lambda A: A.T.T,
    "to": lambda A: A.to("cpu"),
    "select": lambda A: rig.select(A, "row_above", -1),
    "extract": lambda A: rig.extract(A),
    "mask": lambda A: rig.mxm(np.ones((A.shape[0], 2)), np.ones((2, A.shape[1])), mask=A, structure=True),
    "gcn": lambda A: rig.gcn_normalise(A),
    "mean": lambda A: rig.mean_normalise(A),
    "softmax": lambda A: rig.edge_softmax(A),
    "loops": lambda A: rig.add_self_loops(A),
    "symmetrise": lambda A: rig.symmetrise(A),
    "permute": lambda A: rig.permute(A, np.arange(A.shape[0])),
    "matrix": lambda A: rig.matrix(A),
    "add": lambda A: A + A,
}


@pytest.mark.parametrize("make", RESULTS.values(), ids=RESULTS.keys())
def test_results_outlive_the_owner(random, make):
    """Whatever a result shares with a matrix over foreign arrays stays."""
    stored, values = random_sparse(random, 40, 40, 0.3, low=1)
    stored |= np.eye(40, dtype=bool)  # with all loops, add_self_loops has nothing to do
    arrays, references = zip(*map(tracked, csr_of(stored, values)))
    A = rig.matrix(arrays, shape=stored.shape)
    C = make(A)
    expected = C.toarray()
    shared = [any(np.shares_memory(x, y) for y in (C.data, C.indices, C.indptr)) for x in arrays]
    del A, arrays
    gc.collect()
    assert all(r() is not None for r, is_shared in zip(references, shared) if is_shared)
    np.testing.assert_array_equal(C.toarray(), expected)
    del C
    gc.collect()
    assert all(r() is None for r in references)


def test_with_values_copies(parts):
    A = rig.matrix(dense_of(*parts))
    values = np.arange(A.nnz, dtype=float)
    B = A.with_values(values)
    values[:] = -1
    np.testing.assert_array_equal(B.data, np.arange(A.nnz))
    assert np.shares_memory(A.indices, B.indices)


def test_results_never_write_to_the_source(random):
    stored, values = random_sparse(random, 10, 10, 0.4)
    csr = csr_of(stored, values)
    copies = [x.copy() for x in csr]
    A = rig.matrix(csr, shape=(10, 10))
    B = rig.matrix(A)
    x = np.ones((10, 3))
    y = rig.mxm(A, x)
    y[:] = 7
    rig.assign(B, 5, mask=A, structure=True)
    rig.mxm(A, A, out=B)
    rig.apply(A, "negate", out=B)
    A.toarray()[:] = 0
    for x, copied in zip(csr, copies):
        np.testing.assert_array_equal(x, copied)
    np.testing.assert_array_equal(A.toarray(), dense_of(stored, values))


def test_out_rebinds_one_object_alone(parts):
    A = rig.matrix(dense_of(*parts))
    view, before = A.data, A.data.copy()
    rig.apply(A, "negate", out=A)
    np.testing.assert_array_equal(A.data, -before)
    np.testing.assert_array_equal(view, before)


# Vectors.


def test_vector():
    v = rig.vector([4, 1], [2.0, 3.0], size=6)
    assert (v.size, v.shape, v.nnz, v.dtype, v.ndim, len(v)) == (6, (6,), 2, np.float64, 1, 6)
    np.testing.assert_array_equal(v.indices, [1, 4])
    np.testing.assert_array_equal(v.data, [3, 2])
    np.testing.assert_array_equal(v.toarray(), [0, 3, 0, 0, 2, 0])
    assert list(v.entries()) == [(1, 3.0), (4, 2.0)]
    assert repr(v) == "<rigblas.Vector of 6, 2 entries, float64, on cpu>"
    assert rig.vector([4, 1], [2.0, 3.0]).size == 5
    assert rig.vector([1, 2], size=4).iso
    assert rig.vector([1, 2], 5, size=4, dtype="int32").dtype == np.int32
    dense = rig.vector(np.array([0, 1.5, 0, 2]))
    assert dense.nnz == 2 and dense.size == 4
    np.testing.assert_array_equal(dense.toarray(), [0, 1.5, 0, 2])
    assert rig.vector([], size=3).nnz == 0
    assert v == rig.vector([1, 4], [3.0, 2.0], size=6)
    with pytest.raises(ValueError):
        rig.vector([1, 1], [2.0, 3.0], size=6)
    with pytest.raises(ValueError):
        rig.vector([6], [2.0], size=6)


def test_generate_and_path():
    assert rig.generate("karate").shape == (34, 34)
    with pytest.raises(OSError):
        rig.matrix(pathlib.Path("/nowhere/graph.mtx"))


def test_out_rebinds_one_vector_alone():
    v = rig.vector([0], [1.0], size=2)
    other = rig.vector(v)
    rig.apply(v, "negate", out=other)
    assert (list(v.entries()), list(other.entries())) == ([(0, 1.0)], [(0, -1.0)])
