"""rigblas.torch against dense PyTorch: values, gradients, types, shapes, errors."""

import copy
import doctest
import gc
import pickle
from multiprocessing.reduction import ForkingPickler

import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)

import torch.multiprocessing  # noqa: E402, F401: what ForkingPickler does with tensors

import rigblas as rig  # noqa: E402
import rigblas.torch as rt  # noqa: E402
from rigblas import _torch_graph, _torch_operators  # noqa: E402

REDUCES = ("sum", "mean", "max", "min")
WIDTHS = (1, 3, 31, 32, 33, 64)
# Rows, columns, and the entries of each row: empty matrices, empty rows, a full row, a long tail.
SHAPES = {
    "no rows": (0, 4, []),
    "no columns": (3, 0, [0, 0, 0]),
    "no entries": (4, 3, [0, 0, 0, 0]),
    "one entry": (1, 1, [1]),
    "a full row": (5, 40, [0, 40, 1, 0, 2]),
    "empty rows": (9, 7, [0, 3, 0, 0, 7, 1, 0, 2, 0]),
    "a long tail": (60, 300, [1 + (i % 7) for i in range(59)] + [300]),
}


def cuda_reason():
    if not torch.cuda.is_available():
        return "PyTorch finds no CUDA device"
    if not any(each["device"].startswith("cuda") for each in rig.devices()):
        return "rigblas finds no CUDA device"
    return None


CUDA = pytest.mark.skipif(cuda_reason() is not None, reason=str(cuda_reason()))
DEVICES = ["cpu", pytest.param("cuda:0", marks=CUDA)]
on_each_device = pytest.mark.parametrize("device", DEVICES)


def edges_of(shape, seed=0):
    """Sources and targets of a named shape, in shuffled order."""
    rows, columns, lengths = SHAPES[shape]
    made = torch.Generator().manual_seed(seed)
    target = torch.repeat_interleave(torch.arange(rows), torch.tensor(lengths, dtype=torch.int64))
    picked = [torch.randperm(columns, generator=made)[:n] for n in lengths]
    source = torch.cat([torch.zeros(0, dtype=torch.int64), *picked])
    order = torch.randperm(len(source), generator=made)
    return torch.stack([source, target])[:, order], (columns, rows)


def graph_of(shape, device="cpu"):
    edges, size = edges_of(shape)
    return rt.Graph(edges.to(device), size)


def random(*shape, dtype=torch.float64, device="cpu", seed=1, grad=False):
    made = torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    return made.to(device, dtype).requires_grad_(grad)


def dense(graph, weight=None):
    """The graph as a dense matrix, and where it has entries."""
    columns, rows = graph.edge_index
    value = torch.ones(graph.nnz, dtype=torch.float64, device=graph.device)
    made = torch.zeros(graph.shape, dtype=torch.float64, device=graph.device)
    return made.index_put((rows, columns), value if weight is None else weight.double())


def by_hand(graph, x, reduce, weight=None):
    """The product by dense matrices of doubles, differentiable."""
    x = x.double()
    if reduce in ("sum", "mean"):
        y = dense(graph, weight) @ x
        entries = dense(graph).sum(1, keepdim=True)
        return y / entries.clamp(min=1) if reduce == "mean" else y
    is_max = reduce == "max"
    outside = float("-inf") if is_max else float("inf")
    spread = torch.where(dense(graph).bool().unsqueeze(2), x.unsqueeze(0), outside)
    if graph.shape[1] == 0:
        return x.new_zeros(graph.shape[0], x.shape[1])
    y = spread.amax(1) if is_max else spread.amin(1)
    return torch.where(y.isinf(), 0.0, y)


def assert_near(found, expected, dtype=torch.float64):
    tolerance = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}
    most = max(1.0, expected.abs().max().item() if expected.numel() else 0)
    torch.testing.assert_close(
        found.double(), expected.double(), rtol=0, atol=tolerance[dtype] * most
    )


# Values.


@on_each_device
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("reduce", REDUCES)
def test_spmm_over_shapes_and_widths(shape, reduce, device):
    graph = graph_of(shape, device)
    for width in WIDTHS:
        x = random(graph.shape[1], width, dtype=torch.float32, device=device)
        y = rt.spmm(graph, x, reduce)
        assert y.shape == (graph.shape[0], width) and y.dtype == x.dtype and y.device == x.device
        assert_near(y, by_hand(graph, x, reduce), torch.float32)


@on_each_device
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("reduce", REDUCES)
def test_spmm_over_types(dtype, reduce, device):
    graph = graph_of("a long tail", device)
    x = random(300, 33, dtype=dtype, device=device, grad=True)
    y = rt.spmm(graph, x, reduce)
    expected = by_hand(graph, x, reduce)
    assert y.dtype == dtype
    assert_near(y, expected, dtype)
    dy = random(60, 33, dtype=dtype, device=device, seed=2)
    dx = torch.autograd.grad(y, x, dy)[0]
    assert dx.dtype == dtype
    if dtype in (torch.float64, torch.float32) or reduce in ("sum", "mean"):
        # 16-bit numbers have ties, whose gradient PyTorch divides.
        assert_near(dx, torch.autograd.grad(expected, x, dy.double())[0], dtype)


@on_each_device
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("reduce", ["sum", "mean"])
@pytest.mark.parametrize("shape", ["no entries", "empty rows", "a long tail"])
def test_spmm_with_weights(shape, reduce, dtype, device):
    graph = graph_of(shape, device)
    x = random(graph.shape[1], 8, dtype=dtype, device=device, grad=True)
    weight = random(graph.nnz, dtype=dtype, device=device, seed=3, grad=True)
    y = rt.spmm(graph, x, reduce, weight)
    expected = by_hand(graph, x, reduce, weight)
    assert_near(y, expected, dtype)
    dy = random(*y.shape, dtype=dtype, device=device, seed=2)
    found = torch.autograd.grad(y, (x, weight), dy)
    for each, by in zip(found, torch.autograd.grad(expected, (x, weight), dy.double())):
        assert each.dtype == dtype
        assert_near(each, by, dtype)


