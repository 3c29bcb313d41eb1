"""docs/performance.md from records of tests/bench. Its figures and its tables are data."""

import math
from collections import Counter, namedtuple

# What a page shows of a record's rows: its words, and `draw`, which calls a function of plots.py.
Plot = namedtuple("Plot", "name title words losses draw")


def number(row, path):
    """The number at a path such as ms or peer_ms/products, or at the first of several: ratio|ms."""
    for one in path.split("|"):
        value = row
        for key in one.split("/"):
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, (int, float)):
            return value
    return None


def cell(row, what):
    """The text of a column: a function of the row, a member, or a number with its format."""
    if callable(what):
        return what(row)
    path, _, form = what.partition(":")
    if not form:
        return str(row[path])
    value = number(row, path)
    return "" if value is None else format(value, form)


def geometric_mean(values):
    return math.exp(math.fsum(map(math.log, values)) / len(values))


# Figures: bars of one quantity per panel, by graph and F.

def over_ms(path):
    """The time at `path` over that of rig."""
    def speedup(row):
        value = number(row, path)
        return None if value is None else value / row["ms"]
    return speedup


def over_same_type(row):
    """The fastest of cuSPARSE's algorithms on B of the row's type, over rig."""
    times = [ms for name, ms in row["peer_ms"].items() if name.startswith("cusparse_" + row["type"])]
    return min(times) / row["ms"] if times else None


def products_until_it_pays(row):
    """The number of products after which preparing A has cost less than it saves."""
    prepare, peer = number(row, "prepare_ms"), number(row, "best_cusparse_ms")
    if prepare is None or peer is None or peer <= row["ms"]:
        return None
    return prepare / (peer - row["ms"])


def ratio(row):
    return number(row, "ratio")


# `target` is that of the geometric mean, which is drawn only with a target; `one` is the line at 1.
Panel = namedtuple("Panel", "axis value target one", defaults=(None, "1: as fast"))
# `rows` are the suite, operation, semiring and type; `better` is "more", "less", or "" without a peer.
Figure = namedtuple("Figure", "name heading text rows title panels better", defaults=("more",))

