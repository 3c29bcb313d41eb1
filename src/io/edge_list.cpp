#include <algorithm>

#include "io/entry_list.hpp"
#include "io/formats.hpp"
#include "io/number.hpp"

namespace rig::io {
namespace {

constexpr std::string_view separators = " \t,;:|";

void expect_separator(const input_file& file, word_reader& words, char separator) {
  if (!words.take_separator())
    file.refuse({"expected ", in_quotes({&separator, 1}), " at ", in_quotes(words.rest())});
}

index read_node(const input_file& file, word_reader& words, index last) {
  index node = 0;
  const verdict said = words.integer({0, static_cast<std::uint64_t>(last)}, node);
  if (said == verdict::good) return node;
  if (words.at_end())
    file.refuse({"there is one word; an edge is two nodes, or two nodes and a value"});
  const std::string_view word = words.peek();
  if (said == verdict::does_not_fit)
    file.refuse({"node ", in_quotes(word), " is outside 0..", last});
  const bool separated = word.find_first_of(separators) != std::string_view::npos;
  file.refuse({in_quotes(word), " is not a node number",
               separated ? "; set read_options::separator to the separator between nodes" : ""});
}

template <class T>
T read_value(const input_file& file, word_reader& words) {
  T value{};
  const verdict said = words.real(value);
  if (said == verdict::good) return value;
  if (words.at_end()) file.refuse({"the value is missing"});
  file.refuse({in_quotes(words.peek()),
               said == verdict::not_a_number ? " is not a number" : " does not fit ",
               said == verdict::not_a_number ? "" : name_of<T>});
}

void read_end(const input_file& file, word_reader& words, const read_options& options) {
  if (words.at_end()) return;
  if (!options.extra_columns)
    file.refuse(
        {in_quotes(words.rest()), " follows the edge; set read_options::extra_columns to skip it"});
  expect_separator(file, words, options.separator);
}

void check(const input_file& file, const read_options& options) {
  if (options.nodes < 0)
    fail(errc::range,
         {file.path(), ": ", "read_options::nodes is ", options.nodes, "; it must be at least 0"});
  if (separators.find(options.separator) == std::string_view::npos)
    fail(errc::range, {file.path(), ": the separator ", in_quotes({&options.separator, 1}),
                       " is neither a blank nor one of , ; : |"});
}

/// Adds the edges to the list. Returns the number of nodes.
template <class T>
index read_edges(input_file& file, const read_options& options, entry_list<T>& list) {
  const index last = (options.nodes > 0 ? index(options.nodes) : highest<index>()) - 1;
  index nodes = options.nodes;
  std::string_view line;
  while (file.next_line(line)) {
    word_reader words(line, options.separator);
    if (words.at_end() || words.front() == '#' || words.front() == '%') continue;
    const index i = read_node(file, words, last);
    if (!words.at_end()) expect_separator(file, words, options.separator);
    const index j = read_node(file, words, last);
    const bool has_value = options.values && !words.at_end();
    if (list.i.empty()) list.has_values = has_value;
    if (list.has_values != has_value)
      file.refuse({"the edge has ", has_value ? "a" : "no", " value, unlike that of line ",
                   list.line_of(0)});
    if (has_value) expect_separator(file, words, options.separator);
    const T value = has_value ? read_value<T>(file, words) : T(1);
    read_end(file, words, options);
    list.add(i, j, value);
    nodes = std::max({nodes, i + 1, j + 1});
  }
  return nodes;
}

/// How entries at one position are joined.
template <class T>
accumulator fold_of(const entry_list<T>& list, const read_options& options) {
  return list.has_values ? options.duplicates : accumulator::first;
}

}  // namespace

template <class T>
matrix<T> read_edge_list(input_file& file, const read_options& options) {
  check(file, options);
  entry_list<T> list{file, false};
  const index nodes = read_edges(file, options, list);
  return to_matrix(list, nodes, nodes, symmetry::none, fold_of(list, options));
}

template <class T>
std::unique_ptr<listed_part<T>> list_edges(input_file& file, const read_options& options, int part,
                                           int parts) {
  check(file, options);
  auto out = std::make_unique<listed_part<T>>(
      lines_of(file.path(), file.position(), file.size(), part, parts), file.path());
  out->list.has_values = false;
  out->rows = out->columns = read_edges(*out->file, options, out->list);
  out->fold = options.duplicates;  // of values, which other parts may have
  return out;
}

template matrix<float> read_edge_list(input_file&, const read_options&);
template std::unique_ptr<listed_part<float>> list_edges(input_file&, const read_options&, int, int);
template matrix<double> read_edge_list(input_file&, const read_options&);
template std::unique_ptr<listed_part<double>> list_edges(input_file&, const read_options&, int,
                                                         int);
template matrix<int32> read_edge_list(input_file&, const read_options&);
template std::unique_ptr<listed_part<int32>> list_edges(input_file&, const read_options&, int, int);
template matrix<int64> read_edge_list(input_file&, const read_options&);
template std::unique_ptr<listed_part<int64>> list_edges(input_file&, const read_options&, int, int);
template matrix<bool> read_edge_list(input_file&, const read_options&);
template std::unique_ptr<listed_part<bool>> list_edges(input_file&, const read_options&, int, int);

}  // namespace rig::io
