#pragma once

// Every operation besides products with a dense result once, small enough for sanitizers and larger
// than one tile of a merge on CUDA.

#include <string>
#include <utility>
#include <vector>

#include "rig/generate.hpp"
#include "rig/graph.hpp"
#include "rig/mxv.hpp"
#include "rig/rearrange.hpp"
#include "rig/reduce.hpp"
#include "rig/semirings.hpp"
#include "rig/sparse_mxm.hpp"

/// The number of entries and the sum of each operation's result, by name.
class each_operation {
 public:
  struct outcome {
    std::string name;
    double entries, sum;
  };
  std::vector<outcome> outcomes;

  explicit each_operation(rig::place where) : where_(where) {
    const auto graph = rig::generate::from_text("rmat:8:8");
    a_ = rig::generate::random_values(graph, 3).to(where);
    b_ = rig::extract(a_, reversed(), rig::all);
    mask_ = rig::select(b_, rig::selection::upper, 1);
    merges();
    maps();
    places();
    vectors_and_dense();
    products();
  }

 private:
  static constexpr rig::index n = 256;

  static std::vector<rig::index> reversed() {
    std::vector<rig::index> out;
    for (rig::index k = n; k-- > 0;) out.push_back(k);
    return out;
  }

  template <class T>
  void add(const char* name, const rig::matrix<T>& c) {
    outcomes.push_back({name, double(c.nnz()), rig::reduce<double>(c, rig::binary::plus)});
  }
  template <class T>
  void add(const char* name, const rig::vector<T>& c) {
    add(name, c.as_row());
  }
  template <class T>
  void add(const char* name, const rig::dense<T>& c) {
    const double elements = double(c.rows()) * c.columns();
    outcomes.push_back({name, elements, rig::reduce<double>(c, rig::binary::plus)});
  }

  void products() {
    const rig::descriptor turned = {.transpose_b = true};
    add("mxm", rig::mxm(a_, b_, rig::plus_times<float>()));
    add("mxm, transposed", rig::mxm(a_, b_, rig::min_plus<float>(), turned));
    add("mxm, gustavson, masked",
        rig::mxm(a_, b_, rig::plus_pair<int>(), rig::complement(rig::structure(mask_)),
                 {.kernel = "gustavson"}));
    add("mxm, dot", rig::mxm(a_, b_, rig::plus_times<float>(), rig::structure(mask_),
                             {.transpose_b = true, .kernel = "dot"}));
    const auto x = rig::dense<float>(n, 20, 0.5f).to(where_);
    add("mxm of dense", rig::mxm(x, x, rig::plus_times<float>(), rig::structure(mask_), turned));
    const auto u = rig::vector<float>::from_indices(n, std::vector{1, 5, 200}, 2.0f).to(where_);
    for (const char* kernel : {"push", "pull"}) {
      const rig::descriptor by = {.kernel = kernel};
      add("vxm", rig::vxm(u, a_, rig::min_plus<float>(), by));
      add("mxv", rig::mxv(a_, u, rig::any_pair<bool>(), by));
    }
  }

  void merges() {
    using rig::binary;
    add("ewise_add", rig::ewise_add(a_, b_, binary::plus));
    add("ewise_mult", rig::ewise_mult(a_, b_, binary::times, rig::structure(mask_)));
    auto c = b_;
    rig::ewise_add(c, rig::accumulator::minus, a_, b_, binary::maximum,
                   rig::complement(rig::values(mask_)), {.transpose_b = true, .replace = true});
    add("accumulated", c);
  }
  void maps() {
    add("apply", rig::apply(a_, rig::unary::sigmoid));
    add("apply a number", rig::apply<rig::half>(a_, rig::binary::times, 0.5f));
    add("select", rig::select(a_, rig::selection::greater, 0.5f));
    add("softmax", rig::edge_softmax(a_));
    add("symmetrise", rig::symmetrise(a_));
    add("loops", rig::add_self_loops(a_));
    add("gcn", rig::gcn_normalise(a_));
    add("mean", rig::mean_normalise(a_));
    add("scale", rig::scale_columns(a_, std::vector<float>(n, 0.5f)));
  }
  void places() {
    add("transpose", rig::transpose(a_));
    add("extract", rig::extract(a_, rig::range{3, n, 2}, reversed()));
    auto c = b_;
    std::vector<rig::index> pairs;
    for (rig::index k = 0; k < n; ++k) pairs.push_back(k / 2);
    rig::assign(c, rig::accumulator::plus, a_, pairs, rig::all);
    add("assign", c);
    rig::assign(c, rig::none, 2.0f, rig::range{0, 9}, pairs, rig::structure(mask_));
    add("assign a number", c);
    const auto corner = rig::extract(a_, rig::range{0, 9}, rig::range{0, 7});
    add("kronecker", rig::kronecker(corner, corner, rig::binary::minus));
    add("to_tuples", rig::to_tuples(a_).rows);
    const auto entry = rig::at(a_, 0, 1);
    outcomes.push_back({"at", double(entry.has_value()), double(entry.value_or(0))});
  }
  void vectors_and_dense() {
    const auto v = rig::reduce_rows(a_, rig::binary::plus);
    add("reduce_rows", v);
    add("reduce_columns", rig::reduce_columns(a_, rig::binary::maximum));
    add("diag", rig::diag(v, 2));
    add("from diag", rig::diag(a_, -1));
    rig::dense<float> here(n, 33, 0);
    for (rig::index i = 0; i < n; ++i)
      for (rig::index j = 0; j < 33; ++j) here(i, j) = float((i * 7 + j) % 19 - 9);
    const auto x = here.to(where_);
    auto y = rig::apply(x, rig::unary::relu);
    add("relu", y);
    rig::ewise_add(y, rig::accumulator::plus, x, x, rig::binary::times, rig::values(x));
    add("dense", y);
    add("dense rows", rig::reduce_rows(x, rig::binary::plus));
    add("dense columns", rig::reduce_columns(x, rig::binary::maximum));
    add("dense part", rig::extract(x, reversed(), rig::range{0, 33, 2}));
    add("dense transpose", rig::transpose(x));
    std::vector<rig::index> pairs;
    for (rig::index k = 0; k < n; ++k) pairs.push_back(k / 2);
    rig::assign(y, rig::accumulator::plus, x, pairs, rig::all);
    add("dense assign", y);
    rig::assign(y, rig::none, 3.0f, rig::range{0, 9}, rig::all, rig::values(x));
    add("dense assign a number", y);
    const auto square =
        rig::ewise_add(a_, rig::dense<float>(n, n, 2.0f).to(where_), rig::binary::plus);
    add("sparse and dense", square);
    add("dense at entries", rig::ewise_mult(a_, square, rig::binary::times));
    add("spread", v.to_dense(1));
    add("full vector", rig::vector<float>::from(v.to_dense(1)));
    const auto t = rig::to_tuples(a_);
    add("build", rig::build(n, n, t.columns, t.rows, t.values));
    add("folded", rig::build(n, t.rows, t.values, rig::binary::plus));
    auto w = rig::vxm(v.to_dense(1), a_, rig::plus_first<float>());
    rig::mxv(w, rig::none, a_, v.to_dense(1), rig::plus_times<float>(), rig::structure(v));
    add("products of a column", w);
    add("greatest entries", rig::reduce_rows(a_, rig::arg_max_second<float>(), {.fill = 0}).values);
  }

  rig::place where_;
  rig::matrix<float> a_, b_, mask_;
};