FIGURES = [
    Figure("exact_speedup", "Sums", "The peer is the fastest of cuSPARSE's four algorithms for CSR.",
           "exact mxm plus_times float", "Sums in fp32: speed-up over the best cuSPARSE",
           [Panel("best cuSPARSE ms / rig ms", over_ms("best_cusparse_ms"), 1.45)]),
    Figure("exact_roofline", "Sums: how far from the machine's limit",
           "The bytes of a product count a row of B per entry, as if nothing were cached. The ceiling is a gather of "
           "random rows, measured on the same machine. A share above 1 comes from caches.",
           "exact mxm plus_times float", "Sums in fp32: share of the gather ceiling",
           [Panel("GB/s over GB/s of the measured gather, from a cached table where B has at most 32 MiB, else from "
                  "memory",
                  lambda row: number(row, "share_of_ceiling"), None, "1: the ceiling")], ""),
    Figure("prepare_pays", "When preparation pays",
           "`A.prepare()` finds row statistics and lists of rows. The figure is the number of products after which "
           "rig has taken less time than cuSPARSE, preparation included.",
           "exact mxm plus_times float",
           "Sums in fp32: products until preparing A pays against cuSPARSE",
           [Panel("products", products_until_it_pays, None, "1: in the first product")], "less"),
    Figure("max_speedup", "Maxima",
           "The peers are cusparseSpMMOp, which NVIDIA has deprecated, and rig's own sum.",
           "max mxm max_second float", "Maxima in fp32: speed-up",
           [Panel("cusparseSpMMOp ms / rig ms", over_ms("peer_ms/cusparse_spmm_op"), 2.0),
            Panel("ms of rig's own sum / rig ms", over_ms("peer_ms/rig_plus_times"), 1.0)]),
    Figure("real_speedup", "Sums on real graphs",
           "The peer is the fastest of cuSPARSE's four algorithms.",
           "real mxm plus_times float",
           "Real graphs, sums in fp32: speed-up over the best cuSPARSE",
           [Panel("best cuSPARSE ms / rig ms", ratio, 1.0)]),
    Figure("real_max_speedup", "Maxima on real graphs", "The peer is cusparseSpMMOp.",
           "real mxm max_second float", "Real graphs, maxima in fp32: speed-up over cusparseSpMMOp",
           [Panel("cusparseSpMMOp ms / rig ms", ratio, 1.0)]),
    Figure("half_speedup", "Half features",
           "Both libraries read half, and add in fp32. The summary of the record leaves out F = 32, so its mean "
           "differs.",
           "types mxm plus_times half", "Sums of half features: speed-up over cuSPARSE in half",
           [Panel("best cuSPARSE ms in the same type / rig ms", over_same_type)]),
    Figure("bfloat16_speedup", "bfloat16 features",
           "Both libraries read bfloat16, and add in fp32. The summary of the record leaves out F = 32, so its mean "
           "differs.",
           "types mxm plus_times bfloat16",
           "Sums of bfloat16 features: speed-up over cuSPARSE in bfloat16",
           [Panel("best cuSPARSE ms in the same type / rig ms", over_same_type)]),
    Figure("spmv_speedup", "One column",
           "A product with one column. cuSPARSE's SpMV is faster on some graphs.",
           "spmv mxv plus_times float", "One column in fp32: speed-up over the best cuSPARSE",
           [Panel("best cuSPARSE SpMV ms / rig ms", over_ms("best_cusparse_ms"))]),
    Figure("maxk_forward", "MaxK, forward",
           "B keeps k entries per row; 128:32 means 128 columns and k = 32. The peer is rig's own exact product with "
           "all columns.",
           "maxk forward plus_times float", "MaxK, forward: speed-up over rig's exact product",
           [Panel("ms of rig's exact product / ms", over_ms("exact_ms"))]),
    Figure("maxk_backward", "MaxK, backward",
           "The product at the positions that MaxK kept. The peer is rig's own exact product.",
           "maxk backward plus_times float", "MaxK, backward: speed-up over rig's exact product",
           [Panel("ms of rig's exact product / ms", over_ms("exact_ms"))]),
    Figure("sampled_error", "Sampling: time against error",
           "A sample keeps at most S entries per row; a curve has a point per S. The error is the norm of the "
           "difference to the exact product over the norm of that product. The features are random numbers around 0, "
           "so their sums cancel; your data has other errors. The peer is rig's own exact product.",
           None, "Sampled sums in fp32: time over the exact product, against error", None, "less"),
    Figure("cpu_speedup", "CPU",
           "The peer is SuiteSparse:GraphBLAS, whose fastest way to form the same product counts.",
           "cpu mxm plus_times float", "CPU, sums in fp32: speed-up over SuiteSparse:GraphBLAS",
           [Panel("best SuiteSparse:GraphBLAS ms / rig ms", ratio)]),
]


def subtitle(record, better):
    """What a picture says beneath its title."""
    made = [record[key] for key in ("gpu", "toolkit") if record[key]]
    made += ["commit " + record["commit"], record["date"][:10]]
    return f"{', '.join(made)}; medians of {record['repeat']}" + (f"; {better} is better" if better else "")


def ticks_to(greatest):
    return [0.5 * i for i in range(math.ceil(greatest / 0.5) + 1)]


def losses_of(slower):
    """The lines of a list of losses, worst first."""
    return [f"{name}: {value:.2f}" for value, name in sorted(slower)]


