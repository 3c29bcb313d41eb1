"""The NetworkX backend "rigblas": functions of NetworkX, computed by rig.

`nx.pagerank(G, backend="rigblas")` uses it, and so does every call once the name is in
`nx.config.backend_priority`. Each function below has the name, the arguments, the result and the
errors of the function of NetworkX; its docstring says only what differs. A graph that a function
cannot serve raises NotImplementedError, and NetworkX then tries its other backends and itself.
"""

import inspect
import re
from functools import partial
from itertools import islice

import networkx as nx
import numpy as np

import rigblas as rig
from rigblas._networkx_graph import Graph, convert_from_nx, convert_to_nx
from _rigblas_networkx import FUNCTIONS

__all__ = ["Graph", "convert_from_nx", "convert_to_nx", "can_run", "should_run", *FUNCTIONS]

_VERSION = tuple(map(int, re.findall(r"\d+", nx.__version__)[:2]))
_ALGORITHMS = "kruskal", "prim", "boruvka", "borůvka"
_SOURCES_AT_ONCE = 64  # a word of bits per node in rig's search from several nodes
_PAIRS_AT_ONCE = 1 << 16


# Links


def pagerank(
    G,
    alpha=0.85,
    personalization=None,
    max_iter=100,
    tol=1.0e-6,
    nstart=None,
    weight="weight",
    dangling=None,
):
    """Rank the nodes by a random walk, as `networkx.pagerank`.

    Equal weights and no further distribution: `rigblas.pagerank`. Else the power iteration of
    NetworkX runs here, and each of its steps is one product of rig.
    """
    if not len(G):
        return {}
    plain = personalization is None and nstart is None and dangling is None
    if plain and 0 <= alpha < 1 and max_iter > 0 and _equal(_strengths(G, weight)):
        enough = len(G) * tol
        found = rig.pagerank(
            G.matrix, damping=alpha, tolerance=max(enough, 0), most_iterations=max_iter
        )
        if found.change < enough:
            return G.by_node(found.ranks)
        raise nx.PowerIterationFailedConvergence(max_iter)
    walk, sinks = G.kept(("walk", weight), lambda: _walk(G, weight))
    if personalization is not None and _values(G, personalization).sum() == 0:
        raise ZeroDivisionError
    jump = _distribution(G, personalization)
    from_sinks = jump if dangling is None else _distribution(G, dangling)
    ranks = _distribution(G, nstart)
    for _ in range(max_iter):
        last = ranks
        ranks = alpha * (walk @ last + last[sinks].sum() * from_sinks) + (1 - alpha) * jump
        if np.abs(ranks - last).sum() < len(G) * tol:
            return G.by_node(ranks)
    raise nx.PowerIterationFailedConvergence(max_iter)


def _strengths(G, weight):
    """The sum of the weights of the edges of each arc."""
    return G.kept(("strengths", weight), lambda: G.weights(weight, np.add, np.float64))


def _equal(weights):
    return not weights.size or (
        weights[0] != 0 and np.isfinite(weights[0]) and (weights == weights[0]).all()
    )


def _walk(G, weight):
    """The chances of each step, by the node that it leads to, and which nodes have no steps."""
    weights = _strengths(G, weight)
    strength = np.bincount(G.tails, weights, len(G))
    sinks = strength == 0
    scale = np.divide(1.0, strength, out=np.zeros(len(G)), where=~sinks)
    return rig.matrix((weights * scale[G.tails], (G.heads, G.tails)), shape=G.shape), sinks


def _values(G, given):
    return np.array([given.get(node, 0) for node in G], np.float64)


def _distribution(G, given):
    if given is None:
        return np.full(len(G), 1.0 / len(G))
    values = _values(G, given)
    with np.errstate(invalid="ignore", divide="ignore"):
        return values / values.sum()


