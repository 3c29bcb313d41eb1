#include "semirings.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "docstrings.hpp"

namespace rigblas {

/// Pairs that the library lacks, compiled into the module (pair.cpp.in).
#define RIGBLAS_PAIR(name, type) const rig::builtin_pair& pair_##name##_##type();
#include "pairs.def"
#undef RIGBLAS_PAIR

namespace {

/// A name, and its pair over each type, null if there is none.
struct listed {
  std::string_view name;
  const rig::builtin_pair* over[5] = {};

  const rig::builtin_pair*& of(type t) { return over[static_cast<int>(t)]; }
  const rig::builtin_pair* of(type t) const { return over[static_cast<int>(t)]; }
};
constexpr type computed[] = {type::boolean, type::int32, type::int64, type::float32, type::float64};

const std::vector<listed>& semirings() {
  static const auto& all = *new const std::vector<listed>([] {
    std::vector<listed> out;
    const auto add = [&](std::string_view name, type over, const rig::builtin_pair& pair) {
      auto at = std::find_if(out.begin(), out.end(), [&](auto& each) { return each.name == name; });
      if (at == out.end()) at = out.insert(at, {name});
      at->of(over) = &pair;
    };
    for (const type over : {type::float32, type::float64, type::boolean})
      for (const char* const name : rig::builtin_names(over))
        add(name, over, rig::find_builtin(name, over));
#define RIGBLAS_PAIR(name, type_) add(#name, rig::type_of<type_>, pair_##name##_##type_());
    using rig::int64;
#include "pairs.def"
#undef RIGBLAS_PAIR
    return out;
  }());
  return all;
}

const listed& find(std::string_view name, const char* call) {
  for (const listed& each : semirings())
    if (each.name == name) return each;
  std::string names;
  for (const listed& each : semirings()) names.append(each.name).append(", ");
  rig::fail(rig::errc::range, {call, ": no semiring is named '", name, "'; there are ", names,
                               "and your own: rigblas.semiring(...)"});
}

/// The type that the operands of a product meet in; `other` if neither says one.
type meeting_type(const rig::semiring_info& of, const operand* a, const operand* b) {
  const auto says = [](const operand* x, bool ignored) {
    return x != nullptr && !ignored && !(x->entries && x->entries->is_pattern());
  };
  const bool a_says = says(a, of.ignores_left), b_says = says(b, of.ignores_right);
  if (a_says && b_says) return common_of(a->stored(), b->stored());
  if (a_says) return a->stored();
  if (b_says) return b->stored();
  return type::other;
}

algebra named_algebra(std::string_view name, const char* call, const operand* a, const operand* b,
                      type named) {
  const listed& found = find(name, call);
  // Semirings over bool are logical: numbers are true unless they are 0.
  if (const rig::builtin_pair* const logical = found.of(type::boolean))
    return {logical, type::boolean};
  const rig::semiring_info& info = *found.of(type::float32)->product.algebra;
  type met = meeting_type(info, a, b);
  if (met == type::other) {
    const operand* const only = b != nullptr && !info.ignores_right ? b : a;
    met = only != nullptr ? only->stored() : type::float32;
  }
  const type wanted = named == type::other ? met : common_of(met, named);
  const bool is_mean = info.samples_as == rig::reduction::mean;
  const bool is_whole = wanted == type::boolean || wanted == type::int32 || wanted == type::int64;
  const type over = is_mean && is_whole       ? type::float64
                    : wanted == type::boolean ? type::int64  // they are counted
                                              : algebra_of(wanted);
  for (const type each : {type::int32, type::int64, type::float32, type::float64}) {
    if (common_of(each, over) != each) continue;
    // No float holds every int64.
    if (wanted == type::int64 && each == type::float64 && !is_mean) break;
    if (const rig::builtin_pair* const pair = found.of(each))
      return {pair, met == type::boolean || (is_mean && is_whole) ? each : met};
  }
  rig::fail(rig::errc::type, {call, ": ", name, " does not compute with ", name_of(met),
                              "; convert the operands to float32 or float64"});
}

}  // namespace

algebra algebra_from(nb::handle semiring, const char* call, const operand* a, const operand* b,
                     type named) {
  if (PyUnicode_Check(semiring.ptr())) {
    Py_ssize_t length = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(semiring.ptr(), &length);
    return named_algebra({text, static_cast<std::size_t>(length)}, call, a, b, named);
  }
  if (nb::isinstance<own_semiring>(semiring)) {
    const rig::builtin_pair* const pair = nb::cast<const own_semiring&>(semiring).pair;
    return {pair, pair->product.algebra->result};
  }
  rig::fail(rig::errc::type, {call, ": the semiring is ", nb::cast<std::string>(nb::repr(semiring)),
                              "; give a name, such as \"plus_times\", or a rigblas.Semiring"});
}

const rig::builtin_pair& pair_over(std::string_view name, type over, const char* call) {
  const rig::builtin_pair* const pair = find(name, call).of(over);
  if (pair == nullptr)
    rig::fail(rig::errc::type, {call, ": ", name, " does not compute with ", name_of(over)});
  return *pair;
}

nb::object exchanged(nb::handle semiring, const char* call) {
  std::string text;
  if (nb::isinstance<nb::str>(semiring)) {
    text = nb::cast<std::string>(semiring);
    const std::string_view other = rig::exchanged_name(text);
    if (!other.empty()) return nb::str(other.data(), other.size());
    find(text, call);  // throws for an unknown name
  } else {
    text = nb::cast<std::string>(nb::str(semiring));
  }
  rig::fail(rig::errc::cannot, {call, ": ", text,
                                " has no form with exchanged operands; call mxm "
                                "with the transpose and the vector as a column"});
}

void bind_semirings(nb::module_& m) {
  nb::class_<own_semiring>(m, "Semiring", "A semiring of a program, made by `rigblas.semiring`.")
      .def_prop_ro("name", [](const own_semiring& s) { return s.name; })
      .def("__repr__", [](const own_semiring& s) { return "<rigblas.Semiring " + s.name + ">"; });
  m.def(
      "_compile_semiring",
      [](const std::string& name, nb::handle of, const std::string& add,
         const std::string& multiply, const std::string& zero, const std::string& finish,
         const std::string& terminal, flag check) {
        const rig::semiring_text text = {name, type_from(of), add,      multiply,
                                         zero, finish,        terminal, check};
        const nb::gil_scoped_release release;
        return own_semiring{name, &rig::compile_semiring(text)};
      },
      nb::arg("name"), nb::arg("dtype"), nb::arg("add"), nb::arg("multiply"), nb::arg("zero"),
      nb::arg("finish") = "", nb::arg("terminal") = "", nb::arg("check") = false);
  m.def(
      "semirings",
      [] {
        nb::dict out;
        for (const listed& each : semirings()) {
          nb::list types;
          for (const type over : computed)
            if (each.of(over) != nullptr) types.append(name_of(over));
          out[nb::str(each.name.data(), each.name.size())] = types;
        }
        return out;
      },
      doc::semirings);
}

}  // namespace rigblas
