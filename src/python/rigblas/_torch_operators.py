"""The operators ``torch.ops.rigblas.*``, and their gradients."""

import numpy as np
import torch
from torch.autograd import forward_ad

from . import _core
from ._torch_graph import _graph, _stream

_TYPES = {
    torch.float32: "float32",
    torch.float64: "float64",
    torch.float16: "float16",
    torch.bfloat16: "bfloat16",
    torch.int32: "int32",
}
# The semiring of a reduction without weights, and with weights.
_SEMIRINGS = {
    "sum": ("plus_second", "plus_times"),
    "mean": ("mean_second", "mean_times"),
    "max": ("max_second", None),
    "min": ("min_second", None),
}
_WINNERS = {"max": "arg_max_second", "min": "arg_min_second"}


# The memory of tensors, as the extension takes it.


def _view(x, stream):
    """A matrix, or a list as a column, without a copy; `x` must outlive the call."""
    return _core.DenseView(
        x.data_ptr(), x.shape, x.stride(), _TYPES[x.dtype], x.get_device(), stream
    )


def _values(matrix):
    """The values of a matrix; of bfloat16 their bits, which NumPy can hold."""
    on_cpu = matrix.device == "cpu"
    return matrix._bits if on_cpu and matrix.dtype == "bfloat16" and not matrix.iso else matrix.data


def _copy(array, out):
    """Copies an array of the extension into a tensor of the same type."""
    if out.device.type != "cpu":
        out.copy_(torch.from_dlpack(array))
    elif out.numel():
        # NumPy has no bfloat16, so the extension gives its bits.
        to = out.view(torch.uint16) if out.dtype == torch.bfloat16 else out
        np.copyto(to.numpy(), array)
    return out


# The operators. A linear one is closed under differentiation: `transposed` turns the same operator.

_library = torch.library.Library("rigblas", "DEF")
_PLAIN = (torch.Tensor, torch.nn.Parameter)

try:
    from torch._C import _are_functorch_transforms_active as _is_transformed
    from torch._C import _is_tracing, _len_torch_dispatch_stack

    forward_ad._current_level  # noqa: B018: whether there is one
except (AttributeError, ImportError):  # another PyTorch: everything goes through its dispatcher

    def _is_watched():
        return True

    def _is_transformed():
        return False
else:

    def _is_watched():
        """Whether something traces, transforms or intercepts operators, and so has to see them."""
        return (
            torch.compiler.is_compiling()
            or _len_torch_dispatch_stack() > 0
            or _is_transformed()
            or _is_tracing()
            or forward_ad._current_level >= 0
        )


def _refuse_tangents(name, inputs):
    """PyTorch's dispatcher drops the tangents of operators without a rule: the derivative would be 0."""
    if torch.compiler.is_compiling() or getattr(forward_ad, "_current_level", -1) < 0:
        return
    for x in inputs:
        if isinstance(x, torch.Tensor) and forward_ad.unpack_dual(x).tangent is not None:
            raise _no_forward_mode(name)


def _no_forward_mode(name):
    return NotImplementedError(
        f"{name}: derivatives in forward mode are not computed; take those in reverse, by backward()"
    )


def _is_plain(x):
    """Whether a tensor is what lies in its memory."""
    return type(x) in _PLAIN and not x.is_neg() and not x._is_zerotensor()


def _differentiable(function, backward, remember):
    """The function with its gradient, past PyTorch's dispatcher."""

    class Function(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *inputs):
            output = function(*inputs)
            remember(ctx, inputs, output)
            return output

    Function.backward = staticmethod(backward)
    return Function.apply


def _transformable(name, dispatched, backward, remember, by_sample):
    """The same for the transforms of torch.func, which do not take gradients that the dispatcher knows."""

    class Function(torch.autograd.Function):
        @staticmethod
        def forward(*inputs):
            return dispatched(*inputs)

        @staticmethod
        def jvp(ctx, *tangents):
            raise _no_forward_mode(name)

    Function.setup_context = staticmethod(remember)
    Function.backward = staticmethod(backward)
    Function.vmap = staticmethod(by_sample)
    return Function.apply


def _by_sample(call):
    """The rule of torch.vmap: a call for each sample, which has the bits of that call alone."""

    def rule(info, in_dims, *inputs):
        if info.batch_size == 0:
            raise ValueError("torch.vmap: there are no samples; give at least one")
        parts = []
        for sample in range(info.batch_size):
            part = (
                x if at is None else x.select(at, sample).contiguous()
                for x, at in zip(inputs, in_dims)
            )
            parts.append(call(*part))
        if isinstance(parts[0], tuple):
            return tuple(torch.stack(each) for each in zip(*parts)), (0,) * len(parts[0])
        return torch.stack(parts), 0

    return rule