def betweenness_centrality(G, k=None, normalized=True, weight=None, endpoints=False, seed=None):
    """Count the shortest paths through each node, as `networkx.betweenness_centrality`.

    `weight` must be None and `endpoints` False.
    """
    n = len(G)
    sources = None
    if k is not None and k != n:
        drawn = nx.utils.create_py_random_state(seed).sample(G.nodes, k)
        sources = np.array([G.index[node] for node in drawn], np.int64)
    others = n - 1
    if others < 2:
        return dict.fromkeys(G, 0.0)

    def scale(count):
        if normalized:
            return 1 / (count * (others - 1))
        return others / (count * (1 if G.directed else 2))

    factors = np.full(n, scale(others if sources is None else k))
    if sources is not None:  # a path of which a node is the source does not lead through the node
        factors[sources] = scale(k - 1) if k > 1 else np.nan
    return G.by_node(rig.betweenness(G.matrix, sources=sources) * factors)


def jaccard_coefficient(G, ebunch=None):
    """Yield (u, v, similarity of their neighbours), as `networkx.jaccard_coefficient`."""
    if ebunch is None:
        return _jaccard(G, nx.non_edges(G))
    pairs = list(ebunch)
    for pair in pairs:
        u, v = pair
        for node in (u, v):
            if node not in G:
                raise nx.NodeNotFound(f"Node {node} not in G.")
    return _jaccard(G, pairs)


