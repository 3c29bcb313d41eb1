"""PyTorch: products of a graph with features, and their gradients.

``import rigblas.torch`` registers the operators ``torch.ops.rigblas.*``; the functions of this module
check their arguments and call them. A tensor on the CPU is computed there, a CUDA tensor on its device,
on PyTorch's current stream. Results repeat their bits from run to run, forward and backward.

A graph is a `Graph`, or what `as_graph` accepts: a `rigblas.Matrix`, a sparse tensor, or an
``edge_index`` of PyG. Rows gather: row i of a result is computed from the entries of row i.
"""

try:
    import torch
except ImportError as error:
    raise ImportError("rigblas.torch needs PyTorch; install it by: pip install torch") from error

from ._torch_graph import Graph, as_graph, forms_of  # noqa: F401: nn reads forms_of
from ._torch_operators import (
    _SEMIRINGS,
    _WINNERS,
    _aggregate,
    _is_transformed,
    _maxk,
    _maxk_spmm,
    _remember_check,
    _repeated,
    _sampled,
    _sddmm,
    _softmax,
    _spmm,
    _spread,
    _winners,
)

__all__ = ["Graph", "as_graph", "spmm", "sampled_spmm", "sddmm", "edge_softmax", "maxk", "maxk_spmm"]

_SAMPLED = ("fastrand", "adaptive", "bucket")
_FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)

# What the functions require of their arguments.


def _graph_for(call, A, x, y=None):
    """The graph of A; an edge_index has a source for each row of x, and a target for each row of y or x."""
    if isinstance(A, Graph):
        return A
    for features in (x, x if y is None else y):
        if not isinstance(features, torch.Tensor) or features.dim() == 0:
            raise TypeError(f"{call}: features are {type(features).__name__}; give a tensor of rows")
    is_edge_index = isinstance(A, torch.Tensor) and A.layout == torch.strided
    if is_edge_index and not hasattr(A, "get_sparse_size"):
        return as_graph(A, (len(x), len(x if y is None else y)))
    return as_graph(A)


def _require_features(call, name, x, graph, rows, side):
    if not isinstance(x, torch.Tensor) or x.dtype not in _FLOATS or not 1 <= x.dim() <= 3:
        what = f"{x.dtype} of {x.dim()} dimensions" if isinstance(x, torch.Tensor) else type(x).__name__
        raise TypeError(
            f"{call}: {name} is {what}; give a tensor of float32, float64, float16 or bfloat16 of one "
            "to three dimensions"
        )
    if x.shape[0] != rows:
        raise ValueError(
            f"{call}: A is {graph.shape[0]}x{graph.shape[1]}, {name} has {x.shape[0]} rows; {name} "
            f"needs one row for each {side} of A"
        )
    _require_device(call, name, x, graph)


def _require_device(call, name, x, graph):
    if x.device != graph.device:
        raise ValueError(
            f"{call}: A is on {graph.device}, {name} is on {x.device}; copy one with .to()"
        )


def _require_rows_in_order(call, name, x):
    if x.is_contiguous():
        return
    steps = x.stride()
    inner = 1
    for length, step in zip(reversed(x.shape[1:]), reversed(steps[1:])):
        if length > 1 and step != inner:
            inner = None
            break
        inner *= length
    if inner is None or (x.shape[0] > 1 and steps[0] < inner):
        raise ValueError(
            f"{call}: {name} of shape {tuple(x.shape)} has the strides {steps}, so its rows do not "
            "lie in order; call .contiguous()"
        )


def _require_like(call, name, y, x, other):
    if y.dtype != x.dtype:
        raise TypeError(f"{call}: {name} is {y.dtype}, {other} is {x.dtype}; convert one with .to()")


def _require_reduce(call, reduce):
    if not isinstance(reduce, str) or reduce not in _SEMIRINGS:
        raise ValueError(f"{call}: reduce is {reduce!r}; give one of {', '.join(_SEMIRINGS)}")


def _weight_of(call, graph, weight, x, reduce):
    """The weights of a product: those given, else those of the graph."""
    if weight is None:
        return graph.weight_as(x.dtype) if _SEMIRINGS[reduce][1] else None
    if _SEMIRINGS[reduce][1] is None:
        raise ValueError(f"{call}: reduce={reduce!r} takes no weight; scale x, or use 'sum' or 'mean'")
    if not isinstance(weight, torch.Tensor):
        raise TypeError(f"{call}: weight is {type(weight).__name__}; give a tensor of one weight per entry")
    if not 1 <= weight.dim() <= 2 or weight.shape[0] != graph.nnz:
        raise ValueError(
            f"{call}: A has {graph.nnz} entries, weight has the shape {tuple(weight.shape)}; give one "
            "weight per entry (Graph.in_order sorts the weights of edges)"
        )
    if weight.dim() == 2 and (x.dim() != 3 or x.shape[1] != weight.shape[1]):
        raise ValueError(
            f"{call}: weight has {weight.shape[1]} heads, x has the shape {tuple(x.shape)}; give x of "
            "shape (columns, heads, features)"
        )
    _require_like(call, "weight", weight, x, "x")
    _require_device(call, "weight", weight, graph)
    return weight


