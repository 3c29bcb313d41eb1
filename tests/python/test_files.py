"""Files: Matrix Market, edge lists, .npy."""

import gzip

import numpy as np
import pytest
import rigblas as rig
import scipy.io
import scipy.sparse as sp
from oracle import csr_of, random_sparse


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "bool"])
def test_round_trip(tmp_path, random, dtype):
    stored, values = random_sparse(random, 9, 5, 0.4, dtype, low=0)
    A = rig.matrix(csr_of(stored, values), shape=(9, 5))
    rig.write(tmp_path / "a.mtx", A)
    assert rig.read(tmp_path / "a.mtx", dtype) == A
    assert rig.read(str(tmp_path / "a.mtx"), dtype).dtype == np.dtype(dtype)


def test_scipy_reads_and_writes_the_same(tmp_path, random):
    stored, values = random_sparse(random, 9, 5, 0.4)
    A = rig.matrix(csr_of(stored, values), shape=(9, 5))
    rig.write(tmp_path / "a.mtx", A)
    np.testing.assert_array_equal(scipy.io.mmread(tmp_path / "a.mtx").toarray(), A.toarray())
    for name in ["a.npz", "a.mtx.gz"]:
        rig.write(tmp_path / name, A)
        np.testing.assert_array_equal(rig.read(tmp_path / name, "float64").toarray(), A.toarray())
    np.testing.assert_array_equal(sp.load_npz(tmp_path / "a.npz").toarray(), A.toarray())
    scipy.io.mmwrite(tmp_path / "b.mtx", sp.coo_array(A.toarray()))
    assert rig.read(tmp_path / "b.mtx", "float64") == rig.matrix(sp.csr_array(A.toarray()))


def test_arrays(tmp_path, random):
    x = random.random((4, 3)).astype("float32")
    rig.write(tmp_path / "x.npy", x)
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), x)
    rig.write(tmp_path / "x.npy", x[:, 1:])
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), x[:, 1:])


def test_edge_list(tmp_path):
    path = tmp_path / "g.txt"
    path.write_text("# a comment\n0 1 2.5\n1 2 3\n")
    np.testing.assert_array_equal(rig.read(path).toarray(), [[0, 2.5, 0], [0, 0, 3], [0, 0, 0]])
    assert rig.read(path, nodes=5).shape == (5, 5)
    np.testing.assert_array_equal(rig.read(path, symmetrise=True).toarray(), [[0, 2.5, 0], [2.5, 0, 3], [0, 3, 0]])
    path.write_text("0,1,2\n0,1,3\n")
    with pytest.raises(ValueError, match="g.txt:2"):
        rig.read(path, separator=",")
    np.testing.assert_array_equal(rig.read(path, separator=",", duplicates="plus").data, [5])
    np.testing.assert_array_equal(rig.read(path, separator=",", values=False, extra_columns=True).data, [1])
    with gzip.open(tmp_path / "g.txt.gz", "wt") as file:
        file.write("0 1\n")
    assert rig.read(tmp_path / "g.txt.gz").nnz == 1


def test_defects_are_named(tmp_path):
    path = tmp_path / "g.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1.0\n")
    with pytest.raises(ValueError, match=r"g\.mtx:3: "):
        rig.read(path)
    with pytest.raises(OSError):
        rig.read(tmp_path / "nowhere.mtx")
    with pytest.raises(OSError):
        rig.write(tmp_path / "no" / "folder.mtx", rig.matrix(np.eye(2)))
    with pytest.raises(TypeError, match="float16"):
        rig.write(tmp_path / "h.mtx", rig.matrix(np.eye(2, dtype="float16")))
    with pytest.raises(TypeError, match="Vector"):
        rig.write(tmp_path / "v.mtx", rig.vector([0]))
    with pytest.raises(TypeError, match="float16"):
        rig.read(path, "float16")


def test_names_that_say_another_format_are_refused(tmp_path):
    for name, A in (("a.mtx", np.eye(2)), ("a.npz", np.eye(2)), ("a.mtx.gz", np.eye(2)),
                    ("a.npy", rig.matrix(np.eye(3))), ("a.csv", rig.matrix(np.eye(3)))):
        with pytest.raises(ValueError, match=name):
            rig.write(tmp_path / name, A)
    assert not list(tmp_path.iterdir())
    rig.write(tmp_path / "x.npy", np.arange(3.0))
    assert np.load(tmp_path / "x.npy").shape == (3, 1)
    with pytest.raises(ValueError, match="numpy.load"):
        rig.read(tmp_path / "x.npy")