@on_each_device
def test_features_of_one_and_three_dimensions(device):
    graph = graph_of("empty rows", device)
    x = random(7, device=device, grad=True)
    assert_near(rt.spmm(graph, x), by_hand(graph, x[:, None], "sum")[:, 0])
    assert_near(torch.autograd.grad(rt.spmm(graph, x, "max").sum(), x)[0],
                torch.autograd.grad(by_hand(graph, x[:, None], "max").sum(), x)[0])
    x = random(7, 2, 5, device=device)
    weight = random(graph.nnz, 2, device=device)
    for reduce in REDUCES:
        assert_near(rt.spmm(graph, x, reduce).flatten(1), by_hand(graph, x.flatten(1), reduce))
    y = rt.spmm(graph, x, "sum", weight)
    for head in range(2):
        assert_near(y[:, head], by_hand(graph, x[:, head], "sum", weight[:, head]))


@on_each_device
def test_rows_with_a_stride_are_read_in_place(device):
    graph = graph_of("a long tail", device)
    wide = random(300, 20, dtype=torch.float32, device=device)
    for x in (wide[:, 4:12], wide[:, :1], wide[:, 3]):
        assert torch.equal(rt.spmm(graph, x), rt.spmm(graph, x.contiguous()))


@on_each_device
def test_no_features(device):
    graph = graph_of("empty rows", device)
    assert rt.spmm(graph, random(7, 0, device=device)).shape == (9, 0)
    assert torch.equal(rt.sddmm(graph, random(9, 0, device=device), random(7, 0, device=device)),
                       torch.zeros(graph.nnz, dtype=torch.float64, device=device))


@on_each_device
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_sddmm(dtype, device):
    graph = graph_of("a long tail", device)
    x, y = random(60, 9, dtype=dtype, device=device), random(300, 9, dtype=dtype, device=device, seed=4)
    source, target = graph.edge_index
    assert_near(rt.sddmm(graph, x, y), (x.double()[target] * y.double()[source]).sum(1), dtype)
    x, y = random(60, 3, 4, dtype=dtype, device=device), random(300, 3, 4, dtype=dtype, device=device)
    assert_near(rt.sddmm(graph, x, y), (x.double()[target] * y.double()[source]).sum(2), dtype)


@on_each_device
@pytest.mark.parametrize("shape", SHAPES)
def test_edge_softmax(shape, device):
    graph = graph_of(shape, device)
    scores = random(graph.nnz, 2, device=device)
    found = rt.edge_softmax(graph, scores)
    assert found.shape == scores.shape
    target = graph.edge_index[1]
    for head in range(2):
        exp = scores[:, head].exp()
        total = torch.zeros(graph.shape[0], dtype=exp.dtype, device=device).index_add(0, target, exp)
        assert_near(found[:, head], exp / total[target])
        assert torch.equal(rt.edge_softmax(graph, scores[:, head]), found[:, head])


@on_each_device
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16])
def test_maxk(dtype, device):
    x = random(40, 16, dtype=dtype, device=device, grad=True)
    y = rt.maxk(x, 5)
    least = x.detach().sort(dim=1, descending=True, stable=True)[0][:, 4:5]
    expected = torch.where(x >= least, x, 0)
    if dtype != torch.float16:  # 16-bit numbers have ties
        assert torch.equal(y, expected)
        assert torch.equal(torch.autograd.grad(y.sum(), x)[0], (x >= least).to(dtype))
    assert ((y != 0).sum(1) == 5).all()
    tied = torch.ones(2, 6, dtype=dtype, device=device)
    assert torch.equal(rt.maxk(tied, 2)[0], torch.tensor([1.0, 1, 0, 0, 0, 0], device=device).to(dtype))


@on_each_device
@pytest.mark.parametrize("columns", [16, 300])
@pytest.mark.parametrize("reduce", ["sum", "mean"])
def test_maxk_spmm(reduce, columns, device):
    graph = graph_of("a long tail", device)
    x = random(300, columns, dtype=torch.float32, device=device, grad=True)
    weight = random(graph.nnz, dtype=torch.float32, device=device, grad=True)
    for w in (None, weight):
        y = rt.maxk_spmm(graph, x, 4, reduce, w)
        expected = by_hand(graph, rt.maxk(x, 4), reduce, w)
        assert_near(y, expected, torch.float32)
        inputs = (x,) if w is None else (x, w)
        dy = random(*y.shape, dtype=torch.float32, device=device, seed=2)
        for found, by in zip(torch.autograd.grad(y, inputs, dy),
                             torch.autograd.grad(expected, inputs, dy.double())):
            assert_near(found, by, torch.float32)


@on_each_device
@pytest.mark.parametrize("kernel", ["fastrand", "adaptive", "bucket"])
@pytest.mark.parametrize("reduce", REDUCES)
def test_sampled_spmm(kernel, reduce, device):
    graph = graph_of("a long tail", device)
    x = random(300, 12, dtype=torch.float32, device=device)
    exact = rt.spmm(graph, x, reduce)
    sampled = rt.sampled_spmm(graph, x, reduce, kernel=kernel, width=32)
    assert_near(sampled[:59], exact[:59], torch.float32)  # rows of at most 32 entries are whole
    assert not torch.equal(sampled[59], exact[59])
    assert torch.equal(sampled, rt.sampled_spmm(graph, x, reduce, kernel=kernel, width=32))
    ones = torch.ones(300, 1, device=device)
    whole = rt.sampled_spmm(graph, ones, kernel=kernel, width=30, rescale=True)
    assert_near(whole, rt.spmm(graph, ones), torch.float32)


# Gradients.


