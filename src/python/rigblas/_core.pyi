from typing import Any

class DenseView:
    """
    The memory of a tensor, by its address.

    It owns nothing: the caller keeps the memory until the call has run.
    """

    def __init__(self, data: int, shape: tuple, strides: tuple, dtype: object, device: int = -1, stream: int = 0) -> None: ...

class Vector:
    """
    A sparse vector: ascending indices and a value each.

    Immutable, except that a call with ``out=`` rebinds it. Made by
    `rigblas.vector`.
    """

    @property
    def nnz(self) -> int:
        """Stored entries."""

    @property
    def dtype(self) -> Any:
        """The type of the values: a NumPy dtype, or the text "bfloat16"."""

    @property
    def device(self) -> str:
        """Where the entries are: "cpu" or "cuda:0"."""

    @property
    def iso(self) -> bool:
        """Whether all entries have one value, and no array of values exists."""

    @property
    def indices(self) -> Any:
        """The column of each entry, row by row: int32, a read-only view."""

    @property
    def data(self) -> Any:
        """
        The value of each entry: a read-only view; of an iso matrix one value, broadcast.
        """

    def to(self, device: object) -> Vector:
        """A copy on a device, or the same if it is there."""

    def with_values(self, values: object) -> Vector:
        """
        The same places with other values, one per entry, which are copied. Shares the pattern
        and what is derived from it. A number gives an iso matrix.
        """

    def astype(self, dtype: object) -> Vector:
        """The same with values of another type."""

    def __eq__(self, other: object | None) -> Any: ...

    __hash__: None = None

    __array_ufunc__: None = None

    @property
    def size(self) -> int:
        """The number of places."""

    @property
    def shape(self) -> tuple:
        """The number of places, in a tuple."""

    def __repr__(self) -> str: ...

    def __add__(self, other): ...

    def __radd__(self, other): ...

    def __sub__(self, other): ...

    def __rsub__(self, other): ...

    def __mul__(self, other): ...

    def __rmul__(self, other): ...

    def __truediv__(self, other): ...

    def __rtruediv__(self, other): ...

    def __neg__(self): ...

    def __abs__(self): ...

    def __array__(self, *_, **__): ...

    def __copy__(self): ...

    def toarray(self, absent=0, dtype=None):
        """
        The same as an array, with ``absent`` where there is no entry.

                Parameters
                ----------
                absent : number
                dtype : dtype, optional

                Returns
                -------
                array
        """

    def __reduce__(self): ...

    def __matmul__(self, other): ...

    @property
    def ndim(self):
        """1."""

    def __len__(self): ...

    def entries(self):
        """The entries as (index, value)."""

class Matrix:
    """
    A sparse matrix: compressed sparse rows, with ascending columns.

    Immutable, except that a call with ``out=`` rebinds it. Copies and results
    with the same places share memory. Made by `rigblas.matrix`.
    """

    @property
    def nnz(self) -> int:
        """Stored entries."""

    @property
    def dtype(self) -> Any:
        """The type of the values: a NumPy dtype, or the text "bfloat16"."""

    @property
    def device(self) -> str:
        """Where the entries are: "cpu" or "cuda:0"."""

    @property
    def iso(self) -> bool:
        """Whether all entries have one value, and no array of values exists."""

    @property
    def indices(self) -> Any:
        """The column of each entry, row by row: int32, a read-only view."""

    @property
    def data(self) -> Any:
        """
        The value of each entry: a read-only view; of an iso matrix one value, broadcast.
        """

    def to(self, device: object) -> Matrix:
        """A copy on a device, or the same if it is there."""

    def with_values(self, values: object) -> Matrix:
        """
        The same places with other values, one per entry, which are copied. Shares the pattern
        and what is derived from it. A number gives an iso matrix.
        """

    def astype(self, dtype: object) -> Matrix:
        """The same with values of another type."""

    def __eq__(self, other: object | None) -> Any: ...

    __hash__: None = None

    __array_ufunc__: None = None

    @property
    def shape(self) -> tuple:
        """Rows and columns."""

    @property
    def indptr(self) -> Any:
        """
        Where each row begins in `indices`; rows + 1 numbers, a read-only view.
        """

    def prepare(self, transpose_a: bool = False, kernel: str = '') -> Any:
        """Builds what the first product would build. Returns the matrix."""

    def derived_structures(self) -> list:
        """What is derived from the pattern so far: (name, bytes) each."""

    def drop_derived(self) -> None:
        """Drops what is derived from the pattern."""

    def __repr__(self) -> str: ...

    def __str__(self) -> str: ...

    def __add__(self, other): ...

    def __radd__(self, other): ...

    def __sub__(self, other): ...

    def __rsub__(self, other): ...

    def __mul__(self, other): ...

    def __rmul__(self, other): ...

    def __truediv__(self, other): ...

    def __rtruediv__(self, other): ...

    def __neg__(self): ...

    def __abs__(self): ...

    def __array__(self, *_, **__): ...

    def __copy__(self): ...

    def toarray(self, absent=0, dtype=None):
        """
        The same as an array, with ``absent`` where there is no entry.

                Parameters
                ----------
                absent : number
                dtype : dtype, optional

                Returns
                -------
                array
        """

    def __reduce__(self): ...

    def __matmul__(self, other): ...

    def __rmatmul__(self, other):
        """
        A row times a matrix, or rows: the transpose of the product of transposes.
        """

    def dot(self, other):
        """The product, as ``A @ other``."""

    def matvec(self, x):
        """``A @ x``, for operators of SciPy."""

    def rmatvec(self, x):
        """``A.T @ x``, for operators of SciPy."""

    @property
    def T(self):
        """The transpose. The matrix keeps its places."""

    @property
    def ndim(self):
        """2."""

    def to_scipy(self, format='csr'):
        """
        The same as a SciPy sparse array, which shares the memory: change neither.

                Parameters
                ----------
                format : str
                    "csr", or another of SciPy's, which copies.

                Returns
                -------
                scipy.sparse.csr_array, or of another format
        """

    def entries(self):
        """The entries row by row, as (row, column, value)."""

