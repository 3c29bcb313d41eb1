#!/usr/bin/env python3
"""Suite gnn_python: epochs of GraphSAGE and GCN in PyTorch Geometric (PyG), and with rigblas.

    build/bench gnn --export FOLDER && tests/bench/gnn_python.py FOLDER [--record FILE]
    tests/bench/gnn_python.py --generate rmat:12:16       a small graph, to try the suite

FOLDER holds NAME.offsets.npy and NAME.columns.npy per graph, which suite gnn writes. Each run has a
process of its own, so memory is its own too, and a run without enough memory ends alone. All runs of a
model begin with the same parameters. The record has the form of those that bench writes. Exit status 1
if a target is missed.
"""

import argparse
import datetime
import gc
import glob
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import threading
import time

LAYERS, HIDDEN = 3, 64
WARM_UP, EPOCHS, COMPARED = 3, 21, 20
MODELS = ("sage-max", "sage-mean", "gcn")
FORMS = ("rigblas", "PyG edge_index", "PyG EdgeIndex", "PyG CSR")
# Features, classes and the share of the nodes that are trained on, as examples/gnn generates them.
SIZES = {"reddit-like": (602, 41, 0.66), "products-like": (100, 47, 0.08)}
OTHER_SIZES = (64, 16, 0.5)
# At least: PyG's best epoch over that of rigblas, and PyG's memory over that of rigblas.
FASTER = {"sage-max": 10, "sage-mean": 1.5, "gcn": 1.5}
SMALLER = {"sage-max": 8}
TARGET_GRAPH = "products-like"
MORE = ("peak_bytes", "torch_peak_bytes", "losses", "error")
LOSSES_APART = 1e-4


# One run, in a process of its own.


def edges_of(where):
    """The number of nodes, and an edge_index on the CPU."""
    import numpy as np
    import torch

    if where["folder"] is None:
        import rigblas

        matrix = rigblas.generate(where["graph"])
        offsets, columns = np.array(matrix.indptr), np.array(matrix.indices)
    else:
        stem = os.path.join(where["folder"], where["graph"])
        offsets, columns = (np.load(f"{stem}.{name}.npy").ravel() for name in ("offsets", "columns"))
    lengths = torch.from_numpy(np.diff(offsets)).long()
    target = torch.repeat_interleave(torch.arange(len(lengths)), lengths)
    return len(lengths), torch.stack([torch.from_numpy(columns).long(), target])


def network(model, widths):
    import torch_geometric.nn as pyg

    features, classes = widths
    if model == "gcn":
        return pyg.GCN(features, HIDDEN, LAYERS, classes, cached=True)
    return pyg.GraphSAGE(features, HIDDEN, LAYERS, classes, aggr=model.removeprefix("sage-"))


def adjacency_in(form, edges, nodes):
    import torch
    import torch_geometric

    if form == "PyG EdgeIndex":
        made = torch_geometric.EdgeIndex(edges, sparse_size=(nodes, nodes)).sort_by("col").values
        return made.fill_cache_()
    if form == "PyG CSR":
        ones = torch.ones(edges.shape[1], device=edges.device)
        return torch.sparse_coo_tensor(edges.flip(0), ones, (nodes, nodes)).coalesce().to_sparse_csr()
    return edges


class PeakOfDevice:
    """The most memory of the device in use meanwhile, by all allocators, in bytes above the start."""

    def __enter__(self):
        import torch

        self._used = lambda: -torch.cuda.mem_get_info()[0]
        self.peak = self._used()
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def _watch(self):
        while not self._ends.wait(0.001):
            self.peak = max(self.peak, self._used())

    def __exit__(self, *_):
        self._ends.set()
        self._thread.join()
        self.peak = max(self.peak, self._used())


