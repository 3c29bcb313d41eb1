"""Random small cases against SciPy. 10 000 with RIGBLAS_RANDOM_CASES=10000; RIGBLAS_SEED repeats a run."""

import os

import numpy as np
import rigblas as rig
import scipy.sparse as sp

CASES = int(os.environ.get("RIGBLAS_RANDOM_CASES", "1000"))
TYPES = ["float32", "float64", "int32", "int64"]


def pick(random, *of):
    return of[random.integers(len(of))]


def sparse(random, m, n, dtype=None):
    dtype = dtype or pick(random, *TYPES)
    count = int(random.integers(0, max(1, m * n + 1))) if random.random() < 0.8 else 0
    i, j = random.integers(0, max(m, 1), count if m * n else 0), random.integers(0, max(n, 1), count if m * n else 0)
    values = random.integers(-4, 5, len(i)).astype(dtype)
    s = sp.coo_array((values, (i, j)), shape=(m, n)).asformat(pick(random, "csr", "csc", "coo"))
    if s.format == "csr" and random.random() < 0.3:
        s.indices, s.indptr = s.indices.astype(np.int64), s.indptr.astype(np.int64)
    return s


def array(random, *shape):
    x = random.integers(-4, 5, shape).astype(pick(random, *TYPES))
    return pick(random, x, np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2])


def case_product(random, m, n, f):
    a, x = sparse(random, m, n), array(random, *pick(random, (n, f), (n,)))
    return pick(random, rig.matrix(a) @ x, rig.mxm(a, x), rig.mxm(a.T, x, transpose_a=True)), a.tocsr() @ x


def case_left_product(random, m, n, f):
    a, x = sparse(random, m, n), array(random, *pick(random, (f, m), (m,)))
    return x @ rig.matrix(a), x @ a.tocsr()


def case_sparse_product(random, m, n, f):
    a, b = sparse(random, m, n), sparse(random, n, f)
    return pick(random, rig.matrix(a) @ b, rig.mxm(a, b.T, transpose_b=True)), a @ b


def case_sum(random, m, n, f):
    a, b = sparse(random, m, n), sparse(random, m, n)
    return pick(random, rig.matrix(a) + rig.matrix(b), rig.ewise_add(a, b)), a + b


def case_difference(random, m, n, f):
    a, b = sparse(random, m, n), sparse(random, m, n)
    return rig.matrix(a) - rig.matrix(b), a - b


def case_elements(random, m, n, f):
    a, b = sparse(random, m, n), sparse(random, m, n)
    return rig.matrix(a) * rig.matrix(b), a * b


def case_transpose(random, m, n, f):
    a = sparse(random, m, n)
    return rig.matrix(a).T, a.T


def case_kronecker(random, m, n, f):
    dtype = pick(random, *TYPES)
    a, b = sparse(random, m % 5, n % 5, dtype), sparse(random, n % 4, f % 4, dtype)
    return rig.kronecker(a, b), sp.coo_array(np.kron(a.toarray(), b.toarray()))


def case_extract(random, m, n, f):
    a = sparse(random, m, n)
    i = random.integers(0, m, f) if m else np.zeros(0, int)
    j = random.integers(0, n, f) if n else np.zeros(0, int)
    return rig.extract(a, i, j), sp.coo_array(a.toarray()[np.ix_(i, j)])


def case_sums(random, m, n, f):
    a = sparse(random, m, n)
    if random.random() < 0.5:
        return rig.reduce_rows(a, dtype="float64").toarray(), a.toarray().sum(axis=1).astype("float64")
    return rig.reduce_columns(a, dtype="float64").toarray(), a.toarray().sum(axis=0).astype("float64")


def case_masked(random, m, n, f):
    a, x, mask = sparse(random, m, n), array(random, n, f), random.integers(0, 2, (m, f)).astype(bool)
    return rig.mxm(a, x, mask=mask), np.where(mask, a.tocsr() @ x, 0)


def case_accumulated(random, m, n, f):
    a, x = sparse(random, m, n, "float64"), array(random, n, f)
    c = random.integers(-4, 5, (m, f)).astype("float64")
    return rig.mxm(a, x, accum="plus", out=c.copy()), c + a.tocsr() @ x


def case_scaled(random, m, n, f):
    a = sparse(random, m, n, pick(random, "float32", "float64"))
    y = float(random.integers(-4, 5))
    return rig.matrix(a) * y, a * y


def case_maximum(random, m, n, f):
    a, x = sparse(random, m, n), array(random, n, f)
    stored = sp.csr_array(a)
    stored.sum_duplicates()
    fill = int(random.integers(-9, 9))
    want = np.full((m, f), fill, dtype=x.dtype)
    for i in range(m):
        at = stored.indices[stored.indptr[i]:stored.indptr[i + 1]]
        if len(at):
            want[i] = x[at].max(axis=0)
    return rig.mxm(a, x, "max_second", fill=fill), want


def dense_of(x):
    return x if isinstance(x, np.ndarray) else x.toarray()


def test_random_cases():
    seed = int(os.environ.get("RIGBLAS_SEED", np.random.SeedSequence().entropy % 2**32))
    print("seed", seed)
    kinds = [value for name, value in globals().items() if name.startswith("case_")]
    for number in range(CASES):
        random = np.random.default_rng([seed, number])
        kind = kinds[number % len(kinds)]
        m, n, f = (int(random.integers(0, pick(random, 3, 9, 40))) for _ in range(3))
        got, want = kind(random, m, n, f)
        where = f"{kind.__name__}, {m}, {n}, {f}: RIGBLAS_SEED={seed}, case {number}"
        assert got.shape == want.shape, where
        assert got.dtype == want.dtype, where
        # All numbers are small integers, so that floats are exact too.
        np.testing.assert_array_equal(dense_of(got), dense_of(want), where)
