// Matrix Market as defined at https://math.nist.gov/MatrixMarket/formats.html, without complex
// numbers. Also the comment "%%GraphBLAS type" of SuiteSparse and LAGraph, which names the type
// that the numbers must fit.

#include <algorithm>
#include <array>

#include "io/entry_list.hpp"
#include "io/formats.hpp"
#include "io/number.hpp"
#include "io/to_matrix.hpp"
#include "rig/io.hpp"
#include "rig/output_file.hpp"

namespace rig::io {
namespace {

enum class numbers : unsigned char { none, integer, real, single };

/// A type that a "%%GraphBLAS type" comment may name.
struct declared_type {
  const char* name;
  numbers written;
  integer_range range;
};
constexpr std::array<declared_type, 11> declared_types = {{
    {"bool", numbers::integer, {0, 1}},
    {"int8_t", numbers::integer, {128, INT8_MAX}},
    {"int16_t", numbers::integer, {32768, INT16_MAX}},
    {"int32_t", numbers::integer, range_of<int32>()},
    {"int64_t", numbers::integer, range_of<int64>()},
    {"uint8_t", numbers::integer, {0, UINT8_MAX}},
    {"uint16_t", numbers::integer, {0, UINT16_MAX}},
    {"uint32_t", numbers::integer, {0, UINT32_MAX}},
    {"uint64_t", numbers::integer, {0, UINT64_MAX}},
    {"float", numbers::single, {}},
    {"double", numbers::real, {}},
}};

/// The part of the file before its first entry.
struct header {
  bool array = false;
  numbers written = numbers::real;
  symmetry half = symmetry::none;
  const declared_type* declared = nullptr;
  index rows = 0, columns = 0;
  int64 entries = 0;  // listed in the file
  int64 size_line = 0;
};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  return result;
}

/// The index of a word in a list of allowed words; refuses the file if it is not there.
template <std::size_t N>
std::size_t choose(const input_file& file, const char* what, std::string_view word,
                   const std::array<std::string_view, N>& allowed) {
  const auto at = std::find(allowed.begin(), allowed.end(), lower(word));
  if (at != allowed.end()) return static_cast<std::size_t>(at - allowed.begin());
  std::string list;
  for (const std::string_view name : allowed)
    list += (list.empty() ? "" : ", ") + std::string(name);
  if (word.empty()) file.refuse({"the banner names no ", what, " (", list, ")"});
  file.refuse({"the ", what, " ", in_quotes(word), N == 1 ? " is not " : " is none of ", list});
}

void read_banner(input_file& file, header& head) {
  std::string_view line;
  if (!file.next_line(line)) file.refuse_at(1, {"the file is empty"});
  word_reader words(line);
  if (words.next() != matrix_market_magic)
    file.refuse({"the first line does not begin with ", matrix_market_magic});
  choose<1>(file, "object", words.next(), {"matrix"});
  head.array = choose<2>(file, "format", words.next(), {"coordinate", "array"}) == 1;
  const auto field =
      choose<4>(file, "field", words.next(), {"pattern", "integer", "real", "complex"});
  if (field == 3) file.refuse({"complex numbers are not supported"});
  head.written = static_cast<numbers>(field);
  const auto half = choose<4>(file, "symmetry", words.next(),
                              {"general", "symmetric", "skew-symmetric", "hermitian"});
  if (half == 3)
    file.refuse({"hermitian matrices are complex, and complex numbers are not supported"});
  head.half = static_cast<symmetry>(half);
  if (!words.at_end()) file.refuse({in_quotes(words.rest()), " after the banner"});
  if (head.written == numbers::none && head.array) file.refuse({"a pattern cannot be an array"});
  if (head.written == numbers::none && head.half == symmetry::skew)
    file.refuse({"a pattern cannot be skew-symmetric"});
}

void read_comment(const input_file& file, std::string_view line, header& head) {
  word_reader words(line);
  if (lower(words.next()) != "%%graphblas" || lower(words.next()) != "type") return;
  const std::string name = lower(words.rest());
  if (name.ends_with("complex")) file.refuse({"complex numbers are not supported"});
  const auto at = std::find_if(declared_types.begin(), declared_types.end(),
                               [&](const declared_type& type) { return type.name == name; });
  if (at == declared_types.end()) file.refuse({in_quotes(name), " is not a GraphBLAS type"});
  if (head.half == symmetry::skew && at->range.below == 0)
    file.refuse({"a skew-symmetric matrix needs both signs, ", name, " has one"});
  head.declared = at;
  if (head.written != numbers::none) head.written = at->written;
}

/// Reads the next number of the size line.
template <class T>
T read_size(const input_file& file, const char* what, word_reader& words, int64 most) {
  T size = 0;
  const verdict said = words.integer({0, static_cast<std::uint64_t>(most)}, size);
  if (said == verdict::good) return size;
  if (words.at_end()) file.refuse({"the size line lacks the number of ", what});
  if (said == verdict::does_not_fit && !words.peek().starts_with('-'))
    file.refuse({in_quotes(words.peek()), " ", what, ", but at most ", most, " are possible"});
  file.refuse({in_quotes(words.peek()), " is not a number of ", what});
}

/// Reads the size line. `repeats`: one position may have many entries.
void read_sizes(const input_file& file, std::string_view line, bool repeats, header& head) {
  word_reader words(line);
  head.size_line = file.line();
  head.rows = read_size<index>(file, "rows", words, highest<index>());
  head.columns = read_size<index>(file, "columns", words, highest<index>());
  if (head.half != symmetry::none && head.rows != head.columns)
    file.refuse({"a symmetric matrix of ", head.rows, "x", head.columns, " is not square"});
  const int64 n = head.columns;
  head.entries = head.half == symmetry::none        ? n * head.rows
                 : head.half == symmetry::symmetric ? n * (n + 1) / 2
                                                    : n * (n - 1) / 2;
  if (!head.array)
    head.entries =
        read_size<int64>(file, "entries", words, repeats ? highest<int64>() : head.entries);
  if (!words.at_end()) file.refuse({in_quotes(words.rest()), " after the sizes"});
}

header read_header(input_file& file, bool repeats = false) {
  header head;
  read_banner(file, head);
  std::string_view line;
  while (file.next_line(line)) {
    const std::string_view text = word_reader(line).rest();
    if (text.starts_with('%')) {
      read_comment(file, text, head);
    } else if (!text.empty()) {
      read_sizes(file, text, repeats, head);
      return head;
    }
  }
  file.refuse({"the file ends before the size line"});
}

/// The range of the file's integers: the declared type and T; in a skew-symmetric file their
/// negatives too.
template <class T>
integer_range allowed(const header& head) {
  integer_range range = range_of<T>();
  if (head.declared != nullptr) {
    range.below = std::min(range.below, head.declared->range.below);
    range.above = std::min(range.above, head.declared->range.above);
  }
  if (head.half == symmetry::skew) range.below = range.above = std::min(range.below, range.above);
  return range;
}

/// Whether the next word is a number of the declared type.
bool is_of_declared_type(const header& head, word_reader words) {
  const auto reads = [&](auto number) { return words.real(number) == verdict::good; };
  if (head.declared == nullptr) return true;
  if (head.written == numbers::single) return reads(float());
  double unused = 0;
  return head.written == numbers::real
             ? reads(unused)
             : words.integer(allowed<double>(head), unused) == verdict::good;
}

template <class T>
[[noreturn]] void refuse_value(const input_file& file, const header& head, word_reader& words,
                               verdict said) {
  const std::string_view word = words.peek();
  if (word.empty()) file.refuse({"the value is missing"});
  if (said == verdict::not_a_number) file.refuse({in_quotes(word), " is not a number"});
  if (said == verdict::not_an_integer) file.refuse({in_quotes(word), " is not an integer"});
  const bool fits_declared = is_of_declared_type(head, words);
  file.refuse({in_quotes(word), head.half == symmetry::skew ? " or its negative" : "",
               " does not fit ", fits_declared ? name_of<T> : head.declared->name,
               fits_declared ? "" : ", the declared type"});
}

template <class T>
T read_value(const input_file& file, const header& head, integer_range range, word_reader& words) {
  const word_reader before = words;
  T value{};
  verdict said = head.written == numbers::integer ? words.integer(range, value) : words.real(value);
  if constexpr (is_integer<T>)
    if (head.half == symmetry::skew && value == lowest<T>()) said = verdict::does_not_fit;
  // Every real type can represent a float's values; only double can represent a double's.
  const bool may_exceed = head.written == numbers::single ? !is_same<T, float> : !is_float<T>;
  if (said == verdict::good && head.written != numbers::integer && may_exceed &&
      !is_of_declared_type(head, before))
    said = verdict::does_not_fit;
  if (said != verdict::good) {
    words = before;
    refuse_value<T>(file, head, words, said);
  }
  return value;
}

index read_index(const input_file& file, const char* what, word_reader& words, index count) {
  index number = 0;
  const verdict said = words.integer({0, static_cast<std::uint64_t>(count)}, number);
  if (said == verdict::good && number > 0) return number - 1;
  if (said == verdict::good) file.refuse({what, " 0 is outside 1..", count});
  if (words.at_end()) file.refuse({"the ", what, " is missing"});
  if (said == verdict::not_an_integer)
    file.refuse({in_quotes(words.peek()), " is not a ", what, " number"});
  file.refuse({what, " ", in_quotes(words.peek()), " is outside 1..", count});
}

/// Reads the lines of entries and calls sink(i, j, value) for each in file order.
template <class T, class Sink>
class line_reader {
 public:
  line_reader(input_file& file, const header& head, Sink& sink)
      : file_(file), head_(head), sink_(sink), range_(allowed<T>(head)) {}

