"""Layers of PyTorch Geometric (PyG) whose aggregation is rig's.

`SAGEConv`, `GCNConv`, `GINConv` and `GATConv` are subclasses of PyG's: the same parameters,
``state_dict``, arguments and results. `accelerate` turns the layers of a model into them.

Where a call is beyond rig, such as features of edges in GATConv, the layer runs PyG's own code. An
``edge_index`` is sorted once, and its graph is kept while the tensor lives. For
``torch.compile(model, fullgraph=True)`` pass a `rigblas.torch.Graph` in place of the ``edge_index``, and
call the model once before it is compiled: GCNConv and GATConv make their graphs in the first call.
"""

import weakref

try:
    import torch
    import torch_geometric.nn as pyg
    from torch_geometric.nn.conv.gcn_conv import gcn_norm
    from torch_geometric.typing import OptPairTensor, OptTensor
    from torch_geometric.utils import add_self_loops, remove_self_loops
except ImportError as error:
    raise ImportError(
        "rigblas.nn needs PyTorch and PyTorch Geometric; install them by: "
        "pip install torch torch_geometric"
    ) from error

from ._core import Matrix
from .torch import Graph, as_graph, edge_softmax, forms_of, sddmm, spmm

__all__ = ["SAGEConv", "GCNConv", "GINConv", "GATConv", "accelerate"]

# PyG finds the arguments of its own code by the name of the class, which is taken twice; so each class
# below states them: propagate_type, edge_updater_type.

_REDUCES = {"add": "sum", "sum": "sum", "mean": "mean", "max": "max", "min": "min"}


def _obstacle(layer, aggregations, node_dim):
    """Why PyG's own code has to run this layer, or None."""
    if not isinstance(layer.aggr, str) or layer.aggr not in aggregations:
        return f"aggr={layer.aggr!r} is none of {', '.join(aggregations)}"
    if layer.flow != "source_to_target":
        return f"flow={layer.flow!r}; rig serves 'source_to_target'"
    if layer.node_dim != node_dim:
        return f"node_dim={layer.node_dim} is not {node_dim}"
    if layer.decomposed_layers > 1:
        return f"decomposed_layers={layer.decomposed_layers} is greater than 1"
    if layer.explain:
        return "it is being explained"
    if any(getattr(layer, name) for name in _HOOKS):
        return "it has hooks on its messages"
    return None


_HOOKS = tuple(
    f"_{step}_forward_{when}hooks"
    for step in ("propagate", "message", "aggregate", "message_and_aggregate", "edge_update")
    for when in ("", "pre_")
)


def _require_adjacency(layer, adjacency):
    if isinstance(adjacency, Matrix):
        raise TypeError(
            f"{type(layer).__name__}: edge_index is a rigblas.Matrix; make a graph of it once, by "
            "rigblas.torch.Graph(A), and pass that"
        )


def _is_sparse(adjacency):
    """Whether PyG reads it as a sparse matrix, whose rows are targets."""
    return not isinstance(adjacency, (Graph, torch.Tensor)) or (
        isinstance(adjacency, torch.Tensor) and adjacency.layout != torch.strided
    )


def _edges_of(adjacency, of_entries=False):
    """An adjacency as PyG's own code takes it: the edges of a Graph, or one for each entry of it."""
    if not isinstance(adjacency, Graph):
        return adjacency
    form = "entries" if of_entries else "edges"
    if form not in adjacency.derived:
        adjacency.derived[form] = adjacency.edge_index if of_entries else adjacency.edges[0]
    return adjacency.derived[form]


def _matrix_of(adjacency):
    """The same for layers that read no weights, but multiply by the values of a sparse matrix."""
    if not isinstance(adjacency, Graph) or adjacency.weight is None or adjacency.is_counted:
        return _edges_of(adjacency)
    if "matrix" not in adjacency.derived:
        offsets, columns = (each.long() for each in adjacency.csr())
        adjacency.derived["matrix"] = torch.sparse_csr_tensor(
            offsets, columns, adjacency.weight, adjacency.shape
        )
    return adjacency.derived["matrix"]