def linear_cases(device):
    graph = graph_of("empty rows", device)
    x, w = random(7, 3, device=device, grad=True), random(graph.nnz, device=device, grad=True)
    x3, w2 = random(7, 2, 3, device=device, grad=True), random(graph.nnz, 2, device=device, grad=True)
    left = random(9, 3, device=device, seed=5, grad=True)
    left3 = random(9, 2, 3, device=device, seed=5, grad=True)
    cases = {
        "sddmm": (lambda a, b: rt.sddmm(graph, a, b), (left, x)),
        "sddmm of heads": (lambda a, b: rt.sddmm(graph, a, b), (left3, x3)),
        "edge_softmax": (lambda s: rt.edge_softmax(graph, s), (w,)),
        "edge_softmax of heads": (lambda s: rt.edge_softmax(graph, s), (w2,)),
        "maxk": (lambda a: rt.maxk(a, 2), (x,)),
    }
    for reduce in REDUCES:
        cases[f"spmm {reduce}"] = (lambda a, r=reduce: rt.spmm(graph, a, r), (x,))
    for reduce in ("sum", "mean"):
        cases[f"spmm {reduce}, weights"] = (lambda a, b, r=reduce: rt.spmm(graph, a, r, b), (x, w))
        cases[f"spmm {reduce}, heads"] = (lambda a, b, r=reduce: rt.spmm(graph, a, r, b), (x3, w2))
    return cases


CASES = tuple(linear_cases("cpu"))


@on_each_device
@pytest.mark.parametrize("case", CASES)
def test_gradients_and_their_gradients(case, device):
    function, inputs = linear_cases(device)[case]
    assert torch.autograd.gradcheck(function, inputs)
    assert torch.autograd.gradgradcheck(function, inputs)


@on_each_device
@pytest.mark.parametrize("case", CASES)
def test_transforms_of_torch_func(case, device):
    function, inputs = linear_cases(device)[case]
    inputs = tuple(x.detach() for x in inputs)
    every = tuple(range(len(inputs)))

    def loss(*x):
        return function(*x).square().sum()

    def by_backward(*x):
        x = [each.clone().requires_grad_() for each in x]
        return torch.autograd.grad(loss(*x), x)

    expected = by_backward(*inputs)
    found = torch.func.grad(loss, every)(*inputs)
    assert all(torch.equal(a, b) for a, b in zip(found, expected))
    y, pull = torch.func.vjp(function, *inputs)
    assert all(torch.equal(a, b) for a, b in zip(pull(2 * y), expected))
    # Samples: of values, of gradients, and gradients of a sum over samples.
    samples = tuple(torch.stack([x, x.flip(0), 2 * x]) for x in inputs)
    alone = list(zip(*samples))
    mapped = torch.vmap(function)(*samples)
    assert torch.equal(mapped, torch.stack([function(*x) for x in alone]))
    of_each = [torch.stack(each) for each in zip(*(by_backward(*x) for x in alone))]
    for found in (torch.vmap(torch.func.grad(loss, every))(*samples),
                  torch.func.grad(lambda *x: torch.vmap(loss)(*x).sum(), every)(*samples)):
        assert all(torch.equal(a, b) for a, b in zip(found, of_each))
    twice = torch.func.grad(lambda *x: sum(g.sum() for g in torch.func.grad(loss, every)(*x)), every)(*inputs)
    again = [x.clone().requires_grad_() for x in inputs]
    first = torch.autograd.grad(loss(*again), again, create_graph=True)
    for a, b in zip(twice, torch.autograd.grad(sum(g.sum() for g in first), again)):
        assert_near(a, b)


@on_each_device
def test_samples_beside_what_all_share(device):
    graph = graph_of("empty rows", device)
    x, w = random(7, 4, device=device), random(graph.nnz, 3, device=device)
    found = torch.vmap(lambda weight: rt.spmm(graph, x, weight=weight), in_dims=1)(w)
    assert torch.equal(found, torch.stack([rt.spmm(graph, x, weight=w[:, i].contiguous()) for i in range(3)]))
    jacobian = torch.func.jacrev(lambda weight: rt.spmm(graph, x, weight=weight))(w[:, 0])
    assert_near(jacobian, torch.autograd.functional.jacobian(lambda v: by_hand(graph, x, "sum", v), w[:, 0]))
    many = torch.stack([x, 2 * x])
    for call in (lambda t: rt.maxk_spmm(graph, t, 2), lambda t: rt.sampled_spmm(graph, t, width=4)):
        assert torch.equal(torch.vmap(call)(many), torch.stack([call(x), call(2 * x)]))
    gradient = torch.func.grad(lambda t: rt.maxk_spmm(graph, t, 2).sum())(x)
    again = x.clone().requires_grad_()
    assert torch.equal(gradient, torch.autograd.grad(rt.maxk_spmm(graph, again, 2).sum(), again)[0])
    with pytest.raises(ValueError, match="x requires gradients"):
        torch.func.grad(lambda t: rt.sampled_spmm(graph, t, width=4).sum())(x)
    with pytest.raises(NotImplementedError, match="spmm: derivatives in forward mode"):
        torch.func.hessian(lambda t: rt.spmm(graph, t).sum())(x)


@on_each_device
@pytest.mark.parametrize("reduce", ["sum", "max"])
def test_compiled_transforms_lose_no_gradient(reduce, device):
    """torch.compile leaves them to Python: its trace does not see that a transform needs gradients."""
    graph = graph_of("empty rows", device)
    x = random(7, 2, device=device)
    gradient = torch.func.grad(lambda t: rt.spmm(graph, t, reduce).square().sum())
    assert torch.equal(torch.compile(gradient)(x), gradient(x))


