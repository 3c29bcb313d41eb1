"""Matrices and vectors from what Python has: SciPy, NumPy, NetworkX, files."""

import os
from copy import deepcopy
from typing import Any

import numpy as np

from . import _core
from ._arrays import as_indices


def matrix(obj, shape=None, dtype=None, copy=False) -> _core.Matrix:
    """A sparse matrix.

    Parameters
    ----------
    obj : object
        One of: a SciPy sparse matrix or array; ``(data, indices, indptr)``, compressed sparse rows; ``(data, (row,
        col))``, coordinates in any order; an array of integers of shape (2, E), which is always the edges of a graph;
        another dense array of two dimensions, whose zeros are left out; a NetworkX graph; the path of a file; a
        Matrix. ``data`` may be one number, which every entry then has: the matrix is iso, and has no array of values.
    shape : (int, int), optional
        Rows and columns; by default as many as the indices need.
    dtype : dtype, optional
        Of the values; by default that of the data, and float32 for edges and files.
    copy : bool
        Whether arrays are copied that could be viewed. CSR arrays are viewed, if their columns are int32 and ascend
        in each row; change neither while the matrix or a result with its places lives. Others are copied.

    Returns
    -------
    Matrix
        Repeated coordinates are summed, as SciPy does; repeated edges are one entry.

    Raises
    ------
    ValueError
        Indices lie outside the shape; CSR rows have a column twice; lengths do not fit.
    TypeError
        A type cannot serve.

    Examples
    --------
    >>> rig.matrix(([1.0, 2.0], ([0, 1], [1, 0])), shape=(2, 2))
    <rigblas.Matrix 2x2, 2 entries, float64, on cpu>
    """
    _require_shape(shape)
    made = _matrix(obj, shape, dtype, copy)
    if shape is not None and tuple(shape) != made.shape:
        raise ValueError(f"matrix: shape is {tuple(shape)}, but the matrix is {made.shape[0]}x{made.shape[1]}")
    return made if dtype is None else made.astype(dtype)


def _require_shape(shape):
    if shape is None:
        return
    if not hasattr(shape, "__len__") or len(shape) != 2:
        raise ValueError(f"matrix: shape is {shape!r}; give rows and columns")
    if not all(hasattr(n, "__index__") for n in shape):
        raise TypeError(f"matrix: shape is {shape!r}; give whole numbers")


def _matrix(obj, shape, dtype, copy):
    if isinstance(obj, _core.Matrix):
        # Another object in any case, because `out=` may rebind one.
        return deepcopy(obj).to(obj.device) if copy else obj.astype(obj.dtype)
    if isinstance(obj, (str, os.PathLike)):
        return read(obj, dtype=dtype or "float32")
    if isinstance(obj, tuple) and len(obj) == 3:
        return _from_csr(*obj, shape, copy)
    if _is_coordinates(obj):
        data, (row, col) = obj
        return _core._from_tuples(*_shape(shape, row, col), row, col, _number_or_array(data))
    if hasattr(obj, "tocsr") and hasattr(obj, "format"):
        return _from_scipy(obj, copy)
    if getattr(obj, "__networkx_backend__", None) == "rigblas":
        return _from_networkx(obj.to_networkx(), dtype)
    if hasattr(obj, "nodes") and hasattr(obj, "is_directed"):
        return _from_networkx(obj, dtype)
    if isinstance(obj, np.ma.MaskedArray):
        raise TypeError("matrix: the array is masked; give obj.filled(0), or coordinates")
    given = np.asarray(obj)
    if given.ndim == 2 and given.shape[0] == 2 and given.dtype.kind in "iu":
        return _from_edges(given, shape, dtype)
    if given.ndim == 2 and given.dtype.kind in "iufb":
        return _core._from_dense(given)
    kind = type(obj).__name__ + (f" of {obj.dtype}" if hasattr(obj, "dtype") else "")
    raise TypeError(
        f"matrix: a {kind} is no matrix; give a SciPy sparse matrix, (data, indices, indptr), "
        "(data, (row, col)), edges of shape (2, E), an array of two dimensions or a file"
    )


def _is_coordinates(obj):
    if not isinstance(obj, tuple) or len(obj) != 2 or not hasattr(obj[1], "__len__"):
        return False
    return len(obj[1]) == 2 and all(np.ndim(x) == 1 for x in obj[1])


def _number_or_array(data):
    if isinstance(data, (bool, int, float)):
        return data
    if isinstance(data, np.generic):
        return data.item()
    return np.asarray(data) if not hasattr(data, "__dlpack__") else data


def _shape(shape, row, col):
    if shape is not None:
        return shape
    return _extent(row), _extent(col)


def _extent(indices):
    """One more than the greatest index; the indices may lie on a device."""
    here = as_indices(indices)
    if here is None:  # the extension says what is wrong with them
        return 0
    if not here.size:
        return 0
    if here.min() < 0:
        raise ValueError(f"matrix: an index is {here.min()}; rows and columns are counted from 0")
    return int(here.max()) + 1


def _from_csr(data, indices, indptr, shape, copy):
    if hasattr(indptr, "__len__") and len(indptr) == 0:
        raise ValueError("matrix: indptr is empty; it has a number more than there are rows, and begins with 0")
    if shape is None:
        shape = (len(indptr) - 1, _extent(indices))
    return _core._from_csr(shape[0], shape[1], indptr, indices, _number_or_array(data), copy)