class Semiring:
    """A semiring of a program, made by `rigblas.semiring`."""

    @property
    def name(self) -> str: ...

    def __repr__(self) -> str: ...

def semirings() -> dict:
    """
    The semirings by name, with the types that each computes in.

    Returns
    -------
    dict of str to list of str
    """

class Cbsr:
    """A matrix with k entries in every row, as `maxk` makes it. Immutable."""

    @property
    def shape(self) -> tuple:
        """Rows and columns."""

    @property
    def k(self) -> int:
        """Entries per row."""

    @property
    def dtype(self) -> Any:
        """The type of the values."""

    @property
    def device(self) -> str:
        """"cpu" or "cuda:0"."""

    @property
    def values(self) -> Any:
        """The values, of shape (rows, k): a read-only view."""

    @property
    def indices(self) -> Any:
        """Their columns, of shape (rows, k): int32."""

    def dense(self) -> Any:
        """The same as an array, with 0 elsewhere."""

    def to(self, device: object) -> Cbsr:
        """A copy on a device, or the same if it is there."""

    def __repr__(self) -> str: ...

class Quantized:
    """Features of 8 bits, as `quantize` makes them. Immutable."""

    @property
    def shape(self) -> tuple:
        """Rows and columns."""

    @property
    def device(self) -> str:
        """"cpu" or "cuda:0"."""

    @property
    def per_column(self) -> bool:
        """Whether every column has a range."""

    @property
    def codes(self) -> Any:
        """The codes: uint8, a read-only view."""

    @property
    def low(self) -> Any:
        """The least number of each range: float32, a read-only view."""

    @property
    def step(self) -> Any:
        """The distance of two codes in each range: float32, a read-only view."""

    def dense(self) -> Any:
        """The numbers that the codes stand for, as float32."""

    def to(self, device: object) -> Quantized:
        """A copy on a device, or the same if it is there."""

    def __repr__(self) -> str: ...

def cbsr(values: object, indices: object, columns: int) -> Cbsr:
    """
    A matrix with k entries in every row, of their values and columns, which are copied.

    Parameters
    ----------
    values : array of shape (n, k), of float32, float64, float16 or bfloat16
    indices : array of integers of shape (n, k)
        The column of each value. The columns of a row ascend.
    columns : int
        The columns of the matrix, at most 65 536.

    Returns
    -------
    Cbsr
        On the CPU; copy it by ``.to("cuda:0")``.

    Raises
    ------
    ValueError
        Shapes, places, names or options do not fit.
    TypeError
        A kind of operand or a type cannot serve.
    """

def maxk(X: object | None, k: int, *, threads: int = 0) -> Cbsr:
    """
    The k greatest numbers of every row of an array.

    Parameters
    ----------
    X : array of shape (n, f), of float32, float64, float16 or bfloat16
    k : int
        From 1 to f. Of equal numbers those of the lowest columns are kept.
    threads : int
        As for `mxm`.

    Returns
    -------
    Cbsr

    Raises
    ------
    ValueError
        Shapes, places, names or options do not fit.
    TypeError
        A kind of operand or a type cannot serve.
    """

def maxk_gradient(dY: object, retained: Cbsr) -> Cbsr:
    """
    The gradient of `maxk`: the elements of dY at the places that it kept.

    Parameters
    ----------
    dY : array of shape (n, f), of float32, float64, float16 or bfloat16
    retained : Cbsr

    Returns
    -------
    Cbsr

    Raises
    ------
    ValueError
        Shapes, places, names or options do not fit.
    TypeError
        A kind of operand or a type cannot serve.
    """

def quantize(X: object | None, *, per: object = 'matrix', rounding: object = 'nearest') -> Quantized:
    """
    Features as 8-bit codes: ``low + step · code`` is nearest to the number.

    Parameters
    ----------
    X : array of shape (n, f), of float32, float64, float16 or bfloat16
    per : str
        "matrix": one range; "column": a range for each column.
    rounding : str
        "nearest" or "floor".

    Returns
    -------
    Quantized

    Raises
    ------
    ValueError
        Shapes, places, names or options do not fit.
    TypeError
        A kind of operand or a type cannot serve.
    """