def _operator(schema, function, *, meaning, backward=None, remember=None):
    """Defines an operator by one function for all devices; `meaning` gives its results' shapes.

    Returns what calls it. PyTorch's dispatcher takes longer than a small product, and its layer for
    gradients twice as long, so plain tensors that nothing watches go to the function directly.
    """
    name = schema.partition("(")[0]
    _library.define(schema, tags=(torch.Tag.pt2_compliant_tag,))
    for key in ("CPU", "CUDA"):
        _library.impl(name, function, key)
    torch.library.register_fake(f"rigblas::{name}", meaning, lib=_library)
    dispatched = getattr(torch.ops.rigblas, name).default
    tensors = schema.partition(")")[0].count("Tensor")
    differentiable = None
    if backward is not None:
        torch.library.register_autograd(
            dispatched.name(), backward, setup_context=remember, lib=_library
        )
        differentiable = _differentiable(function, backward, remember)

    def call(*inputs):
        if _is_watched():
            _refuse_tangents(name, inputs)
            if _is_transformed() and torch.compiler.is_compiling():
                raise NotImplementedError(
                    f"{name}: torch.compile does not trace transforms of torch.func over it; call it outside"
                )
            return transformable(*inputs) if _is_transformed() else dispatched(*inputs)
        needs_gradient = False
        for x in inputs[:tensors]:
            if x is not None:
                if not _is_plain(x):
                    return dispatched(*inputs)
                needs_gradient = needs_gradient or x.requires_grad
        if needs_gradient and differentiable is not None and torch.is_grad_enabled():
            return differentiable(*inputs)
        return function(*inputs)

    by_sample = _by_sample(call)
    transformable = dispatched
    if backward is not None:
        transformable = _transformable(name, dispatched, backward, remember, by_sample)
    if hasattr(torch.library, "register_vmap"):
        torch.library.register_vmap(dispatched.name(), by_sample, lib=_library)
    return call


def _result(x, graph, transposed=False):
    rows = graph.shape[1 if transposed else 0]
    return x.new_empty(rows, x.shape[1]) if x.dim() == 2 else x.new_empty(rows, *x.shape[1:])


def _heads(x):
    return x.unbind(1) if x.dim() == 3 else (x,)


def _parts(x, weight, out):
    """What each product of heads reads and writes: all at once, or each with its own weights."""
    if weight is None or weight.dim() == 1:
        return ((x.flatten(1), _packed(weight), out.flatten(1)),)
    return zip(x.unbind(1), map(_packed, weight.unbind(1)), out.unbind(1))


def _packed(weight):
    """Weights side by side; the gradient of a sum is one number that is repeated."""
    return weight if weight is None else weight.contiguous()


def _scaled(x, share):
    return x * share.view((-1,) + (1,) * (x.dim() - 1))


def _weighted(graph, weight, stream):
    return graph.matrix if weight is None else graph.matrix.with_values(_view(weight, stream))


def _multiply(graph, semiring, x, weight, out, *how):
    """Writes the product of the graph and x, matrices, to `out`; `how` is that of the extension."""
    device = x.get_device()
    _core._multiply_tensors(
        graph.matrix, semiring, 0 if weight is None else _address(weight, graph, x),
        x.data_ptr(), x.shape, x.stride(), _TYPES[x.dtype], device, _stream(device),
        out.data_ptr(), out.stride(0), *how,
    )


def _address(weight, graph, x):
    """Where the weights are, one per entry, of the type and on the device of x."""
    if len(weight) != graph.nnz or weight.dtype != x.dtype or weight.device != x.device:
        raise ValueError(
            f"rigblas: {len(weight)} weights of {weight.dtype} on {weight.device} do not fit {graph} "
            f"and features of {x.dtype} on {x.device}"
        )
    return weight.data_ptr()


def _product_shape(x, weight, graph, reduce, transposed):
    return _result(x, _graph(graph), transposed)


def _product(x, weight, graph, reduce, transposed):
    graph = _graph(graph)
    out = _result(x, graph, transposed)
    if out.numel() == 0 or graph.nnz == 0:
        return out.zero_()
    # A mean is D⁻¹·A: transposed, it scales first. Repeated edges count in D, not in the entries.
    scales = reduce == "mean" and (transposed or graph.repeated)
    if scales and transposed:
        x = _scaled(x, graph.share_as(x.dtype))
    semiring = _SEMIRINGS["sum" if scales else reduce][weight is not None]
    if x.dim() == 2:
        _multiply(graph, semiring, x, _packed(weight), out, transposed)
    else:
        for part, weights, result in _parts(x, weight, out):
            _multiply(graph, semiring, part, weights, result, transposed)
    return _scaled(out, graph.share_as(x.dtype)) if scales and not transposed else out