def _sizes(layer, source, target, size):
    """The number of sources and targets, as PyG finds them."""
    size = size or (None, None)
    sources = source.size(0)
    targets = target.size(0) if target is not None else size[1] if size[1] is not None else sources
    if size[0] not in (None, sources) or size[1] not in (None, targets):
        raise ValueError(
            f"{type(layer).__name__}: size is {tuple(size)}, but x has {sources} sources and {targets} "
            "targets"
        )
    return sources, targets


def _unweighted(layer, adjacency, source, target, size):
    """The graph of SAGEConv and GINConv, which read no weights; None if PyG has to run the call."""
    if layer.obstacle() is not None or source.dim() != 2:
        return None
    graph = as_graph(adjacency, _sizes(layer, source, target, size))
    if graph.weight is None or graph.is_counted:
        return graph
    if not isinstance(adjacency, (Graph, torch.Tensor)):  # a SparseTensor, whose values PyG drops here
        forms = graph.derived
        if "pattern" not in forms:
            forms["pattern"] = Graph(graph.matrix)
        return None if graph.repeated else forms["pattern"]
    if _REDUCES[layer.aggr] in ("sum", "mean"):
        return graph
    if "ones" not in graph.derived:  # PyG multiplies by the values before it takes a maximum
        graph.derived["ones"] = bool((graph.weight == 1).all())
    return graph if graph.derived["ones"] else None


class SAGEConv(pyg.SAGEConv):
    """PyG's SAGEConv with aggregation by rig: sum, mean, maximum or minimum.

    Arguments, parameters and results are those of ``torch_geometric.nn.SAGEConv``. A maximum needs memory
    for the features of nodes alone, not of edges; of equal values the lowest node takes the gradient.
    """

    propagate_type = {"x": OptPairTensor}

    def obstacle(self):
        """Why PyG's own code runs this layer, or None."""
        return _obstacle(self, _REDUCES, -2)

    def forward(self, x, edge_index, size=None):
        _require_adjacency(self, edge_index)
        if isinstance(x, torch.Tensor):
            x = (x, x)
        source, target = x
        graph = _unweighted(self, edge_index, source, target, size)
        if graph is None:
            return super().forward(x, _matrix_of(edge_index), size)
        if self.project and hasattr(self, "lin"):
            source = self.lin(source).relu()
        reduce = _REDUCES[self.aggr]
        if reduce in ("sum", "mean") and _narrows(self.lin_l):
            # Sums and means commute with the weight, so the narrower features are gathered.
            out = spmm(graph, torch.nn.functional.linear(source, self.lin_l.weight), reduce)
            if self.lin_l.bias is not None:
                out = out + self.lin_l.bias.to(out.dtype)  # under autocast the products are narrower
        else:
            out = self.lin_l(spmm(graph, source.contiguous(), reduce))
        if self.root_weight and target is not None:
            out = out + self.lin_r(target)
        return torch.nn.functional.normalize(out, p=2.0, dim=-1) if self.normalize else out


def _narrows(linear):
    return (
        type(linear) is pyg.Linear
        and not isinstance(linear.weight, torch.nn.parameter.UninitializedParameter)
        and linear.out_channels < linear.in_channels
    )


class GINConv(pyg.GINConv):
    """PyG's GINConv with aggregation by rig: sum, mean, maximum or minimum.

    Arguments, parameters and results are those of ``torch_geometric.nn.GINConv``.
    """

    propagate_type = {"x": OptPairTensor}

    def obstacle(self):
        """Why PyG's own code runs this layer, or None."""
        return _obstacle(self, _REDUCES, -2)

    def forward(self, x, edge_index, size=None):
        _require_adjacency(self, edge_index)
        if isinstance(x, torch.Tensor):
            x = (x, x)
        source, target = x
        graph = _unweighted(self, edge_index, source, target, size)
        if graph is None:
            return super().forward(x, _matrix_of(edge_index), size)
        out = spmm(graph, source.contiguous(), _REDUCES[self.aggr])
        return self.nn(out if target is None else out + (1 + self.eps) * target)


_first_graphs = weakref.WeakKeyDictionary()  # of the layers with cached=True: the graph that they keep


