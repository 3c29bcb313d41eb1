"""rigblas.nn against the layers of PyTorch Geometric (PyG)."""

import copy
import os
import pathlib
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)
torch_geometric = pytest.importorskip("torch_geometric", exc_type=ImportError)

import torch_geometric.nn as pyg  # noqa: E402

import rigblas as rig  # noqa: E402
import rigblas.nn as rn  # noqa: E402
import rigblas.torch as rt  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
NODES, FEATURES = 30, 7


def cuda_reason():
    if not torch.cuda.is_available():
        return "PyTorch finds no CUDA device"
    if not any(each["device"].startswith("cuda") for each in rig.devices()):
        return "rigblas finds no CUDA device"
    return None


CUDA = pytest.mark.skipif(cuda_reason() is not None, reason=str(cuda_reason()))
on_each_device = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda:0", marks=CUDA)])


@pytest.fixture(autouse=True)
def doubles():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def graphs(device):
    """A graph in shuffled order with loops and lonely nodes, one with repeated edges, one without edges."""
    made = torch.Generator().manual_seed(3)
    edges = torch.randint(0, NODES - 4, (2, 120), generator=made).unique(dim=1)
    edges = edges[:, torch.randperm(edges.shape[1], generator=made)]
    repeated = torch.cat([edges, edges[:, :20]], dim=1)
    return [each.to(device) for each in (edges, repeated, edges[:, :0])]


def features(device, rows=NODES, seed=1, columns=FEATURES):
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed)).to(device)


def twins(kind, arguments, device="cpu", **options):
    """A layer of PyG and one of rigblas with the same parameters."""
    torch.manual_seed(5)
    theirs = getattr(pyg, kind)(*copy.deepcopy(arguments), **options).to(device)
    ours = getattr(rn, kind)(*copy.deepcopy(arguments), **options).to(device)
    ours.load_state_dict(theirs.state_dict())
    assert [n for n, _ in ours.named_parameters()] == [n for n, _ in theirs.named_parameters()]
    return theirs, ours


def assert_same(theirs, ours, call, inputs):
    """The same results, gradients of inputs, and gradients of parameters."""
    found = []
    for layer in (theirs, ours):
        own = [x.clone().requires_grad_() for x in inputs]
        y = call(layer, *own)
        seed = torch.randn(y.shape, generator=torch.Generator().manual_seed(2)).to(y.device)
        found.append((y, *torch.autograd.grad(y, [*own, *layer.parameters()], seed, allow_unused=True)))
    for a, b in zip(*found):
        assert (a is None) == (b is None)
        if a is not None:
            torch.testing.assert_close(b, a, rtol=1e-9, atol=1e-9)


SAGE = [dict(aggr=a) for a in ("mean", "sum", "add", "max", "min", "std", ["mean", "max"])] + [
    dict(aggr="max", project=True), dict(normalize=True), dict(root_weight=False), dict(bias=False),
    dict(aggr="mean", flow="target_to_source"),
]
GCN = [{}, dict(improved=True), dict(cached=True), dict(add_self_loops=False), dict(bias=False),
       dict(normalize=False)]
GIN = [{}, dict(eps=0.3), dict(train_eps=True), dict(aggr="max"), dict(aggr="mean")]
GAT = [{}, dict(heads=3), dict(heads=3, concat=False), dict(add_self_loops=False), dict(residual=True),
       dict(negative_slope=0.1, bias=False)]
LAYERS = (
    [("SAGEConv", (FEATURES, n), o) for o in SAGE for n in (4, 9)]
    + [("GCNConv", (FEATURES, 5), o) for o in GCN]
    + [("GINConv", (torch.nn.Linear(FEATURES, 4, dtype=torch.float64),), o) for o in GIN]
    + [("GATConv", (FEATURES, 5), o) for o in GAT]
)


@on_each_device
@pytest.mark.parametrize("kind, arguments, options", LAYERS, ids=str)
def test_same_as_pyg(kind, arguments, options, device):
    for edges in graphs(device):
        theirs, ours = twins(kind, arguments, device, **options)
        for _ in range(2):  # the second call finds the graph made
            assert_same(theirs, ours, lambda layer, x: layer(x, edges), [features(device)])


@on_each_device
@pytest.mark.parametrize("options", GCN, ids=str)
def test_gcn_with_weights_of_edges(options, device):
    for edges in graphs(device):
        theirs, ours = twins("GCNConv", (FEATURES, 5), device, **options)
        weight = torch.linspace(0.1, 1, edges.shape[1], device=device)
        if options.get("cached"):
            call, inputs = (lambda layer, x: layer(x, edges, weight)), [features(device)]
        else:
            call, inputs = (lambda layer, x, w: layer(x, edges, w)), [features(device), weight]
        for _ in range(2):
            assert_same(theirs, ours, call, inputs)


