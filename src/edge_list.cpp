#include <algorithm>

#include "entry_list.hpp"
#include "formats.hpp"
#include "number.hpp"

namespace rig::io {
namespace {

index read_node(const input_file& file, word_reader& words) {
  constexpr index last = highest<index>() - 1;
  index node = 0;
  const verdict said = words.integer({0, last}, node);
  if (said == verdict::good) return node;
  if (words.at_end()) file.refuse({"one word; an edge is two nodes, or two nodes and a value"});
  if (said == verdict::does_not_fit)
    file.refuse({"node ", in_quotes(words.peek()), " is outside 0..", last});
  file.refuse({in_quotes(words.peek()), " is not a node number"});
}

template <class T>
T read_value(const input_file& file, word_reader& words) {
  T value{};
  const verdict said = words.real(value);
  if (said == verdict::good) return value;
  file.refuse({in_quotes(words.peek()),
               said == verdict::not_a_number ? " is not a number" : " does not fit ",
               said == verdict::not_a_number ? "" : name_of<T>});
}

}  // namespace

template <class T>
matrix<T> read_edge_list(input_file& file) {
  entry_list<T> list{file, false};
  index nodes = 0;
  std::string_view line;
  while (file.next_line(line)) {
    word_reader words(line);
    if (words.at_end() || words.front() == '#' || words.front() == '%') continue;
    const index i = read_node(file, words), j = read_node(file, words);
    const bool has_value = !words.at_end();
    if (list.i.empty()) list.has_values = has_value;
    if (list.has_values != has_value)
      file.refuse({"an edge ", has_value ? "with" : "without", " a value, unlike that of line ",
                   list.line_of(0)});
    const T value = has_value ? read_value<T>(file, words) : T(1);
    if (!words.at_end()) file.refuse({in_quotes(words.rest()), " after the edge"});
    list.add(i, j, value);
    nodes = std::max({nodes, i + 1, j + 1});
  }
  const bool merge = !list.has_values;
  return to_matrix(list, nodes, nodes, symmetry::none, merge);
}

template matrix<float> read_edge_list(input_file&);
template matrix<double> read_edge_list(input_file&);
template matrix<int32> read_edge_list(input_file&);
template matrix<int64> read_edge_list(input_file&);
template matrix<bool> read_edge_list(input_file&);

}  // namespace rig::io
