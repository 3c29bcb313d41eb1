"""Graph algorithms. An entry (i, j) of A is an arc from i to j."""

from typing import Any, NamedTuple, Optional

from . import _core


class BfsResult(NamedTuple):
    """What `bfs` finds."""

    levels: Any  #: int32 of n: steps from the source; -1: not reached
    parents: Optional[Any]  #: int32 of n, or None: the source is its own parent; -1: not reached
    reached: int  #: nodes reached, with the source
    max_level: int  #: the greatest level


class MultiSourceResult(NamedTuple):
    """What `multi_source` finds."""

    levels: Any  #: int32 of shape (n, K); -1: not reached
    reached: int  #: levels other than -1
    max_level: int  #: the greatest level


class PagerankResult(NamedTuple):
    """What `pagerank` finds."""

    ranks: Any  #: float64 of n; their sum is 1
    iterations: int  #: how many were made
    change: float  #: the sum of absolute changes in the last one


class HitsResult(NamedTuple):
    """What `hits` finds."""

    hubs: Any  #: float64 of n; their sum is 1, or 0 without arcs
    authorities: Any  #: the same
    iterations: int  #: how many were made
    change: float  #: the sum of absolute changes of the hubs in the last one


class ComponentsResult(NamedTuple):
    """What `components` finds."""

    labels: Any  #: int32 of n: the least node of the component
    count: int  #: components
    iterations: int  #: how many were made


class SccResult(NamedTuple):
    """What `scc` finds."""

    labels: Any  #: int32 of n: the least node of the component
    count: int  #: components
    rounds: int  #: how many were made


class SsspResult(NamedTuple):
    """What `sssp` finds."""

    distances: Any  #: int64 or float64 of n; the greatest int64, or inf: not reached
    reached: int  #: nodes reached, with the source
    steps: int  #: products made


class KcoreResult(NamedTuple):
    """What `kcore` finds."""

    cores: Any  #: int32 of n: the core number of each node
    most: int  #: the greatest of them


class KtrussResult(NamedTuple):
    """What `ktruss` finds."""

    truss: Any  #: Matrix of int64: both directions of its edges, and the triangles that each lies in
    rounds: int  #: how many were made


class BipartiteMatchingResult(NamedTuple):
    """What `bipartite_matching` finds."""

    columns: Any  #: int32 of the rows: the column that each is matched with, or -1
    rows: Any  #: int32 of the columns: the row that each is matched with, or -1
    size: int  #: pairs
    phases: int  #: how many were made


class DiameterResult(NamedTuple):
    """What `diameter_bound` finds."""

    lower: int  #: the diameter is at least so many steps
    upper: int  #: and at most so many
    node: int  #: whose eccentricity is `lower`
    sweeps: int  #: how many were made


class LabelPropagationResult(NamedTuple):
    """What `label_propagation` finds."""

    labels: Any  #: int32 of n: the label of each node, a node's number
    communities: int  #: different labels
    iterations: int  #: how many were made


class MisResult(NamedTuple):
    """What `mis` finds."""

    set: Any  #: Vector of bool: an entry per node of the set
    rounds: int  #: how many were made


class MsfResult(NamedTuple):
    """What `msf` finds."""

    forest: Any  #: Matrix of float64: entry (i, j), i < j, is an edge of the forest
    weight: float  #: the sum of its weights
    rounds: int  #: how many were made


_OPTIONS = """kernel : str
        The kernel of the products; by default the cheapest.
    threads : int
        0: as many as the work, the cores and their load allow.
    stream : int, optional
        A CUDA stream.
    progress : bool or callable
        True shows a bar by tqdm, if it is installed; a callable gets the numbers of each step."""


def _documented(function):
    function.__doc__ = function.__doc__.replace("OPTIONS", _OPTIONS)
    return function


class _Bar:
    """A tqdm bar that counts the steps of an algorithm."""

    def __init__(self, name):
        try:
            from tqdm import tqdm
        except ImportError:
            self.bar = None
        else:
            self.bar = tqdm(desc=name, unit=" steps")

    def __call__(self, *numbers):
        if self.bar is not None:
            self.bar.set_postfix_str(", ".join(f"{x:g}" for x in numbers), refresh=False)
            self.bar.update()

    def close(self):
        if self.bar is not None:
            self.bar.close()