@on_each_device
@pytest.mark.parametrize("kind, arguments", [
    ("SAGEConv", ((FEATURES, 3), 4)), ("GATConv", ((FEATURES, 3), 4)),
    ("GINConv", (torch.nn.Linear(FEATURES, 4, dtype=torch.float64),)),
])
@pytest.mark.parametrize("targets, edges", [(5, 40), (12, 0), (0, 0)])
def test_bipartite_batches(kind, arguments, targets, edges, device):
    made = torch.Generator().manual_seed(1)
    edges = torch.stack([torch.randint(0, 20, (edges,), generator=made),
                         torch.randint(0, max(targets, 1), (edges,), generator=made)])
    edges = edges.unique(dim=1).to(device)
    options = dict(add_self_loops=False) if kind == "GATConv" else {}
    theirs, ours = twins(kind, arguments, device, **options)
    x = features(device, 20)
    y = features(device, targets, columns=FEATURES if kind == "GINConv" else 3)
    assert_same(theirs, ours, lambda layer, a, b: layer((a, b), edges), [x, y])
    assert_same(theirs, ours, lambda layer, a, b: layer((a, b), edges, size=(20, targets)), [x, y])
    assert_same(theirs, ours, lambda layer, a: layer((a, None), edges, size=(20, targets)), [x])
    with pytest.raises(ValueError, match="20 sources"):
        ours((x, y), edges, size=(21, targets))


@on_each_device
@pytest.mark.parametrize("kind", ["SAGEConv", "GCNConv"])
def test_sparse_tensors(kind, device):
    edges = graphs(device)[0]
    value = torch.linspace(0.1, 1, edges.shape[1], device=device)
    for values in (torch.ones_like(value), value):
        adjacency = torch.sparse_coo_tensor(edges.flip(0), values, (NODES, NODES)).to_sparse_csr()
        for aggr in ("mean", "sum", "max") if kind == "SAGEConv" else ("add",):
            if device != "cpu" and aggr == "max" and values is value:
                continue  # PyG refuses it
            theirs, ours = twins(kind, (FEATURES, 5), device, aggr=aggr)
            with torch.no_grad():
                expected = (theirs.cpu()(features("cpu"), adjacency.cpu()) if device != "cpu"
                            else theirs(features(device), adjacency))
                torch.testing.assert_close(ours(features(device), adjacency).cpu(), expected.cpu())


@on_each_device
def test_edge_index_of_pyg(device):
    edges = torch_geometric.EdgeIndex(graphs(device)[0], sparse_size=(NODES, NODES))
    for kind in ("SAGEConv", "GCNConv", "GATConv"):
        theirs, ours = twins(kind, (FEATURES, 5), device)
        torch.testing.assert_close(
            ours(features(device), edges), theirs(features(device), edges.as_tensor()))


@on_each_device
def test_a_graph_in_place_of_an_edge_index(device):
    edges = graphs(device)[0]
    graph = rt.Graph(edges, (NODES, NODES))
    x = features(device)
    for kind in ("SAGEConv", "GCNConv", "GATConv"):
        theirs, ours = twins(kind, (FEATURES, 5), device)
        torch.testing.assert_close(ours(x, graph), theirs(x, edges))
    theirs, ours = twins("SAGEConv", (FEATURES, 5), device, aggr="std")  # PyG's own code runs it
    torch.testing.assert_close(ours(x, graph), theirs(x, edges))


@on_each_device
def test_repeated_edges_and_weights_of_a_graph(device):
    edges = graphs(device)[1]
    x = features(device)
    for kind, options in (("SAGEConv", {}), ("SAGEConv", dict(aggr="max")), ("SAGEConv", dict(aggr="std")),
                          ("GCNConv", {}), ("GCNConv", dict(aggr="mean")), ("GATConv", {}),
                          ("GATConv", dict(add_self_loops=False)), ("SAGEConv", dict(flow="target_to_source"))):
        theirs, ours = twins(kind, (FEATURES, 5), device, **options)
        torch.testing.assert_close(ours(x, rt.Graph(edges, (NODES, NODES))), theirs(x, edges))
    edges = graphs(device)[0]
    value = torch.linspace(0.1, 1, edges.shape[1], device=device)
    adjacency = torch.sparse_coo_tensor(edges.flip(0), value, (NODES, NODES)).to_sparse_csr()
    graph = rt.Graph(adjacency)
    for options in (dict(normalize=False, aggr="mean"), dict(aggr="max"), {}):
        theirs, ours = twins("GCNConv", (FEATURES, 5), device, **options)
        torch.testing.assert_close(ours(x, graph), theirs(x, edges, value))
    for aggr in ("sum", "mean", "max") if device == "cpu" else ("sum", "mean"):  # PyG refuses it there
        theirs, ours = twins("SAGEConv", (FEATURES, 5), device, aggr=aggr)
        torch.testing.assert_close(ours(x, graph), ours(x, adjacency))


