#include "features.hpp"

#include <nanobind/stl/string.h>

#include <string>
#include <vector>

#include "docstrings.hpp"

// MaxK, 8-bit features, and the graph operations of networks.

namespace rigblas {
namespace {

template <class T>
rig::cbsr<T> typed_cbsr(const cbsr& x) {
  return rig::cbsr<T>(x.structure, x.values);
}
/// Shares everything; the typed cbsr is kept, because it does not give its buffer away.
template <class T>
cbsr erased_cbsr(const rig::cbsr<T>& x) {
  cbsr out;
  out.structure = x.structure();
  out.stored = rig::type_of<T>;
  const auto bytes = out.structure.nnz() * sizeof(T);
  const auto kept = std::make_shared<const rig::cbsr<T>>(x);
  out.keepalive = kept;
  out.values =
      rig::buffer::borrow(const_cast<T*>(kept->values()), bytes, kept->where(), kept->stream());
  return out;
}

/// The rows of an array, packed.
template <class T>
std::vector<T> packed(const array& x) {
  std::vector<T> out;
  for (rig::index i = 0; i < x.full.rows; ++i) {
    const T* const row = static_cast<const T*>(x.full.data) + i * x.full.stride;
    out.insert(out.end(), row, row + x.full.columns);
  }
  return out;
}

/// The columns of entries; narrowed with a check.
std::vector<rig::index> columns_of(const array& x, const char* call) {
  if (x.full.value_type == type::int32) return packed<rig::index>(x);
  if (x.full.value_type != type::int64)
    rig::fail(rig::errc::type,
              {call, ": indices are ", name_of(x.full.value_type), "; give integers"});
  std::vector<rig::index> out;
  for (const rig::int64 column : packed<rig::int64>(x))
    out.push_back(rig::checked_index(column).as(call, "an index"));
  return out;
}

cbsr cbsr_of_arrays(nb::handle values, nb::handle indices, rig::int64 columns) {
  const char* const call = "cbsr";
  const array v = read_array(values, call, "values"), at = read_array(indices, call, "indices");
  if (v.full.where != rig::cpu() || at.full.where != rig::cpu())
    rig::fail(rig::errc::place, {call,
                                 ": the arrays are on a device; give arrays on the CPU, and "
                                 "copy the result by .to(device)"});
  if (v.full.rows != at.full.rows || v.full.columns != at.full.columns)
    rig::fail(rig::errc::shape,
              {call, ": values are ", rig::shape_text(v.full.rows, v.full.columns), ", indices ",
               rig::shape_text(at.full.rows, at.full.columns), "; give two arrays of one shape"});
  const std::vector<rig::index> places = columns_of(at, call);
  return with_float(call, v.full.value_type, [&]<class T>(T) {
    return erased_cbsr(
        rig::cbsr<T>::from(v.full.rows, columns, v.full.columns, packed<T>(v), places));
  });
}

cbsr maxk(nb::handle x, rig::int64 k, rig::int64 threads) {
  const array features = read_array(x, "maxk", "X");
  rig::descriptor desc;
  desc.threads = threads;
  desc.stream = stream_of(nb::none(), features);
  return with_float("maxk", features.full.value_type, [&]<class T>(T) {
    const auto view = dense_of<T>(features);
    const nb::gil_scoped_release release;
    return erased_cbsr(rig::maxk(view, k, desc));
  });
}

cbsr maxk_gradient(nb::handle dy, const cbsr& retained) {
  const array gradient = read_array(dy, "maxk_gradient", "dY");
  return with_float("maxk_gradient", gradient.full.value_type, [&]<class T>(T) {
    const auto view = dense_of<T>(gradient);
    const nb::gil_scoped_release release;
    return erased_cbsr(rig::maxk_gradient(view, retained.structure));
  });
}

/// Y = the sums of the elements of X at `rows`, in the memory of tensors, for rigblas.torch.
void scatter_tensors(const dense_view& y, const dense_view& x, const dense_view& rows) {
  constexpr const char* call = "scatter_to_winners";
  if (rows.full.value_type != type::int32)
    rig::fail(rig::errc::type,
              {call, ": winners are ", name_of(rows.full.value_type), "; give int32"});
  if (y.full.value_type != x.full.value_type)
    rig::fail(rig::errc::type, {call, ": the sums are ", name_of(y.full.value_type), " and dy is ",
                                name_of(x.full.value_type), "; give one type"});
  with_float(call, x.full.value_type, [&]<class T>(T) {
    const auto typed = [](const rig::dense_operand& of, auto* data) {
      return rig::dense<std::remove_pointer_t<decltype(data)>>::view(
          data, of.rows, of.columns, of.stride, of.where, of.stream);
    };
    auto to = typed(y.full, static_cast<T*>(y.full.data));
    rig::descriptor desc;
    desc.stream = x.full.stream;
    const nb::gil_scoped_release release;
    rig::scatter_add(to, rig::none, typed(x.full, static_cast<T*>(x.full.data)),
                     typed(rows.full, static_cast<rig::int32*>(rows.full.data)), desc);
  });
}

/// A packed copy of a dense of rig in an array of the framework of `like`.
template <class T>
nb::object copied(const rig::dense<T>& from, const array& like) {
  array out = new_array(like, from.rows(), from.columns(), rig::type_of<T>, like.is_column);
  {
    auto to = rig::dense<T>::view(static_cast<T*>(out.full.data), from.rows(), from.columns(), 0,
                                  out.full.where, out.full.stream);
    const auto bytes = static_cast<std::size_t>(from.columns()) * sizeof(T);
    rig::copy_rows(to.data(), bytes, from.data(),
                   static_cast<std::size_t>(from.stride()) * sizeof(T), bytes, from.rows(),
                   from.where(), to.stream(), from.stream());
  }
  return returned(std::move(out));
}

nb::object dense_of_cbsr(const cbsr& x) {
  return with_float("dense", x.stored, [&]<class T>(T) {
    return copied(rig::to_dense(typed_cbsr<T>(x)).to(rig::cpu()), array{});
  });
}

nb::object host_view(const rig::buffer& of, std::size_t rows, std::size_t columns, type stored,
                     nb::handle self) {
  if (of.where() != rig::cpu())
    return device_view(of.data(), rows, columns, dlpack_type(stored), false, nb::borrow(self),
                       of.where());
  return numpy_view(of.data(), rows, columns, stored, false, nb::borrow(self));
}

nb::object indices_of_cbsr(const cbsr& x) {
  if (x.structure.where() != rig::cpu()) {  // as the kernels store them, 8 or 16 bits
    const nb::dlpack::dtype stored{static_cast<uint8_t>(nb::dlpack::dtype_code::UInt),
                                   static_cast<uint8_t>(x.structure.columns() <= 256 ? 8 : 16), 1};
    return device_view(x.structure.indices(), static_cast<std::size_t>(x.structure.rows()),
                       static_cast<std::size_t>(x.structure.k()), stored, false, nb::cast(cbsr(x)),
                       x.structure.where());
  }
  array out = new_array({}, x.structure.rows(), x.structure.k(), type::int32, false);
  auto* const to = static_cast<rig::int32*>(out.full.data);
  for (rig::index i = 0; i < x.structure.rows(); ++i)
    for (int p = 0; p < x.structure.k(); ++p)
      to[static_cast<rig::int64>(i) * x.structure.k() + p] = x.structure.column(i, p);
  return returned(std::move(out));
}

const rig::quantized& on_host(nb::handle self) {
  const auto& x = nb::cast<const rig::quantized&>(self);
  if (x.where() != rig::cpu())
    rig::fail(rig::errc::place,
              {"the codes are on ", rig::to_string(x.where()), "; copy them with .to(\"cpu\")"});
  return x;
}

rig::quantized quantize(nb::handle x, nb::handle per, nb::handle how) {
  const array features = read_array(x, "quantize", "X");
  const auto over =
      static_cast<rig::ranges>(number_of_name("quantize", "per", per, {"matrix", "column"}));
  const auto rounds =
      static_cast<rig::rounding>(number_of_name("quantize", "rounding", how, {"floor", "nearest"}));
  return with_float("quantize", features.full.value_type, [&]<class T>(T) {
    const auto view = dense_of<T>(features);
    const nb::gil_scoped_release release;
    return rig::quantized::from(view, over, rounds);
  });
}

[[noreturn]] void refuse_short(const char* call, type of) {
  rig::fail(rig::errc::type,
            {call, ": values are ", name_of(of), "; convert them: A.astype(\"float32\")"});
}

/// A function of a matrix of floats that gives one; integers become float32.
template <class Function>
auto of_floats(const char* call, Function function) {
  return [=](nb::handle object) {
    const matrix a = read_matrix(object, call, "A");
    if (a.stored == type::half || a.stored == type::bfloat16) refuse_short(call, a.stored);
    const auto work = [&]<class T>(T) {
      const matrix numbers{astype(a, rig::type_of<T>)};
      const nb::gil_scoped_release release;
      return mapped<T>(numbers, function);
    };
    return with_one_of<double, float>(a.stored, work);
  };
}

matrix symmetrise(nb::handle object) {
  const matrix a = read_matrix(object, "symmetrise", "A");
  return with_type(a.stored, [&]<class T>(T) {
    if constexpr (rig::is_in_files<T>) {
      const nb::gil_scoped_release release;
      return mapped<T>(a, [](const auto& x) { return rig::symmetrise(x); });
    } else {
      refuse_short("symmetrise", a.stored);
      return matrix{};
    }
  });
}
matrix add_self_loops(nb::handle object, nb::handle value) {
  const matrix a = read_matrix(object, "add_self_loops", "A");
  const rig::scalar number = scalar_from(value, "add_self_loops", "value");
  return with_type(a.stored, [&]<class T>(T) {
    if constexpr (rig::is_in_files<T>) {
      const T loop = number.checked<T>("add_self_loops", "value");
      const nb::gil_scoped_release release;
      return mapped<T>(a, [&](const auto& x) { return rig::add_self_loops(x, loop); });
    } else {
      refuse_short("add_self_loops", a.stored);
      return matrix{};
    }
  });
}

matrix edge_softmax(nb::handle object, flag transpose_a, rig::int64 threads, nb::handle stream) {
  const matrix a = read_matrix(object, "edge_softmax", "A");
  rig::descriptor desc;
  desc.stream = stream_of(stream, {});
  desc.transpose_a = transpose_a;
  desc.threads = threads;
  return with_float("edge_softmax", a.stored, [&]<class T>(T) {
    const nb::gil_scoped_release release;
    return mapped<T>(a, [&](const auto& x) { return rig::edge_softmax(x, desc); });
  });
}

nb::object reorder(nb::handle object, nb::handle by) {
  const matrix a = read_matrix(object, "reorder", "A");
  const auto how =
      static_cast<rig::ordering>(number_of_name("reorder", "by", by, {"loa", "degree", "rcm"}));
  rig::dense<rig::index> found;
  {
    const nb::gil_scoped_release release;
    found = rig::reorder(rig::matrix<bool>(a.structure, true), how);
  }
  array like;
  like.is_column = true;
  return copied(found, like);
}

nb::object permute(nb::handle object, nb::handle positions) {
  const index_array p = read_indices(positions, "permute", "p");
  const operand x = read_operand(object, "permute", "A");
  if (x.what == operand::kind::vector)
    rig::fail(rig::errc::type, {"permute: A is a Vector; give a Matrix or an array"});
  return with_type(x.stored(), [&]<class T>(T) -> nb::object {
    if (!x.is_dense())
      return nb::cast(matrix{erased(rig::permute(typed<T>(*x.entries), p.view()))});
    return copied(rig::permute(dense_of<T>(x.full), p.view()), x.full);
  });
}

matrix sample(nb::handle object, rig::int64 width, nb::handle strategy, std::uint64_t seed,
              flag rescale) {
  const matrix a = read_matrix(object, "sample", "A");
  const auto how = static_cast<rig::sampling>(
      number_of_name("sample", "strategy", strategy, {"whole", "bucket", "fastrand", "adaptive"}));
  const rig::sampling_options options{how, width, seed, rescale};
  return with_type(a.stored, [&]<class T>(T) {
    const nb::gil_scoped_release release;
    return mapped<T>(a, [&](const auto& x) { return rig::sample(x, options); });
  });
}

/// A list of integers, narrowed with a check.
std::vector<rig::index> narrowed(nb::handle list, const char* call, const char* name) {
  const index_array from = read_indices(list, call, name);
  std::vector<rig::index> out;
  for (std::size_t k = 0; k < from.size; ++k)
    out.push_back(rig::checked_index(from[k]).as(call, name));
  return out;
}

nb::tuple neighbours(nb::handle object, nb::handle seeds, nb::handle fan_outs, std::uint64_t seed) {
  const char* const call = "neighbours";
  const matrix a = read_matrix(object, call, "A");
  const auto from = narrowed(seeds, call, "seeds"), widths = narrowed(fan_outs, call, "fan_outs");
  return with_type(a.stored, [&]<class T>(T) {
    rig::neighbourhood<T> found;
    {
      const nb::gil_scoped_release release;
      found = rig::neighbours(typed<T>(a), from, widths, seed);
      found.nodes = found.nodes.to(rig::cpu());
    }
    nb::list blocks;
    for (const auto& block : found.blocks) blocks.append(nb::cast(matrix{erased(block)}));
    array like;
    like.is_column = true;
    return nb::make_tuple(blocks, copied(found.nodes, like));
  });
}

nb::dict sampling_report(nb::handle object, const char* kernel, rig::int64 width,
                         flag transpose_a) {
  const matrix a = read_matrix(object, "sampling_report", "A");
  rig::descriptor desc;
  desc.kernel = kernel;
  desc.width = width;
  desc.transpose_a = transpose_a;
  const rig::sampling_statistics found = rig::sampling_report(*a.structure, desc);
  nb::dict out;
  out["entries"] = found.entries;
  out["staged"] = found.staged;
  out["distinct"] = found.distinct;
  out["rows"] = found.rows;
  out["whole_rows"] = found.whole_rows;
  out["kept_share"] = found.kept_share();
  out["distinct_share"] = found.distinct_share();
  out["least_share"] = found.least_share;
  out["percent_1_share"] = found.percent_1_share;
  out["percent_10_share"] = found.percent_10_share;
  out["median_share"] = found.median_share;
  out["mean_share"] = found.mean_share;
  out["text"] = found.text();
  return out;
}

}  // namespace

const cbsr* cbsr_from(nb::handle object) {
  return nb::isinstance<cbsr>(object) ? nb::cast<const cbsr*>(object) : nullptr;
}
const rig::quantized* quantized_from(nb::handle object) {
  return nb::isinstance<rig::quantized>(object) ? nb::cast<const rig::quantized*>(object) : nullptr;
}

rig::dense_operand operand_of(const cbsr& from) {
  rig::dense_operand out;
  rig::fill_in(out, from.structure);
  out.data = from.values.data();
  out.value_type = from.stored;
  out.value_bytes = bytes_of(from.stored);
  out.stream = from.values.stream();
  return out;
}

namespace {

void bind_cbsr(nb::module_& m) {
  nb::class_<cbsr>(m, "Cbsr",
                   "A matrix with k entries in every row, as `maxk` makes it. Immutable.")
      .def_prop_ro(
          "shape",
          [](const cbsr& x) { return nb::make_tuple(x.structure.rows(), x.structure.columns()); },
          "Rows and columns.")
      .def_prop_ro(
          "k", [](const cbsr& x) { return x.structure.k(); }, "Entries per row.")
      .def_prop_ro(
          "dtype", [](const cbsr& x) { return dtype_of(x.stored); }, "The type of the values.")
      .def_prop_ro(
          "device", [](const cbsr& x) { return rig::to_string(x.structure.where()); },
          "\"cpu\" or \"cuda:0\".")
      .def_prop_ro(
          "values",
          [](nb::handle self) {
            const auto& x = nb::cast<const cbsr&>(self);
            return host_view(x.values, static_cast<std::size_t>(x.structure.rows()),
                             static_cast<std::size_t>(x.structure.k()), x.stored, self);
          },
          "The values, of shape (rows, k): a read-only view.")
      .def_prop_ro("indices", &indices_of_cbsr, "Their columns, of shape (rows, k): int32.")
      .def("dense", &dense_of_cbsr, "The same as an array, with 0 elsewhere.")
      .def(
          "to",
          [](const cbsr& x, nb::handle device) {
            const rig::place target = place_from(device);
            if (target == x.structure.where()) return cbsr(x);
            return cbsr{x.structure.to(target), x.values.to(target), x.stored, nullptr};
          },
          nb::arg("device"), "A copy on a device, or the same if it is there.")
      .def("__repr__", [](const cbsr& x) {
        return "<rigblas.Cbsr " + rig::shape_text(x.structure.rows(), x.structure.columns()) +
               ", k = " + std::to_string(x.structure.k()) + ", " + name_of(x.stored) + ", on " +
               rig::to_string(x.structure.where()) + ">";
      });
}

void bind_quantized(nb::module_& m) {
  nb::class_<rig::quantized>(m, "Quantized",
                             "Features of 8 bits, as `quantize` makes them. Immutable.")
      .def_prop_ro(
          "shape", [](const rig::quantized& x) { return nb::make_tuple(x.rows(), x.columns()); },
          "Rows and columns.")
      .def_prop_ro(
          "device", [](const rig::quantized& x) { return rig::to_string(x.where()); },
          "\"cpu\" or \"cuda:0\".")
      .def_prop_ro("per_column", &rig::quantized::per_column, "Whether every column has a range.")
      .def_prop_ro(
          "codes",
          [](nb::handle self) {
            const auto& x = on_host(self);
            return numpy_view(x.data(), static_cast<std::size_t>(x.rows()),
                              static_cast<std::size_t>(x.columns()), type::code, false,
                              nb::borrow(self));
          },
          "The codes: uint8, a read-only view.")
      .def_prop_ro(
          "low",
          [](nb::handle self) {
            const auto& x = on_host(self);
            return numpy_view(x.low(), static_cast<std::size_t>(x.range_count()), 1, type::float32,
                              true, nb::borrow(self));
          },
          "The least number of each range: float32, a read-only view.")
      .def_prop_ro(
          "step",
          [](nb::handle self) {
            const auto& x = on_host(self);
            return numpy_view(x.step(), static_cast<std::size_t>(x.range_count()), 1, type::float32,
                              true, nb::borrow(self));
          },
          "The distance of two codes in each range: float32, a read-only view.")
      .def(
          "dense",
          [](const rig::quantized& x) {
            return copied(x.to(rig::cpu()).dequantised<float>(), array{});
          },
          "The numbers that the codes stand for, as float32.")
      .def(
          "to", [](const rig::quantized& x, nb::handle device) { return x.to(place_from(device)); },
          nb::arg("device"), "A copy on a device, or the same if it is there.")
      .def("__repr__", [](const rig::quantized& x) {
        return "<rigblas.Quantized " + rig::shape_text(x.rows(), x.columns()) +
               (x.per_column() ? ", a range per column, on " : ", one range, on ") +
               rig::to_string(x.where()) + ">";
      });
}

}  // namespace

void bind_features(nb::module_& m) {
  bind_cbsr(m);
  bind_quantized(m);
  m.def("cbsr", &cbsr_of_arrays, nb::arg("values"), nb::arg("indices"), nb::arg("columns"),
        doc::cbsr);
  m.def("maxk", &maxk, nb::arg("X").none(), nb::arg("k"), nb::kw_only(), nb::arg("threads") = 0,
        doc::maxk);
  m.def("maxk_gradient", &maxk_gradient, nb::arg("dY"), nb::arg("retained"), doc::maxk_gradient);
  m.def("_scatter_tensors", &scatter_tensors, nb::arg("y"), nb::arg("x"), nb::arg("rows"));
  m.def("quantize", &quantize, nb::arg("X").none(), nb::kw_only(), nb::arg("per") = "matrix",
        nb::arg("rounding") = "nearest", doc::quantize);
  m.def("symmetrise", &symmetrise, nb::arg("A").none(), doc::symmetrise);
  m.def("add_self_loops", &add_self_loops, nb::arg("A").none(), nb::arg("value") = 1,
        doc::add_self_loops);
  m.def("gcn_normalise",
        of_floats("gcn_normalise", [](const auto& a) { return rig::gcn_normalise(a); }),
        nb::arg("A").none(), doc::gcn_normalise);
  m.def("mean_normalise",
        of_floats("mean_normalise", [](const auto& a) { return rig::mean_normalise(a); }),
        nb::arg("A").none(), doc::mean_normalise);
  m.def("edge_softmax", &edge_softmax, nb::arg("A").none(), nb::kw_only(),
        nb::arg("transpose_a") = false, nb::arg("threads") = 0, nb::arg("stream") = nb::none(),
        doc::edge_softmax);
  m.def("reorder", &reorder, nb::arg("A").none(), nb::arg("by") = "loa", doc::reorder);
  m.def("permute", &permute, nb::arg("A").none(), nb::arg("p"), doc::permute);
  m.def("sample", &sample, nb::arg("A").none(), nb::kw_only(), nb::arg("width"),
        nb::arg("strategy") = "fastrand", nb::arg("seed") = 0, nb::arg("rescale") = false,
        doc::sample);
  m.def("neighbours", &neighbours, nb::arg("A").none(), nb::arg("seeds"), nb::arg("fan_outs"),
        nb::kw_only(), nb::arg("seed") = 0, doc::neighbours);
  m.def("sampling_report", &sampling_report, nb::arg("A").none(), nb::kw_only(), nb::arg("kernel"),
        nb::arg("width"), nb::arg("transpose_a") = false, doc::sampling_report);
}

}  // namespace rigblas