class GCNConv(pyg.GCNConv):
    """PyG's GCNConv with aggregation by rig, a weighted sum.

    Arguments, parameters and results are those of ``torch_geometric.nn.GCNConv``. The normalised graph of
    an ``edge_index`` without weights is kept while the tensor lives, also with ``cached=False``.
    """

    propagate_type = {"x": torch.Tensor, "edge_weight": OptTensor}

    def obstacle(self):
        """Why PyG's own code runs this layer, or None."""
        return _obstacle(self, ("add", "sum"), -2)

    def reset_parameters(self):
        super().reset_parameters()
        _first_graphs.pop(self, None)

    def forward(self, x, edge_index, edge_weight=None):
        _require_adjacency(self, edge_index)
        if not isinstance(x, torch.Tensor) or x.dim() != 2 or self.obstacle() is not None:
            return super().forward(x, *self._pyg_form(edge_index, edge_weight))
        graph, weight = self._graph(x, edge_index, edge_weight)
        x = self.lin(x)
        if weight is not None:
            weight = weight.to(x.dtype)
        out = spmm(graph, x, weight=weight)
        return out if self.bias is None else out + self.bias

    def _graph(self, x, edge_index, edge_weight):
        """The graph of the layer, and the weights of its entries if they are no constants of it."""
        nodes = len(x)
        if _is_sparse(edge_index):
            edge_weight = None  # PyG takes the values of the matrix
        if not self.normalize:
            graph = as_graph(edge_index, (nodes, nodes))
            return graph, None if edge_weight is None else _in_order(edge_index, graph, edge_weight)
        if self.cached and self in _first_graphs:
            return _first_graphs[self]
        forms = forms_of(edge_index)
        if edge_weight is None:
            key = ("gcn", nodes, self.improved, self.add_self_loops, x.dtype)
            if key not in forms:
                forms[key] = self._constant(x, edge_index)
            made = forms[key], None
        else:
            edges, weight = self._normalised(x, _edges_of(edge_index, True), edge_weight)
            key = ("gcn edges", nodes, self.add_self_loops)
            if key not in forms:
                forms[key] = Graph(edges, (nodes, nodes))
            made = forms[key], forms[key].in_order(weight)
        if self.cached:
            _first_graphs[self] = made
        return made

    @torch.inference_mode(False)
    @torch.no_grad()
    def _constant(self, x, edge_index):
        given = None
        if isinstance(edge_index, Graph):
            edge_index, given = edge_index.edges
            given = None if given is None else given.to(x.dtype)
        normalised = self._normalised(x, edge_index, given)
        if _is_sparse(edge_index):
            return Graph(normalised[0] if isinstance(normalised, tuple) else normalised)
        edges, weight = normalised
        graph = Graph(edges, (len(x), len(x)))
        graph.weight = graph.in_order(weight)
        return graph

    def _pyg_form(self, edge_index, edge_weight):
        """What PyG's own code takes; the weights of a Graph are one for each entry."""
        if not isinstance(edge_index, Graph):
            return edge_index, edge_weight
        if edge_weight is not None:
            return _edges_of(edge_index, True), edge_weight
        return _edges_of(edge_index), None if edge_index.is_counted else edge_index.weight

    def _normalised(self, x, edges, weight):
        return gcn_norm(
            edges, weight, len(x), self.improved, self.add_self_loops, self.flow, x.dtype
        )


def _in_order(adjacency, graph, weight):
    """Weights of an edge_index in the order of the entries; those of a Graph are in that order."""
    return weight if isinstance(adjacency, Graph) else graph.in_order(weight)


