"""Products with dense results, against an oracle in plain NumPy."""

import itertools

import numpy as np
import pytest
import rigblas as rig
from oracle import (FLOATS, SEMIRINGS, Product, allowed_places, assert_equal, csr_of, dense_result, random_dense,
                    random_sparse, zero_of)

WIDTHS = [0, 1, 2, 3, 31, 32, 33, 100]
TYPES = ["float32", "float64", "float16", "int32", "int64"]
ONLY_FLOATS = {"max_times"}


def result_type(semiring, dtype):
    """Of a product of two operands of one type."""
    if semiring in ("lor_land", "any_pair"):
        return "bool"
    if semiring.startswith("mean") and dtype not in FLOATS:
        return "float64"
    return dtype


def cases():
    for semiring, dtype in itertools.product(SEMIRINGS, TYPES):
        if not (semiring in ONLY_FLOATS and dtype == "int64"):
            yield semiring, dtype


def masks(random, shape):
    """Every way to mask, as keywords of rigblas and of the oracle."""
    stored, values = random_sparse(random, *shape, 0.5)
    M = rig.matrix(csr_of(stored, values), shape=shape)
    full = random.integers(0, 2, shape)
    yield {}, {}
    for complement, structure in itertools.product([False, True], repeat=2):
        flags = dict(complement=complement, structure=structure)
        yield dict(mask=M, **flags), dict(mask=(stored, values), **flags)
        yield dict(mask=full, **flags), dict(mask=full, **flags)


def compute_type(dtype):
    return "float32" if dtype == "float16" else dtype


@pytest.mark.parametrize("semiring,dtype", list(cases()))
def test_every_semiring(random, semiring, dtype):
    natural = result_type(semiring, dtype)
    for f, ta, tb in itertools.product(WIDTHS, [False, True], [False, True]):
        stored, values = random_sparse(random, 9, 7, 0.4, dtype)
        stored[4] = stored[:, 2] = False
        A = rig.matrix(csr_of(stored, values), shape=(9, 7))
        b = random_dense(random, (9 if ta else 7, f), dtype)
        expected = Product(*((stored.T, values.T) if ta else (stored, values)), b, semiring)
        got = rig.mxm(A, b.T.copy() if tb else b, semiring, transpose_a=ta, transpose_b=tb)
        fill = zero_of(semiring, natural)
        allowed = allowed_places(expected.values.shape)
        with np.errstate(over="ignore"):
            assert_equal(got, dense_result(expected, fill, allowed), natural, expected.size)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("semiring", ["plus_times", "max_second", "min_plus", "mean_second"])
def test_masks_accumulators_and_fill(random, semiring, dtype):
    natural = result_type(semiring, dtype)
    stored, values = random_sparse(random, 8, 6, 0.3, dtype)
    A = rig.matrix(csr_of(stored, values), shape=(8, 6))
    for f in (1, 3):
        b = random_dense(random, (6, f), dtype)
        expected = Product(stored, values, b, semiring)
        for (ours, theirs), fill in itertools.product(masks(random, (8, f)), [None, 2]):
            allowed = allowed_places((8, f), **theirs)
            absent = zero_of(semiring, natural) if fill is None else fill
            got = rig.mxm(A, b, semiring, fill=fill, **ours)
            assert_equal(got, dense_result(expected, absent, allowed), natural, expected.size)
            for accum, replace in itertools.product([None, "plus", "minus", "minimum", "second"], [False, True]):
                c = random_dense(random, (8, f), natural)
                want = dense_result(expected, absent, allowed, c, accum, replace)
                out = c.copy()
                made = rig.mxm(A, b, semiring, fill=fill, out=out, accum=accum, replace=replace, **ours)
                assert made is out
                assert_equal(out, want, natural, expected.size + np.abs(np.where(np.isfinite(c), c, 0)))


def test_own_accumulator(random):
    stored, values = random_sparse(random, 8, 6, 0.3)
    A, b, c = rig.matrix(csr_of(stored, values), shape=(8, 6)), random.random((6, 3)), random.random((8, 3))
    out = c.copy()
    rig.mxm(A, b, "max_plus", out=out, accum="own")
    expected = Product(stored, values, b, "max_plus")
    np.testing.assert_array_equal(out, np.where(expected.present, np.maximum(c, expected.values), c))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32"])
