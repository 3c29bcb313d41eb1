"""The graph algorithms against NetworkX, SciPy, plain loops, and the known answers of the data folder."""

import json
import math
import os
import pathlib
import sys
import types

import numpy as np
import pytest

nx = pytest.importorskip("networkx")
sp = pytest.importorskip("scipy.sparse")
csgraph = pytest.importorskip("scipy.sparse.csgraph")

import rigblas as rig

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("RIG_DATA", ROOT.parent / "shared/data"))


def arcs(n, *pairs):
    graph = np.zeros((n, n), bool)
    for i, j in pairs:
        graph[i, j] = True
    return graph


def both(graph):
    return graph | graph.T


def random_arcs(seed, n=40, density=0.06):
    """With self loops; the last five nodes have no arcs."""
    graph = np.random.default_rng(seed).random((n, n)) < density
    graph[-5:] = graph[:, -5:] = False
    return graph


PATH = arcs(9, *((i, i + 1) for i in range(8)))
STAR = arcs(8, *((0, i) for i in range(1, 8)))
GRAPHS = {
    "no nodes": arcs(0),
    "one node": arcs(1),
    "one loop": arcs(1, (0, 0)),
    "no arcs": arcs(6),
    "loops only": np.eye(5, dtype=bool),
    "path": PATH,
    "path, both ways": both(PATH),
    "path backwards": PATH.T,
    "star": STAR,
    "star inwards": STAR.T,
    "star, both ways": both(STAR),
    "cycle": arcs(7, *((i, (i + 1) % 7) for i in range(7))),
    "two components": both(arcs(9, (0, 1), (1, 2), (2, 0), (4, 5), (5, 6))),
    "loops and isolated nodes": both(arcs(8, (0, 0), (0, 1), (1, 2), (2, 2), (2, 0), (5, 6), (6, 6))),
    "complete": ~np.eye(6, dtype=bool),
    "all entries": np.ones((5, 5), bool),
    **{f"directed, seed {seed}": random_arcs(seed) for seed in range(4)},
    **{f"dense, seed {seed}": random_arcs(seed, 25, 0.4) for seed in range(2)},
    **{f"undirected, seed {seed}": both(random_arcs(seed)) for seed in range(4)},
    **{f"sparse, seed {seed}": random_arcs(seed, 70, 0.015) for seed in range(2)},
}


@pytest.fixture(params=GRAPHS)
def graph(request):
    return GRAPHS[request.param]


def pattern(graph, dtype="float32"):
    return rig.matrix(np.stack(np.nonzero(graph)), shape=graph.shape, dtype=dtype)


def digraph(graph, weights=None):
    made = nx.DiGraph()
    made.add_nodes_from(range(len(graph)))
    for i, j in zip(*map(np.ndarray.tolist, np.nonzero(graph))):
        made.add_edge(i, j, weight=1 if weights is None else weights[i, j].item())
    return made


def undirected(graph):
    made = nx.Graph(digraph(graph))
    made.remove_edges_from(list(nx.selfloop_edges(made)))
    return made


def neighbours(graph):
    """Each node's neighbours in the undirected view without self loops."""
    view = both(graph) & ~np.eye(len(graph), dtype=bool)
    return [set(np.flatnonzero(row).tolist()) for row in view]


def of_nodes(n, values, absent=-1, dtype=None):
    return np.array([values.get(i, absent) for i in range(n)], dtype)


def same(got, expected, dtype):
    assert got.dtype == dtype and got.shape == np.shape(expected)
    np.testing.assert_array_equal(got, expected)


