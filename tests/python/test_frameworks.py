"""Arrays of CuPy and JAX: read in place by DLPack or the CUDA array interface, and results of the same framework."""

import numpy as np
import pytest
import rigblas as rig
from rigblas import _arrays

TYPES = ["float32", "float64", "int32", "int64", "float16", "bool"]


class Framework:
    """What the tests need of a framework: arrays from NumPy's, and back."""

    def __init__(self, name, device):
        self.name, self.device = name, device
        if device != "cpu" and not any(each["device"] == device for each in rig.devices()):
            pytest.skip("rigblas finds no CUDA device")
        self.module = pytest.importorskip(name, exc_type=ImportError)
        if name == "cupy":
            try:
                self.module.cuda.runtime.getDeviceCount()
            except self.module.cuda.runtime.CUDARuntimeError as error:
                pytest.skip(f"CuPy finds no CUDA device: {error}")
            return
        self.module.config.update("jax_enable_x64", True)
        try:
            self.place = self.module.devices("cpu" if device == "cpu" else "gpu")[0]
        except RuntimeError as error:
            pytest.skip(f"JAX has no such device: {error}")
        if device != "cpu":
            pytest.importorskip("cupy", exc_type=ImportError)

    def array(self, x):
        if self.name == "cupy":
            return self.module.asarray(x)
        return self.module.device_put(x, self.place)

    def numpy(self, x):
        """The same as NumPy's, if it is an array of the framework, on the device."""
        if self.name == "cupy":
            assert isinstance(x, self.module.ndarray)
            return x.get()
        assert isinstance(x, self.module.Array) and x.devices() == {self.place}
        return np.asarray(x)

    def from_dlpack(self, x):
        return self.module.from_dlpack(x) if self.name == "cupy" else self.module.dlpack.from_dlpack(x)


@pytest.fixture(params=["cupy:cuda:0", "jax:cuda:0", "jax:cpu"])
def framework(request):
    return Framework(*request.param.split(":", 1))


@pytest.fixture
def cupy():
    return Framework("cupy", "cuda:0")


def features(rows, columns, dtype):
    return np.random.default_rng(3).integers(0, 9, (rows, columns)).astype(dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("columns", [1, 5, 64])
def test_products(framework, dtype, columns):
    A = rig.generate("rmat:8:4")
    x = features(A.shape[1], columns, dtype)
    for name in ("plus_second", "max_second", "mean_second"):
        want = rig.mxm(A, x, name)
        got = framework.numpy(rig.mxm(A.to(framework.device), framework.array(x), name))
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-3 if dtype == "float16" else 1e-6)


def test_a_vector_of_one_dimension(framework):
    A = rig.generate("karate")
    x = features(34, 1, "float32")[:, 0]
    got = framework.numpy(A.to(framework.device) @ framework.array(x))
    assert got.shape == (34,)
    np.testing.assert_array_equal(got, A @ x)


def test_no_rows_and_no_columns(framework):
    A = rig.generate("karate").to(framework.device)
    assert framework.numpy(rig.mxm(A, framework.array(np.zeros((34, 0), "float32")))).shape == (34, 0)
    empty = rig.matrix(([], ([], [])), shape=(0, 34), dtype="float32").to(framework.device)
    assert framework.numpy(rig.mxm(empty, framework.array(features(34, 3, "float32")))).shape == (0, 3)


def test_two_results(framework):
    A = rig.generate("karate")
    x = features(34, 7, "float32")
    want = rig.mxm(A, x, "arg_max_second")
    got = rig.mxm(A.to(framework.device), framework.array(x), "arg_max_second")
    for mine, theirs in zip(got, want):
        np.testing.assert_array_equal(framework.numpy(mine), theirs)


def test_element_by_element(framework):
    x = features(9, 4, "float32")
    got = framework.numpy(rig.apply(framework.array(x), "times", 3))
    np.testing.assert_array_equal(got, 3 * x)


def test_an_existing_result(cupy):
    A = rig.generate("karate").to("cuda:0")
    x = cupy.array(features(34, 6, "float32"))
    out = cupy.module.ones((34, 6), dtype="float32")
    address = out.data.ptr
    assert rig.mxm(A, x, "plus_second", out=out, accum="plus") is out and out.data.ptr == address
    np.testing.assert_array_equal(out.get(), 1 + rig.mxm(A, x, "plus_second").get())


