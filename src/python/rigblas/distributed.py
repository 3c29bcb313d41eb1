"""Matrices, products and graph algorithms over ranks: processes of MPI or of torch.distributed.

>>> from mpi4py import MPI
>>> ranks = rigblas.distributed.communicator(MPI.COMM_WORLD)
>>> A = rigblas.distributed.read_matrix(ranks, "graph.mtx")
>>> C = rigblas.distributed.mxm(A, X, "max_second")

Dense operands and results are this rank's rows, as arrays of NumPy. Every call with a communicator or a matrix over
ranks is collective: all ranks make the same calls in the same order. If a call fails on one rank, it raises on all.
"""

from typing import Any, NamedTuple

from . import _core
from ._algorithms import BfsResult, PagerankResult, SsspResult, _Bar
from ._convert import _path
from ._core import Communicator, DistributedMatrix, Layout, RanksExplanation
from ._transports import communicator, on_ranks

__all__ = [
    "Communicator", "ComponentsResult", "DistributedMatrix", "Layout", "RanksExplanation", "bfs", "communicator",
    "components", "explain", "gather", "mxm", "mxv", "on_ranks", "pagerank", "read_matrix", "sssp", "vxm",
]


class ComponentsResult(NamedTuple):
    """What `components` finds."""

    labels: Any  #: int32 of this rank's rows: the least node of the component
    count: int  #: components


_OPTIONS = """exchange : str
        What moves: "fetch", rows of X; "features", columns of X, while each rank has the whole A; "cover", rows of X
        or partial rows of C, for sums that are exact in any order; "automatic" is "fetch".
    layout : Layout, optional
        Which rank has which rows of X; by default those of A, which is square then.
    fill : number, optional
        The element of a row without entries; by default the semiring's zero.
    transpose_a : bool
        Reads A as its transpose, which A keeps. A is square.
    kernel : str
        "row" or "split"; by default the one that one rank chooses.
    threads : int
        0: as many as the work, the cores and their load allow.
    dtype : dtype, optional
        Of the result, as in `rigblas.mxm`.

    Raises
    ------
    ValueError
        Shapes, layouts, names or options do not fit, or differ between ranks.
    TypeError
        A type cannot serve.
    MemoryError"""

_GRAPH_OPTIONS = """threads : int
        0: as many as the work, the cores and their load allow.
    progress : bool or callable
        True shows a bar by tqdm, if it is installed; a callable gets the numbers of each step."""


def _documented(function):
    function.__doc__ = function.__doc__.replace("GRAPH_OPTIONS", _GRAPH_OPTIONS).replace("OPTIONS", _OPTIONS)
    return function


def read_matrix(communicator, path, dtype="float32", *, nodes=0, separator=" ", values=True, extra_columns=False,
                duplicates=None, symmetrise=False):
    """The matrix of a file over ranks, with about the same number of entries on each.

    Parameters
    ----------
    communicator : Communicator
    path, dtype, nodes, separator, values, extra_columns, duplicates, symmetrise
        As for `rigblas.read`. All ranks can read the file.

    Returns
    -------
    DistributedMatrix

    Raises
    ------
    ValueError
        ``file:line: reason``, for every defect of the file, on all ranks.
    OSError
    """
    return _core._ranked_read(communicator, _path(path), dtype, nodes, separator, values, extra_columns, duplicates,
                              symmetrise)


def _require_ranked(call, A):
    if not isinstance(A, DistributedMatrix):
        raise TypeError(f"{call}: A is a {type(A).__name__}; give a DistributedMatrix")


@_documented
def mxm(A, X, semiring="plus_times", *, exchange="automatic", layout=None, fill=None, transpose_a=False, kernel="",
        threads=0, dtype=None):
    """The product of a matrix over ranks over a semiring: the bits of `rigblas.mxm` of the whole operands.

    Operands of another type than the semiring computes in are converted first. No rank's result depends on the number
    of ranks, the layout or what moves.

    Parameters
    ----------
    A : DistributedMatrix of m rows and k columns
    X : array of shape (rows of this rank, f) or (rows of this rank,)
    semiring : str
        "plus_times", "max_second", …; `rigblas.semirings()` lists them.
    OPTIONS

    Returns
    -------
    array of shape (A's rows of this rank, f), or of one dimension, if X has one
        Two of them, values and int32 indices of the whole X, for "arg_max_second" and "arg_min_second".
    """
    _require_ranked("mxm", A)
    return _core._ranked_mxm("mxm", A, X, semiring, False, exchange, layout, fill, transpose_a, kernel, threads, dtype)


def mxv(A, u, semiring="plus_times", **options):
    """A matrix over ranks times a column.

    Parameters
    ----------
    A : DistributedMatrix of m rows and k columns
    u : array of shape (rows of this rank,) or (rows of this rank, 1)
    semiring, exchange, layout, … , dtype
        As for `mxm`.

    Returns
    -------
    array of A's rows of this rank
    """
    return _column("mxv", A, u, semiring, False, **options)


