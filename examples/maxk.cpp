// MaxK before an aggregation: the product, its gradient, and a check of one by the other. Products
// and sums run where the graph lies.

#include <algorithm>
#include <cmath>

#include "options.hpp"
#include "rig/cbsr.hpp"
#include "rig/elementwise.hpp"
#include "rig/graph.hpp"
#include "rig/mxm.hpp"
#include "rig/reduce.hpp"
#include "rig/semirings.hpp"

namespace {

struct settings {
  std::string aggregate;
  int features, k;
};

/// Element (i, j) is sin(p·i + q·j).
template <class T>
rig::dense<T> waves(rig::index rows, rig::index columns, double p, double q) {
  auto x = rig::dense<T>::uninitialised(rows, columns);
#pragma omp parallel for
  for (rig::index i = 0; i < rows; ++i)
    for (rig::index j = 0; j < columns; ++j) x(i, j) = static_cast<T>(std::sin(p * i + q * j));
  return x;
}

/// Σ x ∘ y.
double inner(const rig::dense<double>& x, const rig::dense<double>& y) {
  using enum rig::binary;
  return rig::reduce(rig::ewise_mult(x, y, times), plus);
}

/// How fast L(X) = Σ W ∘ (A · maxk(X)) grows along a direction: as the gradient says, and as the
/// difference of two values of L does.
struct slopes {
  double by_gradient, by_difference, error;
  rig::index rows_left_out = 0;  ///< where a step along the direction changes what is kept
};

/// Sets a direction to 0 in the rows where X, X + direction and X − direction keep other places.
/// Returns the number of these rows.
rig::index leave_out(rig::dense<double>& direction, const rig::cbsr<double>& at_x,
                     const rig::cbsr<double>& above, const rig::cbsr<double>& below) {
  const auto places = at_x.structure().to(rig::cpu()), after = above.structure().to(rig::cpu()),
             before = below.structure().to(rig::cpu());
  const auto same = [&](const rig::cbsr_pattern& other, rig::index i) {
    for (int p = 0; p < places.k(); ++p)
      if (other.column(i, p) != places.column(i, p)) return false;
    return true;
  };
  rig::index left_out = 0;
  for (rig::index i = 0; i < direction.rows(); ++i) {
    if (same(after, i) && same(before, i)) continue;
    ++left_out;
    std::ranges::fill(direction.row(i), 0.0);
  }
  return left_out;
}

slopes check_gradient(const rig::matrix<double>& a, int features, int k) {
  using enum rig::binary;
  const rig::plus_times<double> sum;
  const rig::index n = a.columns();
  const rig::place where = a.where();
  const auto x = waves<double>(n, features, 0.37, 1.13).to(where),
             w = waves<double>(a.rows(), features, 1, 2).to(where);
  auto direction = waves<double>(n, features, 0.71, 0.53);
  const double step = 1e-6;
  const auto kept_at = [&](double by) {
    const auto move = rig::apply(direction.to(where), times, by);
    return rig::maxk(rig::ewise_add(x, move, plus), k);
  };

  // L is linear as long as the same places are kept.
  slopes found{};
  const auto kept = rig::maxk(x, k);
  found.rows_left_out = leave_out(direction, kept, kept_at(step), kept_at(-step));
  if (n > 0 && found.rows_left_out == n)
    throw std::runtime_error("no gradient to check: a step of 1e-6 changes which " +
                             std::to_string(k) + " of " + std::to_string(features) +
                             " entries are kept in each of " + std::to_string(n) + " rows");

  const auto gradient =
      rig::to_dense(rig::mxm(a, w, sum, rig::structure(kept), {.transpose_a = true}));
  const auto loss = [&](double by) { return inner(w, rig::mxm(a, kept_at(by), sum)); };
  const auto terms = rig::ewise_mult(gradient, direction.to(where), times);
  found.by_gradient = rig::reduce(terms, plus);
  found.by_difference = (loss(step) - loss(-step)) / (2 * step);
  // Of the sum of its terms, which may cancel.
  const double scale = rig::reduce(rig::apply(terms, rig::unary::absolute), plus);
  found.error = std::abs(found.by_gradient - found.by_difference) / (scale > 0 ? scale : 1);
  return found;
}

void maxk(const example::options& given, const settings& my) {
  const rig::place where = given.where();
  const auto operand = [&]<class T>(T) {
    const auto graph = given.load<T>().to(where);
    return my.aggregate == "mean" ? rig::mean_normalise(graph) : graph;
  };
  const auto a = operand(float());
  const auto x = waves<float>(a.columns(), my.features, 0.37, 1.13).to(where),
             grown = waves<float>(a.rows(), my.features, 1, 2).to(where);
  const rig::plus_times<float> sum;
  rig::descriptor plain = given.describe(), whole = plain;
  plain.kernel = {};
  whole.k = my.k;
  rig::descriptor transposed = plain;
  transposed.transpose_a = true;
  a.prepare(plain);
  a.prepare(transposed);
  const auto dense = rig::explain(a, x, sum, whole);  // throws where the named kernel cannot

  rig::cbsr<float> y, dy;
  rig::dense<float> c;
  example::stages stages(where);
  stages.time("maxk", [&] { y = rig::maxk(x, my.k, plain); });
  stages.time("forward", [&] { c = rig::mxm(a, y, sum, plain); });
  stages.time("backward", [&] { dy = rig::mxm(a, grown, sum, rig::structure(y), transposed); });
  stages.time("dense", [&] { rig::mxm(a, x, sum, whole); });
  const auto forward = rig::explain(a, y, sum, plain),
             backward = rig::explain(a, grown, sum, rig::structure(y), transposed);
  given.show(forward);
  given.show(backward);
  given.show(dense);

  const slopes slope = check_gradient(operand(double()), my.features, my.k);
  const example::sums sums = example::sums_of(c.to(rig::cpu())),
                      back = example::sums_of(rig::to_dense(dy.to(rig::cpu())));
  example::report out;
  out.note("graph", given.source());
  out.add("n", a.rows());
  out.add("m", a.columns());
  out.add("nnz", a.nnz());
  out.add("features", my.features);
  out.add("k", my.k);
  out.add("aggregate", my.aggregate);
  out.add("device", std::string(where == rig::cpu() ? "cpu" : "cuda"));
  out.add("forward", forward.chosen);
  out.add("backward", backward.chosen);
  out.add_times(stages);
  out.add("fro", sums.fro);
  out.add("total", sums.total);
  out.add("gradient_fro", back.fro);
  out.add("slope", slope.by_gradient);
  out.add("difference", slope.by_difference);
  out.add("error", slope.error);
  out.add("left_out", slope.rows_left_out);
  given.finish(out, c);
  if (!(slope.error < 1e-6))
    throw std::runtime_error("the gradient is not the slope: off by " + example::json(slope.error));
}

}  // namespace

int main(int count, char** arguments) {
  settings my{};
  namespace po = example::po;
  po::options_description own("Product", 100);
  auto add = own.add_options();
  add("features", po::value(&my.features)->default_value(64)->value_name("F"), "columns of X");
  add("k", po::value(&my.k)->default_value(16)->value_name("K"),
      "entries that MaxK keeps of a row");
  add("aggregate", po::value(&my.aggregate)->default_value("sum"), "sum or mean");
  return example::run_program(
      count, arguments,
      {.summary = "C = A maxk(X), X[i][j] = sin(0.37 i + 1.13 j), and its gradient, which is "
                  "checked in double; --kernel is that of the dense product beside it",
       .output = "the F values of each row of C"},
      own, [&](const example::options& given) {
        example::require_between(1, rig::widest_cbsr, "--features", my.features);
        example::require_between(1, my.features, "--k", my.k);
        example::require(my.aggregate == "sum" || my.aggregate == "mean",
                         "--aggregate is sum or mean, not '" + my.aggregate + "'");
        maxk(given, my);
      });
}