@on_each_device
@pytest.mark.parametrize("reduce", ["sum", "mean"])
def test_gradient_of_maxk_spmm(reduce, device):
    graph = graph_of("empty rows", device)
    x, w = random(7, 4, device=device, grad=True), random(graph.nnz, device=device, grad=True)
    assert torch.autograd.gradcheck(lambda a, b: rt.maxk_spmm(graph, a, 2, reduce, b), (x, w))


@on_each_device
def test_the_lowest_of_equal_values_gets_the_gradient(device):
    edges = torch.tensor([[2, 1, 0], [0, 0, 1]], device=device)
    x = torch.ones(3, 1, device=device, requires_grad=True)
    rt.spmm(edges, x, "max").sum().backward()
    assert x.grad.flatten().tolist() == [1, 1, 0]


@on_each_device
def test_same_bits_in_each_run(device):
    graph = graph_of("a long tail", device)
    x = random(300, 33, dtype=torch.float32, device=device, grad=True)
    w = random(graph.nnz, dtype=torch.float32, device=device, grad=True)

    def run():
        score = rt.edge_softmax(graph, w * rt.sddmm(graph, x[:60], x))
        parts = [rt.spmm(graph, x, r) for r in REDUCES] + [rt.maxk_spmm(graph, x, 5)]
        y = sum(parts) + rt.spmm(graph, x, "mean", score)
        return (y, *torch.autograd.grad(y.square().sum(), (x, w)))

    first = run()
    for _ in range(5):
        assert all(torch.equal(a, b) for a, b in zip(first, run()))


@on_each_device
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_scatter(dtype, device):
    dy = random(90, 7, dtype=dtype, device=device)
    winners = torch.randint(-1, 5, (90, 7), generator=torch.Generator().manual_seed(1))
    expected = torch.zeros(6, 7, dtype=torch.float64).scatter_add(
        0, torch.where(winners < 0, 5, winners), dy.double().cpu())
    scatter = torch.ops.rigblas.scatter_to_winners
    winners = winners.int().to(device)
    assert_near(scatter(dy, winners, 5).cpu(), expected[:5], dtype)
    apart = dy.t().contiguous().t()
    assert torch.equal(scatter(apart, winners, 5), scatter(dy, winners, 5))
    assert not scatter(dy[:0], winners[:0], 5).any()
    with pytest.raises(TypeError, match="winners are float32; give int32"):
        scatter(dy, winners.float(), 5)


@on_each_device
def test_memory_kept_for_the_backward_pass(device):
    """Nothing of size E x F is kept: 90 000 entries, 300 nodes, 8 features."""
    edges = torch.cartesian_prod(torch.arange(300), torch.arange(300)).t().to(device)
    graph = rt.Graph(edges, (300, 300))
    kept = []
    x = random(300, 8, dtype=torch.float32, device=device, grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t.nbytes) or t, lambda t: t):
        for reduce in REDUCES:
            rt.spmm(graph, x, reduce)
        rt.maxk_spmm(graph, x, 2)
    assert sum(kept) <= 4 * x.nbytes


# PyTorch's own checks.


@on_each_device
def test_opcheck(device):
    graph = graph_of("empty rows", device)
    ops, handle = torch.ops.rigblas, graph.handle
    x, w = random(7, 3, device=device, grad=True), random(graph.nnz, device=device, grad=True)
    x3, w2 = random(7, 2, 3, device=device, grad=True), random(graph.nnz, 2, device=device, grad=True)
    y, y3 = random(9, 3, device=device, grad=True), random(9, 2, 3, device=device, grad=True)
    winners = torch.zeros(9, 3, dtype=torch.int32, device=device)
    for op, arguments in (
        (ops.spmm, (x, w, handle, "mean", False)),
        (ops.spmm, (y, None, handle, "sum", True)),
        (ops.aggregate, (x.detach(), None, handle, "max", False)),
        (ops.spmm, (x3, w2, handle, "sum", False)),
        (ops.spmm_winners, (x, handle, "max")),
        (ops.scatter_to_winners, (y, winners, 7)),
        (ops.sddmm, (y, x, handle, "mean")),
        (ops.sddmm, (y3, x3, handle, "sum")),
        (ops.edge_softmax, (w2, handle)),
        (ops.maxk, (x, 2)),
        (ops.maxk_spmm, (x, w, handle, "mean", 2)),
        (ops.sampled_spmm, (x.detach(), None, handle, "mean", "fastrand", 4, False)),
    ):
        torch.library.opcheck(op.default, arguments)


@on_each_device
def test_compile_without_breaks(device):
    graph = graph_of("a long tail", device)

    def model(x, w):
        scores = rt.edge_softmax(graph, torch.nn.functional.leaky_relu(rt.sddmm(graph, x[:60], x)))
        y = rt.spmm(graph, x, "sum", scores * w) + rt.maxk_spmm(graph, rt.maxk(x, 6), 4)
        return sum((rt.spmm(graph, x, r) for r in REDUCES), start=y)

    x = random(300, 8, dtype=torch.float32, device=device, grad=True)
    w = random(graph.nnz, dtype=torch.float32, device=device, grad=True)
    found = torch.compile(model, fullgraph=True)(x, w)
    expected = model(x, w)
    assert_near(found, expected, torch.float32)
    for a, b in zip(torch.autograd.grad(found.sum(), (x, w)), torch.autograd.grad(expected.sum(), (x, w))):
        assert_near(a, b, torch.float32)