# The functions.


def spmm(A, x, reduce="sum", weight=None):
    """Aggregates features over the entries of each row: y[i] = reduce of w[i,j]·x[j] over j.

    Parameters
    ----------
    A : Graph, rigblas.Matrix, torch.Tensor or torch_sparse.SparseTensor
        The graph, n×m; see `Graph`. An ``edge_index`` has as many targets as sources; for others
        pass ``as_graph(edge_index, (sources, targets))``.
    x : torch.Tensor
        Features of float32, float64, float16 or bfloat16, of shape (m,), (m, F) or (m, H, C).
    reduce : {"sum", "mean", "max", "min"}
        A row without entries gives 0. A mean divides by the number of entries, also with weights.
        A maximum or minimum reads no weights; of equal values the lowest j gets the gradient.
    weight : torch.Tensor, optional
        One weight per entry, in the order of the entries, of the type of x: shape (nnz,), or
        (nnz, H) if x has the shape (m, H, C). By default the constant weights of A.

    Returns
    -------
    torch.Tensor
        Shape (n,), (n, F) or (n, H, C). Gradients flow to x and to weight.

    Raises
    ------
    TypeError
        If x is not of these types, or weight is of another type than x.
    ValueError
        If shapes or devices do not agree, rows of x do not lie in order, or reduce is unknown.

    Examples
    --------
    >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> spmm(edge_index, torch.tensor([1.0, 2.0, 3.0]), "max")
    tensor([2., 3., 2.])
    """
    _require_reduce("spmm", reduce)
    if weight is None and isinstance(A, Graph) and isinstance(x, torch.Tensor):
        y = _repeated(A, x, reduce)
        if y is not None:
            return y
    graph = A if isinstance(A, Graph) else _graph_for("spmm", A, x)
    _require_features("spmm", "x", x, graph, graph.shape[1], "column")
    _require_rows_in_order("spmm", "x", x)
    is_constant = weight is None
    weight = _weight_of("spmm", graph, weight, x, reduce)
    # A sample of torch.vmap does not say whether a transform around it takes gradients.
    needs_gradient = x.requires_grad or weight is not None and weight.requires_grad or _is_transformed()
    shape = x.shape
    if x.dim() == 1:
        x = x.unsqueeze(1)
    elif x.dim() == 3 and (weight is None or weight.dim() == 1):
        x = x.flatten(1)
    if not torch.is_grad_enabled() or not needs_gradient:
        y = _aggregate(x, weight, graph.handle, reduce, False)
        if is_constant and len(shape) == 2:
            _remember_check(graph, x, reduce, weight)
    elif reduce in _WINNERS:
        y = _winners(x, graph.handle, reduce)[0]
    else:
        y = _spmm(x, weight, graph.handle, reduce, False)
    return y if len(shape) == 2 else y.view(graph.shape[:1] + shape[1:])


def sampled_spmm(A, x, reduce="sum", *, kernel="fastrand", width=32, rescale=False, weight=None):
    """Aggregates a sample of the entries of each row: for inference only.

    Parameters
    ----------
    A, x, reduce, weight
        As in `spmm`; x has the shape (m, F), weight (nnz,).
    kernel : {"fastrand", "adaptive", "bucket"}
        Which entries of a long row are read: scattered ones, runs, or the first.
    width : int
        At most this many entries of a row are read, 1 to 4096. Shorter rows are exact.
    rescale : bool
        Multiplies a sum by the row's entries over those read. GCN needs it.

    Returns
    -------
    torch.Tensor
        Shape (n, F). The same sample in each call.

    Raises
    ------
    ValueError
        If x or weight requires gradients, or the arguments do not agree.
    """
    _require_reduce("sampled_spmm", reduce)
    for name, tensor in (("x", x), ("weight", weight)):
        if getattr(tensor, "requires_grad", False) and torch.is_grad_enabled():
            raise ValueError(
                f"sampled_spmm: {name} requires gradients, but a sampled product has none; call it "
                "under torch.no_grad(), or train with spmm"
            )
    if kernel not in _SAMPLED:
        raise ValueError(f"sampled_spmm: kernel is {kernel!r}; give one of {', '.join(_SAMPLED)}")
    if not hasattr(width, "__index__") or not 1 <= width <= 4096:
        raise ValueError(f"sampled_spmm: width is {width!r}; give 1 to 4096")
    if rescale and reduce in _WINNERS:
        raise ValueError(f"sampled_spmm: rescale scales sums, and reduce is {reduce!r}; leave rescale out")
    graph = _graph_for("sampled_spmm", A, x)
    _require_features("sampled_spmm", "x", x, graph, graph.shape[1], "column")
    _require_rows_in_order("sampled_spmm", "x", x)
    _require_matrix("sampled_spmm", "x", x)
    weight = _weight_of("sampled_spmm", graph, weight, x, reduce)
    return _sampled(x, weight, graph.handle, reduce, kernel, width, rescale)


