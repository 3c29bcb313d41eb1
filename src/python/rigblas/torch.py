"""PyTorch: products of a graph with features, and their gradients.

``import rigblas.torch`` registers the operators ``torch.ops.rigblas.*``; the functions of this module
check their arguments and call them. A tensor on the CPU is computed there, a CUDA tensor on its device,
on PyTorch's current stream. Results repeat their bits from run to run, forward and backward.

A graph is a `Graph`, or what `as_graph` accepts: a `rigblas.Matrix`, a sparse tensor, or an
``edge_index`` of PyG. Rows gather: row i of a result is computed from the entries of row i.
"""

import itertools
import weakref

try:
    import torch
except ImportError as error:
    raise ImportError("rigblas.torch needs PyTorch; install it by: pip install torch") from error

import numpy as np

from . import _core

__all__ = ["Graph", "as_graph", "spmm", "sampled_spmm", "sddmm", "edge_softmax", "maxk", "maxk_spmm"]

_TYPES = {
    torch.float32: "float32",
    torch.float64: "float64",
    torch.float16: "float16",
    torch.bfloat16: "bfloat16",
    torch.int32: "int32",
}
_FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
_INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
# The semiring of a reduction without weights, and with weights.
_SEMIRINGS = {
    "sum": ("plus_second", "plus_times"),
    "mean": ("mean_second", "mean_times"),
    "max": ("max_second", None),
    "min": ("min_second", None),
}
_WINNERS = {"max": "arg_max_second", "min": "arg_min_second"}
# A gradient is scattered in parts of this many elements, which bounds the memory of the sort.
_SCATTERED_AT_ONCE = 1 << 24


# The memory of tensors, as the extension takes it.


def _stream(device):
    """The current CUDA stream as rig takes it: PyTorch's 0, the legacy stream, is 1 for CUDA."""
    if device.type == "cpu":
        return 0
    return torch.cuda.current_stream(device).cuda_stream or 1


_places = {}


def _place(device):
    """The name of a device, made once."""
    name = _places.get(device)
    if name is None:
        name = _places[device] = str(device)
    return name


def _view(x, stream):
    """A matrix, or a list as a column, without a copy; `x` must outlive the call."""
    if x.dim() == 1:
        rows, columns, step = len(x), 1, 1
        stride = x.stride(0)
    else:
        rows, columns = x.shape
        stride, step = x.stride()
    if rows < 2:
        stride = columns
    if stride < columns or (step != 1 and columns > 1):
        raise ValueError(
            f"rigblas: a tensor of shape {tuple(x.shape)} has the strides {x.stride()}, so its rows "
            "do not lie in order; call .contiguous()"
        )
    return _core.DenseView(
        x.data_ptr(), rows, columns, stride, _TYPES[x.dtype], _place(x.device), stream
    )


def _values(matrix):
    """The values of a matrix; of bfloat16 their bits, which NumPy can hold."""
    on_cpu = matrix.device == "cpu"
    return matrix._bits if on_cpu and matrix.dtype == "bfloat16" and not matrix.iso else matrix.data


def _copy(array, out):
    """Copies an array of the extension into a tensor of the same type."""
    if out.device.type != "cpu":
        out.copy_(torch.from_dlpack(array))
    elif out.numel():
        # NumPy has no bfloat16, so the extension gives its bits.
        to = out.view(torch.uint16) if out.dtype == torch.bfloat16 else out
        np.copyto(to.numpy(), array)
    return out


# Graphs.

_handles = itertools.count(1)
_graphs = weakref.WeakValueDictionary()


def _graph(handle):
    graph = _graphs.get(handle)
    if graph is None:
        raise RuntimeError(
            f"rigblas: the graph of handle {handle} is gone; keep the Graph while its handle is used"
        )
    return graph


