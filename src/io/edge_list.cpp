#include <algorithm>

#include "io/entry_list.hpp"
#include "io/formats.hpp"
#include "io/number.hpp"
#include "io/to_matrix.hpp"

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
    file.refuse({"node ", in_quotes(word), " is outside 0..", last,
                 last == highest<index>() - 1 ? "; number the nodes 0, 1, 2, …" : ""});
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

/// Adds the edges to the list, and sets its nodes.
template <class T>
void read_edges(input_file& file, const read_options& options, entry_list<T>& list) {
  const index last = (options.nodes > 0 ? index(options.nodes) : highest<index>()) - 1;
  const auto read_rest = [&](index i, index j, word_reader words) {
    const bool has_value = options.values && !words.at_end();
    if (list.size() == 0) list.has_values = has_value;
    if (list.has_values != has_value)
      file.refuse({"the edge has ", has_value ? "a" : "no", " value, unlike that of line ",
                   list.line_of(0)});
    if (has_value) expect_separator(file, words, options.separator);
    const T value = has_value ? read_value<T>(file, words) : T(1);
    read_end(file, words, options);
    list.add(i, j, value);
    list.nodes = std::max({list.nodes, i + 1, j + 1});
  };
  const auto take_pair = [&](std::uint64_t i, std::uint64_t j, std::string_view rest) {
    const bool is_good = std::max(i, j) <= static_cast<std::uint64_t>(last);
    if (is_good)
      read_rest(static_cast<index>(i), static_cast<index>(j), word_reader(rest, options.separator));
    return is_good;
  };
  list.nodes = options.nodes;
  std::string_view line;
  while (true) {
    file.pair_lines(options.separator, take_pair);
    if (!file.next_line(line)) return;
    word_reader words(line, options.separator);
    if (words.at_end() || words.front() == '#' || words.front() == '%') continue;
    const index i = read_node(file, words, last);
    if (!words.at_end()) expect_separator(file, words, options.separator);
    const index j = read_node(file, words, last);
    read_rest(i, j, words);
  }
}

/// Refuses the first edge of the node that makes the file's numbers absurd.
template <class T>
[[noreturn]] void refuse_sparse_numbers(entry_lists<T> lists, index nodes, int64 edges) {
  int64 line = 0;
  for (const entry_list<T>& list : lists)
    for (std::size_t p = 0; p < list.size() && line == 0; ++p)
      if (std::max(list.row(p), list.column(p)) == nodes - 1) line = list.line_of(p);
  lists[0].file.refuse_at(line,
                          {"node ", nodes - 1, " is far beyond the number of edges, ", edges,
                           ", and memory is taken for each number",
                           "; number the nodes 0, 1, 2, …, or set read_options::nodes to ", nodes});
}

}  // namespace

template <class T>
matrix<T> read_edge_list(input_file& file, const read_options& options) {
  check(file, options);
  const auto list = [&](input_file& lines, entry_list<T>& to) { read_edges(lines, options, to); };
  const auto make = [&](entry_lists<T> lists) {
    index nodes = 0;
    int64 edges = 0;
    int with_values = 0, without = 0;
    for (const entry_list<T>& each : lists) {
      nodes = std::max(nodes, each.nodes);
      edges += static_cast<int64>(each.size());
      if (each.size() > 0) ++(each.has_values ? with_values : without);
    }
    if (with_values > 0 && without > 0) file.refuse({"not all edges have a value"});
    if (options.nodes == 0 && is_far_beyond(nodes, edges))
      refuse_sparse_numbers(lists, nodes, edges);
    return to_matrix(lists, nodes, nodes, symmetry::none,
                     with_values > 0 ? options.duplicates : accumulator::first);
  };
  return list_and_make<T>(file, false, true, list, make);
}

template <class T>
std::unique_ptr<listed_part<T>> list_edges(input_file& file, const read_options& options, int part,
                                           int parts) {
  check(file, options);
  auto out = std::make_unique<listed_part<T>>(file, part, parts, false);
  read_edges(*out->file, options, out->list);
  out->rows = out->columns = out->list.nodes;
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
