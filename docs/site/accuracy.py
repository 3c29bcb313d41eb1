"""docs/accuracy.md from the lines that examples/gnn/study.sh prints."""

import math
from collections import defaultdict

from performance import Plot, table_of

PAGE = """# Accuracy

What networks trained by rig find, by recipes that were fixed before: those of \
[study.sh](../examples/gnn/study.sh), described in [training.md](guide/training.md). This page is made from \
[records](records/accuracy) by `docs/site/pages.py accuracy docs/records/accuracy/*.jsonl`.

## Records

A commit is the one that ran the study, or that added its lines.

{origin}
## Models

Mean ± standard deviation of the test accuracy in percent, and the number of seeds. `mlp` does not see the \
graph. Raw features are not divided by the sum of their row. Each row of amazon-photo, amazon-computers and \
facebook-pages has many words, so divided features are small: 200 epochs then end before gcn fits the \
training nodes. On the CPU, gcn and mlp have 16 hidden columns on amazon-photo; study.sh has 64 now. The rows \
of PyTorch Geometric are of [gnn_accuracy.py](../tests/bench/gnn_accuracy.py), which trains by the same \
recipe on the same splits.

Weights of SAGE and GIN begin within ±1/√inputs, as in PyTorch Geometric. They began with the larger weights of Glorot \
and Bengio on the CPU, in the row of divided features of facebook-pages, and in `sage-pool` and `gin` of the generated \
graphs.

{models}
On CUDA four means are more than a point below PyTorch Geometric's. One of ten seeds of `sage-mean` on raw \
amazon-computers never learns, as ReLU passes nothing: the medians are 79.3 and 79.0. `gat` on amazon-photo has one \
low seed, of 64.9; the medians are 77.8 and 78.5. `gin` is 1.3 below on amazon-photo, and 1.4 on squirrel-filtered. \
Some are below `mlp`, or near it:

- On raw features of the Amazon graphs `gin` is below, here and in PyTorch Geometric: sums over many neighbours are large.
- On amazon-photo `gat` and `sage-pool` are within 0.6 of `mlp`, because divided features are small.
- On squirrel-filtered `gat` is below `mlp`, in PyTorch Geometric still further.
- On tolokers the accuracies of all networks are near the share of the larger class, 78 %; the usual measure is ROC-AUC.
- `gin` is below `mlp` on both generated graphs, whose nodes have hundreds of neighbours: its sums are large. \
`--aggregate gcn` divides them. `sage-pool` and `gat` are below it on proteins-like: maxima over 600 neighbours \
hardly differ, and the validation score of `gat` still rises in epoch 200.
"""

MAXK = """
## MaxK

SAGE-mean, hidden 256. k is the number of entries that MaxK keeps of a row. The last columns are the \
validation accuracy after some epochs, if no seed ended before.

"""

SAMPLED = """
## Sampled inference

Test accuracy in percent; of proteins-like, which has several labels per node, the micro-F1. S entries of \
a row are read at most. The recipe has powers of two; 40, 48 and 56 were added when the least S was known to \
lie between. On CUDA a cell also has the time of the products by `vendor` over that of the sampled ones, and \
then the same of the whole inference. `vendor` is cuSPARSE by an algorithm that a rule selects, which is not \
always the fastest: [kernels.md](reference/kernels.md#when-each-wins).
"""

MODELS = ["gcn", "sage-mean", "sage-pool", "gin", "gat", "mlp"]
STRATEGIES = ["bucket", "fastrand", "adaptive"]
MAXK_HIDDEN = 256  # by which the study of MaxK differs from that of the models
EPOCHS = {"epoch 20": 1, "50": 4, "100": 9, "200": 19}  # places in a line's curve


def percent(line):
    return 100 * line["test_accuracy"]


def model_of(line):
    return "-".join(filter(None, (line["model"], line.get("aggregate"))))


def graph_of(line):
    """The data set, whether the rows of its features were left as they are, and the device."""
    raw = "-like" not in line["data"] and not line.get("normalised", True)
    return f"{line['data']}{', raw features' if raw else ''}, {line['device']}"


def network_of(line):
    return f"{line['data']}, {model_of(line)}, {line['device']}"


def mean(values):
    return math.fsum(values) / len(values)


def shown(values):
    """Mean, deviation and number of some percentages."""
    if len(values) < 2:
        return f"{values[0]:.1f} (1)" if values else "–"
    deviation = math.sqrt(math.fsum((x - mean(values)) ** 2 for x in values) / (len(values) - 1))
    return f"{mean(values):.1f} ± {deviation:.1f} ({len(values)})"


def origin(lines):
    """Which study was made when and where."""
    return table_of(["study", "command", "commit", "date", "machine"], 1, [
        [of["study"], f"`{of.get('command', 'study.sh ' + of['study'].split(',')[0])}`", of["commit"], of["date"], of["machine"]]
        for of in lines if "study" in of])


