#pragma once

// What help() shows of the functions of the module, in NumPy's form.

namespace rigblas::doc {

#define RIGBLAS_KEYWORDS_DOC                                                                    \
  "mask, complement, structure, accum, out, replace, fill, transpose_a, transpose_b, threads, " \
  "dtype, stream\n"                                                                             \
  "    As for `mxm`.\n"
#define RIGBLAS_RAISES_DOC                                         \
  "\nRaises\n------\n"                                             \
  "ValueError\n    Shapes, places, names or options do not fit.\n" \
  "TypeError\n    A kind of operand or a type cannot serve.\n"

inline constexpr const char* mxm = R"(The product of a sparse matrix over a semiring.

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
)";

inline constexpr const char* mxv = R"(A matrix times a column: ``w(i) = ⊕_k A(i,k) ⊗ u(k)``.

Parameters
----------
A : Matrix of m rows and k columns
u : array of shape (k,) or (k, 1), or Vector of k
semiring, mask, complement, … , stream
    As for `mxm`.

Returns
-------
array, if u is an array; Vector, if u is a Vector
)" RIGBLAS_RAISES_DOC;

inline constexpr const char* vxm = R"(A row times a matrix: ``w(j) = ⊕_i u(i) ⊗ A(i,j)``.

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
)" RIGBLAS_RAISES_DOC;

inline constexpr const char* explain =
    R"(Every kernel's answer to ``mxm(A, B, semiring, …)``, and the choice. Computes nothing.

Parameters
----------
A, B, semiring, mask, complement, … , stream
    As for `mxm`.

Returns
-------
Explanation
    Its text, ``chosen``, ``reason`` and ``json()``.
)" RIGBLAS_RAISES_DOC;

inline constexpr const char* semirings =
    R"(The semirings by name, with the types that each computes in.

Returns
-------
dict of str to list of str
)";

inline constexpr const char* ewise_add =
    R"(The union of two operands: ``x op y`` where both have an entry, else the entry that is there.

Parameters
----------
A, B : Matrix, Vector or array
    Of one shape. Beside an array, a Matrix or a Vector gives an array.
op : str
    "plus", "minus", "times", "divide", "minimum", "maximum", "first", "second", "logical_or",
    "logical_and", or a comparison, whose results are bool: "equal", "less", "greater_equal", …
)" RIGBLAS_KEYWORDS_DOC R"(
Returns
-------
Matrix, Vector or array
)" RIGBLAS_RAISES_DOC;

inline constexpr const char* ewise_mult =
    R"(The intersection of two operands: ``x op y`` where both have an entry.

Parameters
----------
A, B : Matrix, Vector or array
    Of one shape. An array has an entry at every place.
op : str
    As for `ewise_add`.
)" RIGBLAS_KEYWORDS_DOC R"(
Returns
-------
Matrix, Vector or array
)" RIGBLAS_RAISES_DOC;

inline constexpr const char* apply =
    R"(Every entry through an operator: ``op(x)``, or with a number ``x op y``.

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
)" RIGBLAS_KEYWORDS_DOC R"(
Returns
-------
Matrix, Vector or array, as A
)" RIGBLAS_RAISES_DOC;

inline constexpr const char* select = R"(The entries for which a selection holds.

Parameters
----------
A : Matrix or Vector
op : str
    By place: "lower" (``j <= i + y``), "upper" (``j >= i + y``), "diagonal", "off_diagonal",
    "row_at_most", "row_above", "column_at_most" or "column_above". By value: "equal",
    "not_equal", "less", "less_equal", "greater" or "greater_equal".
y : number
)" RIGBLAS_KEYWORDS_DOC R"(
Returns
-------
Matrix or Vector, as A
)" RIGBLAS_RAISES_DOC;

inline constexpr const char* reduce = R"(The sum of all entries or elements.

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
)" RIGBLAS_RAISES_DOC;

inline constexpr const char* reduce_rows = R"(The sum of each row.

Parameters
----------
A : Matrix or array
op : str
    As for `reduce`.
)" RIGBLAS_KEYWORDS_DOC R"(
Returns
-------
Vector of the rows with entries, if A is a Matrix; array of one dimension, if A is an array
)" RIGBLAS_RAISES_DOC;

inline constexpr const char* reduce_columns =
    R"(The sum of each column: `reduce_rows` of the transpose.

Parameters
----------
A : Matrix or array
op : str
    As for `reduce`.
)" RIGBLAS_KEYWORDS_DOC R"(
Returns
-------
Vector of the columns with entries, if A is a Matrix; array of one dimension, if A is an array
)" RIGBLAS_RAISES_DOC;

inline constexpr const char* extract = R"(Some rows and columns.

Parameters
----------
A : Matrix, Vector or array
rows, columns : None, slice, or list of int
    None is all. A list has indices in any order, none below 0. A Vector has ``rows`` alone.
)" RIGBLAS_KEYWORDS_DOC R"(
Returns
-------
Matrix, Vector or array, as A
)" RIGBLAS_RAISES_DOC;

inline constexpr const char* assign =
    R"(Writes A, or a number, to some rows and columns of C, which is rebound or written.

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
)" RIGBLAS_RAISES_DOC;

inline constexpr const char* transpose =
    R"(The transpose. A Matrix keeps its places, and results share them.