def symmetrise(A: object | None) -> Matrix:
    """
    The graph of both directions: ``A ∪ Aᵀ``.

    Parameters
    ----------
    A : square Matrix

    Returns
    -------
    Matrix
        Where A has both entries, that of A stays.

    Raises
    ------
    ValueError
        Shapes, places, names or options do not fit.
    TypeError
        A kind of operand or a type cannot serve.
    """

def add_self_loops(A: object | None, value: object = 1) -> Matrix:
    """
    The same with an entry on every place of the diagonal.

    Parameters
    ----------
    A : square Matrix
    value : number
        Of the new entries. Those that are there stay.

    Returns
    -------
    Matrix

    Raises
    ------
    ValueError
        Shapes, places, names or options do not fit.
    TypeError
        A kind of operand or a type cannot serve.
    """

def gcn_normalise(A: object | None) -> Matrix:
    """
    The matrix of a graph convolution: loops are added, and entries scaled by both degrees.

    Parameters
    ----------
    A : square Matrix
        Integers become float32.

    Returns
    -------
    Matrix

    Raises
    ------
    ValueError
        Shapes, places, names or options do not fit.
    TypeError
        A kind of operand or a type cannot serve.
    """

def mean_normalise(A: object | None) -> Matrix:
    """
    Every entry divided by the number of entries of its row.

    Parameters
    ----------
    A : Matrix
        Integers become float32.

    Returns
    -------
    Matrix

    Raises
    ------
    ValueError
        Shapes, places, names or options do not fit.
    TypeError
        A kind of operand or a type cannot serve.
    """

def edge_softmax(A: object | None, *, transpose_a: bool = False, threads: int = 0, stream: object | None = None) -> Matrix:
    """
    The softmax of the values of each row.

    Parameters
    ----------
    A : Matrix of float32, float64, float16 or bfloat16
    transpose_a : bool
        Returns the softmax of the transpose.
    threads, stream
        As for `mxm`.

    Returns
    -------
    Matrix

    Raises
    ------
    ValueError
        Shapes, places, names or options do not fit.
    TypeError
        A kind of operand or a type cannot serve.
    """

def reorder(A: object | None, by: object = 'loa') -> Any:
    """
    An order of the nodes that brings neighbours together.

    Parameters
    ----------
    A : square Matrix
    by : str
        "loa", "degree" or "rcm".

    Returns
    -------
    array of int32, of n
        The new position of each node.

    Raises
    ------
    ValueError
        Shapes, places, names or options do not fit.
    TypeError
        A kind of operand or a type cannot serve.
    """

def permute(A: object | None, p: object) -> Any:
    """
    A graph with its nodes renumbered, or an array with its rows moved.

    Parameters
    ----------
    A : square Matrix, or array
    p : list of int, or array
        The new position of each node, as `reorder` returns it.

    Returns
    -------
    Matrix or array, as A

    Raises
    ------
    ValueError
        Shapes, places, names or options do not fit.
    TypeError
        A kind of operand or a type cannot serve.
    """

def sample(A: object | None, *, width: int, strategy: object = 'fastrand', seed: int = 0, rescale: bool = False) -> Matrix:
    """
    A matrix with a part of the entries of each row.

    Parameters
    ----------
    A : Matrix
    width : int
        The most entries of a row, 1 to 4096. Rows that are not longer stay whole.
    strategy : str
        "fastrand", "adaptive", "bucket", or "whole" for all entries.
    seed : int
        0: the entries that the sampled kernel of that name reads. Another seed: others, each entry of a
        row as likely as any other. The same on every device.
    rescale : bool
        Multiplies the values of a row by its entries over those kept, so that sums are estimated.

    Returns
    -------
    Matrix

    Raises
    ------
    ValueError
        Shapes, places, names or options do not fit.
    TypeError
        A kind of operand or a type cannot serve.
    """

def neighbours(A: object | None, seeds: object, fan_outs: object, *, seed: int = 0) -> tuple:
    """
    Sampled neighbours of some nodes, their neighbours, and so on: the graph of a mini-batch.

    Parameters
    ----------
    A : square Matrix
    seeds : list of int, or array
        The nodes whose results are wanted, each once.
    fan_outs : list of int
        Neighbours per node, 1 to 4096, for each hop from the seeds; -1 for all of them.
    seed : int
        Draws the neighbours, the same on every device.

    Returns
    -------
    (list of Matrix, array of int32)
        A block for each layer of a network, in the order of layers: its columns are what the layer reads, its rows
        what it gives. And the nodes that the columns of the first block stand for, the seeds before others.

    Raises
    ------
    ValueError
        Shapes, places, names or options do not fit.
    TypeError
        A kind of operand or a type cannot serve.
    """

def sampling_report(A: object | None, *, kernel: str, width: int, transpose_a: bool = False) -> dict:
    """
    How many entries a sampled kernel reads. Computes no product.

    Parameters
    ----------
    A : Matrix
    kernel : str
        "adaptive", "bucket" or "fastrand".
    width : int
        The sample size.
    transpose_a : bool

    Returns
    -------
    dict
        Among others "entries", "staged", "kept_share", and "text", which says it in words.

    Raises
    ------
    ValueError
        Shapes, places, names or options do not fit.
    TypeError
        A kind of operand or a type cannot serve.
    """

