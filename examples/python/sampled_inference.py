"""Classifies nodes by a trained GCN from a sample of each node's neighbours.

    python examples/python/sampled_inference.py [nodes]

The network is trained with all neighbours. Inference then reads at most `width` entries of each row;
`rescale` makes the sum of a sample an estimate of the whole sum.
"""

import argparse

import torch

import rigblas as rig
import rigblas.torch

CLASSES, FEATURES, HIDDEN, EPOCHS = 4, 16, 32, 60


def generated(scale):
    """A power-law graph with GCN's weights, and labels that neighbours share."""
    torch.manual_seed(1)
    links = rig.symmetrise(rig.generate(f"rmat:{scale}:16"))
    graph = rigblas.torch.Graph(rig.gcn_normalise(links))
    nodes = graph.shape[0]
    x = torch.randn(nodes, FEATURES)
    hidden = x @ torch.randn(FEATURES, CLASSES)
    labels = rigblas.torch.spmm(graph, hidden).argmax(dim=1)
    return graph, x, labels


class GCN(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(FEATURES, HIDDEN)
        self.second = torch.nn.Linear(HIDDEN, CLASSES)

    def forward(self, x, aggregate):
        return aggregate(self.second(aggregate(self.first(x)).relu()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("nodes", nargs="?", type=int, default=2048)
    scale = (parser.parse_args().nodes - 1).bit_length()
    graph, x, labels = generated(scale)
    model = GCN()
    optimiser = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(EPOCHS):
        optimiser.zero_grad()
        scores = model(x, lambda h: rigblas.torch.spmm(graph, h))
        torch.nn.functional.cross_entropy(scores, labels).backward()
        optimiser.step()

    @torch.no_grad()
    def accuracy(aggregate):
        return (model(x, aggregate).argmax(dim=1) == labels).float().mean().item()

    print(f"{graph.shape[0]} nodes, {graph.nnz} entries")
    print(f"all entries      {100 * accuracy(lambda h: rigblas.torch.spmm(graph, h)):5.1f} % right")
    for width in (64, 16, 4):
        report = rig.sampling_report(graph.matrix, kernel="fastrand", width=width)
        right = accuracy(
            lambda h: rigblas.torch.sampled_spmm(graph, h, kernel="fastrand", width=width, rescale=True)
        )
        print(f"at most {width:2d} a row  {100 * right:5.1f} % right, "
              f"reads {100 * report['kept_share']:.0f} % of the entries")


if __name__ == "__main__":
    main()
