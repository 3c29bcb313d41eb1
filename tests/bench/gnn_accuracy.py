#!/usr/bin/env python3
"""The study `models` of examples/gnn/study.sh by PyTorch Geometric: same data, splits, recipes.

    tests/bench/gnn_accuracy.py DATA [--graphs cora,cora:raw] [--models gcn,gin] [--seeds 1,2]

DATA holds a folder of rig's format per graph (docs/guide/training.md). Prints the lines that study.sh
prints, with the library's name as their device. It needs PyTorch, PyTorch Geometric and SciPy.
"""
import argparse
import csv
import fnmatch
import gzip
import json
import os

import numpy
import scipy.io
import torch
import torch_geometric
from torch import nn
from torch.nn import functional
from torch_geometric import nn as pyg

EPOCHS, PATIENCE, RATE, DECAY, DROPOUT, HIDDEN = 200, 100, 0.01, 5e-4, 0.5, 64
MODELS = ("gcn", "sage-mean", "sage-pool", "gin", "gat")
HERE = os.path.dirname(os.path.abspath(__file__))
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def recipe_of(graph, model):
    """The hidden width and the dropout of the first row of recipes.csv that fits."""
    with open(os.path.join(HERE, "../../examples/gnn/recipes.csv"), encoding="utf-8") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        words = next(row["options"].split() for row in rows
                     if fnmatch.fnmatch(graph, row["graph"]) and fnmatch.fnmatch(model, row["model"]))
    given = dict(zip(words[::2], words[1::2]))
    unknown = set(given) - {"--hidden", "--dropout"}
    if unknown:
        raise SystemExit(f"gnn_accuracy.py: recipes.csv has {unknown}, which is not translated")
    return int(given.get("--hidden", HIDDEN)), float(given.get("--dropout", DROPOUT))


def first_of(folder, *names):
    return next((path for name in names for end in ("", ".gz")
                 if os.path.exists(path := os.path.join(folder, name + end))), None)


def features_of(folder):
    path = first_of(folder, "features.npy", "features.mtx")
    if ".npy" not in path:
        return scipy.io.mmread(path).toarray().astype(numpy.float32)
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rb") as file:
        return numpy.load(file).astype(numpy.float32)


def load(folder, is_raw):
    """Edges, features, labels, and the nodes of each part; rows gather, so an entry (i, k) is k to i."""
    graph = scipy.io.mmread(first_of(folder, "graph.mtx")).tocoo()
    x = features_of(folder)
    if not is_raw:
        sums = x.sum(axis=1, keepdims=True)
        x = numpy.divide(x, sums, out=numpy.zeros_like(x), where=sums != 0)
    labels = numpy.loadtxt(os.path.join(folder, "labels.txt"), dtype=numpy.int64)
    parts = {}
    with open(os.path.join(folder, "split.txt"), encoding="utf-8") as file:
        for name, *nodes in (line.split() for line in file if line.strip() and line[0] != "#"):
            parts[name] = torch.tensor([int(node) for node in nodes], device=DEVICE)
    edges = torch.tensor(numpy.stack([graph.col, graph.row]).astype(numpy.int64), device=DEVICE)
    return edges, torch.tensor(x, device=DEVICE), torch.tensor(labels, device=DEVICE), parts


def layer_of(model, inputs, outputs, hidden):
    if model == "gcn":
        return pyg.GCNConv(inputs, outputs, cached=True)
    if model == "sage-mean":
        return pyg.SAGEConv(inputs, outputs)
    if model == "sage-pool":
        return pyg.SAGEConv(inputs, outputs, aggr="max", project=True)
    if model == "gat":
        return pyg.GATConv(inputs, outputs)
    return pyg.GINConv(nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, outputs)))


class Network(nn.Module):
    def __init__(self, model, inputs, hidden, outputs, dropout):
        super().__init__()
        self.first = layer_of(model, inputs, hidden, hidden)
        self.last = layer_of(model, hidden, outputs, hidden)
        self.dropout = dropout

    def forward(self, x, edges):
        x = functional.dropout(x, self.dropout, self.training)
        x = self.first(x, edges).relu()
        return self.last(functional.dropout(x, self.dropout, self.training), edges)


def train(model, graph, data, seed):
    """The scores of the epoch with the best validation score, the last of equal ones."""
    edges, x, labels, parts = data
    hidden, dropout = recipe_of(graph, model)
    torch.manual_seed(seed)
    net = Network(model, x.shape[1], hidden, int(labels.max()) + 1, dropout).to(DEVICE)
    optimiser = torch.optim.Adam([{"params": net.first.parameters(), "weight_decay": DECAY},
                                  {"params": net.last.parameters()}], lr=RATE)
    best, best_epoch, scores = -1.0, 0, {}
    for epoch in range(1, EPOCHS + 1):
        net.train()
        optimiser.zero_grad(set_to_none=True)
        nodes = parts["train"]
        loss = functional.cross_entropy(net(x, edges)[nodes], labels[nodes])
        loss.backward()
        optimiser.step()
        net.eval()
        with torch.no_grad():
            right = (net(x, edges).argmax(1) == labels).float()
        now = {name: float(right[of].mean()) for name, of in parts.items()}
        if now["val"] >= best:
            best_epoch = epoch if now["val"] > best else best_epoch
            best, scores = now["val"], now
        if epoch - best_epoch >= PATIENCE:
            break
    name, _, aggregate = model.partition("-")
    return {"model": name, "data": graph.removesuffix(":raw"), "aggregate": aggregate,
            "normalised": not graph.endswith(":raw"), "hidden": hidden, "k": 0, "seed": seed,
            "device": f"PyTorch Geometric {torch_geometric.__version__}", "epochs": epoch,
            **{f"{part}_accuracy": scores[part] for part in ("train", "val", "test")}}


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("data")
    options.add_argument("--graphs", default="cora,citeseer,amazon-photo:raw,facebook-pages:raw")
    options.add_argument("--models", default=",".join(MODELS))
    options.add_argument("--seeds", default=",".join(map(str, range(1, 11))))
    given = options.parse_args()
    for graph in given.graphs.split(","):
        data = load(os.path.join(given.data, graph.removesuffix(":raw")), graph.endswith(":raw"))
        for model in given.models.split(","):
            for seed in given.seeds.split(","):
                print(json.dumps(train(model, graph, data, int(seed))), flush=True)


if __name__ == "__main__":
    main()