class Graph:
    """The entries of a sparse matrix, as the operators of this module take them.

    Row i holds an entry (i, j) for each neighbour j that node i gathers from. What products derive
    from the entries, such as the transpose, is built once and dies with the graph.

    Parameters
    ----------
    A : rigblas.Matrix, torch.Tensor, torch_geometric.EdgeIndex or torch_sparse.SparseTensor
        A sparse tensor of any layout is taken as it is: entry (target, source). An integer tensor of
        shape (2, E) is an ``edge_index`` of PyG: sources, then targets. Repeated edges become one
        entry that counts them.
    size : (int, int), optional
        Of an ``edge_index``, the number of sources and of targets, as in PyG. By default both are the
        greatest index plus one.

    Attributes
    ----------
    shape : (int, int)
        Rows (targets) and columns (sources).
    nnz : int
        The number of entries.
    device : torch.device
    weight : torch.Tensor or None
        The constant weights of the entries, shape (nnz,), in the order of the entries: row by row,
        with ascending columns. None: every entry counts 1.
    repeated : bool
        Whether the ``edge_index`` had repeated edges.
    matrix : rigblas.Matrix
        The entries without weights.
    handle : int
        Names the graph in ``torch.ops.rigblas``, while the graph lives.
    derived : dict
        What layers made of the graph.

    Raises
    ------
    TypeError
        If A is none of these, or a sparse tensor that requires gradients.
    ValueError
        If an index is negative or not below `size`.
    """

    def __init__(self, A, size=None):
        self.weight = self.order = self._begins = self._segments = self._offsets = None
        self.repeated = False
        self.derived = {}
        self._weights = {}
        self._shares = {}
        with torch.inference_mode(False):  # a graph may be made in inference, and trained with later
            self._take(A, size)
        self.shape = tuple(self.matrix.shape)
        self.nnz = self.matrix.nnz
        self.handle = next(_handles)
        _graphs[self.handle] = self

    def _take(self, A, size):
        if isinstance(A, _core.Matrix):
            self._take_matrix(A)
        elif isinstance(A, torch.Tensor) and A.layout != torch.strided:
            self._take_sparse_tensor(A)
        elif isinstance(A, torch.Tensor):
            self._take_edge_index(A, size)
        elif hasattr(A, "csr") and hasattr(A, "sparse_sizes"):
            self._take_csr(*A.csr(), A.sparse_sizes())
        else:
            raise TypeError(
                f"graph: A is a {type(A).__name__}; give a rigblas.Matrix, a sparse tensor, an "
                "edge_index of shape (2, E), or a torch_sparse.SparseTensor"
            )

    def _take_matrix(self, A):
        self.device = torch.device(A.device)
        self.matrix = A.with_values(1.0)  # shares the entries, and is not rebound with A
        here = A.to("cpu")
        values = (here.astype("float32") if here.dtype == "bfloat16" else here).data
        if not A.iso or (A.nnz > 0 and values[0] != 1):
            weight = torch.from_numpy(np.array(values))
            kind = weight.dtype if weight.is_floating_point() else torch.float32
            self.weight = weight.to(self.device, kind)

    def _take_sparse_tensor(self, A):
        if A.requires_grad:
            raise TypeError(
                "graph: the sparse tensor requires gradients; pass its pattern as A, and its values "
                "as weight="
            )
        if A.layout != torch.sparse_csr:
            A = (A.coalesce() if A.layout == torch.sparse_coo else A).to_sparse_csr()
        self._take_csr(A.crow_indices(), A.col_indices(), A.values(), A.shape)

    def _take_csr(self, offsets, columns, values, shape):
        if values is not None and values.dim() != 1:
            raise ValueError(
                f"graph: the entries hold values of shape {tuple(values.shape[1:])}; give numbers"
            )
        rows = torch.repeat_interleave(
            torch.arange(shape[0], device=offsets.device), offsets.diff().long()
        )
        self._take_entries(rows, columns, shape)
        if values is not None:
            self.weight = self.in_order(values.detach())

    def _take_edge_index(self, A, size):
        if A.dim() != 2 or A.shape[0] != 2 or A.dtype not in _INTEGERS:
            raise TypeError(
                f"graph: A is a dense tensor of {A.dtype} and shape {tuple(A.shape)}; an edge_index "
                "is a tensor of integers of shape (2, E)"
            )
        if size is None and hasattr(A, "get_sparse_size"):
            size = (A.get_sparse_size(0), A.get_sparse_size(1))
        A = A.detach().as_subclass(torch.Tensor)
        source, target = A[0], A[1]
        nodes = size or (None, None)
        if None in nodes:
            most = int(A.max()) + 1 if A.shape[1] else 0
            nodes = tuple(most if n is None else n for n in nodes)
        self._take_entries(target, source, (nodes[1], nodes[0]))

    def _take_entries(self, rows, columns, shape):
        """Sorts the entries by rows, then columns; `order` names the edge of each entry."""
        self.device = rows.device
        _require_range("target", rows, shape[0])
        _require_range("source", columns, shape[1])
        width = max(shape[1], 1)
        key, self.order = torch.sort(rows.long() * width + columns.long(), stable=True)
        is_first = torch.ones_like(key, dtype=torch.bool)
        torch.ne(key[1:], key[:-1], out=is_first[1:])
        if len(key) < 2**31:
            self.order = self.order.to(torch.int32)
        self.repeated = not bool(is_first.all())
        if self.repeated:
            self._begins = torch.nn.functional.pad(is_first.nonzero().view(-1), (0, 1), value=len(key))
            self.weight = self._begins.diff().float()
            key = key[is_first]
        rows = torch.div(key, width, rounding_mode="floor")
        self._offsets = torch._convert_indices_from_coo_to_csr(rows, shape[0])
        self.matrix = _pattern(self._offsets, key - rows * width, shape)

    def __deepcopy__(self, memo):
        return self  # it never changes

    def __repr__(self):
        rows, columns = self.shape
        return f"<rigblas.torch.Graph {rows}x{columns}, {self.nnz} entries, on {self.device}>"

    @property
    def edge_index(self):
        """The entries as PyG has them: int64 of shape (2, nnz), in the order of the entries."""
        matrix = self.matrix.to("cpu")
        offsets = torch.from_numpy(np.array(matrix.indptr)).long()
        rows = torch.repeat_interleave(torch.arange(self.shape[0]), offsets.diff())
        columns = torch.from_numpy(np.array(matrix.indices)).long()
        return torch.stack([columns, rows]).to(self.device)

    def in_order(self, weight):
        """The weights of edges as weights of entries, with gradients; repeated edges are added.

        Parameters
        ----------
        weight : torch.Tensor
            Shape (E,) or (E, H), in the order of the edges that the graph was made of.

        Returns
        -------
        torch.Tensor
            Shape (nnz,) or (nnz, H).
        """
        edges = self.nnz if self.order is None else len(self.order)
        if weight.shape[0] != edges:
            raise ValueError(f"in_order: the graph has {edges} edges, weight has {weight.shape[0]}")
        if self.repeated:
            if self._segments is None:
                self._segments = Graph(_pattern(self._begins, self.order, (self.nnz, edges)))
            return spmm(self._segments, weight.contiguous())
        return weight if self.order is None else weight.index_select(0, self.order)

    def weight_as(self, dtype):
        """`weight` in a type, converted once; None if every entry counts 1."""
        if self.weight is None or self.weight.dtype == dtype:
            return self.weight
        if dtype not in self._weights:
            with torch.inference_mode(False):
                self._weights[dtype] = self.weight.to(dtype)
        return self._weights[dtype]

    def share_as(self, dtype):
        """1 / the edges of each row, shape (rows,); 0 for a row without edges."""
        if dtype not in self._shares:
            with torch.inference_mode(False):
                if self._offsets is None:
                    self._offsets = torch.from_numpy(np.array(self.matrix.to("cpu").indptr))
                begins = self._begins[self._offsets] if self.repeated else self._offsets
                edges = begins.diff().to(self.device, torch.float64)
                self._shares[dtype] = torch.where(edges > 0, 1 / edges.clamp(min=1), 0).to(dtype)
        return self._shares[dtype]

    def to(self, device):
        """The graph on a device; itself if it is there."""
        device = torch.device(device)
        if device == self.device:
            return self
        made = Graph(self.matrix.to(str(device)))
        made.repeated = self.repeated
        for name in ("weight", "order", "_begins", "_offsets"):
            tensor = getattr(self, name)
            setattr(made, name, None if tensor is None else tensor.to(made.device))
        return made

    def prepare(self):
        """Builds what products derive from the entries, for both directions. Returns the graph."""
        self.matrix.prepare()
        self.matrix.prepare(transpose_a=True)
        return self