@on_each_device
def test_what_gat_leaves_to_pyg(device):
    edges = graphs(device)[0]
    theirs, ours = twins("GATConv", (FEATURES, 5), device, edge_dim=2)
    attributes = features(device, edges.shape[1], columns=2)
    assert_same(theirs, ours, lambda layer, x, a: layer(x, edges, a), [features(device), attributes])
    _, (_, found) = ours(features(device), edges, return_attention_weights=True)
    _, (_, expected) = theirs(features(device), edges, return_attention_weights=True)
    torch.testing.assert_close(found, expected)


def test_a_matrix_is_refused():
    matrix = rig.matrix(torch.eye(NODES).numpy())
    for kind in ("SAGEConv", "GCNConv", "GATConv"):
        layer = getattr(rn, kind)(FEATURES, 5)
        with pytest.raises(TypeError, match=r"rigblas.torch.Graph\(A\)"):
            layer(features("cpu"), matrix)
        assert layer(features("cpu"), rt.Graph(matrix)).shape == (NODES, 5)


def test_dropout_of_attention():
    _, ours = twins("GATConv", (FEATURES, 5), dropout=0.5)
    edges, x = graphs("cpu")[0], features("cpu")
    assert not torch.equal(ours(x, edges), ours(x, edges))
    ours.eval()
    assert torch.equal(ours(x, edges), ours(x, edges))


@on_each_device
@pytest.mark.parametrize("kind, options", [
    ("GraphSAGE", dict(aggr="max")), ("GraphSAGE", dict(aggr="mean")), ("GCN", dict(cached=True)),
    ("GIN", {}), ("GAT", dict(heads=2)),
], ids=str)
def test_accelerate(kind, options, device):
    torch.manual_seed(1)
    theirs = getattr(pyg, kind)(FEATURES, 8, 3, 4, **options).to(device)
    ours = copy.deepcopy(theirs)
    assert rn.accelerate(ours) == []
    assert rn.accelerate(ours) == []  # a second time changes nothing
    assert all(type(layer).__module__ == "rigblas.nn" for layer in ours.convs)
    assert ours.state_dict().keys() == theirs.state_dict().keys()
    edges = graphs(device)[0]
    assert_same(theirs, ours, lambda layer, x: layer(x, edges), [features(device)])
    assert_same(theirs, copy.deepcopy(ours), lambda layer, x: layer(x, edges), [features(device)])


def test_accelerate_says_what_it_left_alone():
    class Own(pyg.SAGEConv):
        pass

    hooked = pyg.SAGEConv(3, 4)
    hooked.register_message_forward_hook(lambda *_: None)
    model = torch.nn.ModuleDict({
        "sage": pyg.SAGEConv(3, 4),
        "own": Own(3, 4),
        "other": pyg.TransformerConv(3, 4),
        "lstm": pyg.SAGEConv(3, 4, aggr="lstm"),
        "turned": pyg.GCNConv(3, 4, flow="target_to_source"),
        "hooked": hooked,
        "linear": torch.nn.Linear(3, 4),
    })
    left = dict(rn.accelerate(model))
    assert list(left) == ["own", "other", "lstm", "turned", "hooked"]
    assert "Own is none of" in left["own"] and "aggr='lstm'" in left["lstm"]
    assert "flow='target_to_source'" in left["turned"] and "hooks" in left["hooked"]
    assert type(model["sage"]) is rn.SAGEConv and type(model["lstm"]) is pyg.SAGEConv


def test_a_hook_that_comes_later_is_called():
    theirs, ours = twins("SAGEConv", (FEATURES, 5), aggr="max")
    seen = []
    ours.register_propagate_forward_hook(lambda *_: seen.append(1))
    torch.testing.assert_close(ours(features("cpu"), graphs("cpu")[0]),
                               theirs(features("cpu"), graphs("cpu")[0]))
    assert seen == [1]


@pytest.mark.parametrize("kind", ["SAGEConv", "GCNConv", "GATConv"])
def test_training_after_inference(kind):
    edges, x = graphs("cpu")[1].clone(), features("cpu")
    theirs, ours = twins(kind, (FEATURES, 5))
    with torch.inference_mode():
        ours(x, edges)
    assert_same(theirs, ours, lambda layer, x: layer(x, edges), [x])


