"""Graphs as rigblas.torch takes them: their entries, and what is derived from those."""

import io
import itertools
import weakref

import numpy as np
import torch

from . import _core

_INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)

_handles = itertools.count(1)
_graphs = {}  # handle: weak reference to its graph


def _graph(handle):
    kept = _graphs.get(handle)
    graph = None if kept is None else kept()
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
        A sparse tensor of rows, columns or coordinates is taken as it is: entry (target, source). An integer tensor of
        shape (2, E) is an ``edge_index`` of PyG: sources, then targets. Repeated edges become one
        entry that counts them.
    size : (int, int), optional
        The number of sources and of targets, as in PyG; of a matrix they are its columns and rows. By
        default both are the greatest index of an ``edge_index`` plus one.

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
        Whether there were repeated edges.
    is_counted : bool
        Whether `weight` counts repeated edges of an ``edge_index``.
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
        If an index is negative or not below `size`, or `size` is not that of a matrix.
    """

    def __init__(self, A, size=None):
        self.weight = self.order = self._segments = None
        self._begins = self._offsets = self._columns = None
        self.repeated = self.is_counted = False
        self.derived = {}
        self._shares = {}
        with torch.inference_mode(False):  # a graph may be made in inference, and trained with later
            self._take(A, size)
        self._publish()
        if size is not None and any(n not in (None, is_) for n, is_ in zip(size, self.shape[::-1])):
            raise ValueError(
                f"graph: A is {self.shape[0]}x{self.shape[1]}, size is {tuple(size)}; give (sources, "
                f"targets), which are {self.shape[::-1]} here"
            )

    def _publish(self):
        self.shape = tuple(self.matrix.shape)
        self.nnz = self.matrix.nnz
        self.handle = handle = next(_handles)
        _graphs[handle] = weakref.ref(self, lambda _: _graphs.pop(handle, None))

    def _take(self, A, size):
        _require_size(size)
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
        if A.iso or A.device == "cpu":
            values = (A.astype("float32") if A.dtype == "bfloat16" else A).data
            weight = torch.from_numpy(np.array(values))
        else:
            weight = torch.from_dlpack(A.data).clone()
        if not A.iso or (A.nnz > 0 and weight[0] != 1):
            kind = weight.dtype if weight.is_floating_point() else torch.float32
            self.weight = weight.to(self.device, kind)

    def _take_sparse_tensor(self, A):
        if A.requires_grad:
            raise TypeError(
                "graph: the sparse tensor requires gradients; pass its pattern as A, and its values "
                "as weight="
            )
        if A.layout in (torch.sparse_bsr, torch.sparse_bsc):
            raise TypeError(f"graph: the sparse tensor has the layout {A.layout}; give A.to_sparse_coo()")
        if A.layout != torch.sparse_csr:
            A = (A.coalesce() if A.layout == torch.sparse_coo else A).to_sparse_csr()
        self._take_csr(A.crow_indices(), A.col_indices(), A.values(), A.shape)

    def _take_csr(self, offsets, columns, values, shape):
        if values is not None and values.is_complex():
            raise TypeError(f"graph: the entries are {values.dtype}; give real numbers")
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
            self.is_counted = False

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
        nodes = (None, None) if size is None else size
        if None in nodes:
            most = int(A.max()) + 1 if A.shape[1] else 0
            nodes = tuple(most if n is None else n for n in nodes)
        self._take_entries(target, source, (nodes[1], nodes[0]))

    def _take_entries(self, rows, columns, shape):
        """Sorts the entries by rows, then columns; `order` names the edge of each entry."""
        self.device = rows.device
        if max(shape) > _GREATEST:
            raise ValueError(f"graph: there are {max(shape)} nodes, and at most {_GREATEST} can serve")
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
            self.is_counted = True
            key = key[is_first]
        rows = torch.div(key, width, rounding_mode="floor")
        self._offsets = torch._convert_indices_from_coo_to_csr(rows, shape[0])
        self._columns = (key - rows * width).to(torch.int32)
        self.matrix = _pattern(self._offsets, self._columns, shape)

    @property
    def weight(self):
        return self._weight

    @weight.setter
    def weight(self, weight):
        self._weight = weight
        self._weights = {}
        self.checked = {}  # arguments of products without gradients: what spmm found for them

    def __copy__(self):
        return self  # it never changes

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        # Bytes: PyTorch gives tensors to another process by moving their memory, which the matrix views.
        state = {name: getattr(self, name) for name in _STATE}
        state["_offsets"], state["_columns"] = self.csr()
        saved = io.BytesIO()
        torch.save(state, saved)
        return _restored, (self.shape, saved.getvalue())

    def __repr__(self):
        rows, columns = self.shape
        return f"<rigblas.torch.Graph {rows}x{columns}, {self.nnz} entries, on {self.device}>"

    @property
    def edge_index(self):
        """The entries as PyG has them: int64 of shape (2, nnz), in the order of the entries."""
        offsets, columns = self.csr()
        rows = torch.arange(self.shape[0], device=self.device)
        return torch.stack([columns.long(), torch.repeat_interleave(rows, offsets.diff().long())])

    @property
    def edges(self):
        """The edges as PyG has them, repeated ones too, and their weights, or None if each counts 1."""
        if not self.is_counted:
            return self.edge_index, self.weight
        return torch.repeat_interleave(self.edge_index, self._begins.diff(), dim=1), None

    def csr(self):
        """Offsets of the rows, and columns; those of a matrix are copied."""
        if self._offsets is not None:
            return self._offsets, self._columns
        matrix = self.matrix.to("cpu")
        arrays = (torch.from_numpy(np.array(each)) for each in (matrix.indptr, matrix.indices))
        return tuple(each.to(self.device) for each in arrays)

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
                self._segments = Graph(_pattern(self._begins, self.order, (self.matrix.nnz, edges)))
            from .torch import spmm

            if not weight.is_floating_point():
                return spmm(self._segments, weight.double()).to(weight.dtype)
            return spmm(self._segments, weight.contiguous())
        return weight if self.order is None else weight.index_select(0, self.order)

    def weight_as(self, dtype):
        """`weight` in a type, converted once; None if every entry counts 1."""
        if self.weight is None or self.weight.dtype == dtype:
            return self.weight
        version = 0 if self.weight.is_inference() else self.weight._version
        kept = self._weights.get(dtype)
        if kept is None or kept[0] != version:
            with torch.inference_mode(False):
                kept = self._weights[dtype] = version, self.weight.to(dtype)
        return kept[1]

    def share_as(self, dtype):
        """1 / the edges of each row, shape (rows,); 0 for a row without edges."""
        if dtype not in self._shares:
            with torch.inference_mode(False):
                offsets = self.csr()[0]
                begins = self._begins[offsets] if self.repeated else offsets
                edges = begins.diff().double()
                self._shares[dtype] = torch.where(edges > 0, 1 / edges.clamp(min=1), 0).to(dtype)
        return self._shares[dtype]

    def to(self, device):
        """The graph on a device; itself if it is there."""
        device = torch.device(device)
        if device == self.device:
            return self
        made = Graph(self.matrix.to(str(device)))
        for name in (*_STATE, "_offsets", "_columns"):
            value = getattr(self, name)
            setattr(made, name, value.to(made.device) if isinstance(value, torch.Tensor) else value)
        return made

    def prepare(self):
        """Builds what products derive from the entries, for both directions. Returns the graph."""
        self.matrix.prepare()
        self.matrix.prepare(transpose_a=True)
        return self


# What a graph has beside its entries.
_STATE = ("weight", "order", "_begins", "repeated", "is_counted")


def _restored(shape, saved):
    """A graph that was pickled, with a handle of this process."""
    made = Graph.__new__(Graph)
    made.derived, made._shares, made._segments = {}, {}, None
    with torch.inference_mode(False):
        for name, value in torch.load(io.BytesIO(saved), weights_only=True).items():
            setattr(made, name, value)
    made.device = made._columns.device
    made.matrix = _pattern(made._offsets, made._columns, shape)
    made._publish()
    return made


def _stream(index):
    """The current stream of a CUDA device, as rig takes it: PyTorch's 0, the legacy stream, is 1 for CUDA."""
    return 0 if index < 0 else torch._C._cuda_getCurrentRawStream(index) or 1