def _pattern(offsets, columns, shape):
    """A matrix of ones over compressed rows that are sorted, where the tensors are."""
    matrix = _core._from_csr(
        shape[0], shape[1], offsets.cpu().numpy(), columns.to(torch.int32).cpu().numpy(), 1.0, False
    )
    return matrix.to(_place(offsets.device))


def _require_range(name, indices, size):
    if len(indices) == 0:
        return
    least, most = torch.aminmax(indices)
    if least < 0 or most >= size:
        raise ValueError(
            f"graph: a {name} is {int(least if least < 0 else most)}, but there are {size}; give size="
            "(sources, targets), or correct the edges"
        )


_forms = {}  # id of an object: (weak reference to it, its version, what was made of it)


def forms_of(A):
    """What was made of a graph or tensor: a dict that dies with it, or when a tensor is written to."""
    if isinstance(A, Graph):
        return A.derived
    version = 0
    if isinstance(A, torch.Tensor):
        if A.is_inference():  # writes to it are not counted
            return {}
        version = (A.values() if A.layout == torch.sparse_csr else A)._version
    elif isinstance(A, _core.Matrix):  # a call with out= rebinds it
        return {}
    kept = _forms.get(id(A))
    if kept is None or kept[0]() is not A or kept[1] != version:
        key = id(A)
        try:
            reference = weakref.ref(A, lambda _: _forms.pop(key, None))
        except TypeError:
            return {}
        kept = _forms[key] = (reference, version, {})
    return kept[2]