@pytest.mark.parametrize("sign", [1, -1])
def test_arg_products(random, dtype, sign):
    semiring = "arg_max_second" if sign > 0 else "arg_min_second"
    for f, ta in itertools.product([1, 3, 33], [False, True]):
        stored, values = random_sparse(random, 9, 9, 0.3, dtype)
        stored[3] = stored[:, 3] = False
        A = rig.matrix(csr_of(stored, values), shape=(9, 9))
        b = random_dense(random, (9, f), dtype)
        best, where = rig.mxm(A, b, semiring, transpose_a=ta)
        assert best.dtype == np.dtype(dtype) and where.dtype == np.int32
        s = stored.T if ta else stored
        for i in range(9):
            at = np.flatnonzero(s[i])
            if not len(at):
                assert (where[i] == -1).all()
                continue
            winner = at[(sign * b[at].astype(float)).argmax(axis=0)]  # the first of equal ones
            np.testing.assert_array_equal(where[i], winner)
            np.testing.assert_array_equal(best[i], b[winner, np.arange(f)])
        out = np.empty_like(best), np.empty_like(where)
        assert rig.mxm(A, b, semiring, transpose_a=ta, out=out) is out
        np.testing.assert_array_equal(out[0], best)
        np.testing.assert_array_equal(out[1], where)


def test_one_dimension(random):
    stored, values = random_sparse(random, 5, 4)
    A = rig.matrix(csr_of(stored, values), shape=(5, 4))
    u = random.random(4)
    full = np.where(stored, values, 0)
    assert rig.mxm(A, u).shape == (5,)
    np.testing.assert_allclose(rig.mxm(A, u), full @ u)
    assert rig.mxm(A, u[:, None]).shape == (5, 1)
    np.testing.assert_allclose(rig.mxv(A, u), full @ u)
    w = random.random(5)
    np.testing.assert_allclose(rig.vxm(w, A), w @ full)
    np.testing.assert_allclose(rig.mxv(A, w, transpose_a=True), w @ full)
    np.testing.assert_allclose(rig.vxm(u, A, transpose_b=True), full @ u)
    out = np.ones(5)
    assert rig.mxv(A, u, out=out, accum="plus") is out
    np.testing.assert_allclose(out, full @ u + 1)
    values_, indices = rig.mxm(A, u, "arg_max_second")
    assert values_.shape == indices.shape == (5,)


VECTOR_SEMIRINGS = [s for s in SEMIRINGS if s not in ("mean_second",)]


@pytest.mark.parametrize("semiring", VECTOR_SEMIRINGS)
def test_vxm_has_the_vector_on_the_left(random, semiring):
    """u ⊗ A, so that first and second are u's and A's."""
    stored, values = random_sparse(random, 6, 5, 0.5, "float64", low=1)
    A = rig.matrix(csr_of(stored, values), shape=(6, 5))
    u = random_dense(random, 6, "float64")
    exchanged = {"first": "second", "second": "first"}
    add, times = semiring.split("_")
    expected = Product(stored.T, values.T, u[:, None], f"{add}_{exchanged.get(times, times)}")
    got = rig.vxm(u, A, semiring)
    natural = result_type(semiring, "float64")
    want = dense_result(expected, zero_of(semiring, natural), allowed_places((5, 1)))[:, 0]
    assert_equal(got, want, natural, expected.size[:, 0])


def layouts(b):
    yield "C", np.ascontiguousarray(b)
    yield "F", np.asfortranarray(b)
    wide = np.zeros((b.shape[0] + 2, 2 * b.shape[1] + 3), dtype=b.dtype)
    wide[1:-1, 2:2 + b.shape[1]] = b
    yield "rows of a wider array", wide[1:-1, 2:2 + b.shape[1]]
    wide[1:-1, :2 * b.shape[1]:2] = b
    yield "every other column", wide[1:-1, :2 * b.shape[1]:2]
    yield "reversed", b[::-1][::-1] if b.shape[0] < 2 else np.ascontiguousarray(b[::-1])[::-1]
    yield "broadcast", np.broadcast_to(b[:1], b.shape)
    read_only = b.copy()
    read_only.flags.writeable = False
    yield "read-only", read_only
    yield "big endian", b.astype(b.dtype.newbyteorder(">"))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_layouts(random, dtype):
    stored, values = random_sparse(random, 9, 7, 0.4, dtype)
    A = rig.matrix(csr_of(stored, values), shape=(9, 7))
    for f in WIDTHS:
        for name, b in layouts(random_dense(random, (7, f), dtype)):
            before = np.array(b)
            got = rig.mxm(A, b)
            np.testing.assert_array_equal(got, rig.mxm(A, np.ascontiguousarray(np.array(b, dtype=dtype))), name)
            np.testing.assert_array_equal(b, before)


