"""Methods of Matrix and Vector that are calls of the package."""

import numbers

import numpy as np

from . import _core


def _is_number(x):
    return isinstance(x, (numbers.Real, np.bool_)) or (isinstance(x, np.generic) and x.ndim == 0)


def _as_float(x):
    """A quotient of integers is a float, as NumPy's."""
    return x.astype("float64") if x.dtype in ("int32", "int64", "bool") else x


class _Both:
    """Methods of Matrix and Vector. A number beside + or - is refused: the result would be dense."""

    def __add__(self, other):
        return NotImplemented if _is_number(other) else _core.ewise_add(self, other, "plus")

    def __radd__(self, other):
        return NotImplemented if _is_number(other) else _core.ewise_add(other, self, "plus")

    def __sub__(self, other):
        return NotImplemented if _is_number(other) else _core.ewise_add(self, -other, "plus")

    def __rsub__(self, other):
        return NotImplemented if _is_number(other) else _core.ewise_add(other, -self, "plus")

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
        return _core.apply(self, "negate")

    def __abs__(self):
        return _core.apply(self, "absolute")

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


class _OfMatrix:
    def __matmul__(self, other):
        product = _core.mxv if isinstance(other, _core.Vector) else _core.mxm
        return product(self, other, "plus_times")

    def __rmatmul__(self, other):
        """A row times a matrix, or rows: the transpose of the product of transposes."""
        if np.ndim(other) == 1:
            return _core.vxm(other, self, "plus_times")
        return _core.mxm(self, other, "plus_times", transpose_a=True, transpose_b=True).T

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
