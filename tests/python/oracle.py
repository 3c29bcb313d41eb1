"""What a product means, in plain NumPy. Shares nothing with rigblas."""

import numpy as np

INTEGERS = ("int32", "int64")
FLOATS = ("float32", "float64", "float16")


def _highest(dtype):
    dtype = np.dtype(dtype)
    return np.iinfo(dtype).max if dtype.kind == "i" else np.inf


def _lowest(dtype):
    dtype = np.dtype(dtype)
    return np.iinfo(dtype).min if dtype.kind == "i" else -np.inf


TIMES = {
    "times": lambda a, b: a * b,
    "plus": lambda a, b: a + b,
    "second": lambda a, b: b + 0 * a,
    "first": lambda a, b: a + 0 * b,
    "pair": lambda a, b: np.ones(np.broadcast_shapes(a.shape, b.shape), dtype=a.dtype),
    "max": np.maximum,
    "min": np.minimum,
    "land": lambda a, b: ((a != 0) & (b != 0)).astype(a.dtype),
}
ADD = {
    "plus": lambda t: t.sum(axis=0),
    "mean": lambda t: t.sum(axis=0) / len(t),
    "min": lambda t: t.min(axis=0),
    "max": lambda t: t.max(axis=0),
    "lor": lambda t: (t != 0).any(axis=0).astype(t.dtype),
    "any": lambda t: (t != 0).any(axis=0).astype(t.dtype),
}
ZERO = {"min": _highest, "max": _lowest}

SEMIRINGS = [
    "plus_times", "plus_second", "plus_first", "plus_pair", "min_plus", "max_plus", "min_max", "max_min", "max_times",
    "min_second", "max_second", "min_first", "max_first", "mean_times", "mean_second", "lor_land", "any_pair",
]


def zero_of(semiring, dtype):
    return ZERO.get(semiring.split("_")[0], lambda _: 0)(dtype)


class Product:
    """T = A ⊕.⊗ B of arrays, where `stored` marks the entries of A: values, which rows have any product, and the
    number and the sum of the absolute terms at each place."""

    def __init__(self, stored, a, b, semiring):
        add, times = semiring.split("_")
        wide = np.int64 if np.result_type(a, b).kind in "ib" and add != "mean" else np.float64
        a, b = a.astype(wide), b.astype(wide)
        m, f = stored.shape[0], b.shape[1]
        self.values = np.zeros((m, f), dtype=wide)
        self.present = np.zeros((m, f), dtype=bool)
        self.size = np.zeros((m, f))
        for i in range(m):
            at = np.flatnonzero(stored[i])
            if not len(at):
                continue
            terms = TIMES[times](a[i, at][:, None], b[at])
            self.values[i] = ADD[add](terms)
            self.present[i] = True
            self.size[i] = len(at) * np.abs(terms.astype(np.float64)).sum(axis=0)


ACCUMULATE = {
    "plus": np.add,
    "minus": np.subtract,
    "times": np.multiply,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "first": lambda x, y: x + 0 * y,
    "second": lambda x, y: y + 0 * x,
}


def allowed_places(shape, mask=None, complement=False, structure=False):
    """`mask` is None, an array, or a pair of arrays (stored, values)."""
    if mask is None:
        return np.ones(shape, dtype=bool)
    if isinstance(mask, tuple):
        stored, values = mask
        inside = stored if structure else stored & (values != 0)
    else:
        inside = np.ones(shape, dtype=bool) if structure else mask.reshape(shape) != 0
    return ~inside if complement else inside


def dense_result(product, fill, allowed, c=None, accum=None, replace=False):
    """C⟨M, replace⟩ = C ⊙ T, where C has every place."""
    if accum is None:
        z = np.where(product.present, product.values, fill)
    else:
        z = np.where(product.present, ACCUMULATE[accum](c.astype(product.values.dtype), product.values), c)
    outside = fill if c is None or replace else c
    return np.where(allowed, z, outside)


def assert_equal(got, expected, dtype, size=None):
    """Integers exactly; floats by n·eps·Σ|terms|."""
    assert got.dtype == np.dtype(dtype), (got.dtype, dtype)
    assert got.shape == expected.shape, (got.shape, expected.shape)
    if np.dtype(dtype).kind in "ib":
        np.testing.assert_array_equal(got, expected.astype(dtype))
        return
    with np.errstate(over="ignore"):
        expected = expected.astype(np.float64)
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(got[~finite].astype(np.float64), expected[~finite])
    room = 2 * np.finfo(dtype).eps * (np.abs(expected) + (0 if size is None else size))
    wrong = np.abs(got[finite].astype(np.float64) - expected[finite]) > room[finite]
    assert not wrong.any(), (got, expected)


def random_sparse(random, m, n, density=0.3, dtype="float64", low=-5, high=6):
    """Which entries are stored, and their values; explicit zeros among them."""
    stored = random.random((m, n)) < density
    values = np.where(stored, random.integers(low, high, (m, n)), 0)
    if np.dtype(dtype).kind == "f":
        values = values * 0.25
    return stored, values.astype(dtype)


def random_dense(random, shape, dtype):
    values = random.integers(-5, 6, shape)
    return (values * 0.5 if np.dtype(dtype).kind == "f" else values).astype(dtype)


def csr_of(stored, values):
    """(data, indices, indptr) of the stored entries."""
    i, j = np.nonzero(stored)
    indptr = np.concatenate([[0], np.cumsum(stored.sum(axis=1))]).astype(np.int32)
    return values[i, j], j.astype(np.int32), indptr