def test_out_in_rows_of_a_wider_array(random):
    A = rig.matrix(np.eye(4))
    wide = np.zeros((4, 6))
    x = random.random((4, 2))
    rig.mxm(A, x, out=wide[:, 1:3])
    np.testing.assert_array_equal(wide[:, 1:3], x)
    assert wide.sum() == pytest.approx(x.sum())


def test_out_may_be_the_operand(random):
    stored, values = random_sparse(random, 6, 6, 0.5)
    A = rig.matrix(csr_of(stored, values), shape=(6, 6))
    x = random.random((6, 3))
    expected = rig.mxm(A, x)
    rig.mxm(A, x, out=x)
    np.testing.assert_array_equal(x, expected)


@pytest.mark.parametrize("m,k,f", list(itertools.product([0, 3], [0, 4], [0, 2])))
def test_empty_shapes(m, k, f):
    A = rig.matrix((np.zeros(0), ([], [])), shape=(m, k))
    np.testing.assert_array_equal(rig.mxm(A, np.ones((k, f))), np.zeros((m, f)))
    np.testing.assert_array_equal(rig.mxm(A, np.ones((m, f)), "max_second", transpose_a=True), np.full((k, f), -np.inf))
    assert rig.mxm(A, np.ones(k)).shape == (m,)
    assert rig.mxm(A, rig.matrix(np.ones((k, f)))).shape == (m, f)


def test_nan_and_infinity():
    A = rig.matrix((np.array([1.0, 1.0, 0.0]), np.array([0, 1, 1], np.int32), np.array([0, 2, 3], np.int32)),
                   shape=(2, 2))
    x = np.array([[np.nan], [np.inf]])
    assert np.isnan(rig.mxm(A, x)).all()  # 0 · inf too
    assert np.isnan(rig.mxm(A, x, "max_second")[0, 0]) and rig.mxm(A, x, "max_second")[1, 0] == np.inf


# Types.


def numpy_result(a, b):
    return np.dtype(np.result_type(a, b))


@pytest.mark.parametrize("a,b", list(itertools.product(["float32", "float64", "float16", "int32", "int64"], repeat=2)))
def test_types_meet_as_numpys(a, b):
    A = rig.matrix(np.eye(3, dtype=a) + np.ones((3, 3), dtype=a))
    x = np.ones((3, 2), dtype=b)
    got = rig.mxm(A, x)
    assert got.dtype == numpy_result(a, b)
    np.testing.assert_array_equal(got, np.full((3, 2), 4))
    assert (A @ x).dtype == numpy_result(a, b)
    assert rig.mxm(A, x, "max_second").dtype == np.dtype(b)
    assert rig.mxm(A, rig.matrix(x)).dtype == numpy_result(a, b)


@pytest.mark.parametrize("b", ["float32", "float64", "float16", "int32", "int64"])
def test_a_pattern_follows_the_features(b):
    A = rig.generate("karate")
    assert rig.mxm(A, np.ones(34, dtype=b)).dtype == np.dtype(b)


def test_named_type():
    A = rig.matrix(np.eye(3, dtype="float32"))
    x = np.ones((3, 2), dtype="float32") / 3
    assert rig.mxm(A, x, dtype="float64").dtype == np.float64
    assert rig.mxm(A, x, dtype=np.float16).dtype == np.float16
    assert rig.mxm(A, x, dtype=int).dtype == np.int64


def test_booleans_are_counted():
    A = rig.matrix(np.ones((3, 3), dtype=bool))
    x = np.array([True, False, True])
    got = rig.mxm(A, x)
    assert got.dtype == np.int64 and (got == 2).all()
    assert (rig.mxm(A, x, "mean_times") == 2 / 3).all()
    assert rig.mxm(A, x, "lor_land").dtype == bool
    assert rig.mxm(A, x, "lor_land").all()


def test_means_of_integers_are_exact_to_double():
    A = rig.matrix(np.ones((1, 3), dtype="int64"))
    x = np.array([2**40 + 1, 2**40 + 2, 2**40 + 4])
    assert rig.mxm(A, x, "mean_second")[0] == x.sum() / 3


def test_int32_wraps_and_int64_is_exact():
    A = rig.matrix(np.ones((1, 2), dtype="int32"))
    assert rig.mxm(A, np.array([2**31 - 1, 1], dtype="int32"))[0] == -(2**31)
    B = rig.matrix(np.ones((1, 2), dtype="int64"))
    assert rig.mxm(B, np.array([2**53, 1]))[0] == 2**53 + 1


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_no_path_stays_no_path(dtype):
    far = np.iinfo(dtype).max
    A = rig.matrix(np.array([[1]], dtype=dtype))
    assert rig.mxm(A, np.array([far], dtype=dtype), "min_plus")[0] == far


