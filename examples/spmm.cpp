// One product: a sparse graph times a dense matrix, over any semiring that rig lists.

#include <algorithm>
#include <cmath>
#include <vector>

#include "product_options.hpp"
#include "rig/quantized.hpp"
#include "rig/sampling_report.hpp"

namespace {

struct settings {
  std::string semiring, type, feature_type, rows;
  int features, repeat, width, k;
  bool transpose = false, rescale = false;
};

/// The product with features that are stored as B has them; `step` is that of int8.
template <class T, class B>
void multiply(const example::options& given, const settings& my, const rig::matrix<T>& a,
              const B& b, double step = 0) {
  const rig::named_semiring<T> algebra(my.semiring);
  auto desc = given.describe();
  desc.transpose_a = my.transpose;
  desc.width = my.width;
  desc.k = my.k;
  desc.rescale = my.rescale;
  desc.fill = 0;
  const rig::index m = my.transpose ? a.columns() : a.rows();
  const auto rows = example::list_of("--rows", my.rows, 0, m - 1);

  a.prepare(desc);
  const auto why = rig::explain(a, b, algebra, desc);
  given.show(why);
  auto c = example::product_memory(a, my.features, algebra, desc);
  const auto call = [&] { example::multiply_into(c, a, b, algebra, desc); };
  call();  // the first call is not timed
  std::vector<double> times;
  for (int repeat = 0; repeat < my.repeat; ++repeat) {
    rig::synchronise(a.where());
    const example::stopwatch watch;
    call();
    rig::synchronise(a.where());
    times.push_back(watch.ms());
  }
  std::nth_element(times.begin(), times.begin() + my.repeat / 2, times.end());

  const rig::dense<T> result = c.values.to(rig::cpu());
  const example::sums sums = example::sums_of(result);
  std::vector<std::pair<std::string, std::string>> shown;
  for (const rig::index row : rows) {
    std::vector<std::string> first;
    for (rig::index j = 0; j < std::min(4, my.features); ++j)
      first.push_back(example::json(static_cast<double>(result(row, j))));
    shown.emplace_back(std::to_string(row), example::json_list(first));
  }

  example::report out;
  out.note("graph", given.source());
  out.add("n", a.rows());
  out.add("m", a.columns());
  out.add("nnz", a.nnz());
  out.add("features", my.features);
  out.add("semiring", my.semiring);
  out.add("type", my.type);
  out.add("feature_type", my.feature_type);
  if (my.feature_type == "int8") out.add("step", step);
  out.add("device", std::string(a.where() == rig::cpu() ? "cpu" : "cuda"));
  out.add("kernel", why.chosen);
  out.note("why", why.reason);
  if (my.k > 0) out.add("k", my.k);
  if (example::is_sampled(why.chosen)) {
    const rig::sampling_statistics sample = rig::sampling_report(a, desc);
    out.add("kept", sample.staged);
    out.add("distinct", sample.distinct);
    out.add("kept_share", sample.kept_share());
  }
  out.add("ms", times[static_cast<std::size_t>(my.repeat) / 2]);
  out.add("fro", sums.fro);
  out.add("total", sums.total);
  const std::string first = example::json_object(shown);
  out.add_json("rows", first, shown.empty() ? "" : first);
  given.finish(out, result);
}

template <class T>
void spmm(const example::options& given, const settings& my) {
  const auto a = given.load<T>().to(given.where());
  const rig::index n = my.transpose ? a.rows() : a.columns();
  const auto with = [&]<class Stored>(Stored) {
    multiply(given, my, a, example::features<Stored>(n, my.features).to(a.where()));
  };
  if (my.feature_type == "float") return with(float());
  if (my.feature_type == "double") return with(double());
  if (my.feature_type == "half") return with(rig::half());
  if (my.feature_type == "bfloat16") return with(rig::bfloat16());
  if (my.feature_type == "bool") return with(bool());
  const auto codes = rig::quantized::from(
      example::features<std::conditional_t<std::is_same_v<T, bool>, float, T>>(n, my.features));
  multiply(given, my, a, codes.to(a.where()), codes.step()[0]);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string names = example::semiring_names();
  settings my{};
  namespace po = example::po;
  po::options_description own("Product", 100);
  auto add = own.add_options();
  add("semiring", po::value(&my.semiring)->default_value("plus_times")->value_name("NAME"),
      (names + "; of arg_* the values are reported").c_str());
  add("features", po::value(&my.features)->default_value(32)->value_name("F"), "columns of B");
  add("type", po::value(&my.type)->value_name("TYPE"),
      "float, double or bool; default: the first in which rig lists the semiring");
  add("feature-type", po::value(&my.feature_type)->value_name("TYPE"),
      "how B is stored: float, double, half, bfloat16, bool or int8; default: the type");
  add("transpose", po::bool_switch(&my.transpose), "multiply by the transposed graph");
  add("width", po::value(&my.width)->default_value(0)->value_name("W"),
      "entries that a sampled kernel keeps per row");
  add("k", po::value(&my.k)->default_value(0)->value_name("K"),
      "entries that --kernel maxk keeps per row of B");
  add("rescale", po::bool_switch(&my.rescale),
      "multiply sampled sums by entries of the row / entries kept");
  add("repeat", po::value(&my.repeat)->default_value(1)->value_name("R"),
      "timed calls; the median is reported");
  add("rows", po::value(&my.rows)->value_name("I,J,..."),
      "rows of C of which the first four values are shown");
  return example::run_program(
      count, arguments,
      {.summary = "C = A B over a semiring: A the graph, B[i][j] = sin(0.37 i + 1.13 j); no entry "
                  "gives 0",
       .output = "the F values of each row of C"},
      own, [&](const example::options& given) {
        settings full = my;
        full.type = example::type_of_sums(my.semiring, my.type);
        if (full.feature_type.empty()) full.feature_type = full.type;
        static constexpr std::string_view stored[] = {"float",    "double", "half",
                                                      "bfloat16", "bool",   "int8"};
        example::require(std::ranges::find(stored, full.feature_type) != std::end(stored),
                         "--feature-type is float, double, half, bfloat16, bool or int8, not '" +
                             my.feature_type + "'");
        example::require_at_least(1, "--features", my.features);
        example::require_at_least(1, "--repeat", my.repeat);
        if (given.kernel == "maxk")
          example::require_between(1, my.features, "--k of --kernel maxk", my.k);
        else
          example::require(my.k == 0, "--k is for --kernel maxk");
        if (example::is_sampled(given.kernel))
          example::require_between(1, rig::widest_sample, "--width of a --kernel that samples",
                                   my.width);
        else
          example::require(my.width == 0 && !my.rescale,
                           "--width and --rescale are for a --kernel that samples rows");
        example::with_type_of_sums(full.type,
                                   [&](auto number) { spmm<decltype(number)>(given, full); });
      });
}