def _remember_spmm(ctx, inputs, output):
    x, weight, ctx.handle, ctx.reduce, ctx.transposed = inputs
    ctx.graph = _graph(ctx.handle)  # lives until the backward pass
    needs_x, needs_weight = ctx.needs_input_grad[:2]
    ctx.save_for_backward(x if needs_weight else None, weight if needs_x else None)


def _spmm_backward(ctx, dy):
    x, weight = ctx.saved_tensors
    dy = dy.contiguous()
    dx = dweight = None
    if ctx.needs_input_grad[0]:
        dx = _spmm(dy, weight, ctx.handle, ctx.reduce, not ctx.transposed)
    if ctx.needs_input_grad[1]:
        left, right = (x, dy) if ctx.transposed else (dy, x)
        dweight = _sddmm(left, right, ctx.handle, ctx.reduce)
    return dx, dweight, None, None, None


def _remember_check(graph, x, reduce, weight):
    """Keeps what `_repeated` needs, if one product of packed memory makes the result."""
    if (
        not _is_watched()
        and graph.shape[0] * x.shape[1] > 0
        and not (reduce == "mean" and graph.repeated)
        and (weight is None or weight is graph.weight and weight.is_contiguous() and not weight.requires_grad)
    ):
        semiring = _SEMIRINGS[reduce][weight is not None]
        graph.checked[reduce, x.dtype, x.shape, x.device] = semiring, weight, _TYPES[x.dtype]


def _repeated(graph, x, reduce):
    """The product if one alike was checked before and no gradient is needed, else None.

    A small product takes less time than its checks, and than PyTorch's dispatcher.
    """
    if _is_watched():
        return None
    checked = graph.checked.get((reduce, x.dtype, x.shape, x.device))
    if checked is None or not x.is_contiguous() or not _is_plain(x):
        return None
    if x.requires_grad and torch.is_grad_enabled():
        return None
    semiring, weight, dtype = checked
    shape, device = x.shape, x.get_device()
    out = x.new_empty(graph.shape[0], shape[1])
    _core._multiply_tensors(
        graph.matrix, semiring, 0 if weight is None else weight.data_ptr(),
        x.data_ptr(), shape, x.stride(), dtype, device, _stream(device), out.data_ptr(), shape[1],
    )
    return out


# One function as two operators: that without gradients costs half as much where PyTorch dispatches it.
_PRODUCT = "(Tensor x, Tensor? weight, int graph, str reduce, bool transposed) -> Tensor"
_spmm = _operator(
    "spmm" + _PRODUCT, _product,
    meaning=_product_shape, backward=_spmm_backward, remember=_remember_spmm,
)
_aggregate = _operator("aggregate" + _PRODUCT, _product, meaning=_product_shape)


def _sddmm_shape(left, right, graph, reduce):
    nnz = _graph(graph).nnz
    return left.new_empty(nnz) if left.dim() == 2 else left.new_empty((left.shape[1], nnz)).t()


def _pair_products(left, right, graph, reduce):
    out = _sddmm_shape(left, right, graph, reduce)
    graph = _graph(graph)
    if left.shape[-1] == 0 or graph.nnz == 0:
        return out.zero_()
    if reduce == "mean":
        left = _scaled(left, graph.share_as(left.dtype))
    stream = _stream(left.get_device())
    results = out.unbind(1) if out.dim() == 2 else (out,)
    for x, y, result in zip(_heads(left), _heads(right), results):
        _core._multiply_pairs(
            graph.matrix, _view(x, stream), _view(y, stream), result.data_ptr()
        )
    return out


def _remember_sddmm(ctx, inputs, output):
    left, right, ctx.handle, ctx.reduce = inputs
    ctx.graph = _graph(ctx.handle)
    needs_left, needs_right = ctx.needs_input_grad[:2]
    ctx.save_for_backward(left if needs_right else None, right if needs_left else None)


def _sddmm_backward(ctx, dz):
    left, right = ctx.saved_tensors
    dleft = dright = None
    if ctx.needs_input_grad[0]:
        dleft = _spmm(right, dz, ctx.handle, ctx.reduce, False)
    if ctx.needs_input_grad[1]:
        dright = _spmm(left, dz, ctx.handle, ctx.reduce, True)
    return dleft, dright, None, None


