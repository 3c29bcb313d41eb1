"""What is wrong is said: the values, and the remedy. Nothing is written then."""

import numpy as np
import pytest
import rigblas as rig
import scipy.sparse as sp


@pytest.fixture
def A():
    return rig.matrix(np.arange(1.0, 13.0).reshape(3, 4))


X = np.ones((4, 2))
PLACES = np.ones((3, 2), dtype=np.int32)

CASES = [
    (lambda A: A * 10**400, ValueError, "beyond every type"),
    (lambda A: A.with_values(10**400), ValueError, "beyond every type"),
    (lambda A: rig.read("a\0b"), ValueError, "null character"),
    (lambda A: -A.astype("bool"), TypeError, "booleans have no negative"),
    (lambda A: A.astype("bool") - A.astype("bool"), TypeError, "booleans have no difference"),
    (lambda A: rig.extract(A, [True, False]), ValueError, "a mask of booleans has the shape"),
    # What is called, the error, and what its text has.
    (lambda A: rig.mxm(A, np.ones((5, 2))), ValueError, r"mxm: A is 3x4.*B is 5x2"),
    (lambda A: rig.mxm(A, np.ones(3)), ValueError, r"3x4.*3x1"),
    (lambda A: rig.mxm(A, X, transpose_a=True), ValueError, r"4x3.*4x2"),
    (lambda A: rig.mxm(A, rig.matrix(np.eye(3))), ValueError, r"3x4.*3x3"),
    (lambda A: rig.mxm(A, np.ones((2, 2, 2))), ValueError, r"3 dimensions; give one or two"),
    (lambda A: rig.mxm(A, np.float64(2)), (ValueError, TypeError), "B"),
    (lambda A: rig.mxm(A, 2), TypeError, "B is a int"),
    (lambda A: rig.mxm(A, "text"), TypeError, "B is a str"),
    (lambda A: rig.mxm(A, np.ones((4, 2), dtype=complex)), TypeError, "B is a ndarray of complex128; give"),
    (lambda A: rig.mxm(A, np.array([["a"], ["b"], ["c"], ["d"]])), TypeError, "float32"),
    (lambda A: rig.mxm(A, np.array([object()] * 4)), TypeError, "float32"),
    (lambda A: rig.mxm(A, np.ones(4, dtype="datetime64[s]")), TypeError, "float32"),
    (lambda A: rig.mxm(A, X, "no_such"), ValueError, r"no semiring is named 'no_such'; there are plus_times"),
    (lambda A: rig.mxm(A, X, 3), TypeError, r"semiring is 3; give a name"),
    (lambda A: rig.mxm(A, X, kernel="no_such"), ValueError, "no_such"),
    (lambda A: rig.mxm(A, X, accum="no_such", out=np.ones((3, 2))), ValueError, r"accum is 'no_such'; give one of"),
    (lambda A: rig.mxm(A, X, accum="plus"), ValueError, "out"),
    (lambda A: rig.mxm(A, X, precision="half"), ValueError, r"precision is 'half'; give one of full, tf32"),
    (lambda A: rig.mxm(A, X, complement=True), ValueError, "mask"),
    (lambda A: rig.mxm(A, X, threads=-1), ValueError, "threads"),
    (lambda A: rig.mxm(A, X, kernel="adaptive", width=-1), ValueError, "width"),
    (lambda A: rig.mxm(A, X, width=2**40), ValueError, "width"),
    (lambda A: rig.mxm(A, X, fill="a"), TypeError, "fill is 'a'"),
    (lambda A: rig.mxm(A.astype("int32"), X.astype("int32"), fill=0.5), ValueError, "fill is 0.5"),
    (lambda A: rig.mxm(A, X, dtype="complex64"), TypeError, "dtype is complex64"),
    (lambda A: rig.mxm(A, X, dtype="float32", out=np.ones((3, 2))), ValueError, "dtype"),
    (lambda A: rig.mxm(A, X, "arg_max_second", out=np.ones((3, 2))), TypeError, "tuple"),
    (lambda A: rig.mxm(A, X, "arg_max_second", out=(np.ones((3, 2)), np.ones((3, 2)))), TypeError, "int32"),
    (lambda A: rig.mxm(A, X, "arg_max_second", out=(PLACES, PLACES)), ValueError, "one array twice"),
    (lambda A: rig.mxm(A, X, mask=np.ones((2, 2))), ValueError, r"2x2"),
    (lambda A: rig.mxm(A, X, mask=rig.matrix(np.eye(2))), ValueError, r"2x2"),
    (lambda A: rig.mxm(A, X, out=np.ones((2, 2))), ValueError, r"2x2"),
    (lambda A: rig.mxm(A, X, out=np.ones((3, 4))[:, ::2]), ValueError, "rows that do not lie in order"),
    (lambda A: rig.mxm(A, X, out=np.ones((2, 3)).T), ValueError, "rows that do not lie in order"),
    (lambda A: rig.mxm(A, X, out=np.ones((3, 2), dtype="complex64")), TypeError, "out"),
    (lambda A: rig.mxm(A, X, out=np.ones((3, 2), dtype="int16")), TypeError, "out"),
    (lambda A: rig.mxm(A, X, out=np.broadcast_to(np.ones(2), (3, 2))), ValueError, "out"),
    (lambda A: rig.mxm(A, X, out=A), TypeError, "out"),
    (lambda A: rig.mxm(A, X, out=[1, 2]), TypeError, "out is a list"),
    (lambda A: rig.mxm(A, A.T, out=np.ones((3, 3))), TypeError, r"out must be a rigblas.Matrix"),
    (lambda A: rig.mxm(A, A.T, out=rig.vector([0], size=3)), TypeError, r"out must be a rigblas.Matrix"),
    (lambda A: rig.mxm(A, A.T, out=rig.matrix(np.eye(2))), ValueError, "2x2"),
    (lambda A: rig.mxm(A, X, no_such=1), TypeError, "no_such"),
    (lambda A: rig.mxm(A, X, threads="two"), TypeError, "threads"),
    (lambda A: rig.mxv(A, np.ones((4, 2))), ValueError, "4x2"),
    (lambda A: rig.ewise_add(A, rig.matrix(np.eye(3))), ValueError, "3x4.*3x3"),
    (lambda A: rig.ewise_add(A, rig.vector([0], size=3)), TypeError, "the other a vector"),
    (lambda A: rig.ewise_add(A, A, "no_such"), ValueError, r"op is 'no_such'; give one of plus"),
    (lambda A: rig.apply(A, "no_such"), ValueError, r"op is 'no_such'; give one of identity"),
    (lambda A: rig.apply(A, "plus", "a"), TypeError, "y is 'a'"),
    (lambda A: rig.select(A, "no_such"), ValueError, "no_such"),
    (lambda A: rig.select(X, "lower"), TypeError, "array"),
    (lambda A: rig.reduce(A, "minus"), ValueError, "^reduce: minus is no monoid; pass plus, .* or logical_and$"),
    (lambda A: rig.extract(A, [3]), ValueError, "3"),
    (lambda A: rig.extract(A, [-1]), ValueError, "-1"),
    (lambda A: rig.extract(A, [0.5]), TypeError, "rows"),
    (lambda A: rig.assign(A, rig.matrix(np.eye(2))), ValueError, "2x2"),
    (lambda A: rig.assign(A, X), TypeError, "two kinds"),
    (lambda A: rig.assign(sp.csr_array(np.eye(3)), 1), TypeError, "rigblas.Matrix"),
    (lambda A: rig.assign(rig.matrix(np.eye(3, dtype="int32")), 0.5), ValueError, "0.5"),
    (lambda A: rig.diag(A), TypeError, "Vector"),
    (lambda A: rig.diagonal(rig.vector([0])), TypeError, "Matrix"),
    (lambda A: rig.kronecker(A, X), TypeError, "Matrices"),
    (lambda A: rig.transpose(rig.vector([0])), TypeError, "Vector"),
    (lambda A: rig.maxk(X, 3), ValueError, "3"),
    (lambda A: rig.maxk(X, 0), ValueError, "0"),
    (lambda A: rig.maxk(X.astype(int), 1), TypeError, "int64"),
    (lambda A: rig.quantize(X * np.nan), ValueError, r"nan|NaN"),
    (lambda A: rig.quantize(X, per="row"), ValueError, "per is 'row'"),
    (lambda A: rig.reorder(A), ValueError, "3x4"),
    (lambda A: rig.reorder(rig.matrix(np.eye(3)), "no_such"), ValueError, "no_such"),
    (lambda A: rig.permute(rig.matrix(np.eye(3)), [0, 0, 1]), ValueError, "0"),
    (lambda A: rig.permute(rig.matrix(np.eye(3)), [0, 1]), ValueError, "2"),
    (lambda A: rig.symmetrise(A), ValueError, "3x4"),
    (lambda A: rig.edge_softmax(A.astype("int32")), TypeError, "int32"),
    (lambda A: rig.bfs(A, 0), ValueError, "3x4"),
    (lambda A: rig.bfs(rig.matrix(np.eye(3)), 3), ValueError, "3"),
    (lambda A: rig.generate("no_such"), ValueError, "no_such"),
    (lambda A: rig.generate("rmat:99:99"), ValueError, "99"),
    (lambda A: A.to("gpu"), ValueError, "device is 'gpu'"),
    (lambda A: A.to("cuda:99"), (ValueError, RuntimeError), "cuda"),
    (lambda A: A.with_values([1.0, 2.0]), ValueError, "12 entries but 2 values"),
    (lambda A: A.astype("complex64"), TypeError, "complex64"),
    (lambda A: A.toarray(absent="a"), TypeError, "absent is 'a'"),
    (lambda A: rig.matrix("nowhere.mtx"), OSError, "nowhere.mtx"),
    (lambda A: rig.matrix(3), TypeError, "int is no matrix; give"),
    (lambda A: rig.matrix(None), TypeError, "NoneType is no matrix"),
    (lambda A: rig.matrix(np.ones((2, 2), dtype=complex)), TypeError, "ndarray of complex128 is no matrix"),
    (lambda A: rig.matrix(sp.csr_array(np.eye(2) * 1j)), TypeError, "complex128"),
    (lambda A: rig.matrix(sp.coo_array(np.ones(3))), ValueError, "1 dimensions"),
    (lambda A: rig.matrix(([1.0], ([5], [0])), shape=(2, 2)), ValueError, "5"),
    (lambda A: rig.matrix(([1.0], ([-1], [0])), shape=(2, 2)), ValueError, "-1"),
    (lambda A: rig.matrix(([1.0], ([-1], [0]))), ValueError, "matrix: an index is -1; rows and columns are counted from 0"),
    (lambda A: rig.matrix(np.array([[0, -3], [1, 1]])), ValueError, "matrix: an index is -3; rows"),
    (lambda A: rig.matrix(([1.0, 2.0], ([0], [0]))), ValueError, "2 values|1 position"),
    (lambda A: rig.matrix(([1.0], ([0], [0, 1]))), ValueError, "matrix: "),
    (lambda A: rig.matrix(([1.0], [0], [0, 2])), ValueError, "matrix: "),
    (lambda A: rig.matrix(([1.0], [0], [1, 1])), ValueError, "matrix: "),
    (lambda A: rig.matrix(([1.0, 2.0], [0, 0], [0, 2, 1, 2]), shape=(3, 1)), ValueError, "matrix: "),
    (lambda A: rig.matrix(([1.0], [0.5], [0, 1]), shape=(1, 1)), TypeError, "indices"),
    (lambda A: rig.matrix(([1.0], [0], [0, 1]), shape=(2, 1)), ValueError, "matrix: "),
    (lambda A: rig.matrix(A, shape=(4, 3)), ValueError, r"\(4, 3\).*3x4"),
    (lambda A: rig.matrix(([1.0], [0], [0, 1]), shape=(1, 2**31)), ValueError, "2147483648"),
    (lambda A: rig.matrix(([1.0], [0], [0, 1]), shape=(1,)), ValueError, r"shape is \(1,\)"),
    (lambda A: rig.matrix(([1.0], [0], [0, 1]), shape=1), ValueError, "shape is 1; give rows and columns"),
    (lambda A: rig.matrix(([1.0], [0], [0, 1]), shape=(1.5, 1)), TypeError, r"shape is \(1.5, 1\); give whole"),
    (lambda A: rig.matrix(([], [], [])), ValueError, "indptr is empty"),
    (lambda A: rig.vector([0], [1.0, 2.0]), ValueError, "1 entries but 2 values"),
    (lambda A: rig.vector(np.ones((2, 2))), ValueError, "2 dimensions"),
    (lambda A: rig.vector([[0, 1]], [1.0, 2.0]), TypeError, "indices"),
    (lambda A: rig.read("nowhere.mtx", separator="ab"), ValueError, "separator"),
    (lambda A: rig.mxm(A, {1.0, 2.0}), TypeError, "B is a set; give an array, a rigblas.Matrix"),
    (lambda A: rig.bfs(np.eye(3), 0), TypeError, "A is a ndarray; give a rigblas.Matrix, or a matrix of SciPy"),
    (lambda A: rig.mxm(A, X.astype(np.longdouble)), TypeError, "ndarray of (longdouble|float128)"),
    (lambda A: rig.mxm(A, X, stream="a"), TypeError, "stream is 'a'"),
    (lambda A: rig.bfs(rig.matrix(np.eye(3)), 0, stream=-1), TypeError, "stream is -1"),
    (lambda A: rig.vector([-1], [1.0], size=3), ValueError, "vector: index -1 is outside a vector of 3"),
    (lambda A: rig.matrix((1, 2)), TypeError, "tuple is no matrix"),
    (lambda A: rig.matrix(([1.0], ([0],))), (ValueError, TypeError), "inhomogeneous|no matrix"),
    (lambda A: rig.mxm(A, np.full(4, 2**63, dtype="uint64")), ValueError, "9223372036854775808"),
    (lambda A: rig.mxm(A, X, out=np.ones((3, 2))[::-1]), ValueError, "rows that do not lie in order"),
    (lambda A: rig.mxm(A, A.T, "mean_second", fill=3), ValueError, "fill"),
    # The operands by their names in Python, and remedies of Python.
    (lambda A: rig.mxv(A, np.ones(5)), ValueError, "^mxv: A is 3x4, u has 5 places; give one for each column of A, 4$"),
    (lambda A: rig.mxv(A, np.ones(5), transpose_a=True), ValueError, "u has 5 places; give one for each row of A, 3$"),
    (lambda A: rig.mxv(A, rig.vector([4], [1.0])), ValueError, "^mxv: A is 3x4, u has 5 places; give one for each column"),
    (lambda A: rig.mxv(A, rig.vector([4], [1.0]), "mean_second"), ValueError, "^mxv: A is 3x4, u has 5 places"),
    (lambda A: np.ones(5) @ A, ValueError, "^vxm: A is 3x4, u has 5 places; give one for each row of A, 3$"),
    (lambda A: rig.vector([4], [1.0]) @ A, ValueError, "^vxm: A is 3x4, u has 5 places; give one for each row of A, 3$"),
    (lambda A: rig.vxm(np.ones(5), A, transpose_b=True), ValueError, "give one for each column of A, 4$"),
    (lambda A: np.ones((2, 5)) @ A, ValueError,
     "^matmul: the array is 2x5, the matrix 3x4; the first has 5 columns, the second 3 rows$"),
    (lambda A: A @ A, ValueError, "the second 3x4; the first has 4 columns, the second 3 rows$"),
    (lambda A: A - "text", TypeError, "^ewise_add: B is a str; give"),
    (lambda A: rig.mxm(A, A.T, out=rig.matrix(np.eye(2))), ValueError, "the result is 3x3, but out is 2x2$"),
    (lambda A: rig.ewise_add(A, A, out=rig.matrix(np.eye(2))), ValueError, "the result is 3x4, but out is 2x2$"),
    (lambda A: rig.mxm(A, X, out=np.ones((2, 2))), ValueError, "the result is 3x2, but out is 2x2$"),
    (lambda A: rig.mxm(A, X, "arg_max_second", out=(np.ones((3, 2)), PLACES[:2])), ValueError,
     "but the second array of out is 2x2$"),
    (lambda A: rig.mxm(A, X, kernel="no_such"), ValueError, "^mxm: kernel is 'no_such', which this build does not have"),
    (lambda A: rig.bfs(rig.matrix(np.eye(3)), 0, kernel="no_such"), ValueError, "^bfs: kernel is 'no_such', which"),
    (lambda A: rig.scc(rig.matrix(np.eye(3)), kernel="row"), ValueError, "^scc: kernel has no meaning here"),
    (lambda A: rig.sampling_report(A, kernel="", width=3), ValueError, "kernel is not set; name bucket"),
    (lambda A: rig.mxm(A, X, "mean_second", accum="own", out=np.ones((3, 2))), ValueError, 'pass an operator such as "plus"'),
    (lambda A: rig.apply(A, "negate", accum="own", out=rig.matrix(np.ones((3, 4)))), ValueError, 'accum="own" needs'),
    (lambda A: rig.mxm(A.T, rig.maxk(X, 1), transpose_b=True), ValueError, r"Bᵀ is 2x4"),
    (lambda A: rig.mxm(rig.matrix(np.eye(2)), rig.maxk(X, 1), transpose_b=True), ValueError, r"pass B.dense\(\)"),
    (lambda A: rig.mxm(rig.matrix(np.eye(2)), rig.quantize(X, per="column"), transpose_b=True), ValueError,
     'quantize it with per="matrix"'),
    (lambda A: rig.ewise_add(X, X, mask=rig.maxk(X, 1), structure=True), ValueError, "pass a Matrix or an array$"),
    (lambda A: rig.apply(X, "negate", transpose_a=True), ValueError, "pass its transpose$"),
    (lambda A: rig.quantize(X * np.inf), ValueError, "^quantize: element"),
    (lambda A: rig.vector([2, 1, 2], [1.0, 2.0, 3.0]), ValueError, "^vector: index 2 is there twice; give each index once$"),
    (lambda A: rig.vector(["a"], [1.0]), TypeError, "^vector: indices is"),
    (lambda A: rig.matrix(([1.0], (["a"], [0]))), TypeError, "^matrix: row is"),
    (lambda A: rig.read(__file__), ValueError, "is not a node number"),
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_error(A, number):
    call, kind, text = CASES[number]
    with pytest.raises(kind, match=text) as caught:
        call(A)
    said = str(caught.value)
    assert not any(ours in said for ours in ("from_tuples", "::", "descriptor", " C is "))


def test_nothing_is_written(A):
    out = np.full((3, 2), 7.0)
    for wrong in (dict(kernel="no_such"), dict(mask=np.ones((1, 1))), dict(accum="no_such"), dict(threads=-1)):
        with pytest.raises(ValueError):
            rig.mxm(A, X, out=out, **wrong)
    assert (out == 7).all()
    C = rig.matrix(np.eye(3))
    with pytest.raises(ValueError):
        rig.mxm(A, A, out=C)
    assert C == rig.matrix(np.eye(3))


def test_read_only_out(A):
    out = np.ones((3, 2))
    out.flags.writeable = False
    with pytest.raises(ValueError, match="out is read-only"):
        rig.mxm(A, X, out=out)


def into(out):
    """Calls that write results of float64 to `out`, of 3 x 4, of 3 or of 4 places."""
    A = rig.matrix(np.arange(1.0, 13.0).reshape(3, 4))
    whole, u = np.ones((3, 4)), np.ones(4)
    if out == "array":
        return {
            "mxm": lambda c: rig.mxm(A, np.ones((4, 4)), out=c), "ewise_add": lambda c: rig.ewise_add(A, whole, out=c),
            "ewise_mult": lambda c: rig.ewise_mult(whole, whole, out=c),
            "apply": lambda c: rig.apply(whole, "negate", out=c), "extract": lambda c: rig.extract(whole, out=c),
            "transpose": lambda c: rig.transpose(whole.T.copy(), out=c), "assign": lambda c: rig.assign(c, whole),
        }
    if out == "list":
        return {"mxv": lambda c: rig.mxv(A, u, out=c), "vxm": lambda c: rig.vxm(u, A.T, out=c),
                "reduce_rows": lambda c: rig.reduce_rows(whole, out=c),
                "reduce_columns": lambda c: rig.reduce_columns(whole.T.copy(), out=c)}
    if out == "vector":
        v = rig.vector([0, 2], [0.5, 1.5], size=4)
        return {"mxv": lambda c: rig.mxv(A, v, out=c), "vxm": lambda c: rig.vxm(v, A.T, out=c),
                "reduce_rows": lambda c: rig.reduce_rows(A, out=c),
                "reduce_columns": lambda c: rig.reduce_columns(A.T, out=c)}
    return {
        "mxm": lambda c: rig.mxm(A, rig.matrix(np.eye(4)), out=c), "ewise_add": lambda c: rig.ewise_add(A, A, out=c),
        "ewise_mult": lambda c: rig.ewise_mult(A, A, out=c), "apply": lambda c: rig.apply(A, "negate", out=c),
        "select": lambda c: rig.select(A, "greater", 2, out=c), "extract": lambda c: rig.extract(A, out=c),
        "transpose": lambda c: rig.transpose(A.T, out=c), "assign": lambda c: rig.assign(c, A),
        "kronecker": lambda c: rig.kronecker(A, rig.matrix(np.ones((1, 1))), out=c),
    }


def new_out(kind, dtype):
    return {"array": np.ones((3, 4), dtype), "list": np.ones(3, dtype), "vector": rig.vector([1], [1], size=3, dtype=dtype),
            "matrix": rig.matrix(np.ones((3, 4))).astype(dtype)}[kind]


@pytest.mark.parametrize("kind,call", [(kind, call) for kind in ("array", "list", "vector", "matrix") for call in into(kind)])
def test_out_that_would_truncate_is_refused_as_by_numpy(kind, call):
    for dtype in ("int32", "int64", "bool"):
        c = new_out(kind, dtype)
        with pytest.raises(TypeError, match=f"^{call}: (out|C) is {dtype}, but .* float64, .*; give (out|C) in float64"):
            into(kind)[call](c)
        same = c == new_out(kind, dtype)  # nothing is written
        assert same if isinstance(same, bool) else same.all()
    for dtype in ("float32", "float64"):
        into(kind)[call](new_out(kind, dtype))


def test_out_takes_what_numpy_takes():
    A = rig.matrix(np.arange(1, 13, dtype="int64").reshape(3, 4))
    x = np.ones(4, dtype="int64")
    for dtype in ("int32", "int64", "float16", "float32", "float64"):
        out = np.zeros(3, dtype)
        np.testing.assert_array_equal(rig.mxv(A, x, out=out), [10, 26, 42])
    with pytest.raises(TypeError, match="mxv: out is bool, but the results are int64"):
        rig.mxv(A, x, out=np.zeros(3, bool))
    with pytest.raises(TypeError, match="mxm: out is int32, but the results are float64"):
        rig.mxm(A, x, "mean_times", out=np.zeros(3, "int32"))
    values, places = np.zeros(3, "int32"), np.zeros(3, "int32")
    with pytest.raises(TypeError, match="mxm: out is int32, but the results are float32"):
        rig.mxm(A, x.astype("float32"), "arg_max_second", out=(values, places))
    logical = rig.mxm(A, x, "lor_land", out=np.zeros(3))
    assert logical.tolist() == [1, 1, 1]


def test_numbers_of_numpy_are_options(A):
    one, yes = np.int32(1), np.True_
    want = rig.mxm(A, X)
    for number in (np.int8(1), one, np.int64(1), np.uint16(1)):
        np.testing.assert_array_equal(rig.mxm(A, X, threads=number, width=number - number), want)
    for fill in (np.float32(2), np.float64(2), np.int64(2), np.array(2.0), True):
        rig.mxm(A, X, fill=fill)
    np.testing.assert_array_equal(rig.mxm(A, X, replace=yes, reproducible=yes), want)
    np.testing.assert_array_equal(rig.mxm(A, np.ones((3, 2)), transpose_a=yes), rig.mxm(A.T, np.ones((3, 2))))
    assert rig.bfs(rig.generate("karate"), np.int64(0)).reached == 34
    assert rig.diagonal(A, np.int64(1)).size == 3
    rig.maxk(X, np.int64(1))
    rig.apply(A, "times", np.float32(2))
    rig.select(A, "lower", np.int64(0))
    rig.matrix(([1.0], ([0], [0])), shape=(np.int64(2), np.int32(3)))
    rig.vector([0], [1.0], size=np.int64(4))


def test_errors_of_a_progress_function_come_through():
    class Mine(Exception):
        pass

    def report(*_):
        raise Mine

    for run in (lambda: rig.bfs(rig.generate("karate"), 0, progress=report),
                lambda: rig.pagerank(rig.generate("karate"), progress=report)):
        with pytest.raises(Mine):
            run()


def test_none_is_no_operand():
    for call in (rig.mxm, rig.mxv, rig.ewise_add, rig.kronecker):
        with pytest.raises(TypeError, match="^[a-z_]+: A is a NoneType; give .*rigblas.Matrix"):
            call(None, None)
    with pytest.raises(TypeError, match="^vxm: u is a NoneType; give"):
        rig.vxm(None, rig.matrix(np.eye(2)))
    with pytest.raises(TypeError, match="^maxk: X is a NoneType; give"):
        rig.maxk(None, 1)
    for call in (rig.reduce, rig.transpose, rig.edge_softmax, rig.symmetrise):
        with pytest.raises(TypeError, match="^[a-z_]+: A is a NoneType; give"):
            call(None)
    with pytest.raises(TypeError, match="B is a NoneType"):
        rig.mxm(rig.matrix(np.eye(2)), None)


def test_out_of_memory_is_a_memory_error():
    A = rig.matrix((np.ones(1), ([0], [0])), shape=(2**20, 2**31 - 1))
    with pytest.raises(MemoryError):
        A.toarray()
