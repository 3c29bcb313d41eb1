"""The graph class of the NetworkX backend."""

from collections.abc import Mapping
from functools import cached_property
from itertools import chain

import networkx as nx
import numpy as np

import rigblas as rig


def _sizes(groups):
    """The sizes of groups, and groups of these sizes."""
    # `len` of a view of NetworkX counts members that its iteration leaves out; a dict is right.
    groups = [group if type(group) is dict else list(group) for group in groups]
    return np.fromiter(map(len, groups), np.int64, len(groups)), groups


class Graph:
    """A NetworkX graph as arrays, with its adjacency matrix in rig.

    Nodes and edges are those of the time of the conversion. The dictionaries of attributes are
    those of the original, and the weights of an attribute are read once, when a call needs them.

    Parameters
    ----------
    graph : networkx.Graph
        Any class of NetworkX, directed or with parallel edges too.

    Attributes
    ----------
    nodes : list
        The nodes; node i is row i of the matrices.
    index : dict
        The row of each node.
    tails, heads : numpy.ndarray of int64
        The ends of each arc i -> j, row by row, in the order of NetworkX. An undirected edge has
        two arcs, and parallel edges have one together.
    data : list of dict
        The attributes per arc; parallel edges have one each.
    parallel : numpy.ndarray of int64 or None
        The number of edges per arc of a multigraph.
    keys : list or None
        The keys of the edges of a multigraph, as `data`.

    Raises
    ------
    NotImplementedError
        If the graph computes its neighbours and has no attributes of edges.
    """

    __networkx_backend__ = "rigblas"
    nbunch_iter = nx.Graph.nbunch_iter
    _adj = property(lambda self: self.index)  # where `nbunch_iter` looks nodes up

    def __init__(self, graph):
        self._kept = {}
        self.networkx_class = graph.__class__
        self.directed = graph.is_directed()
        self.multigraph = graph.is_multigraph()
        self.attributes = graph.graph
        of_nodes = dict(graph.nodes(data=True))
        self.nodes = list(of_nodes)
        self.node_attributes = list(of_nodes.values())
        self.index = {node: i for i, node in enumerate(self.nodes)}
        neighbours = dict(graph.adjacency())
        rows = [neighbours[node] for node in self.nodes]
        if not all(type(row) is dict or isinstance(row, Mapping) for row in rows):
            raise NotImplementedError(
                f"a {type(graph).__name__} computes its neighbours and has no attributes of edges; "
                "copy it to a networkx.Graph"
            )
        degrees, ends = _sizes(rows)
        self.offsets = np.concatenate([[0], np.cumsum(degrees)])
        self.tails = np.repeat(np.arange(len(rows)), degrees)
        ends = chain.from_iterable(ends)
        if self.nodes != list(range(len(self))):  # else a node is its own row, without a look-up
            ends = map(self.index.__getitem__, ends)
        self.heads = np.fromiter(ends, np.int64, self.tails.size)
        self.data = list(chain.from_iterable(row.values() for row in rows))
        self.parallel = self.keys = None
        if self.multigraph:
            edges = self.data
            self.parallel, keys = _sizes(edges)
            self.keys = list(chain.from_iterable(keys))
            self.data = list(chain.from_iterable(of_keys.values() for of_keys in edges))

    def __len__(self):
        return len(self.nodes)

    def __iter__(self):
        return iter(self.nodes)

    def __contains__(self, node):
        try:
            return node in self.index
        except TypeError:  # NetworkX says that a graph lacks what cannot be hashed
            return False

    def __getitem__(self, node):
        """The neighbours of a node, along the arcs."""
        i = self.index[node]
        row = self.heads[self.offsets[i] : self.offsets[i + 1]]
        return [self.nodes[j] for j in row.tolist()]

    def __repr__(self):
        kind = "directed" if self.directed else "undirected"
        return f"<rigblas graph: {kind}, {len(self)} nodes, {self.tails.size} arcs>"

    def is_directed(self):
        """Whether the graph is directed."""
        return self.directed

    def is_multigraph(self):
        """Whether the graph may have parallel edges."""
        return self.multigraph

    @property
    def shape(self):
        """The shape of the matrices."""
        return len(self), len(self)

    @cached_property
    def loops(self):
        """Whether each node has an arc to itself."""
        found = np.zeros(len(self), bool)
        found[self.tails[self.tails == self.heads]] = True
        return found

    @cached_property
    def matrix(self):
        """The pattern of the arcs: entry (i, j) is an arc from node i to node j, of value 1."""
        return self._pattern(slice(None))

    @cached_property
    def loopless(self):
        """`matrix` without its diagonal."""
        return self._pattern(self.tails != self.heads) if self.loops.any() else self.matrix

    @cached_property
    def reverse(self):
        """`matrix` with all arcs turned round."""
        return rig.transpose(self.matrix) if self.directed else self.matrix

    def _pattern(self, chosen):
        arcs = np.stack([self.tails[chosen], self.heads[chosen]])
        # Products count in the type of the values: int64 counts as far as NetworkX does.
        return rig.iso(rig.matrix(arcs, shape=self.shape), 1, "int64")

    def values(self, name):
        """The values of an attribute, per edge of `data`; 1 where an edge lacks it.

        Parameters
        ----------
        name : hashable or None
            The attribute. None: every edge has 1.

        Returns
        -------
        numpy.ndarray
            One-dimensional, int64 or float64.

        Raises
        ------
        NotImplementedError
            If a value is no int or float, or loses digits in the type that all share.
        """
        return self.kept(("values", name), lambda: self._read(name))

    def _read(self, name):
        given = [1] * len(self.data) if name is None else [d.get(name, 1) for d in self.data]
        if not given:
            return np.zeros(0, np.int64)
        try:
            values = np.asarray(given)
        except ValueError:  # lists of unequal lengths
            values = np.zeros(0, object)
        if values.dtype == bool:
            values = values.astype(np.int64)
        if values.shape != (len(given),) or values.dtype not in (np.int64, np.float64):
            kinds = sorted({type(value).__name__ for value in given})
            raise NotImplementedError(
                f"the values of edge attribute {name!r} have type {', '.join(kinds)}; "
                "rigblas reads int, of at most 64 bits, and float"
            )
        if values.dtype == np.float64 and (np.abs(values) > 2**53).any():
            if not all(isinstance(value, float) for value in given):
                raise NotImplementedError(
                    f"edge attribute {name!r} has floats beside ints greater than 2**53, "
                    "which lose digits as floats"
                )
        return values

    def weights(self, name, merge, dtype=None):
        """The values of an attribute per arc: those of parallel edges become one.

        Parameters
        ----------
        name : hashable or None
            The attribute, as for `values`.
        merge : numpy.ufunc
            Such as `numpy.add` or `numpy.minimum`.
        dtype : dtype, optional
            Of the result; by default int64 or float64, as for `values`.

        Returns
        -------
        numpy.ndarray
            One-dimensional, one weight per arc of `tails`.
        """
        values = self.values(name)
        if dtype is not None:
            values = values.astype(dtype)
        if self.parallel is None or not values.size:
            return values
        return merge.reduceat(values, np.cumsum(self.parallel) - self.parallel)

    def kept(self, key, make):
        """The result of `make()`, which is kept under a key for the next call."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def by_node(self, values):
        """A dictionary from node to value, in the order of the nodes."""
        return dict(zip(self.nodes, values.tolist()))

    def to_networkx(self):
        """A new graph of NetworkX, of the class that was converted.

        Returns
        -------
        networkx.Graph
            It has its own dictionaries of attributes.
        """
        graph = self.networkx_class()
        graph.graph.update(self.attributes)
        graph.add_nodes_from(zip(self.nodes, self.node_attributes))
        graph.add_edges_from(self.edges(np.flatnonzero(self.edge_chosen())))
        return graph

    def edge_ends(self):
        """The tail and the head of each edge of `data`."""
        if self.parallel is None:
            return self.tails, self.heads
        return np.repeat(self.tails, self.parallel), np.repeat(self.heads, self.parallel)

    def edge_chosen(self):
        """Whether NetworkX lists an edge of `data`: of an undirected one it lists one direction."""
        tails, heads = self.edge_ends()
        return np.full(tails.size, True) if self.directed else tails <= heads

    def edges(self, chosen, keys=True, data=True):
        """Yield edges of `data` as NetworkX does: (u, v), with a key and attributes on request."""
        tails, heads = self.edge_ends()
        for e, i, j in zip(chosen.tolist(), tails[chosen].tolist(), heads[chosen].tolist()):
            edge = self.nodes[i], self.nodes[j]
            if keys and self.multigraph:
                edge += (self.keys[e],)
            yield (*edge, self.data[e]) if data else edge


def convert_from_nx(graph, **_):
    """A graph of NetworkX as a `Graph`, which keeps all attributes.

    Parameters
    ----------
    graph : networkx.Graph or Graph
    **_ : optional
        Which attributes a call needs; all are kept, by reference, in any case.

    Returns
    -------
    Graph
    """
    if isinstance(graph, Graph):
        return graph
    if not isinstance(graph, nx.Graph):
        raise TypeError(f"a {type(graph).__name__} is no graph of NetworkX; pass a networkx.Graph")
    return Graph(graph)


def convert_to_nx(result, *, name=None):
    """A `Graph` as a graph of NetworkX; every other result stays as it is.

    Parameters
    ----------
    result : object
    name : str, optional
        The function that returned it.

    Returns
    -------
    object
    """
    return result.to_networkx() if isinstance(result, Graph) else result