_sddmm = _operator(
    "sddmm(Tensor left, Tensor right, int graph, str reduce) -> Tensor",
    _pair_products,
    meaning=_sddmm_shape, backward=_sddmm_backward, remember=_remember_sddmm,
)


def _winners_shape(x, graph, reduce):
    values = _result(x, _graph(graph))
    return values, torch.empty_like(values, dtype=torch.int32)


def _product_and_winners(x, graph, reduce):
    values, winners = _winners_shape(x, graph, reduce)
    if _graph(graph).nnz == 0:
        return values.zero_(), winners.fill_(-1)
    if values.numel():
        _multiply(_graph(graph), _WINNERS[reduce], x, None, values, False, winners.data_ptr())
    return values, winners


def _scatter_shape(dy, winners, rows):
    return dy.new_empty((rows, dy.shape[1]))


def _scattered(dy, winners, rows):
    dy, winners = dy.contiguous(), winners.contiguous()
    out = _scatter_shape(dy, winners, rows)
    if dy.numel() == 0:
        return out.zero_()
    if out.numel():
        stream = _stream(dy.get_device())
        _core._scatter_tensors(_view(out, stream), _view(dy, stream), _view(winners, stream))
    return out


def _remember_winners(ctx, inputs, output):
    ctx.rows = inputs[0].shape[0]
    ctx.save_for_backward(output[1])


def _winners_backward(ctx, dy, _):
    # Under torch.func.vjp a saved result may be a wrapper without memory; a view of it is not.
    winners = ctx.saved_tensors[0]
    return _scatter(dy, winners.view_as(winners), ctx.rows), None, None


_winners = _operator(
    "spmm_winners(Tensor x, int graph, str reduce) -> (Tensor, Tensor)",
    _product_and_winners,
    meaning=_winners_shape, backward=_winners_backward, remember=_remember_winners,
)


def _remember_scatter(ctx, inputs, output):
    ctx.save_for_backward(inputs[1])


def _scatter_backward(ctx, dx):
    winners = ctx.saved_tensors[0]
    if dx.shape[0] == 0:
        return dx.new_zeros(winners.shape), None, None
    return dx.gather(0, winners.clamp(min=0).long()) * (winners >= 0), None, None


_scatter = _operator(
    "scatter_to_winners(Tensor dy, Tensor winners, int rows) -> Tensor",
    _scattered,
    meaning=_scatter_shape, backward=_scatter_backward, remember=_remember_scatter,
)


def _softmax_shape(scores, graph):
    return scores.new_empty(scores.shape[::-1]).t() if scores.dim() == 2 else torch.empty_like(scores)


def _softmax_of_rows(scores, graph):
    out = _softmax_shape(scores, graph)
    graph = _graph(graph)
    if out.numel() == 0:
        return out
    stream = _stream(scores.get_device())
    heads = zip(scores.unbind(1), out.unbind(1)) if scores.dim() == 2 else ((scores, out),)
    for part, result in heads:
        part = _packed(part)
        made = _core.edge_softmax(_weighted(graph, part, stream), stream=stream)
        _copy(_values(made), result)
    return out


def _remember_softmax(ctx, inputs, output):
    ctx.handle = inputs[1]
    ctx.graph = _graph(ctx.handle)
    ctx.save_for_backward(output)


def _softmax_backward(ctx, dy):
    (y,) = ctx.saved_tensors
    product = y * dy
    # Row sums are a product with ones; a product under the pattern hands each entry its row's sum.
    ones = y.new_ones((ctx.graph.shape[1],) + tuple(y.shape[1:]) + (1,))
    sums = _spmm(ones, product, ctx.handle, "sum", False)
    return product - y * _sddmm(sums, ones, ctx.handle, "sum"), None


_softmax = _operator(
    "edge_softmax(Tensor scores, int graph) -> Tensor",
    _softmax_of_rows,
    meaning=_softmax_shape, backward=_softmax_backward, remember=_remember_softmax,
)


def _maxk_shape(x, k):
    values = x.new_empty((x.shape[0], k))
    return values, torch.empty_like(values, dtype=torch.int32)


def _select(x, k):
    values, indices = _maxk_shape(x, k)
    if values.numel():
        return _tensors_of(_core.maxk(_view(x, _stream(x.get_device())), k), x)
    return values, indices


def _tensors_of(retained, like):
    """The values and indices of a Cbsr as tensors."""
    shape = (retained.shape[0], retained.k)
    values = _copy(retained.values, like.new_empty(shape))
    return values, _copy(retained.indices, torch.empty(shape, dtype=torch.int32, device=like.device))


