#pragma once

#include <string>
#include <vector>

#include "product_options.hpp"

// The products that explain, bench and tune are about, as options.

namespace command {

struct product_settings {
  static constexpr rig::index most_columns = 1 << 16;

  std::string semiring, type, features;
  bool transpose = false, tf32 = false;
  int width = 0, k = 0;

  /// The options, `usual` being the columns of B by default.
  example::po::options_description described(const char* usual) {
    namespace po = example::po;
    po::options_description own("Product", 100);
    auto add = own.add_options();
    add("semiring", po::value(&semiring)->default_value("plus_times")->value_name("NAME"),
        example::semiring_names().c_str());
    add("features", po::value(&features)->default_value(usual)->value_name("F,F,..."),
        "columns of B, one product each");
    add("type", po::value(&type)->value_name("TYPE"),
        "float, double or bool; default: the first in which rig lists the semiring");
    add("transpose", po::bool_switch(&transpose), "multiply by the transposed matrix");
    return own;
  }
  /// Options that kernels name when they cannot serve.
  void add_needed(example::po::options_description& own) {
    namespace po = example::po;
    auto add = own.add_options();
    add("width", po::value(&width)->default_value(0)->value_name("W"),
        "entries that a sampled kernel keeps per row");
    add("k", po::value(&k)->default_value(0)->value_name("K"),
        "entries that the kernel maxk keeps per row of B");
    add("tf32", po::bool_switch(&tf32), "the kernel hybrid may round floats: precision tf32");
  }
  std::vector<rig::index> widths() const {
    const auto all = example::list_of("--features", features, 1, most_columns);
    example::require(!all.empty(), "--features is a list of numbers as 1,5,7, not ''");
    return all;
  }
  rig::descriptor describe(const example::options& given) const {
    rig::descriptor desc = given.describe();
    desc.transpose_a = transpose;
    desc.width = width;
    desc.k = k;
    if (tf32) desc.precision = rig::precision::tf32;
    return desc;
  }
  /// Every kernel's answer to the product with B of some columns. Preparing for a kernel that rig
  /// does not choose may change its choice.
  template <class T>
  rig::explanation explain(const rig::matrix<T>& a, rig::index width,
                           const example::options& given) const {
    const auto b =
        rig::dense<T>::uninitialised(transpose ? a.rows() : a.columns(), width, a.where());
    return rig::explain(a, b, rig::named_semiring<T>(semiring), describe(given));
  }
  /// Does `work(T())` with the type of the sums.
  template <class Work>
  void with_type(Work work) {
    static_cast<void>(widths());  // refused before a file is read
    example::require_between(0, rig::widest_sample, "--width", width);
    example::require_between(0, most_columns, "--k", k);
    type = example::type_of_sums(semiring, type);
    example::with_type_of_sums(type, work);
  }
};

}  // namespace command
