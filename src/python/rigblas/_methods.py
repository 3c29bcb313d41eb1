"""Methods of Matrix and Vector that are calls of the package."""

import numbers

import numpy as np

from . import _convert, _core


def _is_number(x):
    return isinstance(x, (numbers.Real, np.bool_)) or (isinstance(x, np.generic) and x.ndim == 0)


def _as_float(x):
    """A quotient of integers is a float, as NumPy's."""
    return x.astype("float64") if x.dtype in ("int32", "int64", "bool") else x


def _negative(x, beside):
    """−x in the type in which it meets `beside`: only there it wraps as a difference does."""
    if not isinstance(x, (_core.Matrix, _core.Vector)):
        given = x
        x = _convert.operand(x) if _convert.is_sparse(x) else np.asarray(x)
        if x.dtype != "bfloat16" and x.dtype.kind not in "iufb":
            return given  # the sum refuses it by its name
    types = x.dtype, beside.dtype
    if "bfloat16" not in types:
        common = np.result_type(*types)
        if common == bool:
            raise TypeError("booleans have no difference; take ewise_add(A, B, \"not_equal\"), or convert one")
        x = x.astype(common)
    return _core.apply(x, "negate")


class _Both:
    """Methods of Matrix and Vector. A number beside + or - is refused: the result would be dense."""

    def __add__(self, other):
        return NotImplemented if _is_number(other) else _core.ewise_add(self, other, "plus")

    def __radd__(self, other):
        return NotImplemented if _is_number(other) else _core.ewise_add(other, self, "plus")

    def __sub__(self, other):
        return NotImplemented if _is_number(other) else _core.ewise_add(self, _negative(other, self), "plus")

    def __rsub__(self, other):
        if _is_number(other):
            return NotImplemented
        if not isinstance(other, (_core.Matrix, _core.Vector)) and not hasattr(other, "dtype"):
            other = np.asarray(other)
        return _core.ewise_add(other, _negative(self, other), "plus")

    def __mul__(self, other):
        return _core.apply(self, "times", other) if _is_number(other) else _core.ewise_mult(self, other, "times")

    def __rmul__(self, other):
        return _core.apply(self, "times", other) if _is_number(other) else _core.ewise_mult(other, self, "times")

    def __truediv__(self, other):
        x = _as_float(self)
        return _core.apply(x, "divide", other) if _is_number(other) else _core.ewise_mult(x, other, "divide")

    def __rtruediv__(self, other):
        x = _as_float(self)
        if _is_number(other):
            return _core.apply(x, "divide", other, first=True)
        return _core.ewise_mult(other, x, "divide")

    def __neg__(self):
        if self.dtype == bool:
            raise TypeError("booleans have no negative; convert them, or take apply(A, \"logical_not\")")
        return _core.apply(self, "negate")

    def __abs__(self):
        return _core.apply(self, "absolute")

    def __array__(self, *_, **__):
        raise TypeError(f"{self!r} is no array; call .toarray()")

    def __copy__(self):
        return self.to(self.device)

    def toarray(self, absent=0, dtype=None):
        """The same as an array, with ``absent`` where there is no entry.

        Parameters
        ----------
        absent : number
        dtype : dtype, optional

        Returns
        -------
        array
        """
        return _core.toarray(self, absent, dtype)


def _plain(matrix):
    """What pickle keeps of a matrix or vector: its values, or the one value."""
    here = matrix.to("cpu")
    kind = here.dtype
    if kind == "bfloat16":
        here = here.astype("float32")
    if not here.iso:
        return np.array(here.data), kind
    return (here.data[0] if here.nnz else np.zeros((), here.dtype)[()]), kind


def _matrix_again(shape, indptr, indices, values, kind):
    return _core._from_csr(*shape, indptr, indices, values, False).astype(kind)


def _vector_again(size, indices, values, kind):
    return _core._vector(indices, values, size).astype(kind)


class _OfMatrix:
    def __reduce__(self):
        here = self.to("cpu")
        return _matrix_again, (self.shape, np.array(here.indptr), np.array(here.indices), *_plain(self))

    def __matmul__(self, other):
        if isinstance(other, (list, tuple)):
            other = np.asarray(other)
        product = _core.mxv if isinstance(other, _core.Vector) else _core.mxm
        return product(self, other, "plus_times")

    def __rmatmul__(self, other):
        """A row times a matrix, or rows: the transpose of the product of transposes."""
        if np.ndim(other) == 1:
            return _core.vxm(other, self, "plus_times")
        if np.ndim(other) == 2 and np.shape(other)[1] != self.shape[0]:
            rows, columns = np.shape(other)
            raise ValueError(
                f"matmul: the array is {rows}x{columns}, the matrix {self.shape[0]}x{self.shape[1]}; "
                f"the first has {columns} columns, the second {self.shape[0]} rows"
            )
        return _core.mxm(self, other, "plus_times", transpose_a=True, transpose_b=True).T

    def dot(self, other):
        """The product, as ``A @ other``."""
        return self @ other

    def matvec(self, x):
        """``A @ x``, for operators of SciPy."""
        return self @ x

    def rmatvec(self, x):
        """``A.T @ x``, for operators of SciPy."""
        return _core.vxm(x, self, "plus_times")

    @property
    def T(self):
        """The transpose. The matrix keeps its places."""
        return _core.transpose(self)

    @property
    def ndim(self):
        """2."""
        return 2

    def to_scipy(self, format="csr"):
        """The same as a SciPy sparse array, which shares the memory: change neither.

        Parameters
        ----------
        format : str
            "csr", or another of SciPy's, which copies.

        Returns
        -------
        scipy.sparse.csr_array, or of another format
        """
        import scipy.sparse

        here = self.to("cpu")
        made = scipy.sparse.csr_array((here.data, here.indices, here.indptr), shape=here.shape, copy=False)
        made.has_sorted_indices = made.has_canonical_format = True
        return made if format == "csr" else made.asformat(format)

    def entries(self):
        """The entries row by row, as (row, column, value)."""
        here = self.to("cpu")
        rows = np.repeat(np.arange(here.shape[0], dtype=np.int32), np.diff(here.indptr))
        return zip(rows.tolist(), here.indices.tolist(), here.data.tolist())


class _OfVector:
    def __reduce__(self):
        return _vector_again, (self.size, np.array(self.to("cpu").indices), *_plain(self))

    def __matmul__(self, other):
        return _core.vxm(self, other, "plus_times")

    @property
    def ndim(self):
        """1."""
        return 1

    def __len__(self):
        return self.size

    def entries(self):
        """The entries as (index, value)."""
        here = self.to("cpu")
        return zip(here.indices.tolist(), here.data.tolist())


def _give(kind, *sources):
    for source in sources:
        for name, member in vars(source).items():
            function = getattr(member, "fget", member)
            if callable(function):
                function.__module__ = kind.__module__  # for the stubs
                setattr(kind, name, member)


_give(_core.Matrix, _Both, _OfMatrix)
_give(_core.Vector, _Both, _OfVector)