def bar_plot(figure, record):
    """Bars of the rows that measure the library's own choice, as (graph, F, value per panel)."""
    bars = []
    for row in record["rows"]:
        if [row[key] for key in ("suite", "operation", "semiring", "type")] == figure.rows.split():
            width = f"{row['features']}:{row['k']}" if "k" in row else str(row["features"])
            bars.append((row["graph"], width, [panel.value(row) for panel in figure.panels]))
    bars = [bar for bar in bars if any(value is not None for value in bar[2])]
    if not bars:
        return None
    words, means = f"{figure.title}, by graph and F.", []
    for i, panel in enumerate(figure.panels):
        values = [bar[2][i] for bar in bars if bar[2][i] is not None]
        means.append(geometric_mean(values) if panel.target and values else None)
        if values:
            mean = f"geometric mean {geometric_mean(values):.2f}, "
            words += (f" {panel.axis}: {mean if panel.target or figure.better == 'more' else ''}"
                      f"least {min(values):.2f}, greatest {max(values):.2f}.")
    losses = [] if figure.better != "more" else losses_of(
        (values[0], f"{graph}, F = {width}")
        for graph, width, values in bars if values[0] is not None and values[0] < 1)
    if any(means):
        bars.append(("geometric mean", "", means))
    return Plot(figure.name, figure.title, words, losses, lambda plots, path: plots.bars(
        path, figure.title, subtitle(record, figure.better) + ("; red: the peer is faster" if losses else ""),
        words, figure.panels, bars))


def sampled_plot(figure, record):
    """Sampled products: a picture per graph and F, a curve per kernel, a point per sample size."""
    pictures, slower = [], []
    for row in record["rows"]:
        if row["type"] != "float" or number(row, "error") is None:
            continue
        name = f"{row['graph']}, F = {row['features']}"
        if not pictures or pictures[-1][0] != name:
            pictures.append((name, {}))
        point = (row["error"], 1 / (row["exact_ms"] / row["ms"]), row["width"])
        pictures[-1][1].setdefault(row["kernel"], []).append(point)
    # A graph with a single sample size has no curve.
    pictures = [one for one in pictures if len(one[1][min(one[1])]) > 1]
    if not pictures:
        return None
    points = []
    for name, curves in pictures:
        for kernel, curve in curves.items():
            points += curve
            # A time that rounds to that of the exact product is no loss.
            slower += [(1 / time, f"{name}, {kernel}, S = {width}")
                       for error, time, width in curve if time >= 1.005]
    errors, times, _ = zip(*points)
    words = (f"{figure.title}, by graph and F. ms / ms of rig's exact product: least {min(times):.2f}, "
             f"greatest {max(times):.2f}. Error: least {min(errors):.2f}, greatest {max(errors):.2f}.")
    pictures = [(name, {kernel: [point[:2] for point in curve] for kernel, curve in curves.items()}, 1)
                for name, curves in pictures]
    return Plot(figure.name, figure.title, words, losses_of(slower), lambda plots, path: plots.curves(
        path, figure.title, subtitle(record, "less"), words, pictures, across="error",
        up="ms / ms of rig's exact product", note="a point per sample size; the line is the exact product",
        xticks=ticks_to(max(1, *errors)), yticks=ticks_to(max(1, *times))))


def profile_plot(record):
    """How often each implementation is near the fastest, as the record of a collection has it."""
    kinds = {"plus_times": "sums", "max_second": "maxima"}
    profiles = record.get("profile", [])
    if not profiles:
        raise ValueError(f"the record of suite {record['suite']} has no profile")
    matrices = max(of["matrices"] for of in profiles)
    title = f"Performance profile over {matrices} matrices: sums and maxima in fp32"
    widths = Counter(of["semiring"] for of in profiles)  # a line of pictures has one semiring
    pictures = [(f"{kinds[of['semiring']]}, F = {of['features']}",
                 {name: list(zip(of["within"], shares)) for name, shares in of["share"].items()}, None)
                for of in profiles]
    return Plot("profile", title, title + ".", [], lambda plots, path: plots.curves(
        path, title, subtitle(record, "more"), title + ".", pictures, across="times the least time",
        up="share of the matrices", note="a point per factor", xticks=[1, 2, 5, 10],
        yticks=[0, 0.5, 1], base=10, per_line=min(5, max(2, *widths.values()))))


# Tables.

def way_of(row):
    """How a network computed its products: the kernel, with k or the sample size."""
    return row["kernel"] + "".join(f", {name} = {row[key]}" for key, name in (("k", "k"), ("width", "S"))
                                   if row.get(key))