def test_bfs(graph):
    A, n = pattern(graph), len(graph)
    for source in range(n)[:: max(1, n // 5)]:
        found = rig.bfs(A, source, parents=True)
        levels = of_nodes(n, nx.single_source_shortest_path_length(digraph(graph), source), dtype=np.int32)
        same(found.levels, levels, np.int32)
        assert found.reached == (levels >= 0).sum() and found.max_level == levels.max()
        parents = np.full(n, -1)
        for j in np.flatnonzero(levels > 0):
            parents[j] = np.flatnonzero(graph[:, j] & (levels == levels[j] - 1))[0]
        parents[source] = source
        same(found.parents, parents, np.int32)
        assert rig.bfs(A, source).parents is None


def test_multi_source(graph):
    n = len(graph)
    for sources in ([], list(range(n)), list(range(n))[::-2] * 2):
        found = rig.multi_source(pattern(graph), sources)
        levels = np.stack(
            [of_nodes(n, nx.single_source_shortest_path_length(digraph(graph), s)) for s in sources], axis=1
        ) if sources else np.zeros((n, 0))
        same(found.levels, levels, np.int32)
        assert found.reached == (levels >= 0).sum() and found.max_level == max(0, levels.max(initial=0))


def test_multi_source_of_more_sources_than_bits():
    graph = random_arcs(3, 150, 0.02)
    found = rig.multi_source(pattern(graph), np.arange(150))
    distances = csgraph.dijkstra(sp.csr_array(graph.astype(float)), unweighted=True)
    same(found.levels, np.where(np.isinf(distances), -1, distances).T, np.int32)


@pytest.mark.parametrize("damping", [0.0, 0.5, 0.85, 0.99])
def test_pagerank(graph, damping):
    n = len(graph)
    found = rig.pagerank(pattern(graph), damping=damping, tolerance=1e-13, most_iterations=10_000)
    assert found.ranks.dtype == np.float64 and found.ranks.shape == (n,)
    if not n:
        return
    out = graph.sum(axis=1)
    follow = np.where(out[:, None] > 0, graph / np.maximum(out, 1)[:, None], 1 / n)
    ranks = np.linalg.solve(np.eye(n) - damping * follow.T, np.full(n, (1 - damping) / n))
    np.testing.assert_allclose(found.ranks, ranks, rtol=0, atol=1e-11)
    assert math.isclose(found.ranks.sum(), 1) and found.change < 1e-13


def test_pagerank_stops_when_told():
    A = pattern(GRAPHS["directed, seed 0"])
    found = rig.pagerank(A, tolerance=0, most_iterations=3)
    assert found.iterations == 3 and found.change > 0
    assert rig.pagerank(A, tolerance=1e-3).iterations < rig.pagerank(A, tolerance=1e-9).iterations


def labels_of(n, components):
    return of_nodes(n, {node: min(part) for part in components for node in part}, dtype=np.int32)


def test_components(graph):
    n = len(graph)
    labels = labels_of(n, nx.weakly_connected_components(digraph(graph)))
    found = rig.components(pattern(graph))
    same(found.labels, labels, np.int32)
    assert found.count == len(set(labels.tolist()))
    symmetric = rig.components(pattern(both(graph)), symmetric=True)
    same(symmetric.labels, labels, np.int32)


def test_scc(graph):
    labels = labels_of(len(graph), nx.strongly_connected_components(digraph(graph)))
    found = rig.scc(pattern(graph))
    same(found.labels, labels, np.int32)
    assert found.count == len(set(labels.tolist()))


def random_weights(graph, kind, seed=7):
    rng = np.random.default_rng(seed)
    if kind == "int":
        return rng.integers(0, 12, graph.shape)
    return rng.integers(0, 64, graph.shape) / 8 if kind == "ties" else rng.random(graph.shape)


def weighted(graph, weights, dtype):
    return rig.matrix((weights[graph].astype(dtype), np.nonzero(graph)), shape=graph.shape)


@pytest.mark.parametrize(
    "dtype, kind, result",
    [("int64", "int", np.int64), ("int32", "int", np.int64), ("bool", "bool", np.int64),
     ("float64", "any", np.float64), ("float32", "ties", np.float64), ("float16", "ties", np.float64)],
)
def test_sssp(graph, dtype, kind, result):
    n = len(graph)
    weights = graph.astype(np.int64) if kind == "bool" else random_weights(graph, kind)
    A = weighted(graph, weights, dtype)
    absent = np.iinfo(np.int64).max if result == np.int64 else np.inf
    for source in range(n)[:: max(1, n // 3)]:
        distances = of_nodes(n, nx.single_source_dijkstra_path_length(digraph(graph, weights), source), absent, result)
        for delta in (0, 0.5, 100):
            found = rig.sssp(A, source, delta=delta)
            same(found.distances, distances, result)
            assert found.reached == (distances != absent).sum()


def test_triangles(graph):
    count = sum(nx.triangles(undirected(graph)).values()) // 3
    assert rig.triangles(pattern(graph)) == count
    assert rig.triangles(pattern(both(graph)), symmetric=True) == count


def test_local_clustering(graph):
    n, around = len(graph), neighbours(graph)
    same(rig.local_clustering(pattern(graph)), of_nodes(n, nx.clustering(undirected(graph)), dtype=float), float)
    joined = [sum(graph[i, j] for i in near for j in near if i != j) for near in around]
    pairs = [len(near) * (len(near) - 1) for near in around]
    shares = np.array([j / p if p else 0 for j, p in zip(joined, pairs)], float)
    same(rig.local_clustering(pattern(graph), directed=True), shares, float)


def test_kcore(graph):
    cores = of_nodes(len(graph), nx.core_number(undirected(graph)), dtype=np.int32)
    found = rig.kcore(pattern(graph))
    same(found.cores, cores, np.int32)
    assert found.most == cores.max(initial=0)


def test_personalised_pagerank(graph):
    n, A = len(graph), pattern(graph)
    if n == 0:
        return
    jumps = {node: 1 + node for node in range(0, n, 3)}
    expected = of_nodes(n, nx.pagerank(digraph(graph), personalization=jumps, tol=1e-14, max_iter=1000), dtype=float)
    to = np.array([jumps.get(node, 0) for node in range(n)])
    np.testing.assert_allclose(rig.pagerank(A, personalised=to, tolerance=1e-14).ranks, expected, atol=1e-10)
    with pytest.raises(ValueError, match="pagerank: personalised"):
        rig.pagerank(A, personalised=to[1:])


def test_hits(graph):
    A = pattern(graph)
    found = rig.hits(A, tolerance=0, most_iterations=50)
    arcs = (graph != 0).astype(float)
    hubs = np.full(len(graph), 1 / max(len(graph), 1))
    for _ in range(50 if arcs.any() else 0):
        authorities = arcs.T @ hubs
        hubs = arcs @ authorities
        hubs /= hubs.sum()
    if arcs.any():
        np.testing.assert_allclose(found.hubs, hubs, atol=1e-12)
        np.testing.assert_allclose(found.authorities, authorities / authorities.sum(), atol=1e-12)
    else:
        assert not found.hubs.any() and not found.authorities.any()


@pytest.mark.parametrize("k", [3, 4, 5])
def test_ktruss(graph, k):
    expected = nx.k_truss(undirected(graph), k)
    found = {(i, j) for i, j, _ in rig.ktruss(pattern(graph), k).truss.entries()}
    assert found == {arc for i, j in expected.edges for arc in ((i, j), (j, i))}


def test_bipartite_matching(graph):
    both_sides = nx.Graph([(("row", i), ("column", j)) for i, j in zip(*np.nonzero(graph))])
    expected = len(nx.bipartite.hopcroft_karp_matching(both_sides, [x for x in both_sides if x[0] == "row"])) // 2
    found = rig.bipartite_matching(pattern(graph))
    assert found.size == expected
    pairs = [(i, j) for i, j in enumerate(found.columns) if j >= 0]
    assert len(pairs) == expected and all(graph[i, j] != 0 and found.rows[j] == i for i, j in pairs)


def test_eccentricity(graph):
    n, A = len(graph), pattern(graph)
    steps = of_nodes(n, {i: max(nx.single_source_shortest_path_length(digraph(graph), i).values()) for i in range(n)},
                     dtype=np.int32)
    same(rig.eccentricity(A), steps, np.int32)
    same(rig.eccentricity(A, list(range(n))[::2], batch=3), steps[::2], np.int32)


def test_diameter_bound(graph):
    for nodes in nx.connected_components(undirected(graph)):
        found = rig.diameter_bound(pattern(graph), min(nodes))
        assert found.lower <= nx.diameter(undirected(graph).subgraph(nodes)) <= found.upper
        assert found.node in nodes


@pytest.mark.parametrize("batch", [1, 7, 32])
def test_betweenness(graph, batch):
    n, A = len(graph), pattern(graph)
    counts = of_nodes(n, nx.betweenness_centrality(digraph(graph), normalized=False), dtype=float)
    np.testing.assert_allclose(rig.betweenness(A, batch=batch), counts, atol=1e-9)
    some = list(range(n))[::3]
    of_some = nx.betweenness_centrality_subset(digraph(graph), some, range(n))
    np.testing.assert_allclose(rig.betweenness(A, some, batch=batch), of_nodes(n, of_some, dtype=float), atol=1e-9)


def similarity(near, i, j):
    return len(near[i] & near[j]) / len(near[i] | near[j]) if near[i] & near[j] else 0.0


def test_jaccard(graph):
    n, near = len(graph), neighbours(graph)
    for node in range(n)[:: max(1, n // 6)]:
        found = rig.jaccard(pattern(graph), node)
        expected = {j: similarity(near, node, j) for j in range(n) if j != node and near[node] & near[j]}
        assert found.size == n and dict(found.entries()) == expected


def test_jaccard_of_edges(graph):
    near = neighbours(graph)
    found = rig.jaccard_of_edges(pattern(graph))
    expected = {(i, j): similarity(near, i, j) for i in range(len(graph)) for j in near[i]}
    assert {(i, j): value for i, j, value in found.entries()} == expected


def propagated(graph, iterations):
    """By LDBC Graphalytics: all at once; a neighbour by arcs in both directions counts twice."""
    labels, made = list(range(len(graph))), 0
    votes = graph.astype(int) + graph.T
    while made < iterations:
        before, made = labels, made + 1
        labels = []
        for i, own in enumerate(before):
            count = np.bincount(before, votes[i], len(graph))
            labels.append(int(count.argmax()) if count.any() else own)
        if labels == before:
            break
    return labels


@pytest.mark.parametrize("iterations", [0, 1, 2, 30])
def test_label_propagation(graph, iterations):
    labels = propagated(graph, iterations)
    found = rig.label_propagation(pattern(graph), iterations)
    same(found.labels, labels, np.int32)
    assert found.communities == len(set(labels)) and found.iterations <= iterations


def test_mis(graph):
    near, sets = neighbours(graph), set()
    for seed in range(5):
        found = rig.mis(pattern(graph), seed=seed)
        chosen = set(found.set.indices.tolist())
        assert found.set.size == len(graph) and found.set.dtype == bool
        for node, around in enumerate(near):
            assert bool(around & chosen) != (node in chosen)  # independent, and maximal
        assert set(rig.mis(pattern(graph), seed=seed).set.indices.tolist()) == chosen
        sets.add(frozenset(chosen))
    if graph is GRAPHS["undirected, seed 1"]:
        assert len(sets) > 1


@pytest.mark.parametrize("kind, dtype", [("int", "int32"), ("ties", "float32"), ("any", "float64")])
def test_msf(graph, kind, dtype):
    n, weights = len(graph), random_weights(graph, kind)
    lightest = nx.Graph()
    lightest.add_nodes_from(range(n))
    for i, j in zip(*np.nonzero(both(graph))):
        if i < j:
            given = [weights[e] for e in ((i, j), (j, i)) if graph[e]]
            lightest.add_edge(int(i), int(j), weight=float(min(given)))
    tree = nx.minimum_spanning_tree(lightest)
    found = rig.msf(weighted(graph, weights, dtype))
    edges = {(i, j): value for i, j, value in found.forest.entries()}
    assert found.forest.shape == (n, n) and found.forest.dtype == np.float64
    assert len(edges) == tree.number_of_edges()
    assert all(i < j and lightest[i][j]["weight"] == value for (i, j), value in edges.items())
    forest = nx.Graph(list(edges))
    assert not edges or nx.is_forest(forest)
    assert math.isclose(found.weight, tree.size("weight"), abs_tol=1e-12)
    assert math.isclose(found.weight, sum(edges.values()), abs_tol=1e-12)


#: A call of each algorithm, and whether it takes a kernel of that name.
CALLS = {
    "bfs": (lambda A, **given: rig.bfs(A, 0, parents=True, **given), "push"),
    "multi_source": (lambda A, **given: rig.multi_source(A, [0, 3, 5], **given), "row"),
    "pagerank": (rig.pagerank, "row"),
    "hits": (rig.hits, "row"),
    "components": (rig.components, None),
    "scc": (rig.scc, None),
    "sssp": (lambda A, **given: rig.sssp(A, 0, **given), "closure"),
    "triangles": (rig.triangles, "gustavson"),
    "local_clustering": (rig.local_clustering, "gustavson"),
    "kcore": (rig.kcore, "push"),
    "ktruss": (lambda A, **given: rig.ktruss(A, 4, **given), "gustavson"),
    "bipartite_matching": (rig.bipartite_matching, None),
    "eccentricity": (lambda A, **given: rig.eccentricity(A, [0, 3, 5], **given), "row"),
    "diameter_bound": (lambda A, **given: rig.diameter_bound(A, 0, **given), "push"),
    "betweenness": (rig.betweenness, "row"),
    "jaccard": (lambda A, **given: rig.jaccard(A, 0, **given), "push"),
    "jaccard_of_edges": (rig.jaccard_of_edges, "gustavson"),
    "label_propagation": (rig.label_propagation, "gustavson"),
    "mis": (rig.mis, "push"),
    "msf": (rig.msf, None),
}
#: Those that read weights; all others read the pattern alone.
WEIGHED = {"sssp", "msf"}


def parts(result):
    """A result as a flat list of lists and numbers."""
    if isinstance(result, tuple):
        return [part for one in result for part in parts(one)]
    if hasattr(result, "indices"):
        return [result.indices.tolist(), result.data.tolist()]
    return [result.tolist() if isinstance(result, np.ndarray) else result]


@pytest.fixture(params=CALLS)
def call(request):
    return request.param


def big(seed=5):
    rng = np.random.default_rng(seed)
    made = rig.generate("rmat:10:8")
    return made.with_values(rng.integers(1, 64, made.nnz) / 8)


def test_threads_make_no_difference(call):
    function, A = CALLS[call][0], big()
    alone = parts(function(A, threads=1))
    for threads in (0, 2, 5):
        assert parts(function(A, threads=threads)) == alone


def test_the_second_call_finds_the_same(call):
    function, A = CALLS[call][0], big()
    assert parts(function(A)) == parts(function(A))


def test_values_are_not_read(call):
    if call in WEIGHED:
        pytest.skip("reads weights")
    function = CALLS[call][0]
    graph = GRAPHS["directed, seed 2"]
    expected = parts(function(pattern(graph)))
    for dtype in ("bool", "int32", "int64", "float16", "float64"):
        assert parts(function(pattern(graph, dtype))) == expected
    zeros = rig.matrix((np.zeros(graph.sum()), np.nonzero(graph)), shape=graph.shape)
    assert parts(function(zeros)) == expected
    nan = zeros.with_values(np.full(graph.sum(), np.nan))
    assert parts(function(nan)) == expected


def test_kernels(call):
    function, kernel = CALLS[call]
    A = big()
    with pytest.raises(ValueError, match=f"{call}: .*kernel"):
        function(A, kernel="no such kernel")
    if kernel is None:
        with pytest.raises(ValueError, match=f"{call}: kernel has no meaning here"):
            function(A, kernel="row")
    else:
        # The counts of iterations behind the first part may depend on the kernel.
        got, expected = parts(function(A, kernel=kernel))[0], parts(function(A))[0]
        np.testing.assert_allclose(got, expected, rtol=1e-9)


def test_progress_is_called(call):
    steps = []
    CALLS[call][0](big(), progress=lambda *numbers: steps.append(numbers))
    assert steps and all(isinstance(number, (int, float)) for step in steps for number in step)


def test_an_error_in_progress_ends_the_call(call):
    def stop(*numbers):
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        CALLS[call][0](big(), progress=stop)


class Bar:
    """Stands in for tqdm."""

    made = []

    def __init__(self, desc, unit):
        self.name, self.steps, self.open = desc, 0, True
        Bar.made.append(self)

    def set_postfix_str(self, text, refresh):
        self.text = text

    def update(self):
        self.steps += 1

    def close(self):
        self.open = False


def test_progress_by_tqdm(call, monkeypatch):
    Bar.made.clear()
    monkeypatch.setitem(sys.modules, "tqdm", types.SimpleNamespace(tqdm=Bar))
    A = big()
    expected = parts(CALLS[call][0](A))
    assert not Bar.made
    assert parts(CALLS[call][0](A, progress=True)) == expected
    [bar] = Bar.made
    assert bar.name == call and bar.steps > 0 and not bar.open


def test_progress_without_tqdm(call, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    A = big()
    assert parts(CALLS[call][0](A, progress=True)) == parts(CALLS[call][0](A))


def test_a_bar_is_closed_by_an_error(monkeypatch):
    Bar.made.clear()
    monkeypatch.setitem(sys.modules, "tqdm", types.SimpleNamespace(tqdm=Bar))
    with pytest.raises(ValueError):
        rig.bfs(big(), -1, progress=True)
    assert not Bar.made[0].open


def test_not_square(call):
    A = rig.matrix(np.array([[0, 5], [1, 2]]), shape=(6, 7))
    if call == "bipartite_matching":  # rows and columns are two sides
        assert rig.bipartite_matching(A).size == 2
        return
    with pytest.raises(ValueError, match=f"^{call}: A is 6x7, not square"):
        CALLS[call][0](A)


@pytest.mark.parametrize("wrong", [None, 3, "graph", [[0, 1]]])
def test_no_matrix(call, wrong):
    with pytest.raises(TypeError):
        CALLS[call][0](wrong)


A3 = rig.matrix((np.array([1.0, 2.0]), ([0, 1], [1, 2])), shape=(3, 3))
NONE = rig.matrix(np.zeros((2, 0), np.int64), shape=(0, 0))
ERRORS = [
    (lambda: rig.bfs(A3, 3), "bfs: source is 3; give one of the 3 nodes"),
    (lambda: rig.bfs(A3, -1), "bfs: source is -1"),
    (lambda: rig.bfs(NONE, 0), "bfs: source is 0, but A has no nodes"),
    (lambda: rig.multi_source(A3, [0, 5]), "multi_source: source is 5"),
    (lambda: rig.multi_source(A3, [-1]), "multi_source: source is -1"),
    (lambda: rig.betweenness(A3, [5]), "betweenness: source is 5"),
    (lambda: rig.betweenness(A3, batch=0), "betweenness: batch is 0; set at least 1"),
    (lambda: rig.pagerank(A3, damping=1.0), r"pagerank: damping is 1; set a number in \[0, 1\)"),
    (lambda: rig.pagerank(A3, damping=-0.1), "pagerank: damping is -0.1"),
    (lambda: rig.pagerank(A3, damping=math.nan), "pagerank: damping is"),
    (lambda: rig.pagerank(A3, tolerance=-1), "pagerank: tolerance is -1"),
    (lambda: rig.pagerank(A3, most_iterations=0), "pagerank: most_iterations is 0; set at least 1"),
    (lambda: rig.label_propagation(A3, iterations=-1), "label_propagation: iterations is -1"),
    (lambda: rig.jaccard(A3, 7), "jaccard: node is 7, but A has 3 nodes"),
    (lambda: rig.sssp(A3, 3), "sssp: source is 3"),
    (lambda: rig.sssp(A3, 0, delta=-1), "sssp: delta is -1"),
    (lambda: rig.sssp(A3.with_values(np.array([1.0, -2.5])), 0), "sssp: the least weight is -2.5"),
    (lambda: rig.sssp(A3.with_values(np.array([1, -2])), 0), "sssp: the least weight is -2"),
    (lambda: rig.sssp(A3.with_values(np.array([1.0, math.nan])), 0), "sssp: the least weight is nan"),
    (lambda: rig.msf(A3.with_values(np.array([1.0, math.nan]))), "msf: a weight is NaN; give numbers"),
    (lambda: rig.bfs(A3, 0, threads=-1), "bfs: threads is -1"),
]


@pytest.mark.parametrize("wrong, words", ERRORS, ids=[words for _, words in ERRORS])
def test_errors(wrong, words):
    with pytest.raises(ValueError, match=words):
        wrong()


def test_options_are_named(call):
    function = getattr(rig, call)
    assert function.__kwdefaults__ == {"kernel": "", "threads": 0, "stream": None, "progress": False}
    for word in ("Parameters", "Returns", "kernel", "threads", "progress"):
        assert word in function.__doc__


def test_results_have_names():
    found = rig.pagerank(A3)
    ranks, iterations, change = found
    assert found.ranks is ranks and (found.iterations, found.change) == (iterations, change)
    assert type(found).__name__ == "PagerankResult" and "ranks" in repr(found)


# Known answers


def known_sets():
    """Graphs that are small enough for a test of seconds."""
    for path in sorted(DATA.glob("*/expected.json")):
        with open(path) as file:
            head = file.read(200)
        if int(head.split('"nnz":')[1].split(",")[0]) < 400_000:
            yield path.parent.name


def file_of(folder, name):
    plain = folder / name
    return plain if plain.exists() else folder / f"{name}.gz"


@pytest.fixture(params=list(known_sets()) or [pytest.param(None, marks=pytest.mark.skip(f"there is no {DATA}"))])
def known(request):
    folder = DATA / request.param
    with open(folder / "expected.json") as file:
        expected = json.load(file)
    A = rig.read(file_of(folder, "graph.mtx"), dtype="float64")
    assert A.shape == (expected["n"], expected["n"]) and A.nnz == expected["nnz"]
    return A, expected


def ends(A):
    return np.repeat(np.arange(A.shape[0]), np.diff(A.indptr)), A.indices.astype(np.int64)


def synthetic(A):
    """The weights that the file of answers defines for every graph."""
    rows, columns = ends(A)
    return A.with_values(1 + (31 * np.minimum(rows, columns) + 17 * np.maximum(rows, columns)) % 64)


def check_levels(found, expected):
    levels = found.levels[found.levels >= 0].astype(np.int64)
    assert (found.reached, found.max_level) == (expected["reached"], expected["max"])
    assert levels.sum() == expected["sum"]
    per_level = np.bincount(levels)[:64].tolist()
    assert per_level == expected["per_level"]


def check_distances(found, expected, exact):
    far = np.iinfo(np.int64).max if exact else np.inf
    reached = found.distances[found.distances != far]
    close = (lambda x, y: x == y) if exact else (lambda x, y: math.isclose(x, y, rel_tol=1e-9))
    assert found.reached == reached.size == expected["reached"]
    assert close(reached.max().item(), expected["max"]) and close(reached.sum().item(), expected["sum"])
    for node, distance in expected["at"].items():
        assert distance is None or close(found.distances[int(node)].item(), distance)


def test_known_answers(known):
    A, expected = known
    hub = expected["hub"]
    check_levels(rig.bfs(A, 0), expected["bfs"])
    check_levels(rig.bfs(A, hub), expected["bfs_hub"])
    if "bfs_u" in expected:
        check_levels(rig.bfs(rig.symmetrise(A), 0), expected["bfs_u"])
    check_distances(rig.sssp(synthetic(A), 0), expected["sssp_syn"], exact=True)
    check_distances(rig.sssp(synthetic(A), hub), expected["sssp_syn_hub"], exact=True)
    if "sssp" in expected:
        check_distances(rig.sssp(A, 0), expected["sssp"], exact=False)

    ranks = rig.pagerank(A).ranks
    assert math.isclose(np.linalg.norm(ranks), expected["pagerank"]["fro"], rel_tol=1e-7)
    for node, rank in [*expected["pagerank"]["top"], *expected["pagerank"]["at"].items()]:
        assert math.isclose(ranks[int(node)], rank, rel_tol=1e-6)

    weak, strong = rig.components(A, symmetric=expected["symmetric"]), rig.scc(A)
    assert weak.count == expected["wcc"]["count"] and strong.count == expected["scc"]["count"]
    assert np.bincount(weak.labels).max() == expected["wcc"]["largest"]
    assert np.bincount(strong.labels).max() == expected["scc"]["largest"]
    assert weak.labels.astype(np.int64).sum() == expected["wcc"]["sum_min_index"]

    degrees = np.diff(rig.symmetrise(A).indptr).astype(np.float64)
    clustering = rig.local_clustering(A)
    of_each = np.rint(clustering * degrees * (degrees - 1) / 2)
    assert rig.triangles(A) == of_each.sum() / 3 == expected["triangles"]["count"]
    assert (of_each**2).sum() == expected["triangles"]["sum_squares_per_node"]
    assert math.isclose(clustering.mean(), expected["lcc_mean"], rel_tol=1e-9)
    assert rig.kcore(A).most == expected["kcore_max"]
    if "msf" in expected:
        found = rig.msf(synthetic(A) if expected["msf"].get("weights_of") == "sssp_syn" else A)
        assert math.isclose(found.weight, expected["msf"]["weight"], rel_tol=1e-9)
        assert found.forest.nnz == expected["msf"]["edges"]
    if "betweenness" in expected:
        through = rig.betweenness(A) / (2 if expected["symmetric"] else 1)
        assert math.isclose(through.sum(), expected["betweenness"]["sum"], rel_tol=1e-9)
        for node, count in expected["betweenness"]["top"]:
            assert math.isclose(through[node], count, rel_tol=1e-9)


LAGRAPH = DATA / "lagraph-small"


@pytest.fixture
def published():
    if not LAGRAPH.exists():
        pytest.skip(f"there is no {LAGRAPH}")
    with open(LAGRAPH / "known.json") as file:
        return json.load(file)


def small(name):
    return rig.read(file_of(LAGRAPH, f"{name}.mtx"), dtype="float64")


def test_answers_published_by_lagraph(published):
    for name, count in published["triangles"].items():
        assert rig.triangles(small(name)) == count, name
    for name, count in published["connected_components"].items():
        assert rig.components(small(name)).count == count, name
    for name in ("karate", "west0067"):
        np.testing.assert_allclose(rig.pagerank(small(name)).ranks, published["pagerank"][name], atol=1e-4)
        answer = published["betweenness_from_4_sources"][name]
        through = rig.betweenness(small(name), answer["sources"])
        np.testing.assert_allclose(through, answer["bc"], rtol=1e-4, atol=1e-4)
    shares = rig.local_clustering(small("west0067"), directed=True)
    np.testing.assert_allclose(shares, published["lcc"]["west0067_directed"], atol=1e-5)
    assert rig.bfs(small("karate"), 30).levels.tolist() == published["bfs"]["karate_levels_from_30"]
    assert rig.scc(small("cover")).labels.tolist() == published["scc"]["cover"]
    found = rig.label_propagation(small("jagmesh7"), published["cdlp"]["iterations"])
    assert found.labels.tolist() == published["cdlp"]["jagmesh7"]