Parameters
----------
A : Matrix or array
)" RIGBLAS_KEYWORDS_DOC R"(
Returns
-------
Matrix or array, as A
)" RIGBLAS_RAISES_DOC;

inline constexpr const char* kronecker =
    R"(The Kronecker product: ``C(i·m + k, j·n + l) = A(i,j) op B(k,l)``, where B is m×n.

Parameters
----------
A, B : Matrix
op : str
    As for `ewise_add`.
)" RIGBLAS_KEYWORDS_DOC R"(
Returns
-------
Matrix
)" RIGBLAS_RAISES_DOC;

inline constexpr const char* diag = R"(The square matrix with a Vector on its k-th diagonal.

Parameters
----------
v : Vector
k : int
    Above 0: above the main diagonal.

Returns
-------
Matrix
)" RIGBLAS_RAISES_DOC;

inline constexpr const char* diagonal = R"(The k-th diagonal of a Matrix.

Parameters
----------
A : Matrix
k : int
    Above 0: above the main diagonal.

Returns
-------
Vector
)" RIGBLAS_RAISES_DOC;

inline constexpr const char* toarray = R"(A Matrix or a Vector as an array.

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
)" RIGBLAS_RAISES_DOC;

inline constexpr const char* cbsr =
    R"(A matrix with k entries in every row, of their values and columns, which are copied.

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
)" RIGBLAS_RAISES_DOC;

inline constexpr const char* maxk = R"(The k greatest numbers of every row of an array.

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
)" RIGBLAS_RAISES_DOC;

inline constexpr const char* maxk_gradient =
    R"(The gradient of `maxk`: the elements of dY at the places that it kept.

Parameters
----------
dY : array of shape (n, f), of float32, float64, float16 or bfloat16
retained : Cbsr

Returns
-------
Cbsr
)" RIGBLAS_RAISES_DOC;

inline constexpr const char* quantize =
    R"(Features as 8-bit codes: ``low + step · code`` is nearest to the number.

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
)" RIGBLAS_RAISES_DOC;

inline constexpr const char* symmetrise = R"(The graph of both directions: ``A ∪ Aᵀ``.

Parameters
----------
A : square Matrix

Returns
-------
Matrix
    Where A has both entries, that of A stays.
)" RIGBLAS_RAISES_DOC;

inline constexpr const char* add_self_loops =
    R"(The same with an entry on every place of the diagonal.

Parameters
----------
A : square Matrix
value : number
    Of the new entries. Those that are there stay.

Returns
-------
Matrix
)" RIGBLAS_RAISES_DOC;

inline constexpr const char* gcn_normalise =
    R"(The matrix of a graph convolution: loops are added, and entries scaled by both degrees.

Parameters
----------
A : square Matrix
    Integers become float32.

Returns
-------
Matrix
)" RIGBLAS_RAISES_DOC;

inline constexpr const char* mean_normalise =
    R"(Every entry divided by the number of entries of its row.

Parameters
----------
A : Matrix
    Integers become float32.

Returns
-------
Matrix
)" RIGBLAS_RAISES_DOC;

inline constexpr const char* edge_softmax = R"(The softmax of the values of each row.

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
)" RIGBLAS_RAISES_DOC;

inline constexpr const char* reorder = R"(An order of the nodes that brings neighbours together.

Parameters
----------
A : square Matrix
by : str
    "loa", "degree" or "rcm".

Returns
-------
array of int32, of n
    The new position of each node.
)" RIGBLAS_RAISES_DOC;

inline constexpr const char* permute =
    R"(A graph with its nodes renumbered, or an array with its rows moved.

Parameters
----------
A : square Matrix, or array
p : list of int, or array
    The new position of each node, as `reorder` returns it.

Returns
-------
Matrix or array, as A
)" RIGBLAS_RAISES_DOC;

inline constexpr const char* sample = R"(A matrix with a part of the entries of each row.

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
)" RIGBLAS_RAISES_DOC;

inline constexpr const char* neighbours =
    R"(Sampled neighbours of some nodes, their neighbours, and so on: the graph of a mini-batch.

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
)" RIGBLAS_RAISES_DOC;

inline constexpr const char* sampling_report =
    R"(How many entries a sampled kernel reads. Computes no product.

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
)" RIGBLAS_RAISES_DOC;

inline constexpr const char* generate = R"(A graph that a text describes.

Parameters
----------
text : str
    "karate", "rmat:SCALE:EDGEFACTOR", "uniform:N:DEGREE", "grid:ROWS:COLS", "cliques:N:SIZE",
    "banded:N:HALF", or the name of a benchmark graph.

Returns
-------
Matrix of float32
    The same graph each time.
)" RIGBLAS_RAISES_DOC;

inline constexpr const char* devices = R"(The places of this machine, the CPU first.

Returns
-------
list of dict
    With "device", "name", "threads" and "memory" each.
)";

inline constexpr const char* synchronise = R"(Waits for the work of a device, and raises its faults.

Parameters
----------
device : str
    "cpu" or "cuda:0".

Returns
-------
None
)";

#undef RIGBLAS_KEYWORDS_DOC
#undef RIGBLAS_RAISES_DOC

}  // namespace rigblas::doc