  /// Returns the number of entries.
  int64 read() {
    if (head_.array)
      read_array();
    else
      read_coordinates();
    return listed_;
  }

 private:
  void read_array() {
    // The row of the first stored element of column j.
    const auto top = [&](index j) {
      return head_.half == symmetry::none ? 0 : head_.half == symmetry::skew ? j + 1 : j;
    };
    index i = top(0), j = 0;
    for (word_reader words(""); next_entry(words);) {
      take(i, j, words);
      if (++i == head_.rows) i = top(++j);
    }
  }

  void read_coordinates() {
    const auto rows = static_cast<std::uint64_t>(head_.rows),
               columns = static_cast<std::uint64_t>(head_.columns);
    const auto take_pair = [&](std::uint64_t row, std::uint64_t column, std::string_view rest) {
      const bool is_good = row - 1 < rows && column - 1 < columns && listed_ < head_.entries &&
                           (row != column || head_.half != symmetry::skew);
      if (is_good)
        take(static_cast<index>(row - 1), static_cast<index>(column - 1), word_reader(rest));
      return is_good;
    };
    word_reader words("");
    while (file_.pair_lines(' ', take_pair), next_entry(words)) {
      const index i = read_index(file_, "row", words, head_.rows);
      const index j = read_index(file_, "column", words, head_.columns);
      if (i == j && head_.half == symmetry::skew)
        file_.refuse(
            {"a skew-symmetric matrix lists no diagonal, here (", i + 1, ", ", j + 1, ")"});
      take(i, j, words);
    }
  }

