"""What the extension leaves to Python: arrays of frameworks, and lists of indices."""

from contextlib import nullcontext

import numpy as np


def as_array(x):
    """An array that the extension reads, or None. Small integers become int32 or int64."""
    if hasattr(x, "__cuda_array_interface__") and not hasattr(x, "__dlpack__"):
        return _from_cuda_interface(x)
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError("an array is masked; pass x.filled(value), or the mask as mask=")
    try:
        made = np.asarray(x)
    except (TypeError, ValueError):
        return None
    if made.dtype.kind == "u" and made.dtype.itemsize == 8:
        if made.size and int(made.max()) > np.iinfo(np.int64).max:
            raise ValueError(f"an array of uint64 holds {made.max()}, beyond int64; convert it")
        return made.astype(np.int64)
    if made.dtype.kind in "iu":
        small = made.dtype.itemsize < 4 or made.dtype.newbyteorder("=") == np.int32
        return np.ascontiguousarray(made, dtype=np.int32 if small else np.int64)
    if made.dtype.kind not in "fb":
        return None
    if not made.dtype.isnative:
        return made.astype(made.dtype.newbyteorder("="))
    return made


def _from_cuda_interface(x):
    import cupy

    return cupy.asarray(x)


def in_order(x):
    """A copy of a CPU array whose rows lie in order."""
    return np.ascontiguousarray(np.asarray(x))


def as_indices(x):
    """A packed one-dimensional array of int32 or int64 on the CPU, or None."""
    if hasattr(x, "get") and type(x).__module__.startswith("cupy"):
        x = x.get()
    elif hasattr(x, "cpu"):
        x = x.detach().cpu().numpy()
    try:
        made = np.asarray(x)
    except (TypeError, ValueError, OverflowError):
        return None
    if made.size == 0 and made.ndim == 1 and made.dtype.kind == "f":
        made = made.astype(np.int32)
    if made.dtype.kind not in "iu" or made.ndim != 1:
        return None
    if made.dtype == np.uint64 and made.size and int(made.max()) > np.iinfo(np.int64).max:
        raise ValueError(f"an index is {made.max()}, beyond int64")
    if made.dtype not in (np.int32, np.int64):
        small = made.dtype.itemsize < 4
        made = made.astype(np.int32 if small else np.int64)
    if not made.dtype.isnative:
        made = made.astype(made.dtype.newbyteorder("="))
    return made if made.flags.c_contiguous else np.ascontiguousarray(made)


def as_places(x, size):
    """Places among `size` as `as_indices` takes them: a number counts from the end if it is negative, and a list of
    booleans names the places where it is true."""
    if isinstance(x, (int, np.integer)) and not isinstance(x, (bool, np.bool_)):
        return np.array([x + size if x < 0 else x], dtype=np.int64)
    made = np.asarray(x) if isinstance(x, (list, np.ndarray)) else x
    if getattr(made, "dtype", None) == np.bool_:
        if made.shape != (size,):
            raise ValueError(f"a mask of booleans has the shape {made.shape}; there are {size} places")
        return np.flatnonzero(made)
    return x


def is_of_jax(x):
    """Whether an array is one of JAX."""
    return type(x).__module__.partition(".")[0] in ("jax", "jaxlib")


def empty(like, rows, columns, dtype):
    """New memory for a result where `like` lies, and what makes an array of its framework of it, or None."""
    shape = (rows,) if columns is None else (rows, columns)
    module = type(like).__module__.partition(".")[0]
    if module == "torch":
        import torch

        return torch.empty(shape, dtype=getattr(torch, dtype), device=like.device), None
    if is_of_jax(like):
        return _empty_for_jax(like, shape, dtype)
    if module == "cupy" or hasattr(like, "__cuda_array_interface__"):
        return _cupy_empty(getattr(like, "device", None), shape, dtype), None
    return np.empty(shape, dtype=dtype), None


def _cupy_empty(device, shape, dtype):
    import cupy

    with device if isinstance(device, cupy.cuda.Device) else nullcontext():
        return cupy.empty(shape, dtype=dtype)


def _empty_for_jax(like, shape, dtype):
    """Arrays of JAX cannot be written, so CuPy, or NumPy on the CPU, has the memory."""
    from jax import dlpack

    (device,) = like.devices()
    if dtype == "bfloat16":
        raise TypeError("rigblas: a result for JAX cannot be bfloat16; pass dtype=\"float32\"")
    if device.platform == "cpu":
        return np.empty(shape, dtype=dtype), dlpack.from_dlpack
    try:
        import cupy
    except ImportError:
        raise TypeError("rigblas: results for JAX on a GPU lie in memory of CuPy; install cupy") from None
    return _cupy_empty(cupy.cuda.Device(device.local_hardware_id), shape, dtype), dlpack.from_dlpack


def current_stream(x):
    """The CUDA stream that the framework of `x` works on, as an integer for rig."""
    module = type(x).__module__.partition(".")[0]
    if module == "torch":
        import torch

        return cuda_stream(torch.cuda.current_stream(x.device).cuda_stream)
    if module == "cupy":
        import cupy

        return cuda_stream(cupy.cuda.get_current_stream().ptr)
    if is_of_jax(x):  # it has streams, but names none
        x.block_until_ready()
    return cuda_stream(0)


def cuda_stream(address):
    """A framework's stream for rig: their 0 is CUDA's legacy stream, which rig knows as 1."""
    return address or 1