def host_time(row):
    is_host_time = row["operation"].startswith("host time")
    return f"{1e3 * row['ms']:.2f} µs" if is_host_time else f"{row['ms']:.2f} ms"


def time_or_failure(row):
    if row["ms"] is not None:
        return f"{row['ms']:.1f}"
    return "out of memory" if "out of memory" in row["error"] else "not supported"


def of_call(what):
    """A column that is empty where no call was measured."""
    return lambda row: what.format_map(row) if row["semiring"] else ""


def fastest(library):
    """The least time of a library's forms, whose names in `peer_ms` begin with its name; None without it."""
    def least(row):
        return min((ms for name, ms in row["peer_ms"].items() if name.startswith(library)), default=None)
    return least


def time_of(library, form):
    least = fastest(library)
    return lambda row: "" if least(row) is None else format(least(row), form)


def speedup_over(library):
    least = fastest(library)
    return lambda row: "" if least(row) is None else format(least(row) / row["ms"], ".2f")


def faster_than_rig(**libraries):
    """The libraries that are faster than a row's rig, as (rig's speed-up, name)."""
    def losses(row):
        times = ((fastest(prefix)(row), name) for prefix, name in libraries.items())
        # A time that rounds to that of rig is no loss.
        return [(ms / row["ms"], f"{row['operation']}, {row['graph']}, {name}") for ms, name in times
                if ms is not None and ms < 0.995 * row["ms"]]
    return losses


def only(test, what):
    return lambda row: cell(row, what) if test(row) else ""


# A line per group of rows that agree in `by`; the columns after those have the rows' `cell`, by `across`.
Pivot = namedtuple("Pivot", "by across cell")
# A column is a heading and what `cell` takes, or the value of a pivot's `across`; the first `left` ones are
# words. A row has its place in the table if `where` is true; `losses` gives what is listed beneath.
Table = namedtuple("Table", "suite heading text left columns where pivot losses",
                   defaults=(lambda row: True, None, lambda row: []))

