#include "sparse.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>

#include "calls.hpp"

namespace rigblas {
namespace {

/// Keeps Python objects for as long as rig's memory refers to theirs.
std::shared_ptr<const void> kept_alive(nb::object owner) {
  return {owner.release().ptr(), [](PyObject* of) {
            if (!Py_IsInitialized()) return;
            const nb::gil_scoped_acquire gil;
            Py_DECREF(of);
          }};
}

/// Values as they are given, in CSR order: viewed, or copied and put in `order`.
void set_values(sparse& out, nb::handle values, const char* call,
                const std::vector<rig::int64>& order, bool copy) {
  if (is_number(values)) {
    const rig::scalar number = scalar_from(values, call, "data");
    out.stored = nb::hasattr(values, "dtype")  ? type_from(values.attr("dtype"))
                 : PyBool_Check(values.ptr())  ? type::boolean
                 : PyFloat_Check(values.ptr()) ? type::float64
                                               : type::int64;
    with_type(out.stored, [&]<class T>(T) {
      const T value = number.checked<T>(call, "data");
      __builtin_memcpy(out.iso, &value, sizeof(T));
    });
    return;
  }
  array given = read_array(values, call, "data");
  if (!given.is_column && given.full.columns != 1 && given.full.rows != 0)
    rig::fail(rig::errc::shape, {call, ": data is ", given.full.rows, "x", given.full.columns,
                                 "; give one dimension"});
  if (given.full.rows != out.nnz())
    rig::fail(rig::errc::shape, {call, ": there are ", out.nnz(), " entries but ", given.full.rows,
                                 " values; give one value per entry"});
  out.is_iso = false;
  out.stored = given.full.value_type;
  const auto bytes = static_cast<std::size_t>(out.nnz()) * given.full.value_bytes;
  const bool is_packed = given.full.stride == 1 || given.full.rows < 2;
  const rig::place where = given.full.where;
  if (where != rig::cpu() && !(is_packed && order.empty()))
    rig::fail(rig::errc::place, {call, ": data is on ", rig::to_string(where), " and ",
                                 is_packed ? "the entries have to be sorted" : "is not contiguous",
                                 "; copy it to the CPU, and the matrix back with .to(\"",
                                 rig::to_string(where), "\")"});
  if (!is_packed)
    given = read_array(nb::module_::import_("numpy").attr("array")(given.given), call, "data");
  if (!order.empty()) {
    out.values = rig::buffer::allocate(bytes);
    rig::take_elements(given.full.data, given.full.value_bytes, order, out.values.data());
  } else if (bytes > 0) {
    out.values = rig::buffer::borrow(given.full.data, bytes, where, given.full.stream);
    if (copy && is_packed)
      out.values = out.values.to(where);
    else
      out.keepalive = kept_alive(std::move(given.owner));
  }
}

/// Where data lies: on the CPU if it is a number.
rig::place place_of(nb::handle data, const char* call) {
  return is_number(data) ? rig::cpu() : read_array(data, call, "data").full.where;
}

/// Throws the error of a repeated entry with the remedy of Python.
[[noreturn]] void refuse_duplicate(const rig::error& failure) {
  const std::string text = failure.what();
  rig::fail(rig::errc::duplicate, {text.substr(0, text.find(';')),
                                   "; give (data, (row, col)), whose repeated entries are summed"});
}

/// Views the arrays if that is wanted and possible; null if columns do not ascend.
std::shared_ptr<const rig::pattern> viewed_pattern(rig::int64 rows, rig::int64 columns,
                                                   const index_array& offsets,
                                                   const index_array& entries) {
  try {
    return rig::over_foreign(
        rig::pattern_view(rows, columns, offsets.view(), entries.view(), rig::input::checked),
        kept_alive(nb::make_tuple(offsets.owner, entries.owner)));
  } catch (const rig::error& failure) {
    if (failure.code() == rig::errc::order) return nullptr;
    throw;
  }
}

sparse from_csr(rig::int64 rows, rig::int64 columns, nb::handle indptr, nb::handle indices,
                nb::handle values, bool copy) {
  const char* const call = "matrix";
  const index_array offsets = read_indices(indptr, call, "indptr");
  const index_array entries = read_indices(indices, call, "indices");
  sparse out;
  std::vector<rig::int64> order;
  std::shared_ptr<const rig::pattern> made;
  try {
    // Columns of 64 bits are narrowed, and rows whose columns do not ascend are sorted: both copy.
    if (!copy && !entries.is_64) made = viewed_pattern(rows, columns, offsets, entries);
    if (made == nullptr)
      made = rig::pattern_from_csr(rows, columns, offsets.view(), entries.view(),
                                   rig::input::sorted, &order);
  } catch (const rig::error& failure) {
    if (failure.code() != rig::errc::duplicate) throw;
    refuse_duplicate(failure);
  }
  const rig::place where = place_of(values, call);
  out.structure = where == rig::cpu() ? std::move(made) : made->to(where);
  set_values(out, values, call, order, copy);
  return out;
}

/// Ones over sorted CSR arrays of a tensor's memory, without a copy; `owner` keeps it.
sparse over_tensors(rig::int64 rows, rig::int64 columns, std::size_t nnz, std::uintptr_t offsets,
                    bool offsets_64, std::uintptr_t entries, int device, std::uintptr_t stream,
                    nb::object owner) {
  const auto make = [&]<class Offset>(Offset) {
    const std::span begins(reinterpret_cast<const Offset*>(offsets),
                           static_cast<std::size_t>(rows) + 1);
    const std::span places(reinterpret_cast<const rig::index*>(entries), nnz);
    return rig::pattern_view(rows, columns, begins, places, rig::input::trusted,
                             device < 0 ? rig::cpu() : rig::cuda(device),
                             reinterpret_cast<void*>(stream));
  };
  auto made = offsets_64 ? make(rig::int64()) : make(rig::int32());
  return iso_of(rig::over_foreign(std::move(made), kept_alive(std::move(owner))), 1.0);
}

/// Multiplies the one value of an entry by how often it was given.
void add_repeated(sparse& to, const rig::sorted_tuples& from) {
  if (to.stored == type::boolean) return;
  with_type(to.stored, [&]<class T>(T) {
    using A = rig::algebra<T>;
    T one;
    __builtin_memcpy(&one, to.iso, sizeof(T));
    to.values = rig::buffer::allocate(static_cast<std::size_t>(to.nnz()) * sizeof(T));
    for (std::size_t p = 0; p < static_cast<std::size_t>(to.nnz()); ++p)
      to.values.data<T>()[p] = rig::convert<T>(
          rig::times(rig::convert<A>(one), static_cast<A>(from.groups[p + 1] - from.groups[p])));
  });
  to.is_iso = false;
}

/// Sums of the values at each position, as SciPy makes them of coordinates; booleans are joined
/// by "or".
sparse from_tuples(rig::int64 rows, rig::int64 columns, nb::handle i, nb::handle j,
                   nb::handle values) {
  const index_array at_rows = read_indices(i, "matrix", "row"),
                    at_columns = read_indices(j, "matrix", "col");
  if (is_number(values)) {
    sparse out;
    const rig::sorted_tuples sorted =
        rig::sort_tuples(rows, columns, at_rows.view(), at_columns.view(), true);
    out.structure = sorted.structure;
    set_values(out, values, "matrix", {}, false);
    if (static_cast<std::size_t>(out.nnz()) < at_rows.size) add_repeated(out, sorted);
    return out;
  }
  array v = read_array(values, "matrix", "data");
  if (v.full.where != rig::cpu())
    rig::fail(rig::errc::place,
              {"matrix: data of coordinates is on ", rig::to_string(v.full.where),
               "; copy it to the CPU, or give compressed rows (data, indices, indptr)"});
  if (v.full.rows > 1 && v.full.stride != 1)
    v = read_array(nb::module_::import_("numpy").attr("array")(v.given), "matrix", "data");
  return with_type(v.full.value_type, [&]<class T>(T) {
    const std::span<const T> elements(static_cast<const T*>(v.full.data),
                                      static_cast<std::size_t>(v.full.rows));
    using A = rig::algebra<T>;
    return erased(rig::matrix<T>::from_tuples(
        rows, columns, at_rows.view(), at_columns.view(), elements, [](const T& x, const T& y) {
          return rig::convert<T>(rig::plus(rig::convert<A>(x), rig::convert<A>(y)));
        }));
  });
}

sparse vector_from(nb::handle indices, nb::handle values, rig::int64 size) {
  const index_array at = read_indices(indices, "vector", "indices");
  for (std::size_t p = 0; p < at.size; ++p)
    if (at[p] < 0 || at[p] >= size)
      rig::fail(rig::errc::range, {"vector: index ", at[p], " is outside a vector of ", size});
  const std::vector<rig::int32> zeros(at.size);
  sparse out;
  rig::sorted_tuples sorted;
  try {
    sorted = rig::sort_tuples(1, size, zeros, at.view(), false);
  } catch (const rig::error& failure) {
    if (failure.code() != rig::errc::duplicate) throw;
    std::vector<rig::int64> sorted_indices;
    for (std::size_t p = 0; p < at.size; ++p) sorted_indices.push_back(at[p]);
    std::sort(sorted_indices.begin(), sorted_indices.end());
    rig::fail(rig::errc::duplicate,
              {"vector: index ", *std::adjacent_find(sorted_indices.begin(), sorted_indices.end()),
               " is there twice; give each index once"});
  }
  out.structure = std::move(sorted.structure);
  bool is_sorted = true;
  for (std::size_t p = 0; p < sorted.order.size() && is_sorted; ++p)
    is_sorted = sorted.order[p] == static_cast<rig::int64>(p);
  if (is_sorted) sorted.order.clear();
  set_values(out, values, "vector", sorted.order, true);
  return out;
}

/// The entries that are not 0 of a dense.
sparse from_dense(nb::handle elements) {
  const array x = read_array(elements, "matrix", "the array");
  return with_type(x.full.value_type, [&]<class T>(T) {
    const auto view =
        rig::dense<T>::view(static_cast<const T*>(x.full.data), x.full.rows, x.full.columns,
                            x.full.stride, x.full.where, x.full.stream);
    const auto made = rig::matrix<T>::from(view, T());
    // A list is a row, which a vector is.
    return erased(x.is_column ? rig::transpose(made) : made);
  });
}

/// A view of an array of a matrix, which keeps its memory: `out=` may rebind the matrix.
nb::object view_of(const sparse& of, const void* data, rig::int64 size, type stored) {
  nb::capsule owner(new sparse(of), [](void* kept) noexcept { delete static_cast<sparse*>(kept); });
  const auto entries = static_cast<std::size_t>(size);
  if (of.where() != rig::cpu())
    return device_view(data, entries, 1, dlpack_type(stored), true, std::move(owner), of.where());
  return numpy_view(data, entries, 1, stored, true, std::move(owner));
}

nb::object data_of(const sparse& of) {
  if (of.stored == type::bfloat16 && of.where() == rig::cpu())
    rig::fail(rig::errc::type,
              {"data: values are bfloat16, which NumPy lacks; read A.astype(\"float32\").data"});
  if (!of.is_iso) return view_of(of, of.values.data(), of.nnz(), of.stored);
  const nb::object numpy = nb::module_::import_("numpy");
  return numpy.attr("broadcast_to")(
      numpy.attr("asarray")(number_of(of.iso, of.stored), dtype_of(of.stored)),
      nb::make_tuple(of.nnz()));
}

sparse moved(const sparse& of, nb::handle device) { return rig::moved(of, place_from(device)); }

sparse with_values(const sparse& of, nb::handle values) {
  sparse out;
  out.structure = of.structure;
  // A view is the caller's promise that its memory lives as long; arrays are copied.
  set_values(out, values, "with_values", {}, !nb::isinstance<dense_view>(values));
  return out;
}

sparse iso_like(const sparse& of, nb::handle value, nb::handle dtype) {
  return with_type(type_from(dtype), [&]<class T>(T) {
    return iso_of(of.structure, scalar_from(value, "iso", "value").checked<T>("iso", "value"));
  });
}

std::string text_of(const sparse& of, const char* what, const std::string& shape) {
  std::string out = std::string("<rigblas.") + what + " " + shape + ", " +
                    std::to_string(of.nnz()) + (of.nnz() == 1 ? " entry" : " entries") + ", " +
                    name_of(of.stored);
  if (of.is_iso && of.nnz() > 0)
    out += ", all " + nb::cast<std::string>(nb::str(number_of(of.iso, of.stored)));
  return out + ", on " + rig::to_string(of.where()) + ">";
}

nb::list derived_list(const matrix& a) {
  nb::list out;
  for (const rig::derived_info& info : a.structure->derived_structures())
    out.append(nb::make_tuple(info.name, info.bytes));
  return out;
}

bool are_equal(const sparse& x, const sparse& y) {
  if (x.stored != y.stored) {
    const type common = common_of(x.stored, y.stored);
    return are_equal(astype(x, common), astype(y, common));
  }
  return with_type(x.stored, [&]<class T>(T) { return typed<T>(x) == typed<T>(y); });
}

template <class Class>
void bind_common(nb::class_<Class>& of) {
  of.def_prop_ro(
      "nnz", [](const Class& x) { return x.nnz(); }, "Stored entries.");
  of.def_prop_ro(
      "dtype", [](const Class& x) { return dtype_of(x.stored); },
      "The type of the values: a NumPy dtype, or the text \"bfloat16\".");
  of.def_prop_ro(
      "device", [](const Class& x) { return rig::to_string(x.where()); },
      "Where the entries are: \"cpu\" or \"cuda:0\".");
  of.def_prop_ro(
      "iso", [](const Class& x) { return x.is_iso; },
      "Whether all entries have one value, and no array of values exists.");
  of.def_prop_ro(
      "indices",
      [](const Class& x) {
        return view_of(x, x.structure->column_indices(), x.nnz(), type::int32);
      },
      "The column of each entry, row by row: int32, a read-only view.");
  of.def_prop_ro(
      "data", [](const Class& x) { return data_of(x); },
      "The value of each entry: a read-only view; of an iso matrix one value, broadcast.");
  of.def_prop_ro("_bits",
                 [](const Class& x) { return view_of(x, x.values.data(), x.nnz(), x.stored); });
  of.def(
      "to", [](const Class& x, nb::handle device) { return Class{moved(x, device)}; },
      nb::arg("device"), "A copy on a device, or the same if it is there.");
  of.def(
      "with_values",
      [](const Class& x, nb::handle values) { return Class{with_values(x, values)}; },
      nb::arg("values"),
      "The same places with other values, one per entry, which are copied. Shares the pattern\n"
      "and what is derived from it. A number gives an iso matrix.");
  of.def(
      "_iso",
      [](const Class& x, nb::handle value, nb::handle dtype) {
        return Class{iso_like(x, value, dtype)};
      },
      nb::arg("value"), nb::arg("dtype"));
  of.def(
      "astype", [](const Class& x, nb::handle dtype) { return Class{astype(x, type_from(dtype))}; },
      nb::arg("dtype"), "The same with values of another type.");
  of.def(
      "__eq__",
      [](const Class& x, nb::handle y) -> nb::object {
        if (!nb::isinstance<Class>(y)) return nb::borrow(Py_NotImplemented);
        return nb::bool_(are_equal(x, nb::cast<const Class&>(y)));
      },
      nb::arg("other").none());
  of.attr("__hash__") = nb::none();
  // NumPy must not take `array @ matrix` apart element by element.
  of.attr("__array_ufunc__") = nb::none();
}

}  // namespace

matrix read_matrix(nb::handle object, const char* call, const char* name, const char* also) {
  if (nb::isinstance<matrix>(object)) return nb::cast<const matrix&>(object);
  const nb::object made = nb::module_::import_("rigblas._convert").attr("operand")(object);
  if (made.is_none())
    rig::fail(rig::errc::type, {call, ": ", name, " is a ", kind_of(object), "; give ", also,
                                "a rigblas.Matrix, or a matrix of SciPy or a graph of NetworkX"});
  return nb::cast<const matrix&>(made);
}

namespace {

void bind_matrix(nb::module_& m) {
  nb::class_<matrix> a(
      m, "Matrix",
      "A sparse matrix: compressed sparse rows, with ascending columns.\n\n"
      "Immutable, except that a call with ``out=`` rebinds it. Copies and results\n"
      "with the same places share memory. Made by `rigblas.matrix`.");
  bind_common(a);
  a.def_prop_ro(
      "shape", [](const matrix& x) { return nb::make_tuple(x.rows(), x.columns()); },
      "Rows and columns.");
  a.def_prop_ro(
      "indptr",
      [](const matrix& x) {
        return view_of(x, x.structure->offsets(), rig::int64(x.rows()) + 1,
                       x.structure->offsets_64() ? type::int64 : type::int32);
      },
      "Where each row begins in `indices`; rows + 1 numbers, a read-only view.");
  a.def(
      "prepare",
      [](nb::handle self, flag transpose_a, std::string_view kernel) {
        const auto structure = nb::cast<const matrix&>(self).structure;
        {
          const nb::gil_scoped_release release;
          rig::or_out_of_memory("prepare",
                                [&] { rig::prepare_derived(*structure, transpose_a, kernel); });
        }
        return nb::borrow(self);
      },
      nb::arg("transpose_a") = false, nb::arg("kernel") = "",
      "Builds what the first product would build. Returns the matrix.");
  a.def("derived_structures", &derived_list,
        "What is derived from the pattern so far: (name, bytes) each.");
  a.def(
      "drop_derived", [](const matrix& x) { x.structure->drop_derived(); },
      "Drops what is derived from the pattern.");
  a.def("__repr__", [](const matrix& x) {
    return text_of(x, "Matrix", rig::shape_text(x.rows(), x.columns()));
  });
  a.def("__str__", [](const matrix& x) {
    std::string text = with_type(x.stored, [&]<class T>(T) { return rig::to_text(typed<T>(x)); });
    if (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  });
  a.def("_as_vector", [](const matrix& x) {
    if (x.rows() != 1)
      rig::fail(rig::errc::shape, {"vector: the matrix has ", x.rows(), " rows; give one"});
    return vector{x};
  });
}

void bind_vector(nb::module_& m) {
  nb::class_<vector> v(m, "Vector",
                       "A sparse vector: ascending indices and a value each.\n\n"
                       "Immutable, except that a call with ``out=`` rebinds it. Made by\n"
                       "`rigblas.vector`.");
  bind_common(v);
  v.def_prop_ro(
      "size", [](const vector& x) { return x.columns(); }, "The number of places.");
  v.def_prop_ro(
      "shape", [](const vector& x) { return nb::make_tuple(x.columns()); },
      "The number of places, in a tuple.");
  v.def("__repr__",
        [](const vector& x) { return text_of(x, "Vector", "of " + std::to_string(x.columns())); });
}

}  // namespace

void bind_sparse(nb::module_& m) {
  bind_vector(m);
  bind_matrix(m);
  m.def("_from_csr", [](rig::int64 rows, rig::int64 columns, nb::handle indptr, nb::handle indices,
                        nb::handle data, bool copy) {
    return matrix{from_csr(rows, columns, indptr, indices, data, copy)};
  });
  m.def("_over_tensors", [](rig::int64 rows, rig::int64 columns, std::size_t nnz,
                            std::uintptr_t offsets, flag offsets_64, std::uintptr_t indices,
                            int device, std::uintptr_t stream, nb::object owner) {
    return matrix{over_tensors(rows, columns, nnz, offsets, offsets_64, indices, device, stream,
                               std::move(owner))};
  });
  m.def("_from_tuples",
        [](rig::int64 rows, rig::int64 columns, nb::handle i, nb::handle j, nb::handle data) {
          return matrix{from_tuples(rows, columns, i, j, data)};
        });
  m.def("_from_dense", [](nb::handle x) { return matrix{from_dense(x)}; });
  m.def("_vector", [](nb::handle indices, nb::handle values, rig::int64 size) {
    return vector{vector_from(indices, values, size)};
  });
}

}  // namespace rigblas
