"""Trains GraphSAGE with maximum in PyTorch Geometric, first as it is, then accelerated by rigblas.

    python examples/python/sage_max_pyg.py [nodes]

The graph is generated: nodes of one class are joined more often, and features hint at the class. Both
runs begin with the same parameters, so their losses agree.
"""

import argparse
import copy
import sys
import time

import torch
import torch_geometric.nn as pyg

import rigblas.nn

CLASSES, FEATURES, HIDDEN, DEGREE, EPOCHS = 5, 32, 64, 20, 20


def generated(nodes, device):
    """Features, edges and labels of a random graph."""
    torch.manual_seed(1)
    labels = torch.randint(CLASSES, (nodes,))
    target = torch.randint(nodes, (nodes * DEGREE,))
    source = torch.randint(nodes, (nodes * DEGREE,))
    # Half of the edges stay within a class: the source moves to a node with the label of the target.
    order = labels.argsort(stable=True)
    begins = torch.searchsorted(labels[order], torch.arange(CLASSES + 1))
    first, last = begins[labels[target]], begins[labels[target] + 1]
    akin = order[first + source % (last - first)]
    source = torch.where(torch.rand(len(source)) < 0.5, akin, source)
    edges = torch.stack([source, target])[:, source != target].unique(dim=1)
    x = torch.randn(nodes, FEATURES)
    x[:, :CLASSES] += torch.nn.functional.one_hot(labels, CLASSES)
    return x.to(device), edges.to(device), labels.to(device)


def train(model, x, edges, labels):
    """The loss of each epoch, and the seconds of all but the first, which prepares the graph."""
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for epoch in range(EPOCHS):
        if epoch == 1:
            start = time.perf_counter()
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x, edges), labels)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses, time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("nodes", nargs="?", type=int, default=2000)
    nodes = parser.parse_args().nodes
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x, edges, labels = generated(nodes, device)
    model = pyg.GraphSAGE(FEATURES, HIDDEN, num_layers=2, out_channels=CLASSES, aggr="max").to(device)
    accelerated = copy.deepcopy(model)
    left_alone = rigblas.nn.accelerate(accelerated)
    print(f"{nodes} nodes, {edges.shape[1]} edges on {device}; layers left alone: {left_alone}")

    theirs, their_seconds = train(model, x, edges, labels)
    ours, our_seconds = train(accelerated, x, edges, labels)
    apart = max(abs(a - b) for a, b in zip(theirs, ours))
    print(f"loss {ours[0]:.4f} -> {ours[-1]:.4f}, at most {apart:.0e} from PyG's")
    print(f"PyG {their_seconds:.2f} s, rigblas {our_seconds:.2f} s")
    if apart > 1e-4:
        sys.exit("sage_max_pyg.py: the losses differ by more than 1e-4")


if __name__ == "__main__":
    main()