@on_each_device
@pytest.mark.parametrize("kind", ["SAGEConv", "GCNConv", "GATConv"])
def test_autocast(kind, device):
    edges, x = graphs(device)[0], features(device).float()
    theirs, ours = twins(kind, (FEATURES, 5), device)
    theirs, ours = theirs.float(), ours.float()
    with torch.autocast(torch.device(device).type, dtype=torch.bfloat16):
        found, expected = ours(x, edges), theirs(x, edges)
    assert found.dtype == expected.dtype
    torch.testing.assert_close(found.float(), expected.float(), rtol=0.05, atol=0.05)


def test_lazy_layers():
    for kind in ("SAGEConv", "GCNConv", "GATConv"):
        y = getattr(rn, kind)(-1, 5)(features("cpu"), graphs("cpu")[0])
        assert y.shape == (NODES, 5)


def test_reset_parameters_forgets_the_graph():
    _, ours = twins("GCNConv", (FEATURES, 5), cached=True)
    first, second = graphs("cpu")[0], graphs("cpu")[0][:, :10].clone()
    x = features("cpu")
    y = ours(x, first)
    torch.testing.assert_close(ours(x, second), y)  # cached=True keeps the first graph
    state = copy.deepcopy(ours.state_dict())
    ours.reset_parameters()
    ours.load_state_dict(state)
    assert not torch.allclose(ours(x, second), y)


@on_each_device
@pytest.mark.parametrize("kind, options", [("GraphSAGE", dict(aggr="max")), ("GCN", {}), ("GAT", {})],
                         ids=str)
def test_compile_without_breaks(kind, options, device):
    model = getattr(pyg, kind)(FEATURES, 8, 2, 4, **options).to(device).eval()
    rn.accelerate(model)
    graph = rt.Graph(graphs(device)[0], (NODES, NODES))
    x = features(device).requires_grad_()
    expected = model(x, graph)  # the first call makes the graphs of GCN and GAT
    found = torch.compile(model, fullgraph=True)(x, graph)
    torch.testing.assert_close(found, expected)
    for a, b in zip(torch.autograd.grad(found.sum(), [x, *model.parameters()]),
                    torch.autograd.grad(expected.sum(), [x, *model.parameters()])):
        torch.testing.assert_close(a, b)


@on_each_device
@pytest.mark.parametrize("kind, options", [
    ("GraphSAGE", dict(aggr="max")), ("GraphSAGE", dict(aggr="mean")), ("GCN", {}),
], ids=str)
def test_losses_of_training(kind, options, device):
    edges, x = graphs(device)[0], features(device).float()
    labels = torch.arange(NODES, device=device) % 4
    torch.manual_seed(1)
    theirs = getattr(pyg, kind)(FEATURES, 16, 3, 4, **options).float().to(device)
    ours = copy.deepcopy(theirs)
    rn.accelerate(ours)

    def losses(model):
        optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
        for _ in range(20):
            optimiser.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x, edges), labels)
            loss.backward()
            optimiser.step()
            yield loss.item()

    assert list(losses(ours)) == pytest.approx(list(losses(theirs)), abs=1e-4)


@on_each_device
def test_neighbour_loader(device):
    from torch_geometric.data import Data
    from torch_geometric.loader import NeighborLoader

    data = Data(x=features("cpu"), edge_index=graphs("cpu")[0], num_nodes=NODES)
    try:
        loader = NeighborLoader(data, num_neighbors=[3, 3], batch_size=6)
        batches = list(loader)
    except ImportError as error:
        pytest.skip(f"PyG samples no neighbours here: {error}")
    theirs = pyg.GraphSAGE(FEATURES, 8, 2, 4, aggr="max").to(device)
    ours = copy.deepcopy(theirs)
    rn.accelerate(ours)
    for batch in batches:
        batch = batch.to(device)
        torch.testing.assert_close(ours(batch.x, batch.edge_index), theirs(batch.x, batch.edge_index))


def test_import_without_pyg_says_what_to_install():
    code = "import sys; sys.modules['torch_geometric'] = None; import rigblas.torch, rigblas.nn"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode != 0
    assert "ImportError: rigblas.nn needs PyTorch and PyTorch Geometric" in run.stderr
    assert "pip install torch torch_geometric" in run.stderr


@pytest.mark.parametrize("name", ["sage_max_pyg.py", "sampled_inference.py"])
def test_examples(name):
    run = subprocess.run([sys.executable, str(ROOT / "examples" / "python" / name)], env=os.environ,
                         capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert run.stdout
