#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "../report.hpp"
#include "rig/elementwise.hpp"
#include "rig/quantized.hpp"
#include "rig/rearrange.hpp"

// What a computation leaves behind so that gradients can be found: reverse-mode differentiation.

namespace gnn {

template <class T>
rig::dense<T> constant(rig::index rows, rig::index columns, T value, rig::place where) {
  auto made = rig::dense<T>::uninitialised(rows, columns, where);
  rig::assign(made, rig::none, value, rig::all, rig::all);
  return made;
}

/// Features of fewer bits than floats, of an inference.
using narrow_features =
    std::variant<rig::quantized, rig::dense<rig::half>, rig::dense<rig::bfloat16>>;

/// A value in a computation, and the gradient of the loss by it.
template <class T>
struct variable {
  rig::dense<T> value = {}, gradient = {};
  rig::matrix<T> sparse = {};  ///< the value instead, if it is sparse: features of words
  bool is_sparse = false;
  std::optional<narrow_features> narrow = {};  ///< the value instead, if it is set
  bool needs_gradient = true;                  ///< false for features

  explicit variable(rig::dense<T> x) : value(std::move(x)) {}
  explicit variable(rig::matrix<T> x)
      : sparse(std::move(x)), is_sparse(true), needs_gradient(false) {}
  explicit variable(narrow_features x) : narrow(std::move(x)), needs_gradient(false) {}

  /// work(the value, as it is stored).
  template <class Work>
  auto visit(const Work& work) const {
    if (is_sparse) return work(sparse);
    return narrow ? std::visit(work, *narrow) : work(value);
  }
  rig::index rows() const {
    return visit([](const auto& x) { return x.rows(); });
  }
  rig::index columns() const {
    return visit([](const auto& x) { return x.columns(); });
  }
  rig::place where() const {
    return visit([](const auto& x) { return x.where(); });
  }

  /// Adds to the gradient, which is 0 before the first call.
  void add(rig::dense<T> g) {
    if (gradient.rows() == 0)
      gradient = std::move(g);
    else
      rig::ewise_add(gradient, rig::none, gradient, g, rig::binary::plus);
  }
  /// Makes room for a gradient of this shape; returns how the next part of it is written there.
  rig::accumulator open(rig::index rows, rig::index columns, rig::place where) {
    if (gradient.rows() != 0) return rig::accumulator::plus;
    gradient = rig::dense<T>::uninitialised(rows, columns, where);
    return rig::none;
  }
  /// The same for a gradient that is written part by part: it is 0 before the first one.
  void open_at_zero() {
    if (open(rows(), columns(), where()) == rig::none)
      rig::assign(gradient, rig::none, T(0), rig::all, rig::all);
  }
};
template <class T>
using var = std::shared_ptr<variable<T>>;

template <class T, class Value>
var<T> variable_of(Value value) {
  return std::make_shared<variable<T>>(std::move(value));
}

/// A part of X as a variable of its own: a view of X, which it keeps alive.
template <class T>
var<T> part_of(const var<T>& x, rig::dense<T> view) {
  return var<T>(new variable<T>(std::move(view)), [x](variable<T>* part) { delete part; });
}

/// The kinds of work whose time is told apart: products of the graph, and everything else.
enum class stage { aggregate, update };

/// The steps that lead from the gradient of a result to those of its arguments, in the order in
/// which the results were computed. An inference records none.
class tape {
 public:
  explicit tape(bool records, rig::place where) : records_(records), where_(where) {}

  bool records() const { return records_; }
  /// Times every stage from now on: the device is waited for around each.
  void measure() { measures_ = true; }
  /// Milliseconds of a stage.
  double ms(stage s) const { return ms_[static_cast<std::size_t>(s)]; }

  /// Does some work; its time counts for a stage.
  template <class Work>
  auto run(stage s, Work work) {
    if (!measures_) return work();
    rig::synchronise(where_);
    const example::stopwatch watch;
    if constexpr (std::is_void_v<decltype(work())>) {
      work();
      count(s, watch);
    } else {
      auto made = work();
      count(s, watch);
      return made;
    }
  }
  /// Records how the gradient is passed on.
  template <class Step>
  void then(stage s, Step step) {
    if (records_) steps_.push_back([this, s, step] { run(s, step); });
  }
  /// Takes every recorded step, the last one first. Memory is freed as it goes.
  void backward() {
    for (; !steps_.empty(); steps_.pop_back()) steps_.back()();
  }

 private:
  void count(stage s, const example::stopwatch& watch) {
    rig::synchronise(where_);
    ms_[static_cast<std::size_t>(s)] += watch.ms();
  }

  bool records_, measures_ = false;
  rig::place where_;
  std::array<double, 2> ms_{};
  std::vector<std::function<void()>> steps_;
};

}  // namespace gnn