TABLES = [
    Table("widths", "CPU, beside oneMKL",
          "Time of oneMKL's prepared product over that of rig's, sums in float, by F. Both use one OpenMP.", 1,
          {"graph": "", "threads": "", **{str(width): width for width in (1, 16, 32, 64, 100, 128, 256)}},
          lambda row: row["operation"] == "beside oneMKL" and row["type"] == "float",
          Pivot(lambda row: (row["graph"], row.get("threads", 1)), "features", "ratio:.2f")),
    Table("analytics", "CPU, beside SuiteSparse:GraphBLAS and GAP",
          "The fastest form of GraphBLAS, and LAGraph's algorithms called one by one. Where the record has "
          "them, GAP's C++ programs take turns with those, on the same graphs, sources and weights. A program is a process, and its second trial counts. "
          "All use the same number of threads. GAP's search finds parents, so both searches are compared with it. "
          "Its PageRank is in float, rig's in double. Its betweenness runs source by source. Widths of buckets for "
          "`sssp` are tried, and the fastest counts.", 2,
          {"operation": "operation", "graph": "graph", "ms": "ms:.2f",
           "GraphBLAS, ms": time_of("graphblas", ".2f"), "over GraphBLAS": speedup_over("graphblas"),
           "GAP, ms": time_of("gap", ".2f"), "over GAP": speedup_over("gap")},
          lambda row: row["kernel"] == row["chosen"],
          losses=faster_than_rig(graphblas="GraphBLAS", gap="GAP")),
    Table("ranks", "What a product over ranks moves",
          "The rows of X that `exchange::fetch` moves, or the rows of X and C that `exchange::cover` moves, over those "
          "that an all-gather moves; in brackets the most that a rank receives over the mean. Counted from the plans "
          "of all ranks, one after the other; no machine with so many ranks has run them.", 2,
          {"graph": "", "layout": "", "4 ranks": 4, "16": 16, "64": 64, "256": 256, "1024": 1024},
          lambda row: "moved_share" in row,
          Pivot(lambda row: (row["graph"], row["operation"]), "ranks",
                lambda row: f"{row['moved_share']:.4f} ({row['balance']:.2f})")),
    Table("ranks", "Products over ranks of one process",
          "Ranks are threads, and share the processors that one rank uses alone. The speed-up of `fetch` is over an "
          "all-gather of X and a local product.", 1,
          {"graph": "graph", "F": "features", "ranks": "ranks", "fetch, ms": "ms:.1f",
           "features, ms": "peer_ms/features:.1f", "all-gather, ms": "peer_ms/all_gather:.1f",
           "one rank, ms": "peer_ms/one_rank:.1f", "speed-up": "ratio:.2f"},
          lambda row: "moved_share" not in row),
    Table("mpi", "Ranks of MPI, beside PETSc and CombBLAS",
          "Sums in double, and searches. Each rank has one thread, and one rank alone has as many threads as there are "
          "ranks. The speed-up is over the fastest library, of least times.", 2,
          {"operation": "operation", "graph": "graph", "F": "features", "ranks": "ranks", "rig, ms": "ms:.2f",
           "features, ms": "peer_ms/features:.2f", "all-gather, ms": "peer_ms/all_gather:.2f",
           "one rank, ms": "peer_ms/one_rank:.2f", "PETSc, ms": "peer_ms/PETSc:.2f",
           "CombBLAS, ms": "peer_ms/CombBLAS:.2f", "speed-up": "ratio:.2f"}),
    Table("devices", "Products over devices",
          "Sums in float. Predicted: the longest of the parts' products, measured one after another on one device. "
          "By `fetch` the rows that the largest receiver gets travel at 370 GB/s, which is assumed. They overlap as "
          "slices of columns do; the measured product had as many slices. Packing and the largest sender are left "
          "out. By `features` nothing travels, and each device has all of A. The share is the time of one device over "
          "that of all devices together.", 2,
          {"": "operation", "exchange": "kernel", "graph": "graph", "F": "features", "devices": "ranks", "ms": "ms:.2f",
           "one device, ms": "peer_ms/one_device:.2f", "longest part, ms": "peer_ms/longest_part:.2f",
           "share": "ratio:.2f"}),
    Table("hybrid", "Windows on Tensor cores",
          "Time of the faster of `row` and `split` over that of `hybrid`, in the type of B. B in float is multiplied "
          "in TF32. A has values, or one value (iso). `N%/` keeps so many of a graph's edges, `loa/` and `shuffled/` "
          "number its nodes anew.", 1,
          {"graph": "", "F": "", "float": "float", "float, iso A": "float iso", "half": "half",
           "half, iso A": "half iso", "bfloat16": "bfloat16", "bfloat16, iso A": "bfloat16 iso"},
          pivot=Pivot(lambda row: (row["graph"], row["features"]), "type", "ratio:.2f")),
    Table("update", "A product and its update",
          "`mxm_update` computes (A ⊕.⊗ B)·W, with W of F × F. The speed-up is over rig's product and cuBLAS in "
          "fp32, in the faster of both orders.", 1,
          {"graph": "graph", "F": "features", "ms": "ms:.3f",
           "product alone, ms": "peer_ms/product_alone:.3f", "speed-up": "ratio:.2f"}),
    Table("spgemm", "Products with sparse results",
          "A·A in fp32 beside the fastest of cuSPARSE's SpGEMM algorithms that runs; and triangles, a product under "
          "a mask beside the product without it.", 2,
          {"product": "operation", "graph": "graph", "ms": "ms:.2f",
           "peer, ms": "best_cusparse_ms|peer_ms/unmasked:.2f", "speed-up": "ratio:.2f"}),
    Table("search", "Breadth-first searches",
          "A single search is the mean of four sources; edges count once. 64 sources at once are compared with 64 "
          "single searches.", 2,
          {"search": "operation", "graph": "graph", "ms": "ms:.2f",
           "10⁹ edges per second": only(lambda row: row["operation"] == "bfs", "ratio:.2f"),
           "over single searches": only(lambda row: row["operation"] != "bfs", "ratio:.2f")}),
    Table("gap", "The six algorithms of the GAP benchmark",
          "Whole calls on the GPU. The share compares a call with a copy of the graph's bytes: once per search and "
          "per iteration, twice for betweenness. A search by pull reads fewer bytes. GAP's C++ programs run on the "
          "CPU of the same machine, with all its threads, where the record has them.", 2,
          {"algorithm": "operation", "graph": "graph", "ms": "ms:.2f",
           "share of the copy": "share_of_ceiling:.3f", "GAP on the CPU, ms": time_of("gap", ".2f"),
           "speed-up": speedup_over("gap")},
          losses=faster_than_rig(gap="GAP")),
    Table("graph", "Operations besides products",
          "A share is that of the measured copy bandwidth, which counts reads and writes. Each call is waited for. "
          "PageRank is compared with as many products alone.", 2,
          {"operation": "operation", "operand": "graph", "ms": "ms:.2f",
           "share of the copy": only(lambda row: "products" not in row["peer_ms"],
                                     "share_of_ceiling:.2f"),
           "products alone, ms": "peer_ms/products:.2f"}),
    Table("gnn", "Graph neural networks",
          "An epoch is forward, backward and a step of Adam on the whole graph, with 3 layers and no dropout. "
          "`vendor` is the same trainer with cuSPARSE's products, by the algorithm that a rule selects, and the "
          "speed-up is over that. Its limit is the speed-up if products with the graph took no time. Memory is the "
          "most that was held, graph and features included.", 4,
          {"network": "operation", "graph": "graph", "hidden": "features", "products": way_of,
           "ms": "ms:.2f", "of which products": "aggregate_ms:.2f", "speed-up": "ratio:.2f",
           "limit": "amdahl:.2f", "GB": lambda row: format(row["peak_bytes"] / 1e9, ".1f")}),
    Table("gnn_python", "PyTorch, beside PyTorch Geometric",
          "An epoch of networks with 3 layers and 64 hidden columns, by `rigblas.nn` and by forms of PyTorch Geometric "
          "(PyG): the same model, the same first parameters. Each has a process of its own. The speed-up is over PyG's "
          "fastest form; memory is the most that the process held.", 3,
          {"network": "operation", "graph": "graph", "by": "kernel", "ms": time_or_failure, "speed-up": "ratio:.2f",
           "GB": lambda row: format(row["peak_bytes"] / 1e9, ".1f") if "peak_bytes" in row else ""}),
    Table("start", "The host's part of a call",
          "The first call of a process loads or compiles its kernel. A prepared call takes microseconds. The time of "
          "a first or second call is the median of 5 processes. A host time is the median of 51 loops of 100 calls. "
          "`plus_times` is compiled ahead; `cloned_plus_times` is the same semiring, compiled at run time.", 3,
          {"measured": "operation", "semiring": of_call("`{semiring}`"), "graph": of_call("{graph}"),
           "F": of_call("{features}"), "time": host_time},
          lambda row: row["operation"] != "mxm"),  # which is on the device's clock
]