def _jaccard(G, pairs):
    n = len(G)
    degrees = np.diff(G.offsets)
    arcs = G.tails * n + G.heads
    pairs = iter(pairs)
    while some := list(islice(pairs, _PAIRS_AT_ONCE)):
        u, v = (np.array([G.index[pair[end]] for pair in some]) for end in (0, 1))
        places, of_pair = np.unique(u * n + v, return_inverse=True)
        where = rig.matrix(np.stack([places // n, places % n]), shape=G.shape)
        counts = rig.mxm(G.matrix, G.matrix, "plus_pair", mask=where, structure=True)
        rows = np.repeat(np.arange(n), np.diff(counts.indptr))
        found = np.zeros(places.size, np.int64)
        found[np.searchsorted(places, rows * n + counts.indices)] = counts.data
        both = found[of_pair]
        either = degrees[u] + degrees[v] - both
        if G.loops.any():  # NetworkX leaves the two nodes out of `both`, but not out of `either`
            joined = np.isin(u * n + v, arcs)
            both = both - (G.loops[u] & joined) - (G.loops[v] & joined & (u != v))
        shares = np.divide(both, either, out=np.zeros(len(some)), where=either != 0)
        for (a, b), share in zip(some, shares.tolist()):
            yield a, b, share


# Paths


def _index(G, node, role):
    if node not in G:
        raise nx.NodeNotFound(f"{role} {node} is not in G")
    return G.index[node]


def _by_distance(G, distances, wanted):
    chosen = np.flatnonzero(wanted)
    values = distances[chosen]
    order = np.argsort(values, kind="stable")
    return dict(zip([G.nodes[i] for i in chosen[order].tolist()], values[order].tolist()))


def _steps(G, levels, cutoff):
    """The nodes that a search from level 0 reaches, with their levels."""
    wanted = levels >= 0
    if cutoff is not None:  # as in NetworkX, a cutoff of 1.5 reaches level 2, and −1 level 0
        wanted &= (levels == 0) | (levels - 1 < cutoff)
    return _by_distance(G, levels, wanted)


def single_source_shortest_path_length(G, source, cutoff=None):
    """Count the steps to each node, as `networkx.single_source_shortest_path_length`."""
    return _steps(G, rig.bfs(G.matrix, _index(G, source, "Source")).levels, cutoff)


def single_target_shortest_path_length(G, target, cutoff=None):
    """Count the steps from each node, as `networkx.single_target_shortest_path_length`."""
    return _steps(G, rig.bfs(G.reverse, _index(G, target, "Target")).levels, cutoff)


def all_pairs_shortest_path_length(G, cutoff=None):
    """Yield each node with its steps, as `networkx.all_pairs_shortest_path_length`."""
    for first in range(0, len(G), _SOURCES_AT_ONCE):
        nodes = G.nodes[first : first + _SOURCES_AT_ONCE]
        levels = rig.multi_source(G.matrix, np.arange(first, first + len(nodes))).levels
        for node, of_node in zip(nodes, levels.T):
            yield node, _steps(G, of_node, cutoff)


def _weighted_index(G, node):
    if node not in G:
        raise nx.NodeNotFound(f"Node {node} not found in graph")
    return G.index[node]


def _weighted(G, weight, reverse=False):
    """The matrix of weights, which are checked."""
    return G.kept(("weighted", weight, reverse), lambda: _weigh(G, weight, reverse))


def _weigh(G, weight, reverse):
    weights = G.weights(weight, np.minimum)
    if weights.size:
        least, greatest = weights.min().item(), weights.max().item()
        # No path has more arcs than nodes; `not` catches NaN too.
        most = float("inf") if isinstance(greatest, float) else np.iinfo(np.int64).max
        if not (least >= 0 and greatest * len(G) < most):
            raise NotImplementedError(
                f"weights {weight!r} are from {least} to {greatest}; rigblas needs weights of at "
                "least 0 whose sums are finite, and at most 2**63 - 1 if they are ints"
            )
    ends = (G.heads, G.tails) if reverse else (G.tails, G.heads)
    return rig.matrix((weights, ends), shape=G.shape)


def _search(matrix, source):
    """The distances of all nodes from one, and whether each was reached."""
    found = rig.sssp(matrix, source).distances
    whole = found.dtype == np.int64
    return found, found != (np.iinfo(np.int64).max if whole else np.inf)


def _near(G, matrix, source, cutoff):
    """The nodes within a distance of a node, which is always one of them."""
    distances, wanted = _search(matrix, source)
    if cutoff is not None:
        wanted &= distances <= cutoff
        wanted[source] = True
    return _by_distance(G, distances, wanted)


def _near_node(G, source, weight, cutoff, reverse=False):
    i = _weighted_index(G, source)
    return _near(G, _weighted(G, weight, reverse and G.directed), i, cutoff)


def single_source_dijkstra_path_length(G, source, cutoff=None, weight="weight"):
    """Find the distances from a node, as `networkx.single_source_dijkstra_path_length`."""
    return _near_node(G, source, weight, cutoff)


def all_pairs_dijkstra_path_length(G, cutoff=None, weight="weight"):
    """Yield each node with its distances, as `networkx.all_pairs_dijkstra_path_length`."""
    matrix = _weighted(G, weight)
    return ((node, _near(G, matrix, i, cutoff)) for i, node in enumerate(G))


def dijkstra_path_length(G, source, target, weight="weight"):
    """Find the distance between two nodes, as `networkx.dijkstra_path_length`."""
    start = _weighted_index(G, source)
    distances, reached = _search(_weighted(G, weight), start)
    if target not in G or not reached[G.index[target]]:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return distances[G.index[target]].item()


def shortest_path_length(G, source=None, target=None, weight=None, method="dijkstra"):
    """Find lengths of paths, as `networkx.shortest_path_length`."""
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")
    if source is None and target is None:
        if weight is None:
            return all_pairs_shortest_path_length(G)
        return all_pairs_dijkstra_path_length(G, weight=weight)
    if source is None:
        if weight is None:
            return _steps(G, rig.bfs(G.reverse, _index(G, target, "Source")).levels, None)
        return _near_node(G, target, weight, None, reverse=True)
    if target is None:
        if weight is None:
            return single_source_shortest_path_length(G, source)
        return single_source_dijkstra_path_length(G, source, weight=weight)
    if weight is not None:
        return dijkstra_path_length(G, source, target, weight)
    start, end = _index(G, source, "Source"), _index(G, target, "Target")
    steps = rig.bfs(G.matrix, start).levels[end].item()
    if steps < 0:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return steps


def _levels(G, matrix, source, kind):
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the {kind}.")
    return rig.bfs(matrix, G.index[source]).levels


def _kind(G):
    return "digraph" if G.directed else "graph"


def _set(G, wanted):
    return {G.nodes[i] for i in np.flatnonzero(wanted).tolist()}


def descendants(G, source):
    """Find the nodes that a node reaches, as `networkx.descendants`."""
    return _set(G, _levels(G, G.matrix, source, _kind(G)) > 0)


def ancestors(G, source):
    """Find the nodes that reach a node, as `networkx.ancestors`."""
    return _set(G, _levels(G, G.reverse, source, _kind(G)) > 0)


def descendants_at_distance(G, source, distance):
    """Find the nodes at a distance, as `networkx.descendants_at_distance`."""
    levels = _levels(G, G.matrix, source, "graph")
    return _set(G, (levels >= 0) & (levels == distance))


# Components: a function per kind of component and question.


def _weak(G):
    return rig.components(G.matrix, symmetric=not G.directed)


def _strong(G):
    return rig.scc(G.matrix)


def _components(find, G):
    """Yield the nodes of each component as a set, in the order of their first nodes."""
    labels = find(G).labels
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    sizes = np.diff(starts, append=len(G))
    is_most = 2 * sizes > len(G)
    others = [G.nodes[i] for i in order[np.repeat(~is_most, sizes)].tolist()]
    next_nodes = iter(others)
    for most, size in zip(is_most.tolist(), sizes.tolist()):
        # A set of a dictionary's keys takes over their hashes, and its size is known before.
        component = set(G.index if most else islice(next_nodes, size))
        if most:
            component.difference_update(others)
        yield component


def _number(find, G):
    """Count the components."""
    return int(find(G).count)


def _is_one(find, G):
    """Find whether all nodes are in one component."""
    if not len(G):
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return int(find(G).count) == 1


connected_components = partial(_components, _weak)
weakly_connected_components = partial(_components, _weak)
strongly_connected_components = partial(_components, _strong)
number_connected_components = partial(_number, _weak)
number_weakly_connected_components = partial(_number, _weak)
number_strongly_connected_components = partial(_number, _strong)
is_connected = partial(_is_one, _weak)
is_weakly_connected = partial(_is_one, _weak)
is_strongly_connected = partial(_is_one, _strong)


def node_connected_component(G, n):
    """Find the component of a node, as `networkx.node_connected_component`."""
    if n not in G:
        raise KeyError(n)
    return _set(G, rig.bfs(G.matrix, G.index[n]).levels >= 0)


# Triangles and cores


def _simple(G):
    if G.multigraph:
        raise nx.NetworkXNotImplemented("not implemented for multigraph type")


def _chosen(G, nodes):
    """The nodes of NetworkX's `nodes`, each once, and their rows; None: all of them."""
    if nodes is None:
        return G.nodes, None
    chosen = list(dict.fromkeys(G.nbunch_iter(nodes)))
    return chosen, np.array([G.index[node] for node in chosen], np.int64)


def _sums(matrix):
    return rig.reduce_rows(matrix, "plus").toarray()


def _closed(G, rows):
    """Per row the pairs of neighbours that an arc joins, and the number of neighbours."""
    arcs = G.loopless
    own = arcs if rows is None else rig.extract(arcs, rows=rows)
    joined = rig.mxm(own, arcs, "plus_pair", mask=own, structure=True, transpose_b=True)
    return _sums(joined), np.diff(own.indptr).astype(np.int64)


def triangles(G, nodes=None):
    """Count the triangles at each node, as `networkx.triangles`."""
    if nodes is not None:
        _simple(G)
    chosen, rows = _chosen(G, nodes)
    if rows is None:
        degrees = np.diff(G.loopless.indptr).astype(np.float64)
        # Twice the triangles: the division by d·(d − 1) is undone to the nearest integer.
        twice = np.rint(rig.local_clustering(G.matrix) * (degrees * (degrees - 1)))
        return G.by_node(twice.astype(np.int64) // 2)
    counts = dict(zip(chosen, (_closed(G, rows)[0] // 2).tolist()))
    return counts[nodes] if nodes in G else counts


def _share(count, of):
    return np.divide(count, of, out=np.zeros(len(count)), where=count != 0)


def _directed_clustering(G, rows):
    """Fagiolo's coefficient: each arc of a pair of nodes makes triangles of its own."""
    arcs = G.loopless
    both = rig.ewise_add(arcs, rig.transpose(arcs), "plus")
    own = both if rows is None else rig.extract(both, rows=rows)
    paths = rig.mxm(own, both, "plus_times", mask=own, structure=True)
    count = _sums(rig.ewise_mult(own, paths, "times"))
    degrees = _sums(own)
    mutual = _sums(own) - np.diff(own.indptr)  # an entry is 2 where both arcs are
    return _share(count, 2 * (degrees * (degrees - 1) - 2 * mutual))


def clustering(G, nodes=None, weight=None):
    """Find how joined the neighbours of each node are, as `networkx.clustering`.

    `weight` must be None.
    """
    _simple(G)
    chosen, rows = _chosen(G, nodes)
    if G.directed:
        shares = _directed_clustering(G, rows)
    elif rows is None:
        shares = rig.local_clustering(G.matrix)
    else:
        count, degrees = _closed(G, rows)
        shares = _share(count, degrees * (degrees - 1))
    found = dict(zip(chosen, shares.tolist()))
    return found[nodes] if nodes is not None and nodes in G else found


def average_clustering(G, nodes=None, weight=None, count_zeros=True):
    """Average `clustering`, as `networkx.average_clustering`."""
    shares = list(clustering(G, nodes, weight).values())
    if not count_zeros:
        shares = [share for share in shares if share > 0]
    return sum(shares) / len(shares)


def transitivity(G):
    """Find the share of paths of two arcs that a third closes, as `networkx.transitivity`."""
    _simple(G)
    degrees = np.diff(G.loopless.indptr).astype(np.int64)
    if G.directed:
        count = int(_closed(G, None)[0].sum())
    else:
        count = 6 * rig.triangles(G.matrix, symmetric=True)
    return count / int((degrees * (degrees - 1)).sum()) if count else 0


def core_number(G):
    """Find the core of each node, as `networkx.core_number`."""
    if G.loops.any():
        raise nx.NetworkXNotImplemented(
            "Input graph has self loops which is not permitted; "
            "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )
    return G.by_node(rig.kcore(G.matrix).cores)


# Spanning trees


def _spanning_edges(
    minimum, G, algorithm="kruskal", weight="weight", keys=True, data=True, ignore_nan=False
):
    """Yield the edges of a spanning forest, in the order of Kruskal's algorithm."""
    if G.directed:
        raise nx.NetworkXNotImplemented("not implemented for directed type")
    if algorithm not in _ALGORITHMS:
        raise ValueError(f"{algorithm} is not a valid choice for an algorithm.")
    return _kruskal(G, G.values(weight), minimum, keys, data, ignore_nan)


def _kruskal(G, weights, minimum, keys, data, ignore_nan):
    edges = np.flatnonzero(G.edge_chosen())
    absent = np.isnan(weights[edges])
    if absent.any() and not ignore_nan:
        [edge] = G.edges(edges[absent][:1])
        raise ValueError(f"NaN found as an edge weight. Edge {edge}")
    edges = edges[~absent]
    if minimum:
        edges = edges[np.argsort(weights[edges], kind="stable")]
    else:  # descending, and still in the order of the graph where weights are equal
        edges = edges[::-1]
        edges = edges[np.argsort(weights[edges], kind="stable")][::-1]
    # The place of an edge in that order is its weight in rig. So ties are broken as in NetworkX,
    # and a weight of the forest says which edge it is. Of parallel edges the first one counts.
    tails, heads = (ends[edges] for ends in G.edge_ends())
    _, first = np.unique(tails * len(G) + heads, return_index=True)
    ranks = rig.matrix((first.astype(np.float64), (tails[first], heads[first])), shape=G.shape)
    forest = np.sort(rig.msf(ranks).forest.data.astype(np.int64))
    yield from G.edges(edges[forest], keys, data)


def _spanning_tree(minimum, G, weight="weight", algorithm="kruskal", ignore_nan=False):
    """Find a spanning forest, as a graph of NetworkX."""
    edges = _spanning_edges(minimum, G, algorithm, weight, ignore_nan=ignore_nan)
    tree = G.networkx_class()
    tree.graph.update(G.attributes)
    tree.add_nodes_from(zip(G.nodes, G.node_attributes))
    tree.add_edges_from(edges)
    return tree


minimum_spanning_edges = partial(_spanning_edges, True)
maximum_spanning_edges = partial(_spanning_edges, False)
minimum_spanning_tree = partial(_spanning_tree, True)
maximum_spanning_tree = partial(_spanning_tree, False)


for _name in FUNCTIONS:
    _function = globals()[_name]
    if isinstance(_function, partial):
        _function.__name__ = _name
        _function.__doc__ = f"{_function.func.__doc__[:-1]}, as `networkx.{_name}`."


# What is left to NetworkX


def _refuse_function(weight, **_):
    if callable(weight):
        return "weight is a function; rigblas reads the name of an attribute"


def _refuse_bellman_ford(weight, method, **_):
    if weight is not None and method == "bellman-ford":
        return "method 'bellman-ford' allows negative weights; rigblas serves 'dijkstra'"
    return _refuse_function(weight)


def _refuse_weight(weight, **_):
    if weight is not None:
        return f"weight is {weight!r}; rigblas serves weight=None"


def _refuse_centrality(k, weight, endpoints, **_):
    if endpoints:
        return "endpoints is True; rigblas does not count the ends of paths"
    if k is not None and _VERSION < (3, 5):
        return f"NetworkX {nx.__version__} scales samples (k) as no later one does"
    return _refuse_weight(weight)


def _refuse_directed(G, **_):
    if G.is_directed():
        return "the graph is directed: NetworkX counts a neighbour twice if arcs lead both ways"


def _refuse_other_trees(algorithm, weight, **_):
    if algorithm in _ALGORITHMS[1:]:
        return f"algorithm {algorithm!r} breaks ties in its own way; rigblas serves 'kruskal'"
    return _refuse_function(weight)


def _refuse_old_networkx(**_):
    if _VERSION < (3, 5):
        return f"in NetworkX {nx.__version__} the result is an iterator; rigblas returns a dict"


_REFUSALS = {
    "pagerank": _refuse_function,
    "betweenness_centrality": _refuse_centrality,
    "single_target_shortest_path_length": _refuse_old_networkx,
    "shortest_path_length": _refuse_bellman_ford,
    "clustering": _refuse_weight,
    "average_clustering": _refuse_weight,
    "core_number": _refuse_directed,
    **{name: _refuse_function for name in FUNCTIONS if "dijkstra" in name},
    **{name: _refuse_other_trees for name in FUNCTIONS if "spanning" in name},
}


def _arguments(name, args, kwargs):
    bound = inspect.signature(globals()[name]).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


def can_run(name, args, kwargs):
    """Whether the backend serves a call; NetworkX asks.

    Weights are read later: a function raises NotImplementedError for those it cannot serve.

    Parameters
    ----------
    name : str
        The function.
    args : tuple
    kwargs : dict

    Returns
    -------
    bool or str
        True, or why not.
    """
    if name not in FUNCTIONS:
        return f"rigblas has no {name}"
    try:
        given = _arguments(name, args, kwargs)
    except TypeError as error:
        return f"the arguments do not fit: {error}"
    return _REFUSALS.get(name, lambda **_: None)(**given) or True


def should_run(name, args, kwargs):
    """Whether a graph of NetworkX should be converted for a call; NetworkX asks.

    Parameters
    ----------
    name : str
        A function that can run.
    args : tuple
    kwargs : dict

    Returns
    -------
    bool or str
        True, or why not.
    """
    given = _arguments(name, args, kwargs)
    graph = given["G"]
    if given.get("source") is not None and given.get("target") is not None:
        return "one pair of nodes: NetworkX stops its search at the target"
    if given.get("nodes") is not None and given["nodes"] in graph:
        return "one node: NetworkX reads the neighbours of this node only"
    return True


_OTHER_RESULTS = {
    "TestStronglyConnected::test_condensation_mapping_and_members": (
        "the test numbers the components of networkx.condensation in reverse topological order; "
        "rigblas yields them in the order of their first nodes"
    ),
    "TestBipartiteCentrality::test_betweenness_centrality": (
        "the test compares sums of floats by ==; rigblas adds them up in another order"
    ),
}


def on_start_tests(items):
    """Mark tests of NetworkX that need an order or last bits that its documentation does not promise.

    Parameters
    ----------
    items : list of pytest.Item
    """
    import pytest

    for item in items:
        for name, reason in _OTHER_RESULTS.items():
            if item.nodeid.endswith(name):
                item.add_marker(pytest.mark.xfail(reason=reason))
