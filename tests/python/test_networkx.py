"""The NetworkX backend: the same results, errors and order as NetworkX, and its own tests."""

import inspect
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction

import pytest

nx = pytest.importorskip("networkx")
np = pytest.importorskip("numpy")

import rigblas as rig
import rigblas.networkx as backend
from _rigblas_networkx import FUNCTIONS, get_info

ROOT = pathlib.Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(
    "rigblas" not in nx.utils.backends.backends,
    reason="NetworkX finds backends by the entry points of installed packages; install the wheel",
)

CLASSES = nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph
SEEDS = range(4)


@pytest.fixture(autouse=True)
def quiet():
    """NetworkX warns whenever it uses a graph that it converted before."""
    nx.config.warnings_to_ignore.add("cache")


def random_graph(kind, seed, nodes=30, edges=60, weight=lambda rng: rng.randint(0, 9), loops=True):
    """Nodes are words in no order, so that a node is no row by accident; some are alone."""
    rng = random.Random(seed)
    names = [f"n{i}" for i in range(nodes)]
    rng.shuffle(names)
    graph = kind()
    graph.add_nodes_from(names)
    for _ in range(edges):
        u, v = rng.choice(names), rng.choice(names[: nodes * 2 // 3])
        if u != v or loops:
            graph.add_edge(u, v, weight=weight(rng))
    return graph


def small_graphs(kind):
    path = nx.path_graph(5, create_using=kind)
    star = kind([(0, i) for i in range(1, 7)])
    two = kind([(0, 1), (1, 2), (2, 0), (10, 11), (11, 12)])
    two.add_node("alone")
    loops = kind([(0, 0), (0, 1), (1, 1), (1, 2), (2, 0), (3, 3)])
    parallel = kind([(0, 1), (0, 1), (1, 0), (1, 2), (2, 0), (2, 2), (2, 2)])
    one_loop = kind([("x", "x")])
    one = kind()
    one.add_node("only")
    no_edges = kind()
    no_edges.add_nodes_from("abc")
    return {
        "null": kind(), "one": one, "one loop": one_loop, "no edges": no_edges, "path": path,
        "star": star, "two": two, "loops": loops, "parallel": parallel,
        "complete": nx.complete_graph(5, create_using=kind),
    }


def some(graph):
    """A node, another one, and words for a node that the graph lacks."""
    nodes = list(graph) or ["absent"]
    return nodes[0], nodes[-1]


def calls(graph):
    """Every served function, with arguments."""
    first, last = some(graph)
    nodes = list(graph)[::3] + ["absent"]
    simple = dict.fromkeys(graph, 0) | {first: 2, last: 1}
    yield "pagerank", {}
    yield "pagerank", {"weight": None, "alpha": 0.5}
    yield "pagerank", {"alpha": 1.0, "max_iter": 500, "tol": 1e-3}
    yield "pagerank", {"max_iter": 1, "tol": 1e-12}
    yield "pagerank", {"max_iter": 0}
    yield "pagerank", {"weight": None, "tol": 0, "max_iter": 3}
    yield "pagerank", {"personalization": simple}
    yield "pagerank", {"personalization": {first: 0}}
    yield "pagerank", {"dangling": simple, "nstart": simple, "weight": None}
    yield "betweenness_centrality", {}
    yield "betweenness_centrality", {"normalized": False}
    if backend._VERSION >= (3, 5):
        yield "betweenness_centrality", {"k": len(graph)}
        yield "betweenness_centrality", {"k": min(3, len(graph)), "seed": 5}
        yield "betweenness_centrality", {"k": min(1, len(graph)), "seed": 5, "normalized": False}
        yield "betweenness_centrality", {"k": len(graph) + 1, "seed": 5}
        yield "single_target_shortest_path_length", {"target": first}
        yield "single_target_shortest_path_length", {"target": last, "cutoff": 1}
        yield "single_target_shortest_path_length", {"target": "absent"}
    yield "jaccard_coefficient", {}
    yield "jaccard_coefficient", {"ebunch": [(u, v) for u in nodes[:-1] for v in graph]}
    yield "jaccard_coefficient", {"ebunch": [(first, "absent")]}
    for source in (first, last, "absent"):
        for cutoff in (None, -1, 0, 1, 1.5, 2):
            yield "single_source_shortest_path_length", {"source": source, "cutoff": cutoff}
        for cutoff in (None, -1, 0, 7, 8.5):
            yield "single_source_dijkstra_path_length", {"source": source, "cutoff": cutoff}
        for name in ("descendants", "ancestors"):
            yield name, {"source": source}
        for distance in (-1, 0, 1, 2, 1.5):
            yield "descendants_at_distance", {"source": source, "distance": distance}
        for weight in (None, "weight"):
            yield "shortest_path_length", {"source": source, "weight": weight}
            yield "shortest_path_length", {"target": source, "weight": weight}
            for target in (first, last, "absent"):
                pair = {"source": source, "target": target, "weight": weight}
                yield "shortest_path_length", pair
        for target in (first, last, "absent"):
            yield "dijkstra_path_length", {"source": source, "target": target}
        yield "node_connected_component", {"n": source}
        yield "clustering", {"nodes": source}
        yield "triangles", {"nodes": source}
    yield "shortest_path_length", {}
    yield "shortest_path_length", {"weight": "weight"}
    yield "shortest_path_length", {"source": first, "method": "fastest"}
    yield "all_pairs_shortest_path_length", {}
    yield "all_pairs_shortest_path_length", {"cutoff": 1}
    yield "all_pairs_dijkstra_path_length", {"cutoff": 9}
    for name in ("triangles", "clustering"):
        for chosen in (None, nodes, nodes + nodes, set(nodes), [], [["unhashable"]], 5):
            yield name, {"nodes": chosen}
    for count_zeros in (True, False):
        yield "average_clustering", {"count_zeros": count_zeros}
        yield "average_clustering", {"nodes": nodes, "count_zeros": count_zeros}
    for which in ("minimum", "maximum"):
        for options in ({}, {"weight": "absent"}, {"algorithm": "none"}, {"ignore_nan": True}):
            yield f"{which}_spanning_edges", options
            yield f"{which}_spanning_tree", options
        yield f"{which}_spanning_edges", {"data": False}
        yield f"{which}_spanning_edges", {"keys": False}
    for name in FUNCTIONS:
        if "connected" in name and name != "node_connected_component":
            yield name, {}
    yield "transitivity", {}
    if not graph.is_directed():  # the others are left to NetworkX
        yield "core_number", {}


def plain(result):
    """A result without generators, and graphs by their parts."""
    if isinstance(result, Iterator):
        return [plain(part) for part in result]
    if isinstance(result, nx.Graph):
        edges = result.edges(keys=True, data=True) if result.is_multigraph() else result.edges(data=True)
        return [type(result), result.graph, list(result.nodes(data=True)), list(edges)]
    return result


def outcome(name, graph, options, by):
    try:
        return plain(getattr(nx, name)(graph, **options, backend=by))
    except Exception as error:
        return type(error), str(error)


def near(ours, theirs):
    """Equality, except for the last bits of floats and the types of numbers."""
    if isinstance(ours, (dict, tuple)) and type(ours) is not type(theirs):
        return False
    if isinstance(theirs, float) or isinstance(ours, float):
        return math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-12) or ours != ours and theirs != theirs
    if isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(near(ours[key], theirs[key]) for key in theirs)
    if isinstance(theirs, (list, tuple)):
        return len(ours) == len(theirs) and all(map(near, ours, theirs))
    return ours == theirs


def numbers_of(result):
    if isinstance(result, dict):
        result = list(result.items())
    if isinstance(result, (list, tuple, set)):
        for part in result:
            yield from numbers_of(part)
    else:
        yield result


#: Sums that rig adds up in another order, so that the last bits differ.
ROUNDED = {"pagerank", "betweenness_centrality"}
#: Dictionaries in the order of the nodes; the others are in the order of the distance.
IN_ORDER = {"pagerank", "betweenness_centrality", "triangles", "clustering", "core_number"}


def compare(name, graph, options):
    ours = outcome(name, graph, options, "rigblas")
    theirs = outcome(name, graph, options, "networkx")
    where = f"nx.{name}({graph}, {options}): {ours} is not {theirs}"
    if name == "strongly_connected_components" and isinstance(theirs, list):  # in another order
        ours, theirs = (
            sorted(sorted(map(str, part)) for part in found) for found in (ours, theirs)
        )
    assert near(ours, theirs) if name in ROUNDED else ours == theirs, where
    if name in IN_ORDER and isinstance(theirs, dict):
        chosen = set(ours)
        assert list(ours) == [node for node in graph if node in chosen] or options.get("nodes"), where
    assert not any(isinstance(number, np.generic) for number in numbers_of(ours)), where


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("seed", SEEDS)
def test_random_graphs(kind, seed):
    for edges in (25, 120):
        graph = random_graph(kind, seed, edges=edges, loops=seed % 2 == 0)
        graph.graph["name"] = f"seed {seed}"
        for name, options in calls(graph):
            compare(name, graph, options)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("which", small_graphs(nx.Graph))
def test_small_graphs(kind, which):
    graph = small_graphs(kind)[which]
    for name, options in calls(graph):
        compare(name, graph, options)


def test_every_function_is_compared():
    compared = {name for name, _ in calls(nx.path_graph(3))}
    assert compared | {"single_target_shortest_path_length"} == set(FUNCTIONS)


WEIGHTED = [
    ("single_source_dijkstra_path_length", {"source": "n3"}),
    ("shortest_path_length", {"source": "n3", "weight": "weight"}),
    ("shortest_path_length", {"target": "n3", "weight": "weight"}),
    ("all_pairs_dijkstra_path_length", {}),
    ("minimum_spanning_edges", {}),
    ("maximum_spanning_edges", {}),
    ("minimum_spanning_tree", {}),
    ("minimum_spanning_edges", {"ignore_nan": True}),
    ("pagerank", {}),
]
WEIGHTS = {
    "floats": lambda rng: rng.random(),
    "ties": lambda rng: rng.choice([0.5, 1, 2]),
    "bools": lambda rng: rng.random() < 0.5,
    "tenths": lambda rng: rng.randint(1, 9) / 10,
    "great": lambda rng: rng.randint(1, 2**50),
    "equal": lambda rng: 3,
}


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_weights(kind, weights):
    for seed in SEEDS:
        graph = random_graph(kind, seed, edges=90, weight=WEIGHTS[weights])
        for name, options in WEIGHTED:
            compare(name, graph, options)


LEFT = {
    "negative": lambda rng: -1,
    "infinite": lambda rng: math.inf,
    "none": lambda rng: rng.choice([None, 1]),
    "fractions": lambda rng: Fraction(1, rng.randint(1, 9)),
    "beyond 64 bits": lambda rng: 2**70,
    "sums beyond 64 bits": lambda rng: 2**62,
    "ints that a float rounds": lambda rng: rng.choice([2**60 + 1, 0.5]),
    "single precision": lambda rng: np.float32(rng.random()),
}


@pytest.mark.parametrize("weights", LEFT)
def test_weights_that_are_left_to_networkx(weights):
    graph = random_graph(nx.Graph, 1, weight=LEFT[weights])
    with pytest.raises(NotImplementedError):
        nx.single_source_dijkstra_path_length(graph, "n3", backend="rigblas")
    expected = outcome("single_source_dijkstra_path_length", graph, {"source": "n3"}, "networkx")
    with nx.config(backend_priority=["rigblas"]):
        assert outcome("single_source_dijkstra_path_length", graph, {"source": "n3"}, None) == expected


def test_words_for_weights():
    graph = backend.convert_from_nx(random_graph(nx.Graph, 1, weight=lambda rng: -1))
    with pytest.raises(NotImplementedError, match=r"weights 'weight' are from -1 to -1; .* at least 0"):
        backend.single_source_dijkstra_path_length(graph, "n3")
    graph = backend.convert_from_nx(random_graph(nx.Graph, 1, weight=lambda rng: "heavy"))
    with pytest.raises(NotImplementedError, match="edge attribute 'weight' have type str; .* int"):
        backend.minimum_spanning_edges(graph)
    graph = backend.convert_from_nx(random_graph(nx.Graph, 1, weight=LEFT["ints that a float rounds"]))
    with pytest.raises(NotImplementedError, match=r"floats beside ints greater than 2\*\*53"):
        backend.minimum_spanning_edges(graph)


@pytest.mark.parametrize("name", [f"{which}_spanning_{what}" for which in ("minimum", "maximum")
                                  for what in ("edges", "tree")])
def test_nan_as_a_weight(name):
    graph = random_graph(nx.Graph, 2, weight=lambda rng: rng.choice([math.nan, 1.5]))
    for ignore in (True, False):
        ours, theirs = (outcome(name, graph, {"ignore_nan": ignore}, by) for by in ("rigblas", "networkx"))
        assert str(ours) == str(theirs)
    edges = nx.minimum_spanning_edges(graph, backend="rigblas")  # the error comes with the first edge
    with pytest.raises(ValueError, match="NaN found as an edge weight"):
        next(edges)


def test_spanning_edges_share_the_attributes_of_the_graph():
    graph = nx.Graph()
    graph.add_edge("a", "b", weight=2, colour="red")
    [(_, _, attributes)] = nx.minimum_spanning_edges(graph, backend="rigblas")
    assert attributes is graph["a"]["b"]
    tree = nx.minimum_spanning_tree(graph, backend="rigblas")
    assert tree["a"]["b"] == graph["a"]["b"] and tree["a"]["b"] is not graph["a"]["b"]


REFUSED = [
    ("pagerank", {"weight": len}, "weight is a function"),
    ("betweenness_centrality", {"weight": "weight"}, "weight is 'weight'; rigblas serves weight=None"),
    ("betweenness_centrality", {"endpoints": True}, "endpoints is True"),
    ("single_source_dijkstra_path_length", {"source": 0, "weight": len}, "weight is a function"),
    ("shortest_path_length", {"source": 0, "weight": "w", "method": "bellman-ford"}, "negative weights"),
    ("clustering", {"weight": "weight"}, "serves weight=None"),
    ("average_clustering", {"weight": "weight"}, "serves weight=None"),
    ("minimum_spanning_edges", {"algorithm": "prim"}, "breaks ties in its own way"),
    ("maximum_spanning_tree", {"algorithm": "boruvka"}, "breaks ties in its own way"),
    ("pagerank", {"surprise": 1}, "the arguments do not fit: .*surprise"),
]


@pytest.mark.parametrize("name, options, words", REFUSED)
def test_refusals_have_words(name, options, words):
    graph = nx.path_graph(4)
    why = backend.can_run(name, (graph,), options)
    assert isinstance(why, str) and re.search(words, why)
    if "surprise" not in options:
        with pytest.raises(NotImplementedError):
            getattr(nx, name)(graph, **options, backend="rigblas")


def test_other_refusals():
    assert "directed" in backend.can_run("core_number", (nx.DiGraph([(0, 1)]),), {})
    assert "no label_propagation" in backend.can_run("label_propagation", (nx.Graph(),), {})
    assert backend.can_run("core_number", (nx.path_graph(3),), {}) is True


def test_should_run():
    graph = nx.path_graph(4)
    assert backend.should_run("pagerank", (graph,), {}) is True
    assert "one pair" in backend.should_run("shortest_path_length", (graph, 0, 3), {})
    assert "one node" in backend.should_run("clustering", (graph, 2), {})
    assert backend.should_run("clustering", (graph, [2, 3]), {}) is True


def test_priority_and_cache():
    graph = random_graph(nx.DiGraph, 3)
    with nx.config(backend_priority=["rigblas"]):
        first = nx.pagerank(graph)
        [converted] = graph.__networkx_cache__["backends"]["rigblas"].values()
        assert nx.number_weakly_connected_components(graph) == nx.number_weakly_connected_components(
            graph, backend="networkx"
        )
        assert list(graph.__networkx_cache__["backends"]["rigblas"].values()) == [converted]
        graph.add_edge("n1", "new", weight=4)
        assert "new" in nx.pagerank(graph) and "new" not in first


def test_graph_there_and_back():
    for kind in CLASSES:
        graph = random_graph(kind, 4)
        graph.nodes["n1"]["colour"] = "red"
        graph.graph["name"] = "there"
        made = backend.convert_from_nx(graph)
        assert made.__networkx_backend__ == "rigblas" and backend.convert_from_nx(made) is made
        assert list(made) == list(graph) and len(made) == len(graph)
        assert "n1" in made and "absent" not in made and ["unhashable"] not in made
        assert set(made["n1"]) == set(graph["n1"])
        assert f"{len(graph)} nodes" in repr(made)
        back = backend.convert_to_nx(made)
        assert type(back) is kind and nx.utils.graphs_equal(back, graph)
        assert list(back.edges) == list(graph.edges)
        assert rig.matrix(made) == rig.matrix(graph)
        back.nodes["n1"]["colour"] = "blue"
        assert graph.nodes["n1"]["colour"] == "red"
        assert backend.convert_to_nx([1, 2]) == [1, 2]
    with pytest.raises(TypeError, match="a list is no graph"):
        backend.convert_from_nx([])


def test_views_are_converted():
    graph = random_graph(nx.MultiDiGraph, 5, edges=200)
    views = [
        graph.subgraph(list(graph)[:12]), graph.reverse(copy=False), nx.freeze(graph),
        nx.subgraph_view(graph, filter_edge=lambda u, v, key: key == 0),
        nx.restricted_view(graph, list(graph)[:3], list(graph.edges(keys=True))[:40]),
    ]
    for view in views:
        compare("pagerank", view, {})
        compare("all_pairs_shortest_path_length", view, {})
        compare("shortest_path_length", view, {"weight": "weight"})
    # Such a view has one weight for u, v and another for v, u, of which NetworkX reads either.
    compare("all_pairs_shortest_path_length", graph.to_undirected(as_view=True), {})


def test_nodes_that_equal_their_row_in_another_type():
    graph = nx.DiGraph()
    graph.add_nodes_from(range(4))
    graph.add_edges_from([(0, 1.0), (True, np.int64(2)), (2, 3)])
    for name in ("all_pairs_shortest_path_length", "pagerank", "weakly_connected_components"):
        compare(name, graph, {})


def test_graphs_of_the_backend_run_without_a_keyword():
    graph = nx.karate_club_graph()
    made = backend.convert_from_nx(graph)
    assert nx.number_connected_components(made) == 1
    assert nx.triangles(made) == nx.triangles(graph)
    assert nx.shortest_path_length(made, 0, 33) == nx.shortest_path_length(graph, 0, 33)
    with nx.config(fallback_to_nx=True):
        assert nx.diameter(made) == nx.diameter(graph)


def test_neighbours_that_are_computed_are_left_to_networkx():
    anti = pytest.importorskip("networkx.algorithms.approximation.kcomponents")._AntiGraph
    with pytest.raises(NotImplementedError, match="computes its neighbours"):
        backend.convert_from_nx(anti(nx.path_graph(4)))


def test_info_is_that_of_the_module():
    info = get_info()
    assert info["backend_name"] == "rigblas" and info["functions"].keys() == FUNCTIONS.keys()
    for name in FUNCTIONS:
        function, original = getattr(backend, name), getattr(nx, name).orig_func
        ours, theirs = inspect.signature(function).parameters, inspect.signature(original).parameters
        assert list(ours) == list(theirs), name
        assert [p.default for p in ours.values()] == [p.default for p in theirs.values()], name
    assert "rigblas : Sparse algebra" in nx.pagerank.__doc__
    assert FUNCTIONS.keys() == {name for name in nx.utils.backends._registered_algorithms if hasattr(backend, name)}


def run(*command, **environment):
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=1200, env=os.environ | environment
    )
    assert done.returncode == 0, f"{done.stdout[-6000:]}\n{done.stderr[-6000:]}"
    return done.stdout