def as_graph(A, size=None):
    """The graph of a matrix, a sparse tensor or an ``edge_index``.

    The graph of a tensor is kept while the tensor lives, and made anew if it was written to. A new tensor
    with the same edges, such as ``edge_index.clone()``, makes a new graph, which costs a sort. A
    `rigblas.Matrix` makes a graph in each call, which shares its entries and what is derived from them.

    Parameters
    ----------
    A : Graph or what Graph takes
    size : (int, int), optional
        Of an ``edge_index``: the number of sources and of targets.

    Returns
    -------
    Graph
    """
    if isinstance(A, Graph):
        return A
    forms = forms_of(A)
    key = None if size is None else tuple(size)
    if key not in forms:
        forms[key] = Graph(A, size)
    return forms[key]


# What the functions require of their arguments.


def _graph_for(A, sources, targets=None):
    """The graph of A; an edge_index has as many nodes as the features have rows, as in PyG."""
    if isinstance(A, Graph):
        return A
    is_edge_index = isinstance(A, torch.Tensor) and A.layout == torch.strided
    if is_edge_index and not hasattr(A, "get_sparse_size"):
        return as_graph(A, (sources, sources if targets is None else targets))
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
    if reduce not in _SEMIRINGS:
        raise ValueError(f"{call}: reduce is {reduce!r}; give one of {', '.join(_SEMIRINGS)}")


def _weight_of(call, graph, weight, x, reduce):
    """The weights of a product: those given, else those of the graph."""
    if weight is None:
        return graph.weight_as(x.dtype) if _SEMIRINGS[reduce][1] else None
    if _SEMIRINGS[reduce][1] is None:
        raise ValueError(f"{call}: reduce={reduce!r} takes no weight; scale x, or use 'sum' or 'mean'")
    if weight.shape[0] != graph.nnz or weight.dim() > 2:
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


# The operators. A linear one is closed under differentiation: `transposed` turns the same operator.

_library = torch.library.Library("rigblas", "DEF")


def _operator(schema, *, meaning):
    """Defines an operator by one function for all devices; `meaning` gives its results' shapes."""
    name = schema.partition("(")[0]

    def define(function):
        _library.define(schema, tags=(torch.Tag.pt2_compliant_tag,))
        for key in ("CPU", "CUDA"):
            _library.impl(name, function, key)
        torch.library.register_fake(f"rigblas::{name}", meaning, lib=_library)
        return getattr(torch.ops.rigblas, name).default

    return define