def mxm(A: object | None, B: object | None, semiring: object = 'plus_times', *, mask: object | None = None, complement: bool = False, structure: bool = False, accum: object | None = None, out: object | None = None, replace: bool = False, fill: object | None = None, transpose_a: bool = False, transpose_b: bool = False, threads: int = 0, dtype: object | None = None, stream: object | None = None, kernel: str = '', width: int = 0, k: int = 0, rescale: bool = False, precision: str = 'full', reproducible: bool = True) -> Any:
    """
    The product of a sparse matrix over a semiring.

    ``C(i,j) = finish(⊕_k A(i,k) ⊗ B(k,j))``, where A(i,k) is an entry.

    Parameters
    ----------
    A : Matrix of m rows and k columns
        Or what `matrix` takes; or an array, under a mask that is a Matrix.
    B : array of shape (k, f) or (k,), Matrix, Cbsr or Quantized
        A one-dimensional array is a column, and the result has one dimension too.
    semiring : str or Semiring
        "plus_times", "max_second", …; `semirings()` lists them. "second" is B's element.
    mask : Matrix, array or Cbsr, optional
        The places of C that may be written: where the mask is not 0, or with ``structure=True``
        where it has an entry; with ``complement=True`` the other places. Under the structure of a Cbsr
        the result is a Cbsr.
    accum : str, optional
        How the product joins ``out``: "plus", "minimum", …; "own" is the semiring's own sum.
    out : array or Matrix, optional
        Receives the result; a Matrix is rebound. Two arrays in a tuple for "arg_max_second". Floats do
        not go into integers, nor numbers into bool.
    replace : bool
        Outside the mask C becomes ``fill``, or loses its entry.
    fill : number, optional
        The element of a dense C without products; by default the semiring's zero, as -inf for max.
    transpose_a, transpose_b : bool
        Reads A or B as its transpose. A keeps its transpose.
    kernel : str
        The kernel that computes it; by default the cheapest one. `explain` lists them.
    width, k : int
        The sample size and the top-k of the kernels that have one.
    rescale : bool
        Whether sampled sums are scaled to the whole row.
    precision : str
        "full", or "tf32", which lets the kernel "hybrid" round its operands.
    reproducible : bool
        Whether a repeated call gives the same bits.
    threads : int
        0: as many as the work, the cores and their load allow.
    dtype : dtype, optional
        Of a new result. By default the type in which NumPy's numbers of A and B meet. An iso A of ones
        has B's type. Means of integers are float64. Booleans are counted in int64.
    stream : int, optional
        A CUDA stream; by default the current one of B's framework.

    Returns
    -------
    array of shape (m, f) or (m,), if B is an array, a Cbsr or a Quantized
        Of B's framework. Two of them, values and int32 indices, for "arg_max_second" and
        "arg_min_second"; index -1 where there is no entry.
    Matrix, if B is a Matrix, or if A and B are arrays

    Raises
    ------
    ValueError
        Shapes, places, names or options do not fit. Nothing is written then.
    TypeError
        A type cannot serve.
    MemoryError

    Examples
    --------
    >>> A = rig.matrix(([1.0, 2.0, 3.0], ([0, 1, 1], [1, 0, 2])), shape=(3, 3))
    >>> rig.mxm(A, np.ones((3, 2)), "plus_times")
    array([[1., 1.],
           [5., 5.],
           [0., 0.]])
    """

def mxv(A: object | None, u: object | None, semiring: object = 'plus_times', *, mask: object | None = None, complement: bool = False, structure: bool = False, accum: object | None = None, out: object | None = None, replace: bool = False, fill: object | None = None, transpose_a: bool = False, transpose_b: bool = False, threads: int = 0, dtype: object | None = None, stream: object | None = None, kernel: str = '', width: int = 0, k: int = 0, rescale: bool = False, precision: str = 'full', reproducible: bool = True) -> Any:
    """
    A matrix times a column: ``w(i) = ⊕_k A(i,k) ⊗ u(k)``.

    Parameters
    ----------
    A : Matrix of m rows and k columns
    u : array of shape (k,) or (k, 1), or Vector of k
    semiring, mask, complement, … , stream
        As for `mxm`.

    Returns
    -------
    array, if u is an array; Vector, if u is a Vector

    Raises
    ------
    ValueError
        Shapes, places, names or options do not fit.
    TypeError
        A kind of operand or a type cannot serve.
    """

def vxm(u: object | None, A: object | None, semiring: object = 'plus_times', *, mask: object | None = None, complement: bool = False, structure: bool = False, accum: object | None = None, out: object | None = None, replace: bool = False, fill: object | None = None, transpose_a: bool = False, transpose_b: bool = False, threads: int = 0, dtype: object | None = None, stream: object | None = None, kernel: str = '', width: int = 0, k: int = 0, rescale: bool = False, precision: str = 'full', reproducible: bool = True) -> Any:
    """
    A row times a matrix: ``w(j) = ⊕_i u(i) ⊗ A(i,j)``.

    The vector is the left operand: "first" is u's element. So it goes along the arcs of A.

    Parameters
    ----------
    u : array of shape (m,) or (m, 1), or Vector of m
    A : Matrix of m rows and n columns
    semiring, mask, complement, … , stream
        As for `mxm`.

    Returns
    -------
    array, if u is an array; Vector, if u is a Vector

    Raises
    ------
    ValueError
        Shapes, places, names or options do not fit.
    TypeError
        A kind of operand or a type cannot serve.
    """