NETWORKX_TESTS = [
    "bipartite.tests.test_centrality",
    "link_analysis.tests.test_pagerank",
    "shortest_paths.tests.test_generic",
    "shortest_paths.tests.test_unweighted",
    "shortest_paths.tests.test_weighted",
    "components",
    "centrality.tests.test_betweenness_centrality",
    "traversal.tests.test_bfs",
    "tests.test_cluster",
    "tests.test_core",
    "tests.test_dag",
    "tests.test_link_prediction",
    "tree.tests.test_mst",
]

#: Counts the calls that reach the backend while the tests of NetworkX run.
COUNTER = """
import atexit, collections, functools, json
import rigblas.networkx as backend

counts = collections.Counter()

def counted(name):
    function = getattr(backend, name)
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        counts[name] += 1
        return function(*args, **kwargs)
    return wrapper

for name in backend.FUNCTIONS:
    setattr(backend, name, counted(name))
atexit.register(lambda: open({path!r}, "w").write(json.dumps(counts)))
"""


def test_the_tests_of_networkx(tmp_path):
    """Calls that rigblas refuses fall back to NetworkX, so that a test goes on behind them."""
    pytest.importorskip("scipy")
    counts = tmp_path / "counts.json"
    (tmp_path / "rigblas_counter.py").write_text(COUNTER.format(path=str(counts)))
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    out = run(
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "rigblas_counter", "-c",
        os.devnull, "--rootdir", str(tmp_path), "-W", "ignore", "--pyargs",
        *(f"networkx.algorithms.{name}" for name in NETWORKX_TESTS),
        NETWORKX_TEST_BACKEND="rigblas", NETWORKX_FALLBACK_TO_NX="True", PYTHONPATH=path,
    )
    print(out.splitlines()[-1])
    called = json.loads(counts.read_text())
    absent = set(FUNCTIONS) - set(called)
    if backend._VERSION < (3, 5):
        absent.discard("single_target_shortest_path_length")
    assert not absent, f"no test of NetworkX reached {sorted(absent)}"


def test_import_of_networkx_does_not_load_the_backend():
    run(sys.executable, "-c", "import sys, networkx; assert 'rigblas.networkx' not in sys.modules")


def test_example():
    out = run(sys.executable, str(ROOT / "examples/python/pagerank.py"))
    assert "NetworkX agrees" in out and len(out.splitlines()) >= 12


def snippets():
    text = (ROOT / "docs/guide/python_networkx.md").read_text()
    parts = text.split("```")
    return [part.split("\n", 1) for part in parts[1::2]]


def test_guide(capsys):
    """The snippets of the page run one after another, and print what stands below them."""
    names, printed = {}, ""
    with nx.config(backend_priority=[]):
        for language, text in snippets():
            if language == "python":
                assert not printed, f"the guide does not show that this is printed: {printed}"
                exec(compile(text, "python_networkx.md", "exec"), names)
                printed = capsys.readouterr().out
            elif language == "text":
                assert printed == text
                printed = ""
    assert not printed