  /// Goes to the next line that is neither empty nor a comment. Returns false at the end.
  bool next_entry(word_reader& words) {
    std::string_view line;
    do {
      if (!file_.next_line(line)) return false;
      words = word_reader(line);
    } while (words.at_end() || words.front() == '%');
    if (listed_ == head_.entries)
      file_.refuse({"more than the ", head_.entries, " entries of line ", head_.size_line});
    return true;
  }

  void take(index i, index j, word_reader words) {
    const T value =
        head_.written == numbers::none ? T(1) : read_value<T>(file_, head_, range_, words);
    if (!words.at_end()) file_.refuse({in_quotes(words.rest()), " after the entry"});
    sink_(i, j, value);
    ++listed_;
  }

  input_file& file_;
  const header& head_;
  Sink& sink_;
  integer_range range_;
  int64 listed_ = 0;
};

/// Calls sink(i, j, value) for each entry in file order. Returns their number.
template <class T, class Sink>
int64 read_lines(input_file& file, const header& head, Sink&& sink) {
  return line_reader<T, Sink>(file, head, sink).read();
}

void expect_all(const input_file& file, const header& head, int64 listed) {
  if (listed != head.entries)
    file.refuse({"the file ends after ", listed, " of ", head.entries, " entries"});
}

/// How entries at one position are joined.
accumulator fold_of(const header& head, const read_options& options) {
  return head.half == symmetry::skew ? accumulator::none : options.duplicates;
}

template <class T>
matrix<T> read_sparse(input_file& file, const header& head, const read_options& options) {
  if (options.symmetrise && head.rows != head.columns)
    fail(errc::shape, {file.path(), ": symmetrise: the matrix is ", head.rows, "x", head.columns,
                       ", not square"});
  const auto list = [&](input_file& lines, entry_list<T>& to) {
    read_lines<T>(lines, head, [&](index i, index j, T value) { to.add(i, j, value); });
  };
  const auto make = [&](entry_lists<T> lists) {
    int64 listed = 0;
    for (const entry_list<T>& each : lists) listed += static_cast<int64>(each.size());
    expect_all(file, head, listed);
    return to_matrix(lists, head.rows, head.columns, head.half, fold_of(head, options));
  };
  return list_and_make<T>(file, head.written != numbers::none, !head.array, list, make);
}

/// The name of T in a "%%GraphBLAS type" comment.
template <class T>
constexpr const char* graphblas_type = nullptr;
template <>
constexpr const char* graphblas_type<bool> = "bool";
template <>
constexpr const char* graphblas_type<int32> = "int32_t";
template <>
constexpr const char* graphblas_type<int64> = "int64_t";
template <>
constexpr const char* graphblas_type<float> = "float";
template <>
constexpr const char* graphblas_type<double> = "double";

/// Writes the lines before the entries. If `ones` is set, the entries have no values.
template <class T>
void write_header(output_file& out, const matrix<T>& a, bool ones) {
  out.text(matrix_market_magic);
  out.text(" matrix coordinate ");
  out.text(ones ? "pattern" : is_float<T> ? "real" : "integer");
  out.text(" general\n%%GraphBLAS type ");
  out.text(graphblas_type<T>);
  out.text("\n");
  out.number(a.rows());
  out.text(" ");
  out.number(a.columns());
  out.text(" ");
  out.number(a.nnz());
  out.text("\n");
}

template <class T>
void write_entries(output_file& out, const matrix<T>& a, bool ones) {
  const pattern& structure = a.structure();
  for (index i = 0; i < a.rows(); ++i) {
    for (int64 p = structure.offset(i); p < structure.offset(i + 1); ++p) {
      out.number(i + int64(1));
      out.text(" ");
      out.number(structure.column_indices()[p] + int64(1));
      if (!ones) {
        out.text(" ");
        out.number(a.value(p));
      }
      out.text("\n");
    }
  }
}

}  // namespace