def _run(name, A, *arguments, kernel, threads, stream, progress):
    function = getattr(_core, name)
    if callable(progress):
        return function(A, *arguments, kernel, threads, stream, progress)
    if not progress:
        return function(A, *arguments, kernel, threads, stream, None)
    bar = _Bar(name)
    try:
        return function(A, *arguments, kernel, threads, stream, bar)
    finally:
        bar.close()


@_documented
def bfs(A, source, parents=False, *, kernel="", threads=0, stream=None, progress=False) -> BfsResult:
    """The number of steps from a node to each other node along the arcs.

    Parameters
    ----------
    A : Matrix of n rows and columns
        Its values are not read.
    source : int
    parents : bool
        Whether parents are computed too: the least i with an arc to j and a level one less.
    OPTIONS

    Returns
    -------
    BfsResult
    """
    return BfsResult(*_run("bfs", A, source, parents, kernel=kernel, threads=threads, stream=stream,
                           progress=progress))


@_documented
def multi_source(A, sources, *, kernel="", threads=0, stream=None, progress=False) -> MultiSourceResult:
    """The number of steps from each of K nodes to each node.

    Parameters
    ----------
    A : Matrix of n rows and columns
        Its values are not read.
    sources : list of int, or array
    OPTIONS

    Returns
    -------
    MultiSourceResult
    """
    return MultiSourceResult(*_run("multi_source", A, sources, kernel=kernel, threads=threads, stream=stream,
                                   progress=progress))


@_documented
def pagerank(A, damping=0.85, tolerance=1e-10, most_iterations=2000, personalised=None, *, kernel="", threads=0,
             stream=None, progress=False) -> PagerankResult:
    """How often a random walk along the arcs meets each node.

    Parameters
    ----------
    A : Matrix of n rows and columns
        Its values are not read. The rank of nodes without arcs is spread as jumps are.
    damping : float
        The chance of following an arc, at least 0 and less than 1.
    tolerance : float
        Stops when the ranks change by less, in sum; 0: never.
    most_iterations : int
    personalised : array of n, optional
        How often a jump leads to each node, in proportion; at least 0. By default to all alike.
    OPTIONS

    Returns
    -------
    PagerankResult
    """
    return PagerankResult(*_run("pagerank", A, damping, tolerance, most_iterations, personalised, kernel=kernel,
                                threads=threads, stream=stream, progress=progress))


@_documented
def hits(A, tolerance=1e-10, most_iterations=2000, *, kernel="", threads=0, stream=None, progress=False) -> HitsResult:
    """Hubs, with arcs to good authorities, and authorities, with arcs from good hubs.

    Parameters
    ----------
    A : Matrix of n rows and columns
        Its values are not read.
    tolerance : float
        Stops when the hubs change by less, in sum; 0: never.
    most_iterations : int
    OPTIONS

    Returns
    -------
    HitsResult
    """
    return HitsResult(*_run("hits", A, tolerance, most_iterations, kernel=kernel, threads=threads, stream=stream,
                            progress=progress))


@_documented
def components(A, symmetric=False, *, kernel="", threads=0, stream=None, progress=False) -> ComponentsResult:
    """The weakly connected components: nodes that arcs join, in whichever direction.

    Parameters
    ----------
    A : Matrix of n rows and columns
        Its values are not read.
    symmetric : bool
        A equals its transpose, so the arcs of the greatest component are not all read. It is not checked.
    OPTIONS

    Returns
    -------
    ComponentsResult
    """
    return ComponentsResult(*_run("components", A, symmetric, kernel=kernel, threads=threads, stream=stream,
                                  progress=progress))


@_documented
def scc(A, *, kernel="", threads=0, stream=None, progress=False) -> SccResult:
    """The strongly connected components: nodes with a path to each other.

    Parameters
    ----------
    A : Matrix of n rows and columns
        Its values are not read.
    OPTIONS

    Returns
    -------
    SccResult
    """
    return SccResult(*_run("scc", A, kernel=kernel, threads=threads, stream=stream, progress=progress))