class Names(torch.utils._python_dispatch.TorchDispatchMode):
    """The operators that are called."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.names.append(function.name())
        return function(*args, **(kwargs or {}))


@on_each_device
def test_what_watches_operators_sees_them(device):
    """Plain calls go past PyTorch's dispatcher; traces, modes and transforms must not."""
    graph = graph_of("empty rows", device)
    x = random(7, 3, device=device)
    expected = rt.spmm(graph, x, "max")
    for _ in range(2):  # the second one is remembered
        assert torch.equal(rt.spmm(graph, x, "max"), expected)
    with Names() as mode:
        rt.spmm(graph, x, "max")
        rt.spmm(graph, x.clone().requires_grad_(), "max")
    assert "rigblas::aggregate" in mode.names and "rigblas::spmm_winners" in mode.names
    with torch._subclasses.FakeTensorMode() as fake:
        assert rt.spmm(graph, fake.from_tensor(x), "max").shape == (9, 3)
    traced = torch.jit.trace(lambda t: rt.spmm(graph, t, "max"), x)
    assert torch.equal(traced(2 * x), 2 * expected)
    made = torch.fx.experimental.proxy_tensor.make_fx(lambda t: rt.spmm(graph, t, "max"))(x)
    assert torch.equal(made(2 * x), 2 * expected)
    mapped = torch.vmap(lambda t: rt.spmm(graph, t, "max"))(torch.stack([x, 2 * x]))
    assert torch.equal(mapped, torch.stack([expected, 2 * expected]))


@on_each_device
def test_a_remembered_check_holds_for_its_arguments_alone(device):
    graph = graph_of("empty rows", device)
    x = random(7, 2, device=device)
    for reduce in REDUCES:
        expected = by_hand(graph, x, reduce)
        for _ in range(2):
            assert_near(rt.spmm(graph, x, reduce), expected)
        negative = torch._neg_view(x)  # its memory holds x
        assert_near(rt.spmm(graph, negative, reduce), by_hand(graph, -x, reduce))
        assert rt.spmm(graph, x.clone().requires_grad_(), reduce).requires_grad
        assert_near(rt.spmm(graph, x[:, :1], reduce), expected[:, :1])
        with pytest.raises(ValueError, match=r"strides \(1, 7\)"):
            rt.spmm(graph, x.t().contiguous().t(), reduce)
    assert_near(rt.spmm(graph, x.float()), by_hand(graph, x, "sum"), torch.float32)
    for seed in (3, 4):
        graph.weight = random(graph.nnz, device=device, seed=seed)
        for _ in range(2):
            assert_near(rt.spmm(graph, x), by_hand(graph, x, "sum", graph.weight))
    graph.weight = graph.weight.requires_grad_()
    with torch.no_grad():
        rt.spmm(graph, x)
    assert rt.spmm(graph, x).requires_grad


@CUDA
def test_cuda_graph():
    graph = graph_of("a long tail", "cuda:0").prepare()
    x = random(300, 32, dtype=torch.float32, device="cuda:0", grad=True)

    def step():
        y = sum(rt.spmm(graph, x, r) for r in REDUCES) + rt.maxk_spmm(graph, x, 4)
        scores = rt.sddmm(graph, x[:60].view(60, 4, 8), x.view(300, 4, 8))
        weight = rt.edge_softmax(graph, scores)
        y = y + rt.spmm(graph, x.view(300, 4, 8), weight=weight).flatten(1)
        return y, torch.autograd.grad(y.square().sum(), x)[0]

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    recorded = torch.cuda.CUDAGraph()
    with torch.cuda.graph(recorded):
        y, dx = step()
    with torch.no_grad():
        x.copy_(random(300, 32, dtype=torch.float32, device="cuda:0", seed=9))
    recorded.replay()
    expected = step()
    assert torch.equal(y, expected[0]) and torch.equal(dx, expected[1])


@CUDA
def test_the_current_stream_is_used():
    graph = graph_of("a long tail", "cuda:0")
    x = random(300, 64, dtype=torch.float32, device="cuda:0")
    expected = rt.spmm(graph, 2 * x)
    assert _torch_operators._stream(x.get_device()) == 1  # the legacy stream
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        assert _torch_operators._stream(x.get_device()) == side.cuda_stream
        torch.cuda._sleep(20_000_000)
        y = rt.spmm(graph, 2 * x)
    side.synchronize()
    assert torch.equal(y, expected)


# Graphs.


class SparseTensor:
    """What rigblas reads of torch_sparse.SparseTensor."""

    def __init__(self, csr):
        self.tensor = csr

    def csr(self):
        return self.tensor.crow_indices(), self.tensor.col_indices(), None

    def sparse_sizes(self):
        return tuple(self.tensor.shape)


@on_each_device
def test_kinds_of_graphs(device):
    edges, size = edges_of("a long tail")
    graph = rt.Graph(edges.to(device), size)
    x = random(300, 5, device=device)
    expected = rt.spmm(graph, x)
    adjacency = dense(graph)
    matrix = rig.matrix((torch.ones(len(edges[0])).numpy(), (edges[1].numpy(), edges[0].numpy())),
                        shape=(60, 300)).to(device)
    for A in (
        matrix,
        rig.iso(matrix),
        adjacency.to_sparse_csr(),
        adjacency.to_sparse(),
        adjacency.to_sparse_csc(),
        SparseTensor(adjacency.to_sparse_csr()),
        rt.as_graph(edges.to(device), size),
        rt.as_graph(edges.int().to(device), size),
    ):
        assert_near(rt.spmm(A, x), expected)
        assert_near(rt.spmm(A, x, "max"), rt.spmm(graph, x, "max"))


@on_each_device
def test_values_of_a_matrix_are_weights(device):
    graph = graph_of("empty rows", device)
    w = random(graph.nnz, device=device)
    x = random(7, 3, device=device, grad=True)
    expected = by_hand(graph, x, "sum", w)
    columns, rows = graph.edge_index.cpu()
    matrix = rig.matrix((w.cpu().numpy(), (rows.numpy(), columns.numpy())), shape=(9, 7)).to(device)
    for A in (matrix, dense(graph, w).to_sparse_csr(), dense(graph, w).to_sparse()):
        y = rt.spmm(A, x)
        assert_near(y, expected)
        assert_near(torch.autograd.grad(y.sum(), x)[0], torch.autograd.grad(expected.sum(), x, retain_graph=True)[0])
        half = rt.spmm(A, x.half())
        assert half.dtype == torch.float16
        assert_near(half, expected, torch.float16)


