#include <nanobind/stl/string.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

#include "docstrings.hpp"
#include "features.hpp"
#include "rig/generate.hpp"

// Files, generators and places.

namespace rigblas {
namespace {

/// Whether a name ends in one of these, packed or not.
bool is_named(const std::string& path, std::initializer_list<std::string_view> endings) {
  std::string_view name = path;
  if (name.ends_with(".gz")) name.remove_suffix(3);
  return std::ranges::any_of(endings, [&](std::string_view end) { return name.ends_with(end); });
}

matrix read_sparse(const std::string& path, nb::handle dtype, const rig::read_options& options) {
  if (is_named(path, {".npy"}))
    rig::fail(rig::errc::format, {path, ": .npy holds an array; read it with numpy.load"});
  return with_type(type_from(dtype), [&]<class T>(T) {
    if constexpr (rig::is_in_files<T>) {
      const nb::gil_scoped_release release;
      return matrix{erased(rig::read_matrix<T>(path, options))};
    } else {
      rig::fail(rig::errc::type, {"read: dtype is ", name_of(rig::type_of<T>),
                                  "; give float32, float64, int32, int64 or bool"});
      return matrix{};
    }
  });
}

void write(const std::string& path, nb::handle object) {
  const operand x = read_operand(object, "write", "A");
  if (x.what == operand::kind::vector)
    rig::fail(rig::errc::type, {"write: A is a Vector; write A.toarray()"});
  if (x.is_dense() && is_named(path, {".mtx", ".npz", ".csv"}))
    rig::fail(rig::errc::cannot, {"write: A is an array, which becomes .npy, and the path is '",
                                  path, "'; write rig.matrix(A), or end the name in .npy"});
  if (!x.is_dense() && is_named(path, {".npy", ".csv"}))
    rig::fail(rig::errc::cannot,
              {"write: A is a Matrix, which becomes Matrix Market or .npz, and the path is '", path,
               "'; write A.toarray(), or end the name in .mtx or .npz"});
  with_type(x.stored(), [&]<class T>(T) {
    if constexpr (rig::is_in_files<T>) {
      if (x.is_dense())
        rig::write_dense(path, dense_of<T>(x.full));
      else
        rig::write_matrix(path, typed<T>(*x.entries));
    } else {
      rig::fail(rig::errc::type,
                {"write: elements are ", name_of(x.stored()), "; convert them to float32"});
    }
  });
}

nb::list devices() {
  nb::list out;
  for (const rig::device_info& each : rig::devices()) {
    nb::dict info;
    info["device"] = rig::to_string(each.where);
    info["name"] = each.name;
    info["threads"] = each.threads;
    info["memory"] = each.memory;
    out.append(info);
  }
  return out;
}

}  // namespace

rig::read_options read_options_from(const char* call, rig::int64 nodes,
                                    const std::string& separator, bool values, bool extra_columns,
                                    nb::handle duplicates, bool symmetrise) {
  rig::read_options options;
  options.nodes = nodes;
  if (separator.size() != 1)
    rig::fail(rig::errc::range, {call, ": separator is '", separator, "'; give one character"});
  options.separator = separator[0];
  options.values = values;
  options.extra_columns = extra_columns;
  if (!duplicates.is_none())
    options.duplicates = rig::as_accumulator(binary_from(call, duplicates));
  options.symmetrise = symmetrise;
  return options;
}

void bind_files(nb::module_& m) {
  m.def(
      "_read_matrix",
      [](const std::string& path, nb::handle dtype, rig::int64 nodes, const std::string& separator,
         bool values, bool extra_columns, nb::handle duplicates, bool symmetrise) {
        return read_sparse(path, dtype,
                           read_options_from("read", nodes, separator, values, extra_columns,
                                             duplicates, symmetrise));
      },
      nb::arg("path"), nb::arg("dtype"), nb::arg("nodes"), nb::arg("separator"), nb::arg("values"),
      nb::arg("extra_columns"), nb::arg("duplicates").none(), nb::arg("symmetrise"));
  m.def("_write", &write, nb::arg("path"), nb::arg("A"));
  m.def(
      "generate",
      [](const std::string& text) {
        const nb::gil_scoped_release release;
        return matrix{erased(rig::generate::from_text(text))};
      },
      nb::arg("text"), doc::generate);
  m.def("devices", &devices, doc::devices);
  m.def(
      "synchronise",
      [](nb::handle device) {
        const rig::place where = place_from(device);
        const nb::gil_scoped_release release;
        rig::synchronise(where);
      },
      nb::arg("device"), doc::synchronise);
  m.attr("__version__") = rig::version();
}

}  // namespace rigblas
