#!/usr/bin/env python3
"""Epochs of the networks of suite gnn in PyTorch, by hand and by PyTorch Geometric.

    build/bench gnn --export FOLDER && tests/bench/gnn_peers.py FOLDER

FOLDER holds NAME.offsets.npy and NAME.columns.npy per graph, which the suite writes. Prints a JSON
object per network. Nothing depends on this script: it ends with a notice where PyTorch is absent.
"""
import glob
import json
import os
import statistics
import sys
import time

try:
    import torch
except ImportError:
    print(json.dumps({"absent": "torch"}))
    sys.exit(0)
try:
    import torch_geometric
except ImportError:
    torch_geometric = None

LAYERS, HIDDEN, REPEAT = 3, 256, 21
# Features, classes and the share of the nodes that are trained on, as examples/gnn generates them.
SIZES = {"reddit-like": (602, 41, 0.66), "products-like": (100, 47, 0.08)}
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def read_npy(path):
    """A one-dimensional .npy file of version 1 as a tensor."""
    with open(path, "rb") as file:
        file.seek(8)
        length = int.from_bytes(file.read(2), "little")
        header = file.read(length).decode("latin1")
        kind = {"<i4": torch.int32, "<i8": torch.int64}[header.split("'descr': '")[1][:3]]
        return torch.frombuffer(bytearray(file.read()), dtype=kind)


class Product(torch.autograd.Function):
    """A·X by CSR, whose gradient is the product with a transpose that was made before."""

    @staticmethod
    def forward(context, a, turned, x):
        context.turned = turned
        return a @ x

    @staticmethod
    def backward(context, dy):
        return None, None, context.turned @ dy


def csr(offsets, columns, values, n, kind=torch.int32):
    """Offsets and columns have one type: PyTorch does not check that, and reads past the shorter one."""
    return torch.sparse_csr_tensor(offsets.to(kind), columns.to(kind), values, (n, n))


def operators(offsets, columns, model):
    """The operator of a model and its transpose; the graph is symmetric."""
    n = len(offsets) - 1
    rows = torch.repeat_interleave(torch.arange(n, device=device), offsets.diff().long())
    if model == "gcn":
        both = torch.stack([torch.cat([rows, torch.arange(n, device=device)]),
                            torch.cat([columns.long(), torch.arange(n, device=device)])])
        whole = torch.sparse_coo_tensor(both, torch.ones(both.shape[1], device=device), (n, n))
        whole = whole.coalesce().to_sparse_csr()
        scale = whole.crow_indices().diff().float().rsqrt()
        of_row = torch.repeat_interleave(scale, whole.crow_indices().diff())
        a = csr(whole.crow_indices(), whole.col_indices(), of_row * scale[whole.col_indices()], n)
        return a, a
    share = 1 / offsets.diff().clamp(min=1).float()
    return csr(offsets, columns, share[rows], n), csr(offsets, columns, share[columns.long()], n)


class ByHand(torch.nn.Module):
    def __init__(self, model, widths, a, turned):
        super().__init__()
        self.is_sage, self.a, self.turned = model == "sage-mean", a, turned
        pairs = list(zip(widths, widths[1:]))
        self.gathered = torch.nn.ModuleList(torch.nn.Linear(i, o) for i, o in pairs)
        self.own = torch.nn.ModuleList(torch.nn.Linear(i, o, bias=False) for i, o in pairs)

    def forward(self, x):
        for layer, (gathered, own) in enumerate(zip(self.gathered, self.own)):
            if gathered.out_features <= gathered.in_features:
                y = Product.apply(self.a, self.turned, x @ gathered.weight.t()) + gathered.bias
            else:
                y = gathered(Product.apply(self.a, self.turned, x))
            if self.is_sage:
                y = y + own(x)
            x = y if layer + 1 == LAYERS else y.relu()
        return x


class ByGeometric(torch.nn.Module):
    def __init__(self, model, widths, adjacency):
        super().__init__()
        from torch_geometric import nn
        make = {"gcn": lambda i, o: nn.GCNConv(i, o, cached=True),
                "sage-mean": lambda i, o: nn.SAGEConv(i, o),
                "sage-pool": lambda i, o: nn.SAGEConv(i, o, aggr="max", project=True)}[model]
        self.adjacency = adjacency
        self.layers = torch.nn.ModuleList(make(i, o) for i, o in zip(widths, widths[1:]))

    def forward(self, x):
        for layer, convolve in enumerate(self.layers):
            x = convolve(x, self.adjacency)
            if layer + 1 < LAYERS:
                x = x.relu()
        return x


def measure(network, x, labels, trained):
    network = network.to(device)
    optimiser = torch.optim.Adam(network.parameters(), lr=0.01, weight_decay=5e-4)
    times = []
    for _ in range(2 + REPEAT):
        if device.type == "cuda":
            torch.cuda.synchronize()
        start = time.perf_counter()
        optimiser.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(network(x)[trained], labels[trained])
        loss.backward()
        optimiser.step()
        loss.item()
        if device.type == "cuda":
            torch.cuda.synchronize()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times[2:])


def run(name, model, how, make, x, labels, trained):
    line = {"graph": name, "model": model, "how": how, "torch": torch.__version__,
            "device": torch.cuda.get_device_name() if device.type == "cuda" else "cpu"}
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
    try:
        line["epoch_ms"] = measure(make(), x, labels, trained)
        if device.type == "cuda":
            line["peak_bytes"] = torch.cuda.max_memory_allocated()
    except Exception as wrong:  # out of memory, a reduction that PyTorch lacks, …
        line["error"] = (str(wrong).splitlines() or [type(wrong).__name__])[0]
    print(json.dumps(line), flush=True)
    if device.type == "cuda":
        torch.cuda.empty_cache()


def main(folder):
    torch.manual_seed(1)
    for path in sorted(glob.glob(os.path.join(folder, "*.offsets.npy"))):
        name = os.path.basename(path)[:-len(".offsets.npy")]
        offsets = read_npy(path).to(device)
        columns = read_npy(path.replace(".offsets.", ".columns.")).to(device)
        features, classes, share = SIZES[name.split(":")[0]]
        n = len(offsets) - 1
        x = torch.randn(n, features, device=device)
        labels = torch.randint(classes, (n,), device=device)
        trained = torch.rand(n, device=device) < share
        widths = [features] + [HIDDEN] * (LAYERS - 1) + [classes]
        for model in ("sage-mean", "gcn"):
            run(name, model, "by hand",
                lambda: ByHand(model, widths, *operators(offsets, columns, model)),
                x, labels, trained)
        if torch_geometric is None:
            print(json.dumps({"graph": name, "absent": "torch_geometric"}))
            continue
        ones = torch.ones(len(columns), device=device)
        adjacency = csr(offsets, columns, ones, n, torch.int64)
        for model in ("sage-mean", "gcn", "sage-pool"):
            run(name, model, "torch_geometric " + torch_geometric.__version__,
                lambda: ByGeometric(model, widths, adjacency), x, labels, trained)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("gnn_peers.py: pass the folder that 'bench gnn --export' wrote")
    main(sys.argv[1])