def _require_matrix(call, name, x):
    if x.dim() != 2:
        raise ValueError(f"{call}: {name} has {x.dim()} dimensions; give two")


def sddmm(A, x, y):
    """The inner product of two rows for each entry of A: z[i,j] = Σ x[i]·y[j].

    Parameters
    ----------
    A : Graph or what `as_graph` takes
        The graph, n×m; its weights are not read.
    x, y : torch.Tensor
        Of one type, and of shape (n, F) and (m, F), or (n, H, C) and (m, H, C).

    Returns
    -------
    torch.Tensor
        Shape (nnz,) or (nnz, H), in the order of the entries. Gradients flow to x and y.

    Raises
    ------
    TypeError, ValueError
        If types, shapes or devices do not agree.
    """
    graph = _graph_for("sddmm", A, y, x)
    _require_features("sddmm", "x", x, graph, graph.shape[0], "row")
    _require_rows_in_order("sddmm", "x", x)
    _require_features("sddmm", "y", y, graph, graph.shape[1], "column")
    _require_rows_in_order("sddmm", "y", y)
    _require_like("sddmm", "y", y, x, "x")
    if x.dim() == 1 or x.shape[1:] != y.shape[1:]:
        raise ValueError(
            f"sddmm: x has the shape {tuple(x.shape)}, y {tuple(y.shape)}; give (n, F) and (m, F), or "
            "(n, H, C) and (m, H, C)"
        )
    return _sddmm(x, y, graph.handle, "sum")


def edge_softmax(A, scores):
    """The softmax of scores over the entries of each row.

    Parameters
    ----------
    A : Graph or what `as_graph` takes
        The graph; its weights are not read.
    scores : torch.Tensor
        Shape (nnz,) or (nnz, H), in the order of the entries; each column of H is one softmax.

    Returns
    -------
    torch.Tensor
        The shape of scores, with gradients.

    Raises
    ------
    TypeError, ValueError
        If scores is of another type, or does not have one row per entry.
    """
    graph = as_graph(A)
    _require_features("edge_softmax", "scores", scores, graph, graph.nnz, "entry")
    if scores.dim() > 2:
        raise ValueError(f"edge_softmax: scores has the shape {tuple(scores.shape)}; give (nnz, H)")
    return _softmax(scores, graph.handle)


def maxk(x, k):
    """Keeps the k greatest features of each row, and sets the others to 0.

    Parameters
    ----------
    x : torch.Tensor
        Shape (n, F).
    k : int
        1 to F. Of equal values the lower column is kept.

    Returns
    -------
    torch.Tensor
        Shape (n, F). Gradients flow to the features that were kept.

    Raises
    ------
    TypeError, ValueError
        If x is not such a matrix, or k is out of range.
    """
    _require_maxk("maxk", x, k)
    return _spread(*_maxk(x, k), x.shape[1])


def _require_maxk(call, x, k):
    if not isinstance(x, torch.Tensor) or x.dtype not in _FLOATS:
        what = x.dtype if isinstance(x, torch.Tensor) else type(x).__name__
        raise TypeError(f"{call}: x is {what}; give a tensor of float32, float64, float16 or bfloat16")
    _require_matrix(call, "x", x)
    _require_rows_in_order(call, "x", x)
    if not hasattr(k, "__index__") or not 1 <= k <= x.shape[1]:
        raise ValueError(f"{call}: k is {k}, but x has {x.shape[1]} columns; give 1 to that")


def maxk_spmm(A, x, k, reduce="sum", weight=None):
    """``spmm(A, maxk(x, k), reduce, weight)`` that reads only the k features of each row.

    Parameters
    ----------
    A, weight
        As in `spmm`; weight has the shape (nnz,).
    x : torch.Tensor
        Shape (m, F).
    k : int
        1 to F. A quarter of F or less pays.
    reduce : {"sum", "mean"}

    Returns
    -------
    torch.Tensor
        Shape (n, F). Gradients flow to x and to weight; that of x is computed at the kept places alone.

    Raises
    ------
    TypeError, ValueError
        As `spmm` and `maxk`.
    """
    if reduce not in ("sum", "mean"):
        raise ValueError(f"maxk_spmm: reduce is {reduce!r}; give 'sum' or 'mean'")
    _require_maxk("maxk_spmm", x, k)
    graph = _graph_for("maxk_spmm", A, x)
    _require_features("maxk_spmm", "x", x, graph, graph.shape[1], "column")
    weight = _weight_of("maxk_spmm", graph, weight, x, reduce)
    return _maxk_spmm(x, weight, graph.handle, reduce, k)