class GATConv(pyg.GATConv):
    """PyG's GATConv with attention and aggregation by rig.

    Arguments, parameters and results are those of ``torch_geometric.nn.GATConv``; dropout of attention
    draws other entries. Features of edges, repeated edges, sparse adjacencies and
    ``return_attention_weights`` run PyG's own code.
    """

    propagate_type = {"x": OptPairTensor, "alpha": torch.Tensor}
    edge_updater_type = {"alpha": OptPairTensor, "edge_attr": OptTensor}

    def obstacle(self):
        """Why PyG's own code runs this layer, or None."""
        return _obstacle(self, ("add", "sum"), 0)

    def forward(self, x, edge_index, edge_attr=None, size=None, return_attention_weights=None):
        _require_adjacency(self, edge_index)
        pair = (x, x) if isinstance(x, torch.Tensor) else x
        graph = None
        if edge_attr is None and return_attention_weights is None and not _is_sparse(edge_index):
            graph = self._graph(pair, edge_index, size)
        if graph is None:
            return super().forward(
                x, _edges_of(edge_index, edge_attr is not None), edge_attr, size,
                return_attention_weights,
            )
        source, target = self._transformed(x)
        weight = self._attention(graph, source, target).to(source.dtype)
        out = spmm(graph, source.contiguous(), weight=weight)
        out = out.flatten(1) if self.concat else out.mean(dim=1)
        if self.res is not None and pair[1] is not None:
            out = out + self.res(pair[1])
        return out if self.bias is None else out + self.bias

    def _graph(self, x, edge_index, size):
        """The graph, with a loop at each node if the layer adds them; None if PyG has to run the call."""
        if self.obstacle() is not None or x[0].dim() != 2:
            return None
        sizes = _sizes(self, *x, size)
        if not self.add_self_loops:
            graph = as_graph(edge_index, sizes)
            return None if graph.repeated else graph
        forms = forms_of(edge_index)
        key = ("loops", sizes, None if size is None else tuple(size))
        if key not in forms:
            nodes = x[0].size(0) if x[1] is None else min(sizes)
            nodes = nodes if size is None else min(size)
            edges = remove_self_loops(_edges_of(edge_index))[0]
            forms[key] = Graph(add_self_loops(edges, num_nodes=nodes)[0], sizes)
        return None if forms[key].repeated else forms[key]

    def _transformed(self, x):
        """The features of sources and of targets by heads, (nodes, heads, channels); targets may lack."""

        def by_heads(linear, features):
            return linear(features).view(-1, self.heads, self.out_channels)

        if isinstance(x, torch.Tensor) and self.lin is not None:
            source = by_heads(self.lin, x)
            return source, source
        source, target = (x, x) if isinstance(x, torch.Tensor) else x
        to_source, to_target = self.lin or self.lin_src, self.lin or self.lin_dst
        return by_heads(to_source, source), None if target is None else by_heads(to_target, target)

    def _attention(self, graph, source, target):
        """The weight of each entry and head, (nnz, heads)."""
        by_source = (source * self.att_src).sum(dim=-1)
        if target is None:
            by_target = by_source.new_zeros((graph.shape[0], self.heads))
        else:
            by_target = (target * self.att_dst).sum(dim=-1)
        # a + b is the inner product of (a, 1) and (1, b), so its gradient is a product of rig too.
        scores = sddmm(
            graph,
            torch.stack([by_target, torch.ones_like(by_target)], dim=-1),
            torch.stack([torch.ones_like(by_source), by_source], dim=-1),
        )
        scores = torch.nn.functional.leaky_relu(scores, self.negative_slope)
        weight = edge_softmax(graph, scores)
        return torch.nn.functional.dropout(weight, p=self.dropout, training=self.training)


_LAYERS = {
    pyg.SAGEConv: SAGEConv,
    pyg.GCNConv: GCNConv,
    pyg.GINConv: GINConv,
    pyg.GATConv: GATConv,
}


def accelerate(model):
    """Turns the layers of a model that rig serves into those of this module, in place.

    Parameters, buffers and hooks of the layers stay what they are. Only layers of exactly PyG's classes
    are turned, not those of subclasses, which may compute something else.

    Parameters
    ----------
    model : torch.nn.Module

    Returns
    -------
    list of (str, str)
        The name of each message passing layer that was left alone, and the reason.

    Examples
    --------
    >>> model = torch_geometric.nn.GraphSAGE(16, 32, num_layers=2, out_channels=4, aggr="max")
    >>> rigblas.nn.accelerate(model)
    []
    """
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"accelerate: model is {type(model).__name__}; give a torch.nn.Module")
    left_alone = []
    for name, layer in model.named_modules():
        if not isinstance(layer, pyg.MessagePassing):
            continue
        kind = type(layer)
        to = kind if kind in _LAYERS.values() else _LAYERS.get(kind)
        if to is None:
            left_alone.append((name, f"{kind.__name__} is none of {_names()}"))
        elif (reason := to.obstacle(layer)) is not None:
            left_alone.append((name, reason))
        else:
            layer.__class__ = to
    return left_alone


def _names():
    return ", ".join(f"torch_geometric.nn.{kind.__name__}" for kind in _LAYERS)