@on_each_device
def test_an_edge_index_is_square_unless_size_says_otherwise(device):
    edges = torch.tensor([[0, 1, 4], [1, 0, 2]], device=device)
    x = random(6, 2, device=device)
    y = rt.spmm(edges, x)
    assert y.shape == (6, 2) and torch.equal(y[2], x[4]) and torch.equal(y[0], x[1])
    assert rt.spmm(rt.as_graph(edges, (6, 3)), x).shape == (3, 2)
    assert rt.Graph(edges).shape == (5, 5)


@on_each_device
def test_repeated_edges_count_each_time(device):
    edges = torch.tensor([[0, 0, 2, 1, 0], [1, 1, 1, 0, 1]], device=device)
    graph = rt.as_graph(edges, (3, 3))
    assert graph.repeated and graph.nnz == 3 and graph.weight.tolist() == [1, 3, 1]
    x, w = random(3, 4, device=device, grad=True), random(5, device=device, grad=True)

    def scattered(reduce, weight):
        messages = x[edges[0]] * weight[:, None]
        y = torch.zeros(3, 4, dtype=torch.float64, device=device).index_add(0, edges[1], messages)
        counts = torch.bincount(edges[1], minlength=3).clamp(min=1)[:, None]
        return y / counts if reduce == "mean" else y

    for reduce in ("sum", "mean"):
        found, expected = rt.spmm(graph, x, reduce), scattered(reduce, torch.ones_like(w))
        assert_near(found, expected)
        assert_near(torch.autograd.grad(found.sum(), x)[0], torch.autograd.grad(expected.sum(), x)[0])
        found, expected = rt.spmm(graph, x, reduce, graph.in_order(w)), scattered(reduce, w)
        assert_near(found, expected)
        for a, b in zip(torch.autograd.grad(found.square().sum(), (x, w)),
                        torch.autograd.grad(expected.square().sum(), (x, w))):
            assert_near(a, b)
    assert_near(rt.spmm(graph, x, "max")[1], torch.maximum(x[0], x[2]))
    assert_near(rt.maxk_spmm(graph, x, 4, "mean"), scattered("mean", torch.ones_like(w)))
    sampled = rt.sampled_spmm(graph, x.detach(), "mean", width=4)
    assert_near(sampled, scattered("mean", torch.ones_like(w)))


@on_each_device
def test_in_order_sorts_weights_of_edges(device):
    edges, size = edges_of("empty rows")
    graph = rt.Graph(edges.to(device), size)
    w = random(graph.nnz, 2, device=device)
    by_place = {tuple(e): w[i] for i, e in enumerate(edges.t().tolist())}
    for entry, place in zip(graph.in_order(w), graph.edge_index.t().tolist()):
        assert torch.equal(entry, by_place[tuple(place)])


def test_a_graph_is_made_once_and_dies_with_its_tensor():
    edges = torch.tensor([[0, 1], [1, 0]])
    graph = rt.as_graph(edges, (2, 2))
    assert rt.as_graph(edges, (2, 2)) is graph
    assert rt.as_graph(edges, (2, 3)) is not graph
    edges[0, 0] = 1
    assert rt.as_graph(edges, (2, 2)) is not graph
    assert rt.as_graph(edges, (2, 2)).edge_index.tolist() == [[1, 1], [0, 1]]
    handle, count = rt.as_graph(edges, (2, 2)).handle, len(_torch_graph._forms)
    del edges
    gc.collect()
    assert len(_torch_graph._forms) == count - 1
    with pytest.raises(RuntimeError, match=f"handle {handle} is gone"):
        torch.ops.rigblas.spmm(torch.ones(2, 1), None, handle, "sum", False)


def test_the_backward_pass_keeps_the_graph():
    x = torch.ones(2, 1, requires_grad=True)
    y = rt.spmm(rt.Graph(torch.tensor([[0, 1], [1, 1]]), (2, 2)), x)
    gc.collect()
    y.sum().backward()
    assert x.grad.flatten().tolist() == [1, 1]


@on_each_device
def test_a_graph_keeps_the_memory_of_its_entries(device):
    graph = graph_of("a long tail", device)
    x = random(300, 3, device=device)
    expected, matrix = rt.spmm(graph, x), graph.matrix
    edges = graph.edge_index
    assert graph.matrix.device == device
    del graph
    gc.collect()
    spoiled = [torch.zeros(len(edges[0]), dtype=torch.int32, device=device) for _ in range(50)]
    found = rt.Graph(matrix)
    assert torch.equal(rt.spmm(found, x), expected) and torch.equal(found.edge_index, edges)
    del spoiled


def test_a_copy_of_a_model_shares_its_graph():
    graph = graph_of("empty rows")
    assert copy.deepcopy({"graph": graph})["graph"] is graph


@on_each_device
def test_a_pickled_graph_has_a_handle_of_its_own(device):
    edges = torch.tensor([[0, 0, 2, 1, 0], [1, 1, 1, 0, 1]], device=device)
    x, w = random(3, 2, device=device), random(5, device=device)
    for graph in (rt.Graph(edges, (3, 3)), rt.Graph(rt.Graph(edges, (3, 3)).matrix)):
        indices = graph.edge_index
        found = pickle.loads(bytes(ForkingPickler.dumps(graph)))  # as another process gets it
        assert found.handle != graph.handle and found.device == graph.device
        assert torch.equal(graph.edge_index, indices) and torch.equal(found.edge_index, indices)
        assert torch.equal(rt.spmm(found, x, "mean"), rt.spmm(graph, x, "mean"))
        assert found.repeated == graph.repeated
        assert copy.copy(graph) is graph
    found = pickle.loads(pickle.dumps(rt.Graph(edges, (3, 3))))
    assert torch.equal(found.in_order(w), rt.Graph(edges, (3, 3)).in_order(w))
    assert [each.tolist() for each in found.edges[0]] == [[1, 0, 0, 0, 2], [0, 1, 1, 1, 1]]


