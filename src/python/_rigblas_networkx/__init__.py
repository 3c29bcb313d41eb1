"""What rigblas tells NetworkX about itself, read at `import networkx`.

It imports nothing and lies outside the package, because NetworkX reads it before any graph needs a backend.
"""

_LEVEL_ORDER = "Keys are in the order of their distance, then in the order of the nodes."
_WEIGHTS = (
    "Weights are ints or floats, at least 0 and finite. Else NetworkX serves the call. "
    + _LEVEL_ORDER
)
_TIES = "Only by Kruskal's algorithm, with the edges that NetworkX chooses."
_UNWEIGHTED = "Weighted calls are left to NetworkX."

#: The functions that the backend serves, and what is special about each.
FUNCTIONS = {
    "all_pairs_dijkstra_path_length": _WEIGHTS,
    "all_pairs_shortest_path_length": _LEVEL_ORDER,
    "ancestors": "",
    "average_clustering": _UNWEIGHTED,
    "betweenness_centrality": (
        "Paths without weights and without their ends. Samples (k) need NetworkX 3.5 or later."
    ),
    "clustering": _UNWEIGHTED,
    "connected_components": "",
    "core_number": "Undirected graphs only.",
    "descendants": "",
    "descendants_at_distance": "",
    "dijkstra_path_length": _WEIGHTS,
    "is_connected": "",
    "is_strongly_connected": "",
    "is_weakly_connected": "",
    "jaccard_coefficient": "",
    "maximum_spanning_edges": _TIES,
    "maximum_spanning_tree": _TIES,
    "minimum_spanning_edges": _TIES,
    "minimum_spanning_tree": _TIES,
    "node_connected_component": "",
    "number_connected_components": "",
    "number_strongly_connected_components": "",
    "number_weakly_connected_components": "",
    "pagerank": "",
    "shortest_path_length": _LEVEL_ORDER,
    "single_source_dijkstra_path_length": _WEIGHTS,
    "single_source_shortest_path_length": _LEVEL_ORDER,
    "single_target_shortest_path_length": _LEVEL_ORDER + " Needs NetworkX 3.5 or later.",
    "strongly_connected_components": (
        "Components are in the order of their first nodes, not in reverse topological order."
    ),
    "transitivity": "",
    "triangles": "",
    "weakly_connected_components": "",
}


def get_info():
    """Describe the backend, in the form of the entry point `networkx.backend_info`.

    Returns
    -------
    dict
        Names, and `functions`: a dict of the served functions.
    """
    return {
        "backend_name": "rigblas",
        "project": "rig",
        "package": "rigblas",
        "short_summary": "Sparse algebra over semirings, by the C++ library rig.",
        "functions": {
            name: {"additional_docs": words} if words else {} for name, words in FUNCTIONS.items()
        },
    }