def _pattern(offsets, columns, shape):
    """A matrix of ones over compressed rows that are sorted, in the memory of the tensors."""
    is_wide = len(columns) >= 2**31
    offsets = offsets.to(torch.int64 if is_wide else torch.int32).contiguous()
    columns = columns.to(torch.int32).contiguous()
    device = columns.get_device()
    return _core._over_tensors(
        *shape, len(columns), offsets.data_ptr(), is_wide, columns.data_ptr(), device, _stream(device),
        (offsets, columns),
    )


_GREATEST = 2**31 - 1


def _require_size(size):
    if size is None:
        return
    if not isinstance(size, (tuple, list, torch.Size)) or len(size) != 2:
        raise TypeError(f"graph: size is {size!r}; give the numbers of sources and of targets")
    for nodes in size:
        if nodes is None:
            continue
        if not hasattr(nodes, "__index__"):
            raise TypeError(f"graph: size is {tuple(size)}; give integers")
        if not 0 <= nodes <= _GREATEST:
            raise ValueError(f"graph: size is {tuple(size)}; give numbers from 0 to {_GREATEST}")


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

    The graph of a tensor is kept while the tensor lives, and made anew if it was written to; PyTorch counts
    no writes through ``.data`` or an array of NumPy that shares the memory. A new tensor
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