template <class T>
matrix<T> read_matrix_market(input_file& file, const read_options& options) {
  const bool repeats = options.duplicates != accumulator::none;
  return read_sparse<T>(file, read_header(file, repeats), options);
}

template <class T>
std::unique_ptr<listed_part<T>> list_matrix_market(input_file& file, const read_options& options,
                                                   int part, int parts) {
  const header head = read_header(file, options.duplicates != accumulator::none);
  if (head.array) return {};
  auto out = std::make_unique<listed_part<T>>(file, part, parts, head.written != numbers::none);
  out->rows = head.rows;
  out->columns = head.columns;
  out->entries_of_file = head.entries;
  out->half = head.half;
  out->fold = fold_of(head, options);
  read_lines<T>(*out->file, head, [&](index i, index j, T value) { out->list.add(i, j, value); });
  return out;
}

template <class T>
dense<T> read_matrix_market_dense(input_file& file) {
  const header head = read_header(file);
  if (!head.array) {
    expect_dense<T>(file, head.rows, head.columns);
    const matrix<T> sparse = read_sparse<T>(file, head, {});
    dense<T> full(head.rows, head.columns);
    const index* columns = sparse.structure().column_indices();
    for (index i = 0; i < head.rows; ++i)
      for (int64 p = sparse.structure().offset(i); p < sparse.structure().offset(i + 1); ++p)
        full(i, columns[p]) = sparse.value(p);
    return full;
  }
  file.expect_numbers(head.entries, 2 * head.entries - 1);
  expect_dense<T>(file, head.rows, head.columns);
  dense<T> full(head.rows, head.columns);
  const int64 listed = read_lines<T>(file, head, [&](index i, index j, T value) {
    full(i, j) = value;
    if (i != j && head.half != symmetry::none) full(j, i) = mirrored(value, head.half);
  });
  expect_all(file, head, listed);
  return full;
}

template matrix<float> read_matrix_market(input_file&, const read_options&);
template std::unique_ptr<listed_part<float>> list_matrix_market(input_file&, const read_options&,
                                                                int, int);
template matrix<double> read_matrix_market(input_file&, const read_options&);
template std::unique_ptr<listed_part<double>> list_matrix_market(input_file&, const read_options&,
                                                                 int, int);
template matrix<int32> read_matrix_market(input_file&, const read_options&);
template std::unique_ptr<listed_part<int32>> list_matrix_market(input_file&, const read_options&,
                                                                int, int);
template matrix<int64> read_matrix_market(input_file&, const read_options&);
template std::unique_ptr<listed_part<int64>> list_matrix_market(input_file&, const read_options&,
                                                                int, int);
template matrix<bool> read_matrix_market(input_file&, const read_options&);
template std::unique_ptr<listed_part<bool>> list_matrix_market(input_file&, const read_options&,
                                                               int, int);

template dense<float> read_matrix_market_dense(input_file&);
template dense<double> read_matrix_market_dense(input_file&);
template dense<int32> read_matrix_market_dense(input_file&);
template dense<int64> read_matrix_market_dense(input_file&);
template dense<bool> read_matrix_market_dense(input_file&);

}  // namespace rig::io

namespace rig {

template <class T>
void write_matrix(const std::string& path, const matrix<T>& a) {
  io::naming(path, [&] {
    const matrix<T> here = a.to(cpu());
    if (path.ends_with(".npz")) return io::write_npz_matrix(path, here);
    const bool ones = here.iso() && here.iso_value() == T(1);
    output_file out(path);
    io::write_header(out, here, ones);
    io::write_entries(out, here, ones);
    out.close();
  });
}

template void write_matrix(const std::string&, const matrix<float>&);
template void write_matrix(const std::string&, const matrix<double>&);
template void write_matrix(const std::string&, const matrix<int32>&);
template void write_matrix(const std::string&, const matrix<int64>&);
template void write_matrix(const std::string&, const matrix<bool>&);

}  // namespace rig