def run(job):
    """Trains one model in one form; returns its times, losses and memory."""
    import torch

    is_cuda = torch.cuda.is_available()
    device = torch.device("cuda" if is_cuda else "cpu")
    wait = torch.cuda.synchronize if is_cuda else lambda: None
    empty = -torch.cuda.mem_get_info()[0] if is_cuda else 0  # CUDA's own memory is not counted
    nodes, edges = edges_of(job)
    features, classes, share = SIZES.get(job["graph"].split(":")[0], OTHER_SIZES)
    random = torch.Generator().manual_seed(1)
    x = torch.randn(nodes, features, generator=random).to(device)
    labels = torch.randint(classes, (nodes,), generator=random).to(device)
    trained = (torch.rand(nodes, generator=random) < share).nonzero().flatten().to(device)
    entries = edges.shape[1]
    adjacency = adjacency_in(job["form"], edges.to(device), nodes)
    del edges
    torch.manual_seed(1)
    model = network(job["model"], (features, classes)).to(device)
    if job["form"] == "rigblas":
        import rigblas.nn

        left_alone = rigblas.nn.accelerate(model)
        if left_alone:
            raise RuntimeError(f"accelerate left alone: {left_alone}")
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)

    def epoch():
        wait()
        start = time.perf_counter()
        optimiser.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(model(x, adjacency)[trained], labels[trained])
        loss.backward()
        optimiser.step()
        wait()
        times.append(1e3 * (time.perf_counter() - start))
        losses.append(loss.item())

    times, losses = [], []
    epoch()
    gc.collect()
    if is_cuda:
        torch.cuda.empty_cache()  # what sorting the edges took is no memory of an epoch
        torch.cuda.reset_peak_memory_stats()
    for _ in range(WARM_UP - 1 + EPOCHS):
        epoch()
    median = statistics.median(times[WARM_UP:])
    out = {"n": nodes, "nnz": entries, "ms": median, "prepare_ms": max(0, times[0] - median),
           "losses": losses[:COMPARED]}
    if is_cuda:
        torch.cuda.empty_cache()
        with PeakOfDevice() as device_memory:
            epoch()
            epoch()
        out["peak_bytes"] = device_memory.peak - empty
        out["torch_peak_bytes"] = torch.cuda.max_memory_allocated()
    return out


# The suite.


def started(job):
    """The result of a run in a new process, or its error in one line."""
    command = [sys.executable, os.path.abspath(__file__), "--one", json.dumps(job)]
    done = subprocess.run(command, capture_output=True, text=True)
    for line in reversed(done.stdout.splitlines()):
        if line.startswith("{"):
            return json.loads(line)
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return {"error": lines[-1].strip().partition(". ")[0] if lines else f"exit status {done.returncode}"}