class Explanation:
    """Why a product takes its kernel."""

    @property
    def chosen(self) -> str:
        """The kernel that would run."""

    @property
    def reason(self) -> str:
        """Why it would."""

    def json(self) -> str:
        """Every kernel's answer, as JSON."""

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

def explain(A: object | None, B: object | None, semiring: object = 'plus_times', *, mask: object | None = None, complement: bool = False, structure: bool = False, accum: object | None = None, out: object | None = None, replace: bool = False, fill: object | None = None, transpose_a: bool = False, transpose_b: bool = False, threads: int = 0, dtype: object | None = None, stream: object | None = None, kernel: str = '', width: int = 0, k: int = 0, rescale: bool = False, precision: str = 'full', reproducible: bool = True) -> Explanation:
    """
    Every kernel's answer to ``mxm(A, B, semiring, …)``, and the choice. Computes nothing.

    Parameters
    ----------
    A, B, semiring, mask, complement, … , stream
        As for `mxm`.

    Returns
    -------
    Explanation
        Its text, ``chosen``, ``reason`` and ``json()``.

    Raises
    ------
    ValueError
        Shapes, places, names or options do not fit.
    TypeError
        A kind of operand or a type cannot serve.
    """

def ewise_add(A: object | None, B: object | None, op: object = 'plus', *, mask: object | None = None, complement: bool = False, structure: bool = False, accum: object | None = None, out: object | None = None, replace: bool = False, fill: object | None = None, transpose_a: bool = False, transpose_b: bool = False, threads: int = 0, dtype: object | None = None, stream: object | None = None) -> Any:
    """
    The union of two operands: ``x op y`` where both have an entry, else the entry that is there.

    Parameters
    ----------
    A, B : Matrix, Vector or array
        Of one shape. Beside an array, a Matrix or a Vector gives an array.
    op : str
        "plus", "minus", "times", "divide", "minimum", "maximum", "first", "second", "logical_or",
        "logical_and", or a comparison, whose results are bool: "equal", "less", "greater_equal", …
    mask, complement, structure, accum, out, replace, fill, transpose_a, transpose_b, threads, dtype, stream
        As for `mxm`.

    Returns
    -------
    Matrix, Vector or array

    Raises
    ------
    ValueError
        Shapes, places, names or options do not fit.
    TypeError
        A kind of operand or a type cannot serve.
    """

def ewise_mult(A: object | None, B: object | None, op: object = 'times', *, mask: object | None = None, complement: bool = False, structure: bool = False, accum: object | None = None, out: object | None = None, replace: bool = False, fill: object | None = None, transpose_a: bool = False, transpose_b: bool = False, threads: int = 0, dtype: object | None = None, stream: object | None = None) -> Any:
    """
    The intersection of two operands: ``x op y`` where both have an entry.

    Parameters
    ----------
    A, B : Matrix, Vector or array
        Of one shape. An array has an entry at every place.
    op : str
        As for `ewise_add`.
    mask, complement, structure, accum, out, replace, fill, transpose_a, transpose_b, threads, dtype, stream
        As for `mxm`.

    Returns
    -------
    Matrix, Vector or array

    Raises
    ------
    ValueError
        Shapes, places, names or options do not fit.
    TypeError
        A kind of operand or a type cannot serve.
    """

def apply(A: object | None, op: object, y: object | None = None, *, first: bool = False, mask: object | None = None, complement: bool = False, structure: bool = False, accum: object | None = None, out: object | None = None, replace: bool = False, fill: object | None = None, transpose_a: bool = False, transpose_b: bool = False, threads: int = 0, dtype: object | None = None, stream: object | None = None) -> Any:
    """
    Every entry through an operator: ``op(x)``, or with a number ``x op y``.

    Parameters
    ----------
    A : Matrix, Vector or array
    op : str
        Alone "identity", "negate", "absolute", "reciprocal", "square", "square_root", "exponential",
        "logarithm", "sigmoid", "hyperbolic_tangent", "relu", "sign", "floor", "ceiling", "round"
        (halves away from 0), "logical_not" or "one"; with a number an operator of `ewise_add`.
    y : number, optional
        A fraction beside integers gives float64.
    first : bool
        ``y op x`` in place of ``x op y``.
    mask, complement, structure, accum, out, replace, fill, transpose_a, transpose_b, threads, dtype, stream
        As for `mxm`.

    Returns
    -------
    Matrix, Vector or array, as A

    Raises
    ------
    ValueError
        Shapes, places, names or options do not fit.
    TypeError
        A kind of operand or a type cannot serve.
    """