def line_of(cells):
    return "|" + "".join(f" {one} |" if one else " |" for one in cells) + "\n"


def table_of(head, left, lines):
    """A table whose columns after the first `left` ones are numbers."""
    rule = ["---" if i < left else "---:" for i in range(len(head))]
    return "".join(map(line_of, [head, rule, *lines]))


def lines_of(table, rows):
    rows = [row for row in rows if table.where(row)]
    if not table.pivot:
        return [[cell(row, what) for what in table.columns.values()] for row in rows]
    lines = {}
    for row in rows:
        here = lines.setdefault(table.pivot.by(row), {})
        here[row[table.pivot.across]] = cell(row, table.pivot.cell)
    return [[*map(str, by), *(line.get(value, "") for value in list(table.columns.values())[len(by):])]
            for by, line in sorted(lines.items()) if line.keys() & set(table.columns.values())]


# The page.

def is_real(graph):
    """Whether no generator makes a graph of this name; karate, which is both, is real."""
    return not any(mark in graph for mark in (":", "%", "-like"))


def machine_of(record):
    parts = [record["gpu"], record["driver"] and "driver " + record["driver"], record["cpu"],
             f"{record['threads']} threads"]
    return ", ".join(filter(None, parts))


def made_by(record):
    """The command of a record, its age, the hardware that it measured, and how often."""
    where = record["gpu"] or f"{record['cpu']}, {record['threads']} threads"
    is_built = not record["command"].startswith(("mpirun ", "tests/"))
    command = f"build/{record['command']}" if is_built else record["command"]
    return (f"Made by `{command}`, commit {record['commit']}, {record['date'][:10]}, "
            f"on {where}; median of {record['repeat']} runs.\n")