def _gradient(operator, backward, remember):
    torch.library.register_autograd(
        operator.name(), backward, setup_context=remember, lib=_library
    )


def _result(x, graph, transposed=False):
    rows = graph.shape[1 if transposed else 0]
    return x.new_empty((rows, x.shape[1]) if x.dim() == 2 else (rows, *x.shape[1:]))


def _heads(x):
    return x.unbind(1) if x.dim() == 3 else (x,)


def _parts(x, weight, out):
    """What each product reads and writes: all heads at once, or each head with its own weights."""
    if weight is None or weight.dim() == 1:
        if x.dim() == 3:
            x, out = x.flatten(1), out.flatten(1)
        return ((x, _packed(weight), out),)
    return zip(x.unbind(1), map(_packed, weight.unbind(1)), out.unbind(1))


def _packed(weight):
    """Weights side by side; the gradient of a sum is one number that is repeated."""
    return weight if weight is None else weight.contiguous()


def _scaled(x, share):
    return x * share.view((-1,) + (1,) * (x.dim() - 1))


def _weighted(graph, weight, stream):
    return graph.matrix if weight is None else graph.matrix.with_values(_view(weight, stream))


def _product_shape(x, weight, graph, reduce, transposed):
    return _result(x, _graph(graph), transposed)


def _product(x, weight, graph, reduce, transposed):
    graph = _graph(graph)
    out = _result(x, graph, transposed)
    if out.numel() == 0:
        return out
    # A mean is D⁻¹·A: transposed, it scales first. Repeated edges count in D, not in the entries.
    scales = reduce == "mean" and (transposed or graph.repeated)
    if scales and transposed:
        x = _scaled(x, graph.share_as(x.dtype))
    semiring = _SEMIRINGS["sum" if scales else reduce][weight is not None]
    stream = _stream(x.device)
    fill = 0 if reduce in _WINNERS else None
    for part, weights, result in _parts(x, weight, out):
        _core.mxm(
            _weighted(graph, weights, stream), _view(part, stream), semiring, fill=fill,
            transpose_a=transposed, out=_view(result, stream), stream=stream,
        )
    return _scaled(out, graph.share_as(x.dtype)) if scales and not transposed else out


# One function as two operators, because PyTorch spends twice the time on one that has gradients.
_PRODUCT = "(Tensor x, Tensor? weight, int graph, str reduce, bool transposed) -> Tensor"
_spmm = _operator("spmm" + _PRODUCT, meaning=_product_shape)(_product)
_aggregate = _operator("aggregate" + _PRODUCT, meaning=_product_shape)(_product)


def _sddmm_shape(left, right, graph, reduce):
    nnz = _graph(graph).nnz
    return left.new_empty(nnz) if left.dim() == 2 else left.new_empty((left.shape[1], nnz)).t()


@_operator(
    "sddmm(Tensor left, Tensor right, int graph, str reduce) -> Tensor", meaning=_sddmm_shape
)
def _sddmm(left, right, graph, reduce):
    out = _sddmm_shape(left, right, graph, reduce)
    graph = _graph(graph)
    if left.shape[-1] == 0 or graph.nnz == 0:
        return out.zero_()
    if reduce == "mean":
        left = _scaled(left, graph.share_as(left.dtype))
    stream = _stream(left.device)
    results = out.unbind(1) if out.dim() == 2 else (out,)
    for x, y, result in zip(_heads(left), _heads(right), results):
        made = _core.mxm(
            _view(x, stream), _view(y, stream), "plus_times", mask=graph.matrix, structure=True,
            transpose_b=True, dtype=_TYPES[x.dtype], stream=stream,
        )
        _copy(_values(made), result)
    return out


def _remember_spmm(ctx, inputs, output):
    x, weight, ctx.handle, ctx.reduce, ctx.transposed = inputs
    ctx.graph = _graph(ctx.handle)  # lives until the backward pass
    needs_x, needs_weight = ctx.needs_input_grad[:2]
    ctx.save_for_backward(x if needs_weight else None, weight if needs_x else None)