@pytest.mark.parametrize("device", ["cpu", "cuda:0"])
def test_arrays_of_jax_are_not_written(device):
    jax = Framework("jax", device)
    A = rig.generate("karate").to(device)
    x = features(34, 2, "float32")
    out = jax.array(np.zeros((34, 2), "float32"))
    with pytest.raises((ValueError, TypeError), match="out is"):
        rig.mxm(A, jax.array(x), out=out)
    np.testing.assert_array_equal(np.asarray(out), 0)


def test_rows_in_another_order(cupy):
    A = rig.generate("karate").to("cuda:0")
    with pytest.raises(ValueError, match="do not lie in order"):
        rig.mxm(A, cupy.module.asfortranarray(cupy.array(features(34, 6, "float32"))))
    wide = cupy.array(features(34, 12, "float32"))
    np.testing.assert_array_equal(rig.mxm(A, wide[:, 3:8]).get(), rig.mxm(A, wide).get()[:, 3:8])


def test_places_that_differ(cupy):
    with pytest.raises(ValueError, match="cpu.*cuda:0|cuda:0.*cpu"):
        rig.mxm(rig.generate("karate"), cupy.array(features(34, 2, "float32")))


class Interface:
    """An array that has the CUDA array interface alone, as Numba's."""

    def __init__(self, x):
        self.kept, self.__cuda_array_interface__ = x, x.__cuda_array_interface__


def test_the_cuda_array_interface_alone(cupy):
    A = rig.generate("karate").to("cuda:0")
    x = cupy.array(features(34, 6, "float32"))
    np.testing.assert_array_equal(cupy.numpy(rig.mxm(A, Interface(x))), rig.mxm(A, x).get())


def test_the_current_stream(cupy):
    A = rig.generate("rmat:10:8").to("cuda:0")
    x = cupy.array(features(A.shape[1], 32, "float32"))
    want = rig.mxm(A, x).get()
    assert _arrays.current_stream(x) == 1  # CUDA's legacy stream
    with cupy.module.cuda.Stream(non_blocking=True) as stream:
        assert _arrays.current_stream(x) == stream.ptr
        y = x
        for _ in range(200):  # the product waits for these, because it is on their stream
            y = y + 1
        got = rig.mxm(A, y - 200)
        stream.synchronize()
    np.testing.assert_array_equal(got.get(), want)


def test_entries_of_a_matrix(cupy):
    A = rig.generate("rmat:8:4")
    data, indices, indptr = (cupy.array(np.array(part)) for part in (A.data, A.indices, A.indptr))
    there = rig.matrix((data, indices, indptr), shape=A.shape)
    assert there.device == "cuda:0" and there.to("cpu") == A
    copied = rig.matrix((data, indices, indptr), shape=A.shape, copy=True)
    changed = there.with_values(2 * data)  # a copy too
    data[:] = 0
    assert copied.to("cpu") == A and changed.to("cpu") == A.with_values(2 * A.data)
    assert rig.matrix((1.0, (indices, indices))) == rig.matrix((1.0, (A.indices, A.indices)))
    with pytest.raises(ValueError, match="matrix: data of coordinates is on cuda:0"):
        rig.matrix((data, (indices, indices)))
    with pytest.raises(ValueError, match="matrix: data is on cuda:0 and is not contiguous"):
        rig.matrix((cupy.array(np.ones(2 * A.nnz))[::2], indices, indptr), shape=A.shape)


def test_places_of_rows(framework):
    A = rig.generate("karate")
    rows = np.array([3, 1, 33], "int64")
    assert rig.extract(A, rows=framework.array(rows)) == rig.extract(A, rows=rows)


@pytest.mark.parametrize("name", ["cupy", "jax"])
def test_entries_are_views(name):
    framework = Framework(name, "cuda:0")
    A = rig.generate("karate")
    A = A.with_values(np.arange(A.nnz, dtype="float32"))
    there = A.to("cuda:0")
    parts = {part: framework.from_dlpack(getattr(there, part)) for part in ("data", "indices", "indptr")}
    del there  # the views keep the memory
    for part, view in parts.items():
        np.testing.assert_array_equal(framework.numpy(view), getattr(A, part))