@_documented
def sssp(A, source, delta=0, *, kernel="", threads=0, stream=None, progress=False) -> SsspResult:
    """The least sum of weights on a path from a node to each node.

    Parameters
    ----------
    A : Matrix of n rows and columns
        Its values are weights, at least 0: integers are summed in int64, others in float64.
    source : int
    delta : float
        Nodes whose distances differ by less are relaxed together; 0: by the mean weight.
    OPTIONS

    Returns
    -------
    SsspResult
    """
    return SsspResult(*_run("sssp", A, source, delta, kernel=kernel, threads=threads, stream=stream,
                            progress=progress))


@_documented
def triangles(A, symmetric=False, *, kernel="", threads=0, stream=None, progress=False) -> int:
    """The number of triangles of the undirected view of a graph. Self loops do not count.

    Parameters
    ----------
    A : Matrix of n rows and columns
        Its values are not read.
    symmetric : bool
        A equals its transpose. It is not checked.
    OPTIONS

    Returns
    -------
    int
    """
    return _run("triangles", A, symmetric, kernel=kernel, threads=threads, stream=stream, progress=progress)


@_documented
def local_clustering(A, directed=False, *, kernel="", threads=0, stream=None, progress=False) -> Any:
    """The share of pairs of a node's neighbours that have an edge.

    Parameters
    ----------
    A : Matrix of n rows and columns
        Its values are not read.
    directed : bool
        Whether arcs between neighbours count one by one.
    OPTIONS

    Returns
    -------
    array of float64, of n
    """
    return _run("local_clustering", A, directed, kernel=kernel, threads=threads, stream=stream, progress=progress)


@_documented
def kcore(A, *, kernel="", threads=0, stream=None, progress=False) -> KcoreResult:
    """The core number of each node, in the undirected view without self loops.

    Parameters
    ----------
    A : Matrix of n rows and columns
        Its values are not read.
    OPTIONS

    Returns
    -------
    KcoreResult
    """
    return KcoreResult(*_run("kcore", A, kernel=kernel, threads=threads, stream=stream, progress=progress))


@_documented
def ktruss(A, k, symmetric=False, *, kernel="", threads=0, stream=None, progress=False) -> KtrussResult:
    """The largest subgraph whose edges each lie in at least k - 2 of its triangles.

    Parameters
    ----------
    A : Matrix of n rows and columns
        Its values are not read; the graph is its undirected view without self loops.
    k : int
        At least 3.
    symmetric : bool
        A equals its transpose. It is not checked.
    OPTIONS

    Returns
    -------
    KtrussResult
    """
    return KtrussResult(*_run("ktruss", A, k, symmetric, kernel=kernel, threads=threads, stream=stream,
                              progress=progress))


@_documented
def bipartite_matching(A, *, kernel="", threads=0, stream=None, progress=False) -> BipartiteMatchingResult:
    """A greatest set of entries of which no two share a row or a column.

    Parameters
    ----------
    A : Matrix
        Its values are not read; rows are one side of a bipartite graph, columns the other.
    OPTIONS

    Returns
    -------
    BipartiteMatchingResult
    """
    return BipartiteMatchingResult(*_run("bipartite_matching", A, kernel=kernel, threads=threads, stream=stream,
                                         progress=progress))


@_documented
def eccentricity(A, sources=None, batch=64, *, kernel="", threads=0, stream=None, progress=False) -> Any:
    """The greatest number of steps from each source to a node that it reaches.

    Parameters
    ----------
    A : Matrix of n rows and columns
        Its values are not read.
    sources : list of int, or array, optional
        By default every node.
    batch : int
        Sources that are searched at once.
    OPTIONS

    Returns
    -------
    array of int32, of the number of sources
    """
    return _run("eccentricity", A, sources, batch, kernel=kernel, threads=threads, stream=stream, progress=progress)