def models(trained):
    found = defaultdict(lambda: defaultdict(dict))
    for of in trained:
        # The study of samples trains some of these networks again.
        if of["hidden"] != MAXK_HIDDEN and of["k"] == 0:
            found[graph_of(of)][model_of(of)].setdefault(of["seed"], percent(of))
    names = MODELS + ["gin-gcn"] * any("gin-gcn" in by_model for by_model in found.values())
    return table_of(["graph", *names], 1, [
        [graph, *(shown(list(by_model.get(name, {}).values())) for name in names)]
        for graph, by_model in sorted(found.items())])


def maxk(trained):
    found = defaultdict(list)
    for of in trained:
        if of["hidden"] == MAXK_HIDDEN and model_of(of) == "sage-mean":
            found[f"{of['data']}, {of['device']}", of["k"]].append(of)
    if not found:
        return ""
    rows = []
    for (graph, k), runs in sorted(found.items()):
        curves = [[100 * run["curve"][at] for run in runs if at < len(run["curve"])] for at in EPOCHS.values()]
        rows.append([graph, f"MaxK, k = {k}" if k else "ReLU", shown([percent(run) for run in runs]),
                     *("–" if len(of) < len(runs) else f"{mean(of):.1f}" for of in curves)])
    return MAXK + table_of(["graph", "nonlinearity", "test", *EPOCHS], 1, rows)


def enough(exact, samples, peer):
    """The least S that loses less than a point, and how fast its fastest kernel is."""
    def times(ratio):
        return f"{ratio:.{2 if ratio < 1 else 1}f} times"

    for width, here in sorted(samples.items()):
        kept = [one for one in here if exact - percent(one) < 1]
        if not kept:
            continue
        least = f"The least S that loses less than a point: {width}"
        if not peer:
            return least + "."
        best = min(kept, key=lambda one: one["aggregate_ms"])
        return (f"{least}, with `{best['kernel']}`. Products by `vendor` take "
                f"{times(peer['aggregate_ms'] / best['aggregate_ms'])} as long, its inference "
                f"{times(peer['inference_ms'] / best['inference_ms'])}.")
    return "No S loses less than a point."


def sampled(inferred):
    """The tables of sampled inference, and the pictures of those that have times."""
    # Times of a CPU count only in records of the benchmark, which has the machine for itself.
    peers = {network_of(of): of for of in inferred if of["kernel"] == "vendor"}
    found = defaultdict(list)
    for of in inferred:
        if of["kernel"] != "vendor":
            found[network_of(of), of["feature_type"]].append(of)
    out, pictures = SAMPLED if found else "", []
    for (network, feature_type), runs in sorted(found.items(), key=lambda one: ", ".join(one[0])):
        name, peer, samples = f"{network}, {feature_type}", peers.get(network), defaultdict(list)
        for of in runs:
            samples[of["width"]].append(of)
        exact = percent(samples.pop(0)[-1])
        rows, curves = [], defaultdict(list)
        for width, here in sorted(samples.items()):
            cells = dict.fromkeys(STRATEGIES, "")
            for one in here:
                cells[one["kernel"]] = f"{percent(one):.1f}"
                if peer:
                    speedup = peer["aggregate_ms"] / one["aggregate_ms"]
                    cells[one["kernel"]] += (f"; {speedup:.1f}×; "
                                             f"{peer['inference_ms'] / one['inference_ms']:.1f}×")
                    curves[one["kernel"]].append((speedup, percent(one)))
            rows.append([str(width), f"{100 * here[0]['kept_share']:.0f} %", *cells.values()])
        out += (f"\n**{name}.** Exact: {exact:.1f} %. {enough(exact, samples, peer)}\n\n"
                + table_of(["S", "entries read", *STRATEGIES], 1, rows))
        if peer:
            pictures.append((name.replace(", cuda,", ","), curves, exact))
    return out, pictures


def page(lines):
    """The page, and its plots."""
    trained = [of for of in lines if "hidden" in of]
    tables, pictures = sampled([of for of in lines if "feature_type" in of])
    out = PAGE.format(origin=origin(lines), models=models(trained)) + maxk(trained) + tables
    if not pictures:
        return out, []
    words = "Test accuracy against speed-up over `vendor`, a curve per strategy"
    title = "Sampled inference: test accuracy against speed-up over cuSPARSE (vendor)"
    speedups = [x for _, curves, _ in pictures for curve in curves.values() for x, _ in curve]
    fours = range(math.floor(math.log(min(1, *speedups), 4)), math.ceil(math.log(max(speedups), 4)) + 1)
    plot = Plot("accuracy", title, words, [], lambda plots, path: plots.curves(
        path, title, "trained and inferred by the recipe of study.sh; more is better", title + ".", pictures,
        across="speed-up of the products", up="test accuracy, %",
        note="a point per sample size; the line is the exact network",
        xticks=[4.0 ** power for power in fours], yticks=[0, 50, 100], base=4))
    return out + f"\n![{words}](plots/accuracy.svg)\n", [plot]
