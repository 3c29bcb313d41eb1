"""The most reliable path to each node, by a semiring that rig does not have.

    python examples/python/own_semiring.py

Each arc has a chance that it works. A path works if all of its arcs do, so chances are multiplied along a path, and
the best path counts: ⊕ is max, ⊗ is times, and no path has the chance 0. The builtin "max_times" begins at -inf. This
one begins at 0, and a sum that is 1 may stop.
"""

import numpy as np
import rigblas as rig


def best_chances(A, source, semiring):
    """Relaxes all arcs until nothing changes: chance(j) = max over arcs i -> j of chance(i) · A(i, j)."""
    chances = np.zeros(A.shape[0], dtype=np.float32)
    chances[source] = 1
    rounds = 0
    while True:
        rounds += 1
        before = chances.copy()
        rig.mxv(A, before, semiring, transpose_a=True, out=chances, accum="maximum")
        if (chances == before).all():
            return chances, rounds


def main():
    reliable = rig.semiring("reliable", add="max(x, y)", multiply="a * b", zero=0, terminal=1)
    graph = rig.generate("rmat:10:8")
    random = np.random.default_rng(1)
    A = graph.with_values(random.uniform(0.5, 1, graph.nnz).astype(np.float32))
    source = int(np.diff(A.indptr).argmax())
    chances, rounds = best_chances(A, source, reliable)
    reached = chances > 0
    print(f"node {source} reaches {reached.sum()} of {len(chances)} nodes, in {rounds} rounds")
    print(f"the least reliable of them by {chances[reached].min():.3f}, the mean by {chances[reached].mean():.3f}")


if __name__ == "__main__":
    main()