@on_each_device
def test_equal_columns_of_a_sparse_tensor_are_added(device):
    adjacency = torch.sparse_csr_tensor(
        torch.tensor([0, 2, 2, 3]), torch.tensor([1, 1, 0]), torch.tensor([5.0, 7.0, 1.0]), (3, 3)
    ).to(device)
    found = rt.spmm(adjacency, torch.eye(3, device=device))
    assert found.tolist() == [[0, 12, 0], [0, 0, 0], [1, 0, 0]]


@on_each_device
@pytest.mark.parametrize("reduce", REDUCES)
@pytest.mark.parametrize("rows, columns", [(0, 4), (4, 0), (3, 4)])
def test_gradients_without_entries(rows, columns, reduce, device):
    graph = rt.Graph(torch.zeros(2, 0, dtype=torch.int64, device=device), (columns, rows))
    x, w = random(columns, 3, device=device, grad=True), random(0, device=device, grad=True)
    for weight in (None, w) if reduce in ("sum", "mean") else (None,):
        y = rt.spmm(graph, x, reduce, weight)
        assert y.shape == (rows, 3) and not y.any()
        (dx,) = torch.autograd.grad(y.sum(), x, retain_graph=True)
        assert dx.shape == x.shape and not dx.any()


def test_weights_that_change_serve_every_type():
    graph = rt.Graph(torch.eye(2).to_sparse())
    x = torch.ones(2, 1, dtype=torch.float64)
    assert rt.spmm(graph, x).tolist() == [[1], [1]]
    graph.weight.mul_(3)
    assert rt.spmm(graph, x).tolist() == [[3], [3]]


def test_under_inference_mode():
    with torch.inference_mode():
        edges = torch.tensor([[0, 1], [1, 1]])
        assert rt.spmm(edges, torch.ones(2, 1)).flatten().tolist() == [0, 2]


def test_training_with_a_graph_that_inference_made():
    edges = torch.tensor([[0, 1, 1], [1, 1, 1]])
    with torch.inference_mode():
        for reduce in REDUCES:
            rt.spmm(edges, torch.ones(2, 1, dtype=torch.float64), reduce)
    x = torch.ones(2, 1, dtype=torch.float64, requires_grad=True)
    for reduce in REDUCES:
        rt.spmm(edges, x, reduce).sum().backward()


@on_each_device
def test_a_graph_moves(device):
    graph = rt.Graph(torch.tensor([[0, 0, 2, 1, 0], [1, 1, 1, 0, 1]]), (3, 3))
    x, w = random(3, 4), random(5)
    moved = graph.to(device)
    assert moved.device == torch.device(device) and graph.to("cpu") is graph
    for reduce in REDUCES:
        assert_near(rt.spmm(moved, x.to(device), reduce).cpu(), rt.spmm(graph, x, reduce))
    assert_near(moved.in_order(w.to(device)).cpu(), graph.in_order(w))


def test_repr():
    assert repr(graph_of("empty rows")) == "<rigblas.torch.Graph 9x7, 13 entries, on cpu>"


# Errors.


def test_forward_mode_is_refused():
    """PyTorch would drop the tangent, and say that the derivative is 0."""
    graph, x = graph_of("empty rows"), random(7, 2)
    tangent = torch.ones_like(x)
    rt.spmm(graph, x)  # its check is kept
    for reduce in ("sum", "max"):
        with pytest.raises(NotImplementedError, match="forward mode"):
            torch.func.jvp(lambda x: rt.spmm(graph, x, reduce), (x,), (tangent,))
        with torch.autograd.forward_ad.dual_level():
            dual = torch.autograd.forward_ad.make_dual(x, tangent)
            with pytest.raises(NotImplementedError, match="forward mode"):
                rt.spmm(graph, dual, reduce)
            torch.testing.assert_close(rt.spmm(graph, x, reduce), rt.spmm(graph, x.clone(), reduce))