def first_line_of(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.partition("\n")[0]
    except OSError:
        return ""


def measured_command():
    """The words that say what is measured, without those of `--record` and `--commit`."""
    words = ["tests/bench/gnn_python.py", *sys.argv[1:]]
    is_name = [word in ("--record", "--commit") for word in words]
    return " ".join(word for word, named, before in zip(words, is_name, [False, *is_name]) if not named and not before)


def environment(given):
    import torch
    import torch_geometric

    here = str(pathlib.Path(__file__).parent)
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else ""
    driver = first_line_of("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader")
    model = [line for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return {
        "suite": "gnn_python",
        "command": measured_command(),
        "commit": given.commit or first_line_of("git", "-C", here, "describe", "--always", "--dirty"),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "cpu": model[0].partition(": ")[2].strip() if model else platform.processor(),
        "threads": torch.get_num_threads(),
        "load": [os.getloadavg()[0]],
        "gpu": gpu,
        "driver": driver,
        "peers": {"torch_geometric": f"PyTorch Geometric {torch_geometric.__version__}, PyTorch {torch.__version__}"},
        "repeat": EPOCHS,
    }


def row_of(graph, model, form, result):
    """A row of a record, as bench writes it."""
    return {
        "suite": "gnn_python", "operation": f"epoch {model}", "graph": graph,
        "n": result.get("n"), "nnz": result.get("nnz"), "features": HIDDEN, "semiring": "",
        "type": "float", "kernel": form, "chosen": form, "ms": result.get("ms"),
        "prepare_ms": result.get("prepare_ms"), "bytes": 0.0, "share_of_ceiling": None,
        "best_cusparse_ms": None, "ratio": None, "peer_ms": {},
        **{key: result[key] for key in MORE if key in result},
    }


def compare(graph, model, rows, summary, missed):
    """Sets the ratio of rigblas to its peers, and compares losses and memory with the fastest."""
    ours, *others = rows
    if ours["ms"] is None:
        missed.append(f"{graph} {model}: rigblas failed: {ours['error']}")
        return
    others = [row for row in others if row["ms"] is not None]
    ours["peer_ms"] = {row["kernel"]: row["ms"] for row in others}
    if not others:
        return
    fastest = min(others, key=lambda row: row["ms"])
    ours["ratio"] = fastest["ms"] / ours["ms"]
    apart = max(abs(a - b) for a, b in zip(ours["losses"], fastest["losses"]))
    name = f"gnn_python_{graph}_{model}"
    summary[f"{name}_over_pyg"] = ours["ratio"]
    summary[f"{name}_losses_apart"] = apart
    if apart > LOSSES_APART:
        missed.append(f"{name}_losses_apart is {apart:.2g}, its limit is {LOSSES_APART:g}")
    is_target = graph.startswith(TARGET_GRAPH)
    if is_target and ours["ratio"] < FASTER[model]:
        missed.append(f"{name}_over_pyg is {ours['ratio']:.3g}, its target is {FASTER[model]:g}")
    if "peak_bytes" in ours:
        smaller = min(row["peak_bytes"] for row in others) / ours["peak_bytes"]
        summary[f"{name}_memory_of_pyg_over_ours"] = smaller
        if is_target and smaller < SMALLER.get(model, 0):
            missed.append(f"{name}_memory is {smaller:.3g} times smaller, its target is {SMALLER[model]}")


def suite(given):
    if given.folder is None:
        graphs = given.generate
    else:
        found = sorted(glob.glob(os.path.join(given.folder, "*.offsets.npy")))
        graphs = [os.path.basename(path).removesuffix(".offsets.npy") for path in found]
        graphs = [g for g in graphs if not given.graphs or g.split(":")[0] in given.graphs]
    if not graphs:
        sys.exit("gnn_python.py: no graphs; pass a folder that 'bench gnn --export' wrote, or --generate")
    record = environment(given)
    record.update(summary={}, missed=[], rows=[])
    for graph in graphs:
        for model in given.models:
            rows = []
            for form in FORMS:
                job = {"folder": given.folder, "graph": graph, "model": model, "form": form}
                rows.append(row_of(graph, model, form, started(job)))
                line = rows[-1]
                shown = f"{line['ms']:10.2f} ms" if line["ms"] is not None else f"  {line['error']}"
                memory = f" {line['peak_bytes'] / 1e9:8.2f} GB" if "peak_bytes" in line else ""
                print(f"{graph:24s} {model:10s} {form:16s}{shown}{memory}", flush=True)
            compare(graph, model, rows, record["summary"], record["missed"])
            record["rows"] += rows
    for name, value in record["summary"].items():
        print(f"{name}: {value:.3g}")
    for what in record["missed"]:
        print(f"gnn_python.py: {what}", file=sys.stderr)
    if given.record:
        pathlib.Path(given.record).write_text(json.dumps(record, indent=1) + "\n")
    return 1 if record["missed"] else 0


def main():
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("folder", nargs="?", help="graphs that 'bench gnn --export' wrote")
    options.add_argument("--generate", nargs="+", default=[], help="graphs that rigblas generates")
    options.add_argument("--graphs", nargs="+", help="only these graphs of the folder")
    options.add_argument("--models", nargs="+", default=MODELS, choices=MODELS)
    options.add_argument("--record", help="the file of the record")
    options.add_argument("--commit", help="what the record calls the sources, where it is no checkout of theirs")
    options.add_argument("--one", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.one:
        print(json.dumps(run(json.loads(given.one))))
        return 0
    try:
        import torch  # noqa: F401
        import torch_geometric  # noqa: F401
    except ImportError as error:
        print(json.dumps({"absent": error.name}))
        return 0
    return suite(given)


if __name__ == "__main__":
    sys.exit(main())