def ages_of(records):
    """From when the records are; none is left out, so that an old one is seen to be old."""
    suites = {}
    for record in records:
        suites.setdefault(record["date"][:10], []).append(f"`{record['suite']}`")
    dated = [f"{', '.join(suites[date])} of {date}" for date in sorted(suites)]
    return f"Each section names its commit and date. The records, oldest first: {'; '.join(dated)}."


def graphs_of(records):
    graphs = {(row["nnz"], row["graph"], row["n"]) for record in records for row in record["rows"]
              if row["nnz"] and row["n"]}
    return "".join(line_of((name, str(n), str(nnz), "real" if is_real(name) else "synthetic"))
                   for nnz, name, n in sorted(graphs))


PAGE = """# Performance

rig and the peers of a section are measured in one run, on one graph, in turns. A time is the median of \
the runs that its section names, after runs that are not timed. A speed-up is the time of the peer over the \
time of rig: more than 1 means that rig is faster. F is the feature width, the number of columns of B.

Published kernels of MaxK, and plain kernels that were written from the papers on sampling, are in no run. \
Their ratios to cuSPARSE are constants of the suites, and only targets at the end use them.

This page and its plots are made from [docs/records](records) by `docs/site/pages.py performance \
docs/records/*.json`. {ages}

## Machines

{machines}

Peers:

{peers}

## Graphs

A synthetic graph is made by a generator of [generate.hpp](../include/rig/generate.hpp). Names that end in \
`-like` have the size and the degrees of a published graph, not its edges. A real graph is a published data \
set, read from a file. Values are random in both.

| graph | nodes | entries | origin |
| --- | ---: | ---: | --- |
{graphs}"""

MISSED = """
## Targets that are missed

The suites check targets of ours. These are missed; [lab](lab) says why. The names are those of the \
record's summary.

"""


def listed(lines):
    return "\n".join("- " + line for line in lines)


def page(records):
    """The page, and its plots by name."""
    plots = {}
    for record in records:
        for figure in FIGURES:
            plot = (bar_plot if figure.rows else sampled_plot)(figure, record)
            if plot:
                plots.setdefault(plot.name, (plot, record))
    peers = {version for record in records for version in record["peers"].values()
             if not version.startswith(("not chosen", "absent"))}
    out = PAGE.format(ages=ages_of(records), machines=listed(sorted(set(map(machine_of, records)))),
                      peers=listed(sorted(peers)), graphs=graphs_of(records))
    for figure in FIGURES:
        if figure.name in plots:
            plot, record = plots[figure.name]
            out += (f"\n## {figure.heading}\n\n{figure.text}\n\n![{plot.words}](plots/{plot.name}.svg)\n\n"
                    f"{plot.words} {made_by(record)}")
            if plot.losses:
                out += f"\nThe peer is faster here:\n\n{listed(plot.losses)}\n"
    for table in TABLES:
        for record in records:
            if record["suite"] == table.suite:
                lines = table_of(list(table.columns), table.left, lines_of(table, record["rows"]))
                out += f"\n## {table.heading}\n\n{table.text}\n\n{lines}\n{made_by(record)}"
                losses = losses_of(loss for row in record["rows"] if table.where(row) for loss in table.losses(row))
                if losses:
                    out += f"\nThe peer is faster here:\n\n{listed(losses)}\n"
    missed = [f"{record['suite']}: {what}" for record in records for what in record.get("missed", [])]
    if missed:
        out += MISSED + listed(missed) + "\n"
    return out, [plot for plot, record in plots.values()]