@_documented
def diameter_bound(A, source, symmetric=False, most_sweeps=4, *, kernel="", threads=0, stream=None,
                   progress=False) -> DiameterResult:
    """Bounds of the most steps between two nodes of a node's component, in the undirected view.

    Parameters
    ----------
    A : Matrix of n rows and columns
        Its values are not read.
    source : int
    symmetric : bool
        A equals its transpose. It is not checked.
    most_sweeps : int
        Stops then, or earlier if both bounds meet.
    OPTIONS

    Returns
    -------
    DiameterResult
    """
    return DiameterResult(*_run("diameter_bound", A, source, symmetric, most_sweeps, kernel=kernel, threads=threads,
                                stream=stream, progress=progress))


@_documented
def betweenness(A, sources=None, batch=32, *, kernel="", threads=0, stream=None, progress=False) -> Any:
    """How many shortest paths from some sources lead through each node.

    Parameters
    ----------
    A : Matrix of n rows and columns
        Its values are not read. If A is symmetric, each undirected path counts from both ends.
    sources : list of int, or array, optional
        By default every node.
    batch : int
        Sources that are searched at once.
    OPTIONS

    Returns
    -------
    array of float64, of n
    """
    return _run("betweenness", A, sources, batch, kernel=kernel, threads=threads, stream=stream, progress=progress)


@_documented
def jaccard(A, node, *, kernel="", threads=0, stream=None, progress=False) -> _core.Vector:
    """How much the neighbours of a node agree with those of each other node.

    Parameters
    ----------
    A : Matrix of n rows and columns
        Its values are not read; the graph is its undirected view without self loops.
    node : int
    OPTIONS

    Returns
    -------
    Vector of float64
        With an entry where both have a common neighbour.
    """
    return _run("jaccard", A, node, kernel=kernel, threads=threads, stream=stream, progress=progress)


@_documented
def jaccard_of_edges(A, *, kernel="", threads=0, stream=None, progress=False) -> _core.Matrix:
    """How much the neighbours of the two ends of each edge agree.

    Parameters
    ----------
    A : Matrix of n rows and columns
        Its values are not read; the graph is its undirected view without self loops.
    OPTIONS

    Returns
    -------
    Matrix of float64
        With the entries of the undirected view; 0 for an edge without common neighbours.
    """
    return _run("jaccard_of_edges", A, kernel=kernel, threads=threads, stream=stream, progress=progress)


@_documented
def label_propagation(A, iterations=10, *, kernel="", threads=0, stream=None, progress=False) -> LabelPropagationResult:
    """Communities: in each iteration every node takes the label that most of its neighbours have.

    Parameters
    ----------
    A : Matrix of n rows and columns
        Its values are not read. A neighbour by arcs in both directions counts twice.
    iterations : int
        Stops then, or earlier if no label changes.
    OPTIONS

    Returns
    -------
    LabelPropagationResult
    """
    return LabelPropagationResult(*_run("label_propagation", A, iterations, kernel=kernel, threads=threads,
                                        stream=stream, progress=progress))


@_documented
def mis(A, seed=1, *, kernel="", threads=0, stream=None, progress=False) -> MisResult:
    """A maximal independent set: no two of its nodes are neighbours, and each other node has one in it.

    Parameters
    ----------
    A : Matrix of n rows and columns
        Its values are not read; the graph is its undirected view without self loops.
    seed : int
        Another seed gives other priorities.
    OPTIONS

    Returns
    -------
    MisResult
    """
    return MisResult(*_run("mis", A, seed, kernel=kernel, threads=threads, stream=stream, progress=progress))


@_documented
def msf(A, *, kernel="", threads=0, stream=None, progress=False) -> MsfResult:
    """A minimum spanning forest: a spanning tree of least weight in each component.

    Parameters
    ----------
    A : Matrix of n rows and columns
        An entry (i, j) or (j, i) is an edge, the lesser of two values its weight.
    OPTIONS

    Returns
    -------
    MsfResult
    """
    return MsfResult(*_run("msf", A, kernel=kernel, threads=threads, stream=stream, progress=progress))
