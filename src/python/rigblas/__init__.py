"""Sparse algebra over semirings on CPUs and GPUs: the Python interface of rig.

>>> import rigblas as rig
>>> A = rig.matrix(scipy_matrix)
>>> C = rig.mxm(A, X, "max_second")

The centre is `mxm`: sums, means and maxima over the neighbours of a graph, searches and shortest paths are products
over a semiring. `semirings()` lists those that have a name; `semiring` makes one of your own.
"""

from ._core import (
    Cbsr,
    Explanation,
    Matrix,
    Quantized,
    Semiring,
    Vector,
    __version__,
    add_self_loops,
    apply,
    assign,
    cbsr,
    devices,
    diag,
    diagonal,
    edge_softmax,
    ewise_add,
    ewise_mult,
    explain,
    extract,
    gcn_normalise,
    generate,
    kronecker,
    maxk,
    maxk_gradient,
    mean_normalise,
    mxm,
    mxv,
    neighbours,
    permute,
    quantize,
    reduce,
    reduce_columns,
    reduce_rows,
    reorder,
    sample,
    sampling_report,
    select,
    semirings,
    symmetrise,
    synchronise,
    toarray,
    transpose,
    vxm,
)
from . import _methods  # adds methods to Matrix and Vector
from ._algorithms import (
    betweenness,
    bfs,
    bipartite_matching,
    components,
    diameter_bound,
    eccentricity,
    hits,
    jaccard,
    jaccard_of_edges,
    kcore,
    ktruss,
    label_propagation,
    local_clustering,
    mis,
    msf,
    multi_source,
    pagerank,
    scc,
    sssp,
    triangles,
)
from ._convert import iso, matrix, read, vector, write
from ._semiring import semiring

del _methods

__all__ = sorted(name for name in globals() if not name.startswith("_"))
