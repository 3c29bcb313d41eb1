// rigblas convert: a matrix from one file to another, changed on the way.

#include "command.hpp"
#include "orders.hpp"
#include "rig/graph.hpp"
#include "weights.hpp"

namespace {

struct settings {
  std::string to, type, weights, reorder;
  bool symmetrise = false;
};

/// Whether a file of this name gets a line per entry, nodes counting from 0.
bool is_edge_list(const std::string& name) {
  const std::string plain = name.ends_with(".gz") ? name.substr(0, name.size() - 3) : name;
  return plain.ends_with(".txt") || plain.ends_with(".tsv") || plain.ends_with(".el");
}

template <class T>
void write_edges(const std::string& path, const rig::matrix<T>& a) {
  if (a.rows() != a.columns())
    rig::fail(rig::errc::shape, {path, ": an edge list is of a square matrix, not of one of ",
                                 a.rows(), "x", a.columns(), "; write it as .mtx or .npz"});
  const bool has_values = !a.iso() || a.iso_value() != T(1);
  rig::output_file file(path);
  file.text("# " + example::digits(a.rows()) + " nodes, " + example::digits(a.nnz()) + " arcs\n");
  for (const auto& [i, j, value] : a.entries()) {
    file.number(i);
    file.text(" ");
    file.number(j);
    if (has_values) {
      file.text(" ");
      file.number(value);
    }
    file.text("\n");
  }
  file.close();
}

template <class T>
rig::matrix<T> weighted(const example::options& given, const std::string& weights) {
  if (weights == "file") return given.load<T>();
  if (weights == "none") return given.load<bool>().with_value(T(1));
  return rig::apply<T>(example::synthetic_weights(given.load<bool>()), rig::unary::identity);
}

template <class T>
void convert(const example::options& given, const settings& my) {
  const example::stopwatch watch;
  auto a = weighted<T>(given, my.weights);
  if (my.symmetrise) a = rig::symmetrise(a);
  if (!my.reorder.empty())
    a = rig::permute(a, rig::reorder(a, example::order_named("--reorder", my.reorder).by));
  if (is_edge_list(my.to))
    write_edges(my.to, a);
  else
    rig::write_matrix(my.to, a);
  example::report out;
  out.add("from", given.source());
  out.add("to", my.to);
  out.add("rows", a.rows());
  out.add("columns", a.columns());
  out.add("nnz", a.nnz());
  out.add("ms", watch.ms());
  out.print(given.json);
}

struct number_type {
  const char* name;
  void (*convert)(const example::options&, const settings&);
};
constexpr number_type types[] = {{"double", convert<double>},
                                 {"float", convert<float>},
                                 {"int64", convert<rig::int64>},
                                 {"int32", convert<rig::int32>},
                                 {"bool", convert<bool>}};

void check_and_convert(const example::options& given, const settings& my) {
  example::require(!my.to.empty(),
                   "there is no file to write; give it after the first, or as --to");
  example::require(my.to.ends_with(".mtx") || my.to.ends_with(".mtx.gz") ||
                       my.to.ends_with(".npz") || is_edge_list(my.to),
                   "the file to write ends in .mtx, .mtx.gz, .npz, or, for an edge list, in .txt, "
                   ".tsv or .el, with .gz or without, unlike '" +
                       my.to + "'");
  example::require(my.weights == "file" || my.weights == "none" || my.weights == "synthetic",
                   "--weights is file, none or synthetic, not '" + my.weights + "'");
  if (!my.reorder.empty()) example::order_named("--reorder", my.reorder);
  const auto type = std::ranges::find(types, my.type, &number_type::name);
  example::require(type != std::end(types),
                   "--type is double, float, int64, int32 or bool, not '" + my.type + "'");
  rig::output_file trial(my.to);  // fails before the work
  type->convert(given, my);
}

}  // namespace

int command::convert(int count, char** arguments, const char* summary) {
  settings my;
  namespace po = example::po;
  po::options_description own("File", 100);
  auto add = own.add_options();
  add("to", example::file_to_write("--to", my.to),
      "file to write: .mtx, .mtx.gz, .npz as SciPy's, or an edge list in .txt, .tsv or .el, also "
      "with .gz; --to may be left out");
  add("symmetrise", po::bool_switch(&my.symmetrise), "add the reverse of each entry");
  add("weights", po::value(&my.weights)->default_value("file")->value_name("WHICH"),
      "file: the values of the file; none: no values; synthetic: 1 to 64, from the nodes' numbers");
  add("reorder", po::value(&my.reorder)->value_name("ORDER"),
      "number the nodes anew: loa, degree or rcm");
  add("type", po::value(&my.type)->default_value("double")->value_name("TYPE"),
      "of the values: double, float, int64, int32 or bool");
  return example::run_program(count, arguments,
                              {.summary = summary,
                               .what = example::takes::graph_of_algorithm,
                               .has_product = false,
                               .has_place = false,
                               .second = "to"},
                              own,
                              [&](const example::options& given) { check_and_convert(given, my); });
}