def vxm(u, A, semiring="plus_times", **options):
    """A row times a matrix over ranks: ``w(j) = ⊕_i u(i) ⊗ A(i,j)``, along the arcs of A.

    It has the bits of the product with the transpose on one rank.

    Parameters
    ----------
    u : array of shape (rows of this rank,) or (rows of this rank, 1)
    A : DistributedMatrix of m rows and as many columns
    semiring, exchange, layout, … , dtype
        As for `mxm`, without ``transpose_a``.

    Returns
    -------
    array of A's rows of this rank
    """
    return _column("vxm", A, u, semiring, True, **options)


def _column(call, A, u, semiring, is_row, *, exchange="automatic", layout=None, fill=None, transpose_a=False,
            kernel="", threads=0, dtype=None):
    _require_ranked(call, A)
    return _core._ranked_mxm(call, A, u, semiring, is_row, exchange, layout, fill, transpose_a, kernel, threads, dtype)


@_documented
def explain(A, X, semiring="plus_times", *, exchange="automatic", layout=None, fill=None, transpose_a=False, kernel="",
            threads=0, dtype=None):
    """What ``mxm(A, X, semiring, …)`` moves between which ranks, and why. Computes nothing.

    Parameters
    ----------
    A : DistributedMatrix
    X : array of this rank's rows
    semiring : str
    OPTIONS

    Returns
    -------
    RanksExplanation
    """
    _require_ranked("explain", A)
    return _core._ranked_explain(A, X, semiring, exchange, layout, fill, transpose_a, kernel, threads, dtype)


def gather(communicator, rows, layout=None):
    """The rows of all ranks, on each rank.

    Parameters
    ----------
    communicator : Communicator
    rows : array
        This rank's rows, of the same type on all ranks.
    layout : Layout, optional
        Without one the ranks' rows follow each other.

    Returns
    -------
    array
    """
    return _core._gather(communicator, rows, layout)


def _run(function, name, progress, *arguments):
    _require_ranked(name, arguments[0])
    if callable(progress) or not progress:
        return function(*arguments, progress or None)
    bar = _Bar(name)
    try:
        return function(*arguments, bar)
    finally:
        bar.close()


@_documented
def bfs(A, source, *, threads=0, progress=False):
    """The number of steps from a node to each other node along the arcs: the levels of `rigblas.bfs`.

    Parameters
    ----------
    A : DistributedMatrix of n rows and columns
        Its values are not read.
    source : int
    GRAPH_OPTIONS

    Returns
    -------
    BfsResult
        ``levels`` of this rank's rows; no parents.
    """
    return BfsResult(*_run(_core._ranked_bfs, "bfs", progress, A, source, threads))


@_documented
def sssp(A, source, *, threads=0, progress=False):
    """The lengths of the shortest paths from a node: the distances of `rigblas.sssp`.

    Parameters
    ----------
    A : DistributedMatrix of n rows and columns
        Its values are the lengths of the arcs, at least 0.
    source : int
    GRAPH_OPTIONS

    Returns
    -------
    SsspResult
        ``distances`` of this rank's rows.
    """
    return SsspResult(*_run(_core._ranked_sssp, "sssp", progress, A, source, threads))


@_documented
def components(A, symmetric=False, *, threads=0, progress=False):
    """The weakly connected components: the labels of `rigblas.components`.

    Parameters
    ----------
    A : DistributedMatrix of n rows and columns
        Its values are not read.
    symmetric : bool
        A equals its transpose.
    GRAPH_OPTIONS

    Returns
    -------
    ComponentsResult
    """
    return ComponentsResult(*_run(_core._ranked_components, "components", progress, A, symmetric, threads))


@_documented
def pagerank(A, damping=0.85, *, tolerance=1e-10, most_iterations=2000, personalised=None, threads=0, progress=False):
    """PageRank: the chance that a walk along the arcs is at each node.

    The same bits on any number of ranks. The last digits of `rigblas.pagerank` differ, which adds in another order.

    Parameters
    ----------
    A : DistributedMatrix of n rows and columns
        Its values are not read.
    damping : float
        The chance of following an arc.
    tolerance : float
        Stops when the sum of absolute changes is less.
    most_iterations : int
    personalised : array of n, optional
        How often a jump leads to each node, in proportion: the whole array, the same on all ranks.
    GRAPH_OPTIONS

    Returns
    -------
    PagerankResult
        ``ranks`` of this rank's rows.
    """
    return PagerankResult(*_run(_core._ranked_pagerank, "pagerank", progress, A, damping, tolerance, most_iterations,
                                personalised, threads))