def test_lists_and_scalars():
    A = rig.matrix(np.eye(2))
    np.testing.assert_array_equal(rig.mxm(A, np.array([1, 2], dtype=np.uint8)), [1, 2])
    np.testing.assert_array_equal(
        rig.mxm(A, np.ones((2, 1)), "plus_times", fill=np.float32(2), threads=np.int64(1)), [[1], [1]])


# How it is computed changes nothing.


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_change_no_bit(random, threads):
    A = rig.generate("rmat:10:8")
    x = random.random((A.shape[0], 33)).astype("float32")
    np.testing.assert_array_equal(rig.mxm(A, x, threads=threads), rig.mxm(A, x))


def test_explain_and_kernels():
    A = rig.generate("karate")
    x = np.ones((34, 8), dtype="float32")
    why = rig.explain(A, x)
    assert why.chosen in str(why) and why.reason
    assert why.json().lstrip()[0] in "[{"
    np.testing.assert_array_equal(rig.mxm(A, x, kernel=why.chosen), rig.mxm(A, x))
    assert rig.explain(A, A).chosen
    with pytest.raises(ValueError, match="no_such"):
        rig.mxm(A, x, kernel="no_such")


def test_sampled_kernel_is_an_estimate():
    A = rig.generate("rmat:8:16")
    x = np.ones((A.shape[0], 4), dtype="float32")
    exact = rig.mxm(A, x)
    some = rig.mxm(A, x, kernel="adaptive", width=8)
    assert (some <= exact).all() and some.sum() < exact.sum()
    report = rig.sampling_report(A, kernel="adaptive", width=8)
    assert report["entries"] == A.nnz and 0 < report["kept_share"] < 1


@pytest.mark.parametrize("strategy", ["bucket", "fastrand", "adaptive"])
def test_sample_has_the_entries_that_the_kernel_reads(strategy):
    A = rig.generate("rmat:8:16")
    x = np.random.default_rng(3).random((A.shape[0], 4), dtype="float32")
    S = rig.sample(A, width=8, strategy=strategy)
    np.testing.assert_array_equal(rig.mxm(S, x, "max_second"),
                                  rig.mxm(A, x, "max_second", kernel=strategy, width=8))
    assert S.nnz == rig.sampling_report(A, kernel=strategy, width=8)["distinct"]


def test_neighbours_are_blocks_of_the_graph():
    A = rig.generate("rmat:8:16")
    whole = rig.toarray(A)
    blocks, nodes = rig.neighbours(A, [7, 0, 200], [4, 3], seed=5)
    assert nodes[:3].tolist() == [7, 0, 200] and len(set(nodes.tolist())) == len(nodes)
    assert [b.shape for b in blocks] == [(blocks[1].shape[1], len(nodes)), (3, blocks[1].shape[1])]
    for block, fan_out in zip(blocks, [3, 4]):
        of_graph = whole[np.ix_(nodes[:block.shape[0]], nodes[:block.shape[1]])]
        drawn = rig.toarray(block)
        assert (drawn[drawn != 0] == of_graph[drawn != 0]).all()
        degrees = np.minimum((whole[nodes[:block.shape[0]]] != 0).sum(axis=1), fan_out)
        np.testing.assert_array_equal((drawn != 0).sum(axis=1), degrees)
    again, same = rig.neighbours(A, np.array([7, 0, 200]), [4, 3], seed=5)
    assert (nodes == same).all() and (rig.toarray(again[0]) == rig.toarray(blocks[0])).all()
    with pytest.raises(ValueError, match="differ"):
        rig.neighbours(A, [7, 7], [4])


def test_sample_by_seed():
    A = rig.generate("rmat:8:16")
    ones = np.ones((A.shape[0], 1), dtype="float32")
    one, other = (rig.sample(A, width=8, seed=seed, rescale=True) for seed in (1, 2))
    np.testing.assert_allclose(rig.mxm(one, ones), rig.mxm(A, ones), rtol=1e-5)
    assert one.nnz == other.nnz and (rig.toarray(one) != rig.toarray(other)).any()
    assert (rig.toarray(one) == rig.toarray(rig.sample(A, width=8, seed=1, rescale=True))).all()
    with pytest.raises(ValueError, match="width"):
        rig.sample(A, width=0)
    with pytest.raises(ValueError, match="fastest"):
        rig.sample(A, width=8, strategy="fastest")
