#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <vector>

#include "options.hpp"
#include "rig/named_semiring.hpp"

// A product C = op(A) B as a command line names it: the semiring, its type, the columns of B.

namespace example {

/// A type of sums, and the semirings that rig lists in it.
struct sums_in {
  std::string type;
  std::vector<const char*> semirings;
};
inline const std::vector<sums_in>& types_of_sums() {
  static const std::vector<sums_in> types = {{"float", rig::named_semiring<float>::names()},
                                             {"double", rig::named_semiring<double>::names()},
                                             {"bool", rig::named_semiring<bool>::names()}};
  return types;
}

/// The names of all semirings, for --help.
inline std::string semiring_names() {
  std::vector<std::string> names;
  for (const sums_in& type : types_of_sums())
    for (const char* const name : type.semirings)
      if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
  return joined(names);
}

/// The type of this name, or, if it is empty, the first in which rig lists the semiring.
inline std::string type_of_sums(const std::string& semiring, const std::string& type) {
  std::string all, found;
  bool is_listed = false, is_type = type.empty();
  for (const sums_in& each : types_of_sums()) {
    is_type = is_type || type == each.type;
    all += (all.empty() ? "" : "; in " + each.type + " ") +
           joined({each.semirings.begin(), each.semirings.end()});
    if (std::ranges::find(each.semirings, semiring) == each.semirings.end()) continue;
    is_listed = true;
    if (found.empty() && (type.empty() || type == each.type)) found = each.type;
  }
  require(is_listed, "no semiring is named '" + semiring + "'; there are " + all);
  require(is_type, "--type is float, double or bool, not '" + type + "'");
  require(!found.empty(),
          "rig lists no " + semiring + " over " + type + "; leave out --type " + type);
  return found;
}

/// Does `work(T())` with the type of this name.
template <class Work>
void with_type_of_sums(const std::string& type, Work work) {
  if (type == "float") return work(float());
  if (type == "double") return work(double());
  work(bool());
}

/// The numbers of a list "i,j,…" between `least` and `most`, each once.
inline std::vector<rig::index> list_of(const char* option, const std::string& text,
                                       rig::index least, rig::index most) {
  std::vector<rig::index> numbers;
  for (const char *at = text.data(), *end = at + text.size(); at < end; ++at) {
    rig::index number = -1;
    const auto [stop, code] = std::from_chars(at, end, number);
    require(code == std::errc() && number >= 0 && (stop == end || *stop == ','),
            std::string(option) + " is a list of numbers as 1,5,7, not '" + text + "'");
    require(number >= least && number <= most, std::string(option) + " are " + digits(least) +
                                                   " to " + digits(most) + ", not " +
                                                   digits(number));
    if (std::ranges::find(numbers, number) == numbers.end()) numbers.push_back(number);
    at = stop;
  }
  return numbers;
}

/// B[i][j] = sin(0.37 i + 1.13 j), in host memory.
template <class T>
rig::dense<T> features(rig::index rows, rig::index columns) {
  auto b = rig::dense<T>::uninitialised(rows, columns);
#pragma omp parallel for
  for (rig::index i = 0; i < rows; ++i)
    for (rig::index j = 0; j < columns; ++j)
      b(i, j) = rig::convert<T>(std::sin(0.37 * i + 1.13 * j));
  return b;
}

/// Memory for C = op(A) B where A lies.
template <class T>
rig::indexed_dense<T> product_memory(const rig::matrix<T>& a, rig::index columns,
                                     const rig::named_semiring<T>& s, const rig::descriptor& desc) {
  const rig::index rows = desc.transpose_a ? a.columns() : a.rows();
  rig::indexed_dense<T> c;
  c.values = rig::dense<T>::uninitialised(rows, columns, a.where());
  // Arg-max and arg-min yield indices too.
  if (s.is_indexed()) c.indices = rig::dense<rig::int32>::uninitialised(rows, columns, a.where());
  return c;
}

/// C = op(A) B into that memory.
template <class T, class B>
void multiply_into(rig::indexed_dense<T>& c, const rig::matrix<T>& a, const B& b,
                   const rig::named_semiring<T>& s, const rig::descriptor& desc) {
  if (s.is_indexed())
    rig::mxm(c, rig::none, a, b, s, desc);
  else
    rig::mxm(c.values, rig::none, a, b, s, desc);
}

}  // namespace example