def select(A: object | None, op: object, y: object = 0, *, mask: object | None = None, complement: bool = False, structure: bool = False, accum: object | None = None, out: object | None = None, replace: bool = False, fill: object | None = None, transpose_a: bool = False, transpose_b: bool = False, threads: int = 0, dtype: object | None = None, stream: object | None = None) -> Any:
    """
    The entries for which a selection holds.

    Parameters
    ----------
    A : Matrix or Vector
    op : str
        By place: "lower" (``j <= i + y``), "upper" (``j >= i + y``), "diagonal", "off_diagonal",
        "row_at_most", "row_above", "column_at_most" or "column_above". By value: "equal",
        "not_equal", "less", "less_equal", "greater" or "greater_equal".
    y : number
    mask, complement, structure, accum, out, replace, fill, transpose_a, transpose_b, threads, dtype, stream
        As for `mxm`.

    Returns
    -------
    Matrix or Vector, as A

    Raises
    ------
    ValueError
        Shapes, places, names or options do not fit.
    TypeError
        A kind of operand or a type cannot serve.
    """

def reduce_rows(A: object | None, op: object = 'plus', *, mask: object | None = None, complement: bool = False, structure: bool = False, accum: object | None = None, out: object | None = None, replace: bool = False, fill: object | None = None, transpose_a: bool = False, transpose_b: bool = False, threads: int = 0, dtype: object | None = None, stream: object | None = None) -> Any:
    """
    The sum of each row.

    Parameters
    ----------
    A : Matrix or array
    op : str
        As for `reduce`.
    mask, complement, structure, accum, out, replace, fill, transpose_a, transpose_b, threads, dtype, stream
        As for `mxm`.

    Returns
    -------
    Vector of the rows with entries, if A is a Matrix; array of one dimension, if A is an array

    Raises
    ------
    ValueError
        Shapes, places, names or options do not fit.
    TypeError
        A kind of operand or a type cannot serve.
    """

def reduce_columns(A: object | None, op: object = 'plus', *, mask: object | None = None, complement: bool = False, structure: bool = False, accum: object | None = None, out: object | None = None, replace: bool = False, fill: object | None = None, transpose_a: bool = False, transpose_b: bool = False, threads: int = 0, dtype: object | None = None, stream: object | None = None) -> Any:
    """
    The sum of each column: `reduce_rows` of the transpose.

    Parameters
    ----------
    A : Matrix or array
    op : str
        As for `reduce`.
    mask, complement, structure, accum, out, replace, fill, transpose_a, transpose_b, threads, dtype, stream
        As for `mxm`.

    Returns
    -------
    Vector of the columns with entries, if A is a Matrix; array of one dimension, if A is an array

    Raises
    ------
    ValueError
        Shapes, places, names or options do not fit.
    TypeError
        A kind of operand or a type cannot serve.
    """

def reduce(A: object | None, op: object = 'plus', *, threads: int = 0) -> Any:
    """
    The sum of all entries or elements.

    Parameters
    ----------
    A : Matrix, Vector or array
    op : str
        "plus", "times", "minimum", "maximum", "logical_or" or "logical_and".
    threads : int
        As for `mxm`.

    Returns
    -------
    int, float or bool

    Raises
    ------
    ValueError
        Shapes, places, names or options do not fit.
    TypeError
        A kind of operand or a type cannot serve.
    """

def extract(A: object | None, rows: object | None = None, columns: object | None = None, *, mask: object | None = None, complement: bool = False, structure: bool = False, accum: object | None = None, out: object | None = None, replace: bool = False, fill: object | None = None, transpose_a: bool = False, transpose_b: bool = False, threads: int = 0, dtype: object | None = None, stream: object | None = None) -> Any:
    """
    Some rows and columns.

    Parameters
    ----------
    A : Matrix, Vector or array
    rows, columns : None, slice, or list of int
        None is all. A list has indices in any order, none below 0. A Vector has ``rows`` alone.
    mask, complement, structure, accum, out, replace, fill, transpose_a, transpose_b, threads, dtype, stream
        As for `mxm`.

    Returns
    -------
    Matrix, Vector or array, as A

    Raises
    ------
    ValueError
        Shapes, places, names or options do not fit.
    TypeError
        A kind of operand or a type cannot serve.
    """

def assign(C: object, A: object | None, rows: object | None = None, columns: object | None = None, *, mask: object | None = None, complement: bool = False, structure: bool = False, accum: object | None = None, replace: bool = False, threads: int = 0) -> Any:
    """
    Writes A, or a number, to some rows and columns of C, which is rebound or written.

    Parameters
    ----------
    C : Matrix, Vector or array
    A : the same, of the shape of those rows and columns; or a number
    rows, columns : None, slice, or list of int
        As for `extract`.
    mask, complement, structure, accum, replace, threads
        As for `mxm`. The mask covers all of C.

    Returns
    -------
    C

    Raises
    ------
    ValueError
        Shapes, places, names or options do not fit.
    TypeError
        A kind of operand or a type cannot serve.
    """

