"""The nodes of a graph with the greatest ranks, over processes of MPI.

    mpirun -n 4 python examples/python/pagerank_over_ranks.py graph.mtx    a file: Matrix Market, or an edge list
    python examples/python/pagerank_over_ranks.py --threads 3              a generated graph, over threads
"""

import sys

import numpy as np

import rigblas as rig
from rigblas import distributed


def greatest(ranks, path=None):
    if path:
        A = distributed.read_matrix(ranks, path)
    else:
        whole = rig.generate("rmat:12:8")
        rows = distributed.Layout.by_entries(whole, ranks.size)
        A = distributed.DistributedMatrix(ranks, rig.extract(whole, rows.rows_of(ranks.rank), slice(None)), rows)
    found = distributed.pagerank(A)
    walked = distributed.gather(ranks, found.ranks, A.layout)
    if ranks.rank == 0:
        print(f"{A.shape[0]} nodes, {A.nnz} arcs, {found.iterations} iterations on {ranks.size} ranks")
        for node in np.argsort(-walked, kind="stable")[:10]:
            print(f"  node {node}: {walked[node]:.6f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--threads"]:
        distributed.on_ranks(int(sys.argv[2]), greatest)
    else:
        from mpi4py import MPI

        greatest(distributed.communicator(MPI.COMM_WORLD), *sys.argv[1:])
