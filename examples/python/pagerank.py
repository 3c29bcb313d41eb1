"""The nodes of a graph with the greatest ranks, by rig and by NetworkX with rig's backend.

    python examples/python/pagerank.py                 a generated graph with hubs
    python examples/python/pagerank.py graph.mtx.gz    a file: Matrix Market, or an edge list
"""

import argparse
import sys

import networkx as nx
import numpy as np

import rigblas as rig


def ranks_by_networkx(A):
    """The same ranks, for those who have a graph of NetworkX."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(A.shape[0]))
    rows = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    graph.add_edges_from(zip(rows.tolist(), A.indices.tolist()))
    ranks = nx.pagerank(graph, tol=1e-10 / len(graph), max_iter=2000, backend="rigblas")
    return np.array(list(ranks.values()))


def main(path=None):
    A = rig.read(path) if path else rig.generate("rmat:12:8")
    found = rig.pagerank(A, tolerance=1e-10)
    print(f"{A.shape[0]} nodes, {A.nnz} arcs, {found.iterations} iterations")
    for node in np.argsort(-found.ranks, kind="stable")[:10]:
        print(f"  node {node}: {found.ranks[node]:.6f}")
    if not np.allclose(ranks_by_networkx(A), found.ranks, rtol=0, atol=1e-9):
        sys.exit("NetworkX finds other ranks")
    print("NetworkX agrees")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graph", nargs="?", help="Matrix Market or an edge list; a generated graph by default")
    main(parser.parse_args().graph)