def test_errors_name_the_values():
    graph = graph_of("empty rows")  # 9x7, 13 entries
    x, w = torch.ones(7, 2), torch.ones(13)
    sparse = torch.eye(3).to_sparse().requires_grad_()
    for error, words, call in (
        (ValueError, "A is 9x7, x has 6 rows", lambda: rt.spmm(graph, x[:6])),
        (TypeError, "x is torch.int64", lambda: rt.spmm(graph, x.long())),
        (TypeError, "x is list", lambda: rt.spmm(graph, [1.0] * 7)),
        (ValueError, r"strides \(1, 7\)", lambda: rt.spmm(graph, torch.ones(2, 7).t())),
        (ValueError, r"strides \(0, 1\)", lambda: rt.spmm(graph, torch.ones(1, 2).expand(7, 2))),
        (ValueError, "reduce is 'mul'; give one of sum, mean, max, min", lambda: rt.spmm(graph, x, "mul")),
        (ValueError, "takes no weight", lambda: rt.spmm(graph, x, "max", w)),
        (ValueError, r"13 entries, weight has the shape \(12,\)", lambda: rt.spmm(graph, x, weight=w[:12])),
        (TypeError, "weight is torch.float64, x is torch.float32", lambda: rt.spmm(graph, x, weight=w.double())),
        (TypeError, "weight is list", lambda: rt.spmm(graph, x, weight=[1.0] * 13)),
        (TypeError, "weight is ndarray", lambda: rt.sampled_spmm(graph, x, weight=w.numpy())),
        (ValueError, r"weight has the shape \(\)", lambda: rt.spmm(graph, x, weight=torch.tensor(2.0))),
        (ValueError, "weight has 2 heads", lambda: rt.spmm(graph, x, weight=torch.ones(13, 2))),
        (TypeError, "size is 3", lambda: rt.Graph(torch.ones(2, 3).long(), 3)),
        (TypeError, r"size is \(3, 3, 3\)", lambda: rt.Graph(torch.ones(2, 3).long(), (3, 3, 3))),
        (TypeError, r"size is \(2.5, 3\)", lambda: rt.Graph(torch.ones(2, 3).long(), (2.5, 3))),
        (ValueError, r"size is \(-2, 3\)", lambda: rt.Graph(torch.ones(2, 0).long(), (-2, 3))),
        (ValueError, "give numbers from 0 to 2147483647", lambda: rt.Graph(torch.ones(2, 3).long(), (2**62, 6))),
        (ValueError, "at most 2147483647", lambda: rt.Graph(torch.tensor([[0, 2**31], [1, 0]]))),
        (ValueError, r"A is 9x7, size is \(9, 7\)", lambda: rt.Graph(graph.matrix, (9, 7))),
        (TypeError, "torch.complex64", lambda: rt.Graph(torch.eye(2, dtype=torch.complex64).to_sparse_csr())),
        (TypeError, "^spmm: features are NoneType", lambda: rt.spmm(torch.zeros(2, 0).long(), None)),
        (ValueError, r"reduce is \['sum'\]", lambda: rt.spmm(graph, x, ["sum"])),
        (ValueError, "^sampled_spmm: rescale", lambda: rt.sampled_spmm(graph, x, "max", rescale=True)),
        (TypeError, "layout torch.sparse_bsr", lambda: rt.Graph(torch.eye(4).to_sparse_bsr((2, 2)))),
        (ValueError, "A is on cpu, x is on meta", lambda: rt.spmm(graph, x.to("meta"))),
        (ValueError, "A is 9x7, x has 7 rows", lambda: rt.sddmm(graph, x, x)),
        (ValueError, r"x has the shape \(9, 3\), y \(7, 2\)", lambda: rt.sddmm(graph, torch.ones(9, 3), x)),
        (TypeError, "y is torch.float32, x is torch.float64", lambda: rt.sddmm(graph, torch.ones(9, 2).double(), x)),
        (ValueError, "scores has 12 rows", lambda: rt.edge_softmax(graph, w[:12])),
        (ValueError, "k is 3, but x has 2 columns", lambda: rt.maxk(x, 3)),
        (ValueError, "k is 1.5", lambda: rt.maxk(x, 1.5)),
        (TypeError, "x is ndarray", lambda: rt.maxk(x.numpy(), 1)),
        (ValueError, "k is 0", lambda: rt.maxk_spmm(graph, x, 0)),
        (ValueError, "reduce is 'max'", lambda: rt.maxk_spmm(graph, x, 1, "max")),
        (ValueError, "x requires gradients", lambda: rt.sampled_spmm(graph, x.clone().requires_grad_(), width=4)),
        (ValueError, "weight requires gradients",
         lambda: rt.sampled_spmm(graph, x, width=4, weight=w.clone().requires_grad_())),
        (ValueError, "^sampled_spmm: width is 0; give 1", lambda: rt.sampled_spmm(graph, x, width=0)),
        (ValueError, "^sampled_spmm: width is 0.5", lambda: rt.sampled_spmm(graph, x, width=0.5)),
        (ValueError, "^sampled_spmm: kernel is 'maxk'; give", lambda: rt.sampled_spmm(graph, x, kernel="maxk")),
        (ValueError, "^sampled_spmm: kernel is 'fastrnd'", lambda: rt.sampled_spmm(graph, x, kernel="fastrnd", width=4)),
        (ValueError, "a source is 9, but there are 7", lambda: rt.Graph(torch.tensor([[9], [0]]), (7, 7))),
        (ValueError, "a target is -1", lambda: rt.Graph(torch.tensor([[0], [-1]]), (7, 7))),
        (TypeError, r"torch.float32 and shape \(7, 2\)", lambda: rt.Graph(x)),
        (TypeError, "A is a dict", lambda: rt.Graph({})),
        (TypeError, "requires gradients", lambda: rt.Graph(sparse)),
        (ValueError, "13 edges, weight has 12", lambda: graph.in_order(w[:12])),
    ):
        with pytest.raises(error, match=words):
            call()


def test_operators_refuse_rows_out_of_order():
    graph = graph_of("empty rows")
    with pytest.raises(ValueError, match="call .contiguous()"):
        torch.ops.rigblas.spmm(torch.ones(2, 7).t(), None, graph.handle, "sum", False)
    with pytest.raises(ValueError, match="9x7"):
        torch.ops.rigblas.spmm(torch.ones(6, 2), None, graph.handle, "sum", False)


def test_sampled_spmm_without_gradients_takes_parameters():
    graph = graph_of("empty rows")
    with torch.no_grad():
        rt.sampled_spmm(graph, torch.ones(7, 2, requires_grad=True), width=4)


@CUDA
def test_devices_do_not_mix():
    with pytest.raises(ValueError, match="A is on cpu, x is on cuda:0"):
        rt.spmm(graph_of("empty rows"), torch.ones(7, 2, device="cuda:0"))


def test_examples_of_docstrings():
    scope = {"torch": torch, **{name: getattr(rt, name) for name in rt.__all__}}
    finder = doctest.DocTestFinder(recurse=False)
    for name in rt.__all__:
        for example in finder.find(getattr(rt, name), name, globs=scope):
            assert doctest.DocTestRunner().run(example).failed == 0


def test_products_without_gradients_refuse_tensors_that_need_them():
    A = rig.matrix(torch.eye(3).numpy())
    x = torch.ones(3, 2, requires_grad=True)
    for call in (lambda: A @ x, lambda: A + torch.ones(3, 3, requires_grad=True), lambda: rig.mxm(A, x, "max_second")):
        with pytest.raises(TypeError, match="rigblas.torch"):
            call()
    assert (A @ x.detach()).shape == (3, 2)