def _from_scipy(obj, copy):
    if obj.ndim != 2:
        raise ValueError(f"matrix: a sparse array of {obj.ndim} dimensions is no matrix; give one of two")
    if obj.dtype.kind not in "iufb":
        raise TypeError(f"matrix: values are {obj.dtype}; convert them to float32, float64, int32, int64 or bool")
    if obj.format == "coo":
        return _core._from_tuples(*obj.shape, obj.row, obj.col, obj.data)
    csr = obj if obj.format == "csr" else obj.tocsr()
    copy = copy or csr is not obj and csr.data.base is not None
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    entries = int(csr.indptr[-1])  # the arrays may be longer
    return _core._from_csr(*csr.shape, csr.indptr, csr.indices[:entries], csr.data[:entries], copy)


def _from_edges(edges, shape, dtype):
    row, col = edges
    if shape is None:
        n = max(_extent(row), _extent(col))
        shape = (n, n)
    return _core._from_tuples(*shape, row, col, 1)._iso(1, dtype or "float32")


def _from_networkx(graph, dtype):
    """Nodes in their order; weights if an edge has one."""
    number = {node: i for i, node in enumerate(graph)}
    row, col, data = [], [], []
    has_weights = False
    for u, v, attributes in graph.edges(data=True):
        weight = attributes.get("weight")
        has_weights = has_weights or weight is not None
        ends = [(number[u], number[v])]
        if not graph.is_directed() and u != v:
            ends.append((number[v], number[u]))
        for i, j in ends:
            row.append(i)
            col.append(j)
            data.append(1.0 if weight is None else weight)
    n = len(number)
    row, col = np.array(row, dtype=np.int64), np.array(col, dtype=np.int64)
    if not has_weights and not graph.is_multigraph():
        return _core._from_tuples(n, n, row, col, 1)._iso(1, dtype or "float32")
    return _core._from_tuples(n, n, row, col, np.array(data, dtype=dtype or np.float64))


def is_sparse(obj):
    """Whether an operand is a matrix of another library, or the arrays of one."""
    return hasattr(obj, "tocsr") or isinstance(obj, tuple) or hasattr(obj, "is_directed")


def operand(obj):
    """A Matrix of an operand that is none, or None."""
    return matrix(obj) if is_sparse(obj) else None


def iso(obj, value=1, dtype="float32") -> Any:
    """A matrix, or a vector, whose entries all have one value: no array of values exists.

    Parameters
    ----------
    obj : Matrix, Vector, or what `matrix` takes
    value : number
    dtype : dtype

    Returns
    -------
    Matrix or Vector
    """
    made = obj if isinstance(obj, (_core.Matrix, _core.Vector)) else matrix(obj)
    return made._iso(value, dtype)


def vector(indices, values=None, size=None, dtype=None) -> _core.Vector:
    """A sparse vector.

    Parameters
    ----------
    indices : list of int, or array
        The places of the entries, in any order, each once. Alone and of one dimension with ``values=None`` and
        ``size=None``, an array is dense, and its zeros are left out.
    values : list of numbers, or a number, optional
        The value of each entry; by default 1 in float32.
    size : int, optional
        The number of places; by default one more than the greatest index.
    dtype : dtype, optional

    Returns
    -------
    Vector

    Raises
    ------
    ValueError
        An index is outside, or there twice.
    """
    if isinstance(indices, _core.Vector):
        return indices.astype(dtype or indices.dtype)  # another object, because `out=` may rebind one
    if values is None and size is None:
        given = np.asarray(indices)
        if given.ndim != 1:
            raise ValueError(f"vector: an array of {given.ndim} dimensions is no vector; give one of one")
        made = _core._from_dense(given)._as_vector()
        return made if dtype is None else made.astype(dtype)
    at = np.asarray(indices, dtype=np.int64 if not len(indices) else None)
    if size is None:
        size = _extent(at)
    if values is None:
        return _core._vector(at, 1, size)._iso(1, dtype or "float32")
    made = _core._vector(at, _number_or_array(values), size)
    return made if dtype is None else made.astype(dtype)


def read(path, dtype="float32", *, nodes=0, separator=" ", values=True, extra_columns=False, duplicates=None,
         symmetrise=False) -> _core.Matrix:
    """A matrix from a file: Matrix Market, an edge list, or SciPy's .npz; gzip too.

    Parameters
    ----------
    path : str or path
    dtype : float32, float64, int32, int64 or bool
    nodes : int
        Rows and columns of an edge list; 0: as many as the greatest node needs.
    separator : str
        Between the words of an edge list: a blank for blanks and tabs, or one of ``, ; : |``.
    values : bool
        Whether a third word is the value.
    extra_columns : bool
        Whether words after the edge are ignored, not refused.
    duplicates : str, optional
        The operator that joins repeated entries, such as "plus"; by default they are an error, except for edges
        without values, which are one entry.
    symmetrise : bool
        Whether the graph of both directions is returned.

    Returns
    -------
    Matrix

    Raises
    ------
    ValueError
        ``file:line: reason``, for every defect of the file.
    OSError
    """
    return _core._read_matrix(_path(path), dtype, nodes, separator, values, extra_columns, duplicates, symmetrise)


def _path(path):
    text = os.fspath(path)
    if "\0" in text:
        raise ValueError(f"the path {text!r} has a null character")
    return text


def write(path, A) -> None:
    """Writes a Matrix as Matrix Market, or as SciPy's .npz, or an array as .npy.

    Parameters
    ----------
    path : str or path
        The file is written whole, or stays as it was. A Matrix becomes an archive of SciPy if the name ends in .npz.
        A name that ends in .gz gets packed bytes. A name of another format than that of A is refused.
    A : Matrix or array
        Of float32, float64, int32, int64 or bool. An array of one dimension becomes a column.

    Returns
    -------
    None

    Raises
    ------
    OSError
    TypeError
    ValueError
        If the name ends in that of another format.
    """
    _core._write(_path(path), A)