def transpose(A: object | None, *, mask: object | None = None, complement: bool = False, structure: bool = False, accum: object | None = None, out: object | None = None, replace: bool = False, fill: object | None = None, transpose_a: bool = False, transpose_b: bool = False, threads: int = 0, dtype: object | None = None, stream: object | None = None) -> Any:
    """
    The transpose. A Matrix keeps its places, and results share them.

    Parameters
    ----------
    A : Matrix or array
    mask, complement, structure, accum, out, replace, fill, transpose_a, transpose_b, threads, dtype, stream
        As for `mxm`.

    Returns
    -------
    Matrix or array, as A

    Raises
    ------
    ValueError
        Shapes, places, names or options do not fit.
    TypeError
        A kind of operand or a type cannot serve.
    """

def kronecker(A: object | None, B: object | None, op: object = 'times', *, mask: object | None = None, complement: bool = False, structure: bool = False, accum: object | None = None, out: object | None = None, replace: bool = False, fill: object | None = None, transpose_a: bool = False, transpose_b: bool = False, threads: int = 0, dtype: object | None = None, stream: object | None = None) -> Any:
    """
    The Kronecker product: ``C(i·m + k, j·n + l) = A(i,j) op B(k,l)``, where B is m×n.

    Parameters
    ----------
    A, B : Matrix
    op : str
        As for `ewise_add`.
    mask, complement, structure, accum, out, replace, fill, transpose_a, transpose_b, threads, dtype, stream
        As for `mxm`.

    Returns
    -------
    Matrix

    Raises
    ------
    ValueError
        Shapes, places, names or options do not fit.
    TypeError
        A kind of operand or a type cannot serve.
    """

def diag(v: object, k: int = 0) -> Any:
    """
    The square matrix with a Vector on its k-th diagonal.

    Parameters
    ----------
    v : Vector
    k : int
        Above 0: above the main diagonal.

    Returns
    -------
    Matrix

    Raises
    ------
    ValueError
        Shapes, places, names or options do not fit.
    TypeError
        A kind of operand or a type cannot serve.
    """

def diagonal(A: object | None, k: int = 0) -> Any:
    """
    The k-th diagonal of a Matrix.

    Parameters
    ----------
    A : Matrix
    k : int
        Above 0: above the main diagonal.

    Returns
    -------
    Vector

    Raises
    ------
    ValueError
        Shapes, places, names or options do not fit.
    TypeError
        A kind of operand or a type cannot serve.
    """

def toarray(A: object | None, absent: object = 0, dtype: object | None = None) -> Any:
    """
    A Matrix or a Vector as an array.

    Parameters
    ----------
    A : Matrix, Vector or array
    absent : number
        The element at the places without an entry.
    dtype : dtype, optional
        By default that of A.

    Returns
    -------
    array

    Raises
    ------
    ValueError
        Shapes, places, names or options do not fit.
    TypeError
        A kind of operand or a type cannot serve.
    """

def bfs(A: object, source: int, parents: bool, kernel: str = '', threads: int = 0, stream: object | None = None, progress: object | None = None) -> Any: ...

def multi_source(A: object, sources: object, kernel: str = '', threads: int = 0, stream: object | None = None, progress: object | None = None) -> Any: ...

def pagerank(A: object, damping: float, tolerance: float, most_iterations: int, personalised: object | None, kernel: str = '', threads: int = 0, stream: object | None = None, progress: object | None = None) -> Any: ...

def hits(A: object, tolerance: float, most_iterations: int, kernel: str = '', threads: int = 0, stream: object | None = None, progress: object | None = None) -> Any: ...

def components(A: object, symmetric: bool, kernel: str = '', threads: int = 0, stream: object | None = None, progress: object | None = None) -> Any: ...

def scc(A: object, kernel: str = '', threads: int = 0, stream: object | None = None, progress: object | None = None) -> Any: ...

def sssp(A: object, source: int, delta: float, kernel: str = '', threads: int = 0, stream: object | None = None, progress: object | None = None) -> Any: ...

def triangles(A: object, symmetric: bool, kernel: str = '', threads: int = 0, stream: object | None = None, progress: object | None = None) -> int: ...

def local_clustering(A: object, directed: bool, kernel: str = '', threads: int = 0, stream: object | None = None, progress: object | None = None) -> Any: ...

def kcore(A: object, kernel: str = '', threads: int = 0, stream: object | None = None, progress: object | None = None) -> Any: ...

def ktruss(A: object, k: int, symmetric: bool, kernel: str = '', threads: int = 0, stream: object | None = None, progress: object | None = None) -> Any: ...

def bipartite_matching(A: object, kernel: str = '', threads: int = 0, stream: object | None = None, progress: object | None = None) -> Any: ...

def eccentricity(A: object, sources: object | None, batch: int, kernel: str = '', threads: int = 0, stream: object | None = None, progress: object | None = None) -> Any: ...

def diameter_bound(A: object, source: int, symmetric: bool, most_sweeps: int, kernel: str = '', threads: int = 0, stream: object | None = None, progress: object | None = None) -> Any: ...

def betweenness(A: object, sources: object | None, batch: int, kernel: str = '', threads: int = 0, stream: object | None = None, progress: object | None = None) -> Any: ...

def jaccard(A: object, node: int, kernel: str = '', threads: int = 0, stream: object | None = None, progress: object | None = None) -> Vector: ...

def jaccard_of_edges(A: object, kernel: str = '', threads: int = 0, stream: object | None = None, progress: object | None = None) -> Matrix: ...