def _spmm_backward(ctx, dy):
    x, weight = ctx.saved_tensors
    dy = dy.contiguous()
    dx = dweight = None
    if ctx.needs_input_grad[0]:
        dx = _spmm(dy, weight, ctx.handle, ctx.reduce, not ctx.transposed)
    if ctx.needs_input_grad[1]:
        left, right = (x, dy) if ctx.transposed else (dy, x)
        dweight = _sddmm(left, right, ctx.handle, ctx.reduce)
    return dx, dweight, None, None, None


_gradient(_spmm, _spmm_backward, _remember_spmm)


def _remember_sddmm(ctx, inputs, output):
    left, right, ctx.handle, ctx.reduce = inputs
    ctx.graph = _graph(ctx.handle)
    needs_left, needs_right = ctx.needs_input_grad[:2]
    ctx.save_for_backward(left if needs_right else None, right if needs_left else None)


def _sddmm_backward(ctx, dz):
    left, right = ctx.saved_tensors
    dleft = dright = None
    if ctx.needs_input_grad[0]:
        dleft = _spmm(right, dz, ctx.handle, ctx.reduce, False)
    if ctx.needs_input_grad[1]:
        dright = _spmm(left, dz, ctx.handle, ctx.reduce, True)
    return dleft, dright, None, None


_gradient(_sddmm, _sddmm_backward, _remember_sddmm)


def _winners_shape(x, graph, reduce):
    values = _result(x, _graph(graph))
    return values, torch.empty_like(values, dtype=torch.int32)


@_operator(
    "spmm_winners(Tensor x, int graph, str reduce) -> (Tensor, Tensor)", meaning=_winners_shape
)
def _winners(x, graph, reduce):
    values, winners = _winners_shape(x, graph, reduce)
    if values.numel():
        stream = _stream(x.device)
        _core.mxm(
            _graph(graph).matrix, _view(x, stream), _WINNERS[reduce], fill=0,
            out=(_view(values, stream), _view(winners, stream)), stream=stream,
        )
    return values, winners


def _scatter_shape(dy, winners, rows):
    return dy.new_empty((rows, dy.shape[1]))