def _spread(values, indices, columns):
    return values.new_zeros((values.shape[0], columns)).scatter(1, indices.long(), values)


def _remember_maxk(ctx, inputs, output):
    ctx.columns = inputs[0].shape[1]
    ctx.save_for_backward(output[1])


def _maxk_backward(ctx, dvalues, _):
    return _spread(dvalues, ctx.saved_tensors[0], ctx.columns), None


_maxk = _operator(
    "maxk(Tensor x, int k) -> (Tensor, Tensor)",
    _select,
    meaning=_maxk_shape, backward=_maxk_backward, remember=_remember_maxk,
)


def _maxk_spmm_shape(x, weight, graph, reduce, k):
    return _result(x, _graph(graph))


def _retained_product(x, weight, graph, reduce, k):
    graph = _graph(graph)
    out = _result(x, graph)
    if out.numel() == 0 or graph.nnz == 0:
        return out.zero_()
    stream = _stream(x.get_device())
    scales = reduce == "mean" and graph.repeated
    semiring = _SEMIRINGS["sum" if scales else reduce][weight is not None]
    retained = _core.maxk(_view(x, stream), k)
    weight = _packed(weight)
    _core.mxm(
        _weighted(graph, weight, stream), retained, semiring, out=_view(out, stream), stream=stream
    )
    return _scaled(out, graph.share_as(x.dtype)) if scales else out


def _maxk_gradient_shape(dy, x, weight, graph, reduce, k):
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def _retained_gradient(dy, x, weight, graph, reduce, k):
    dx = _maxk_gradient_shape(dy, x, weight, graph, reduce, k)
    graph = _graph(graph)
    if dx.numel() == 0 or graph.nnz == 0:
        return dx.zero_()
    if reduce == "mean":
        dy = _scaled(dy, graph.share_as(dy.dtype))
    stream = _stream(dy.get_device())
    # The selection is made again: it is one pass over x, and only x is kept from the forward pass.
    retained = _core.maxk(_view(x, stream), k)
    weight = _packed(weight)
    made = _core.mxm(
        _weighted(graph, weight, stream), _view(dy, stream), _SEMIRINGS["sum"][weight is not None],
        mask=retained, structure=True, transpose_a=True, stream=stream,
    )
    values, indices = _tensors_of(made, dx)
    return dx.zero_().scatter_(1, indices.long(), values)


_maxk_gradient = _operator(
    "maxk_spmm_gradient(Tensor dy, Tensor x, Tensor? weight, int graph, str reduce, int k) -> Tensor",
    _retained_gradient,
    meaning=_maxk_gradient_shape,
)


def _remember_maxk_spmm(ctx, inputs, output):
    x, weight, ctx.handle, ctx.reduce, ctx.k = inputs
    ctx.graph = _graph(ctx.handle)
    ctx.save_for_backward(x, weight)


def _maxk_spmm_backward(ctx, dy):
    x, weight = ctx.saved_tensors
    dy = dy.contiguous()
    dx = dweight = None
    if ctx.needs_input_grad[0]:
        dx = _maxk_gradient(dy, x, weight, ctx.handle, ctx.reduce, ctx.k)
    if ctx.needs_input_grad[1]:
        dweight = _sddmm(dy, _spread(*_maxk(x, ctx.k), x.shape[1]), ctx.handle, ctx.reduce)
    return dx, dweight, None, None, None


_maxk_spmm = _operator(
    "maxk_spmm(Tensor x, Tensor? weight, int graph, str reduce, int k) -> Tensor",
    _retained_product,
    meaning=_maxk_spmm_shape, backward=_maxk_spmm_backward, remember=_remember_maxk_spmm,
)


def _sampled_shape(x, weight, graph, reduce, kernel, width, rescale):
    return _result(x, _graph(graph))


def _sampled_product(x, weight, graph, reduce, kernel, width, rescale):
    graph = _graph(graph)
    out = _result(x, graph)
    if out.numel() == 0 or graph.nnz == 0:
        return out.zero_()
    scales = reduce == "mean" and graph.repeated
    semiring = _SEMIRINGS["sum" if scales else reduce][weight is not None]
    _multiply(graph, semiring, x, _packed(weight), out, False, 0, kernel, width, rescale or scales)
    return _scaled(out, graph.share_as(x.dtype)) if scales else out


_sampled = _operator(
    "sampled_spmm(Tensor x, Tensor? weight, int graph, str reduce, str kernel, int width, "
    "bool rescale) -> Tensor",
    _sampled_product,
    meaning=_sampled_shape,
)