def label_propagation(A: object, iterations: int, kernel: str = '', threads: int = 0, stream: object | None = None, progress: object | None = None) -> Any: ...

def mis(A: object, seed: int, kernel: str = '', threads: int = 0, stream: object | None = None, progress: object | None = None) -> Any: ...

def msf(A: object, kernel: str = '', threads: int = 0, stream: object | None = None, progress: object | None = None) -> Any: ...

def generate(text: str) -> Matrix:
    """
    A graph that a text describes.

    Parameters
    ----------
    text : str
        "karate", "rmat:SCALE:EDGEFACTOR", "uniform:N:DEGREE", "grid:ROWS:COLS", "cliques:N:SIZE",
        "banded:N:HALF", or the name of a benchmark graph.

    Returns
    -------
    Matrix of float32
        The same graph each time.

    Raises
    ------
    ValueError
        Shapes, places, names or options do not fit.
    TypeError
        A kind of operand or a type cannot serve.
    """

def devices() -> list:
    """
    The places of this machine, the CPU first.

    Returns
    -------
    list of dict
        With "device", "name", "threads" and "memory" each.
    """

def synchronise(device: object) -> None:
    """
    Waits for the work of a device, and raises its faults.

    Parameters
    ----------
    device : str
        "cpu" or "cuda:0".

    Returns
    -------
    None
    """

class Communicator:
    """
    This process among those that work together.

    Made by `rigblas.distributed.communicator`. Calls that take one, or a matrix over ranks, are collective: all ranks make the same calls in the same order.
    """

    def __init__(self, transport: object) -> None: ...

    @property
    def rank(self) -> int:
        """The number of this rank, from 0 on."""

    @property
    def size(self) -> int:
        """The number of ranks."""

    def all_reduce(self, value: int, op: object = 'sum') -> int:
        """The "sum", "min" or "max" of the ranks' integers, on all ranks."""

    def barrier(self) -> None:
        """Returns when all ranks have called it."""

    def __repr__(self) -> str: ...

class Layout:
    """
    Which rank has which rows. A rank keeps its rows in ascending order.

    Made by `contiguous`, `by_partition` or `by_entries`; the same on all ranks.
    """

    @staticmethod
    def contiguous(rows_of_ranks: object) -> Layout:
        """Rank r has so many rows after those of rank r - 1."""

    @staticmethod
    def by_partition(rank_of_row: object, ranks: int) -> Layout:
        """
        Row i is on rank ``rank_of_row[i]``, as METIS and other partitioners write it.
        """

    @staticmethod
    def by_entries(A: object, ranks: int) -> Layout:
        """Each rank has about the same number of entries of A."""

    @property
    def rows(self) -> int:
        """The number of rows of all ranks."""

    @property
    def ranks(self) -> int:
        """The number of ranks."""

    def rows_of(self, rank: int) -> Any:
        """The rows of a rank: an array of int32."""

    def __eq__(self, arg: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

class DistributedMatrix:
    """
    A sparse matrix whose rows are on several ranks.

    Each rank gives its rows, as what `rigblas.matrix` takes; columns have the numbers of the
    whole matrix. Without a layout the ranks' rows follow each other. Collective.
    """

    def __init__(self, communicator: Communicator, rows: object | None, layout: object | None = None) -> None: ...

    @property
    def shape(self) -> tuple:
        """Rows and columns of the whole matrix."""

    @property
    def nnz(self) -> int:
        """Stored entries of all ranks."""

    @property
    def dtype(self) -> Any:
        """The type of the values."""

    @property
    def local(self) -> Matrix:
        """This rank's rows."""

    @property
    def layout(self) -> Layout:
        """Which rank has which rows."""

    @property
    def communicator(self) -> Communicator:
        """The ranks."""

    def __repr__(self) -> str: ...

class RanksExplanation:
    """What a product over ranks moves, and why."""

    @property
    def exchange(self) -> str:
        """What moves."""

    @property
    def reason(self) -> str:
        """The reason of the choice."""

    @property
    def kernel(self) -> str:
        """The kernel of each rank."""

    @property
    def bytes(self) -> Any:
        """Bytes that a product moves from each rank, a row, to each rank: int64."""

    @property
    def bytes_by_fetch(self) -> int:
        """Bytes that fetch would move, beside cover."""

    @property
    def bytes_once(self) -> int:
        """Bytes that the first product also moves."""

    @property
    def largest_receiver(self) -> int:
        """The rank that receives most."""

    @property
    def largest_bytes(self) -> int:
        """The bytes that it receives."""

    @property
    def mean_bytes(self) -> float:
        """The bytes that a rank receives on average."""

    @property
    def slices(self) -> int:
        """
        Slices of X's columns: on devices one travels beside the product of another.
        """

    @property
    def interior(self) -> float:
        """The share of the rows of A that need no row of X of another rank."""

    @property
    def largest_part(self) -> float:
        """
        The largest rank's share of the entries; by features of the columns that it computes.
        """

    def seconds(self, one_rank: float, bytes_per_second: float) -> float:
        """
        Predicts the seconds of a product, from those of one rank and from the bytes that a rank receives per second. If they are not fewer, do not distribute.
        """

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...