@_operator(
    "scatter_to_winners(Tensor dy, Tensor winners, int rows) -> Tensor", meaning=_scatter_shape
)
def _scatter(dy, winners, rows):
    columns = dy.shape[1]
    # A last row takes what nothing won, winner -1. Sums of 16-bit numbers are made in float32.
    kind = dy.dtype if dy.dtype.itemsize >= 4 else torch.float32
    total = dy.new_zeros((rows + 1) * columns, dtype=kind)
    column = torch.arange(columns, device=dy.device)
    step = max(1, _SCATTERED_AT_ONCE // max(columns, 1))
    for begin in range(0, dy.shape[0] if columns else 0, step):
        part = winners[begin : begin + step]
        at = torch.where(part < 0, rows, part).long().mul_(columns).add_(column).view(-1)
        values = dy[begin : begin + step].reshape(-1).to(kind)
        # On a CPU scatter_add_ runs in order; on CUDA index_put_ sorts: neither uses atomics.
        if dy.device.type == "cpu":
            total.scatter_add_(0, at, values)
        else:
            total.index_put_((at,), values, accumulate=True)
    return total[: rows * columns].view(rows, columns).to(dy.dtype)


def _remember_winners(ctx, inputs, output):
    ctx.rows = inputs[0].shape[0]
    ctx.save_for_backward(output[1])


def _winners_backward(ctx, dy, _):
    return _scatter(dy.contiguous(), ctx.saved_tensors[0], ctx.rows), None, None


_gradient(_winners, _winners_backward, _remember_winners)


def _remember_scatter(ctx, inputs, output):
    ctx.save_for_backward(inputs[1])


def _scatter_backward(ctx, dx):
    winners = ctx.saved_tensors[0]
    if dx.shape[0] == 0:
        return dx.new_zeros(winners.shape), None, None
    return dx.gather(0, winners.clamp(min=0).long()) * (winners >= 0), None, None


_gradient(_scatter, _scatter_backward, _remember_scatter)


def _softmax_shape(scores, graph):
    return scores.new_empty(scores.shape[::-1]).t() if scores.dim() == 2 else torch.empty_like(scores)


@_operator("edge_softmax(Tensor scores, int graph) -> Tensor", meaning=_softmax_shape)
def _softmax(scores, graph):
    out = _softmax_shape(scores, graph)
    graph = _graph(graph)
    if out.numel() == 0:
        return out
    stream = _stream(scores.device)
    heads = zip(scores.unbind(1), out.unbind(1)) if scores.dim() == 2 else ((scores, out),)
    for part, result in heads:
        part = _packed(part)
        made = _core.edge_softmax(_weighted(graph, part, stream), stream=stream)
        _copy(_values(made), result)
    return out


def _remember_softmax(ctx, inputs, output):
    ctx.handle = inputs[1]
    ctx.graph = _graph(ctx.handle)
    ctx.save_for_backward(output)


def _softmax_backward(ctx, dy):
    (y,) = ctx.saved_tensors
    product = y * dy
    # Row sums are a product with ones; a product under the pattern hands each entry its row's sum.
    ones = y.new_ones((ctx.graph.shape[1],) + tuple(y.shape[1:]) + (1,))
    sums = _spmm(ones, product, ctx.handle, "sum", False)
    return product - y * _sddmm(sums, ones, ctx.handle, "sum"), None


_gradient(_softmax, _softmax_backward, _remember_softmax)


def _maxk_shape(x, k):
    values = x.new_empty((x.shape[0], k))
    return values, torch.empty_like(values, dtype=torch.int32)


@_operator("maxk(Tensor x, int k) -> (Tensor, Tensor)", meaning=_maxk_shape)
def _maxk(x, k):
    values, indices = _maxk_shape(x, k)
    if values.numel():
        return _tensors_of(_core.maxk(_view(x, _stream(x.device)), k), x)
    return values, indices


def _tensors_of(retained, like):
    """The values and indices of a Cbsr as tensors."""
    shape = (retained.shape[0], retained.k)
    values = _copy(retained.values, like.new_empty(shape))
    return values, _copy(retained.indices, torch.empty(shape, dtype=torch.int32, device=like.device))


def _spread(values, indices, columns):
    return values.new_zeros((values.shape[0], columns)).scatter(1, indices.long(), values)


def _remember_maxk(ctx, inputs, output):
    ctx.columns = inputs[0].shape[1]
    ctx.save_for_backward(output[1])


def _maxk_backward(ctx, dvalues, _):
    return _spread(dvalues, ctx.saved_tensors[0], ctx.columns), None


_gradient(_maxk, _maxk_backward, _remember_maxk)


def _maxk_spmm_shape(x, weight, graph, reduce, k):
    return _result(x, _graph(graph))


@_operator(
    "maxk_spmm(Tensor x, Tensor? weight, int graph, str reduce, int k) -> Tensor",
    meaning=_maxk_spmm_shape,
)
def _maxk_spmm(x, weight, graph, reduce, k):
    graph = _graph(graph)
    out = _result(x, graph)
    if out.numel() == 0:
        return out
    stream = _stream(x.device)
    scales = reduce == "mean" and graph.repeated
    semiring = _SEMIRINGS["sum" if scales else reduce][weight is not None]
    retained = _core.maxk(_view(x, stream), k)
    weight = _packed(weight)
    _core.mxm(
        _weighted(graph, weight, stream), retained, semiring, out=_view(out, stream), stream=stream
    )
    return _scaled(out, graph.share_as(x.dtype)) if scales else out


def _maxk_gradient_shape(dy, x, weight, graph, reduce, k):
    return torch.empty_like(x, memory_format=torch.contiguous_format)


@_operator(
    "maxk_spmm_gradient(Tensor dy, Tensor x, Tensor? weight, int graph, str reduce, int k) -> Tensor",
    meaning=_maxk_gradient_shape,
)
def _maxk_gradient(dy, x, weight, graph, reduce, k):
    dx = _maxk_gradient_shape(dy, x, weight, graph, reduce, k)
    graph = _graph(graph)
    if dx.numel() == 0 or graph.nnz == 0:
        return dx.zero_()
    if reduce == "mean":
        dy = _scaled(dy, graph.share_as(dy.dtype))
    stream = _stream(dy.device)
    # The selection is made again: it is one pass over x, and only x is kept from the forward pass.
    retained = _core.maxk(_view(x, stream), k)
    weight = _packed(weight)
    made = _core.mxm(
        _weighted(graph, weight, stream), _view(dy, stream), _SEMIRINGS["sum"][weight is not None],
        mask=retained, structure=True, transpose_a=True, stream=stream,
    )
    values, indices = _tensors_of(made, dx)
    return dx.zero_().scatter_(1, indices.long(), values)


def _remember_maxk_spmm(ctx, inputs, output):
    x, weight, ctx.handle, ctx.reduce, ctx.k = inputs
    ctx.graph = _graph(ctx.handle)
    ctx.save_for_backward(x, weight)


def _maxk_spmm_backward(ctx, dy):
    x, weight = ctx.saved_tensors
    dy = dy.contiguous()
    dx = dweight = None
    if ctx.needs_input_grad[0]:
        dx = _maxk_gradient(dy, x, weight, ctx.handle, ctx.reduce, ctx.k)
    if ctx.needs_input_grad[1]:
        dweight = _sddmm(dy, _spread(*_maxk(x, ctx.k), x.shape[1]), ctx.handle, ctx.reduce)
    return dx, dweight, None, None, None


_gradient(_maxk_spmm, _maxk_spmm_backward, _remember_maxk_spmm)


def _sampled_shape(x, weight, graph, reduce, kernel, width, rescale):
    return _result(x, _graph(graph))


@_operator(
    "sampled_spmm(Tensor x, Tensor? weight, int graph, str reduce, str kernel, int width, "
    "bool rescale) -> Tensor",
    meaning=_sampled_shape,
)
def _sampled(x, weight, graph, reduce, kernel, width, rescale):
    graph = _graph(graph)
    out = _result(x, graph)
    if out.numel() == 0:
        return out
    scales = reduce == "mean" and graph.repeated
    stream = _stream(x.device)
    weight = _packed(weight)
    _core.mxm(
        _weighted(graph, weight, stream), _view(x, stream),
        _SEMIRINGS["sum" if scales else reduce][weight is not None],
        fill=0 if reduce in _WINNERS else None, kernel=kernel, width=width, rescale=rescale or scales,
        out=_view(out, stream), stream=stream,
    )
    return _scaled(out, graph.share_as(x.dtype)) if scales else out


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
    graph = A if isinstance(A, Graph) else _graph_for(A, len(x))
    _require_features("spmm", "x", x, graph, graph.shape[1], "column")
    _require_rows_in_order("spmm", "x", x)
    weight = _weight_of("spmm", graph, weight, x, reduce)
    shape = x.shape
    if x.dim() == 1:
        x = x.unsqueeze(1)
    elif x.dim() == 3 and (weight is None or weight.dim() == 1):
        x = x.flatten(1)
    if not torch.is_grad_enabled() or not (
        x.requires_grad or weight is not None and weight.requires_grad
    ):
        y = _aggregate(x, weight, graph.handle, reduce, False)
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
        if tensor is not None and tensor.requires_grad and torch.is_grad_enabled():
            raise ValueError(
                f"sampled_spmm: {name} requires gradients, but a sampled product has none; call it "
                "under torch.no_grad(), or train with spmm"
            )
    graph = _graph_for(A, len(x))
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
    graph = _graph_for(A, len(y), len(x))
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
    if x.dtype not in _FLOATS:
        raise TypeError(f"{call}: x is {x.dtype}; give float32, float64, float16 or bfloat16")
    _require_matrix(call, "x", x)
    _require_rows_in_order(call, "x", x)
    if not 1 <= k <= x.shape[1]:
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
    graph = _graph_for(A, len(x))
    _require_features("maxk_spmm", "x", x, graph, graph.shape[1], "column")
    weight = _weight_of("maxk_spmm", graph, weight, x, reduce)
    return _maxk_spmm(x, weight, graph.handle, reduce, k)
