// NumPy's .npy, as defined at
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html.

#include <algorithm>
#include <bit>
#include <vector>

#include "io/formats.hpp"
#include "io/number.hpp"
#include "rig/io.hpp"
#include "rig/output_file.hpp"

static_assert(std::endian::native == std::endian::little,
              "the numbers of a .npy file are copied as they are");

namespace rig::io {
namespace {

/// Parses the header's Python dictionary from left to right.
class dictionary {
 public:
  dictionary(const input_file& file, std::string_view text) : file_(file), text_(text) {}

  npy_header read() {
    npy_header made;
    std::vector<std::string> seen;
    expect('{');
    while (!take('}')) {
      const std::string key = string();
      if (std::find(seen.begin(), seen.end(), key) != seen.end())
        refuse({"the key ", in_quotes(key), " comes twice"});
      seen.push_back(key);
      expect(':');
      if (key == "descr")
        made.type = string();
      else if (key == "fortran_order")
        made.fortran_order = boolean();
      else if (key == "shape")
        shape(made);
      else
        refuse({"the key ", in_quotes(key), " is not known"});
      if (take(',')) continue;
      expect('}');
      break;
    }
    skip_blanks();
    if (!text_.empty()) refuse({in_quotes(text_), " after the dictionary"});
    if (seen.size() != 3) refuse({"descr, fortran_order or shape is missing"});
    return made;
  }

 private:
  void skip_blanks() {
    while (!text_.empty() && (is_blank(text_[0]) || text_[0] == '\n')) text_.remove_prefix(1);
  }
  bool take(std::string_view word) {
    skip_blanks();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  bool take(char c) { return take(std::string_view(&c, 1)); }
  void expect(char c) {
    if (!take(c))
      refuse({"expected ", in_quotes(std::string_view(&c, 1)), " at ", in_quotes(text_)});
  }
  std::string string() {
    const char quote = take('\'') ? '\'' : '"';
    if (quote == '"' && !take('"')) refuse({"expected a string at ", in_quotes(text_)});
    const std::size_t end = text_.find(quote);
    if (end == std::string_view::npos) refuse({"a string without end at ", in_quotes(text_)});
    std::string result(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    return result;
  }
  bool boolean() {
    if (take("True")) return true;
    if (!take("False")) refuse({"expected True or False at ", in_quotes(text_)});
    return false;
  }
  index size() {
    skip_blanks();
    const std::size_t digits = std::min(text_.find_first_not_of("0123456789"), text_.size());
    index value = 0;
    if (word_reader(text_.substr(0, digits)).integer({0, range_of<index>().above}, value) !=
        verdict::good)
      refuse({"expected a size up to ", highest<index>(), " at ", in_quotes(text_)});
    text_.remove_prefix(digits);
    take('L');  // as Python 2 writes it
    return value;
  }
  void shape(npy_header& made) {
    expect('(');
    int dimensions = 0;
    for (bool more = true; more && !take(')');) {
      const index count = size();
      if (dimensions == 0) made.rows = count;
      if (dimensions == 1) made.columns = count;
      ++dimensions;
      more = take(',');
      if (!more) expect(dimensions == 1 ? ',' : ')');
    }
    if (dimensions == 0) refuse({"a single number has no dimension; one or two are supported"});
    if (dimensions > 2)
      refuse({"the array has ", dimensions, " dimensions; one or two dimensions are supported"});
  }
  [[noreturn]] void refuse(std::initializer_list<message_piece> reason) const {
    file_.refuse(reason);
  }

  const input_file& file_;
  std::string_view text_;
};

template <class T, class From>
T load(const input_file& file, From x) {
  if constexpr (is_small_float<From>) {
    return load<T>(file, static_cast<float>(x));
  } else {
    if (!fits<T>(x)) file.refuse({x, " does not fit ", name_of<T>});
    return convert<T>(x);
  }
}
template <class T>
T load(const input_file& file, unsigned char x) {
  if constexpr (is_same<T, unsigned char>) return x;
  if (x > 1) file.refuse({int(x), " is not a bool"});
  return convert<T>(x == 1);
}

/// A number of `|u1`; an unsigned char of a file is a bool or a code.
struct whole_byte {
  unsigned char value;
};
template <class T>
T load(const input_file& file, whole_byte x) {
  return load<T>(file, int32{x.value});
}

/// Refuses sizes that exceed the file or the memory.
template <class T, class From>
void expect_elements(const input_file& file, const npy_header& head) {
  const int64 count = int64(head.rows) * head.columns;
  constexpr int64 bytes = sizeof(From);
  file.expect_numbers(count, count > highest<int64>() / bytes ? highest<int64>() : count * bytes);
  expect_dense<T>(file, head.rows, head.columns);
}

/// Reads numbers of type From in the file's order, block by block.
template <class T, class From>
void read_elements(input_file& file, const npy_header& head, T* out) {
  const int64 count = int64(head.rows) * head.columns;
  std::vector<From> block(static_cast<std::size_t>(std::min<int64>(count, 1 << 15)));
  index i = 0, j = 0;  // position of the next number in Fortran order
  for (int64 done = 0; done < count;) {
    block.resize(static_cast<std::size_t>(std::min<int64>(count - done, 1 << 15)));
    const std::size_t wanted = block.size() * sizeof(From);
    if (file.read(block.data(), wanted) != wanted)
      file.refuse({"the file ends within its ", count, " numbers"});
    for (const From x : block) {
      out[head.fortran_order ? int64(i) * head.columns + j : done] = load<T>(file, x);
      ++done;
      if (++i == head.rows) i = 0, ++j;
    }
  }
  if (!file.peek(1).empty()) file.refuse({"bytes follow the ", count, " numbers"});
}

template <class T, class From>
dense<T> read_dense_of(input_file& file, const npy_header& head) {
  expect_elements<T, From>(file, head);
  dense<T> result = dense<T>::uninitialised(head.rows, head.columns);
  read_elements<T, From>(file, head, result.data());
  return result;
}

}  // namespace

npy_header read_npy_header(input_file& file) {
  struct {
    char magic[6];
    unsigned char major, minor;
  } start;
  if (file.read(&start, sizeof(start)) != sizeof(start))
    file.refuse({"the file ends in the header"});
  if (start.major < 1 || start.major > 3 || start.minor != 0)
    file.refuse({"version ", int(start.major), ".", int(start.minor), " is not known"});
  std::uint32_t length = 0;
  const std::size_t length_bytes = start.major == 1 ? 2 : 4;
  if (file.read(&length, length_bytes) != length_bytes)
    file.refuse({"the file ends in the header"});
  constexpr std::uint32_t longest = 1 << 16;  // NumPy reads 10000
  if (length > longest)
    file.refuse({"a header of ", length, " bytes; at most ", longest, " are read"});
  std::string text(length, ' ');
  if (file.read(text.data(), length) != length) file.refuse({"the file ends in the header"});
  return dictionary(file, text).read();
}

template <class T>
void expect_npy_numbers(const input_file& file, const npy_header& head) {
  expect_elements<T, T>(file, head);
}
template <class T>
void read_npy_numbers(input_file& file, const npy_header& head, T* out) {
  if (head.fortran_order) return read_elements<T, T>(file, head, out);
  const int64 count = int64(head.rows) * head.columns;
  const std::size_t wanted = static_cast<std::size_t>(count) * sizeof(T);
  if (file.read(out, wanted) != wanted)
    file.refuse({"the file ends within its ", count, " numbers"});
  if (!file.peek(1).empty()) file.refuse({"bytes follow the ", count, " numbers"});
}
template void expect_npy_numbers<float>(const input_file&, const npy_header&);
template void expect_npy_numbers<unsigned char>(const input_file&, const npy_header&);
template void read_npy_numbers(input_file&, const npy_header&, float*);
template void read_npy_numbers(input_file&, const npy_header&, unsigned char*);

template <class T>
dense<T> read_npy(input_file& file) {
  const npy_header head = read_npy_header(file);
  if (head.type == "<f4") return read_dense_of<T, float>(file, head);
  if (head.type == "<f8") return read_dense_of<T, double>(file, head);
  if (head.type == "<f2") return read_dense_of<T, half>(file, head);
  if (head.type == "<i4") return read_dense_of<T, int32>(file, head);
  if (head.type == "<i8") return read_dense_of<T, int64>(file, head);
  if (head.type == "|b1") return read_dense_of<T, unsigned char>(file, head);
  if (head.type == "|u1") return read_dense_of<T, whole_byte>(file, head);
  file.refuse({"the type ", in_quotes(head.type),
               head.type.starts_with('>') ? " is big-endian" : " is not supported",
               "; <f2, <f4, <f8, <i4, <i8, |u1 and |b1 are"});
}

template dense<float> read_npy(input_file&);
template dense<double> read_npy(input_file&);
template dense<int32> read_npy(input_file&);
template dense<int64> read_npy(input_file&);
template dense<bool> read_npy(input_file&);

std::string npy_text(std::string_view type, std::string_view shape) {
  std::string text = "{'descr': '" + std::string(type) + "', 'fortran_order': False, 'shape': (" +
                     std::string(shape) + "), }";
  // Pads with spaces to a multiple of 64, so programs can map the numbers.
  constexpr std::size_t before = 10, alignment = 64;
  text.append(alignment - 1 - (before + text.size()) % alignment, ' ');
  text += '\n';
  const char version_and_length[] = {1, 0, static_cast<char>(text.size()), 0};
  static_assert(sizeof(version_and_length) == before - npy_magic.size());
  return std::string(npy_magic).append(version_and_length, sizeof(version_and_length)) + text;
}

}  // namespace rig::io

namespace rig {

template <class T>
void write_dense(const std::string& path, const dense<T>& a) {
  if (a.where() != cpu()) return io::naming(path, [&] { write_dense(path, a.to(cpu())); });
  io::naming(path, [&] {
    const std::string head = io::npy_text(
        io::npy_type<T>(), std::to_string(a.rows()) + ", " + std::to_string(a.columns()));
    output_file out(path);
    out.text(head);
    for (index i = 0; i < a.rows(); ++i) out.write(a.row(i).data(), a.row(i).size_bytes());
    out.close();
  });
}

template void write_dense(const std::string&, const dense<float>&);
template void write_dense(const std::string&, const dense<double>&);
template void write_dense(const std::string&, const dense<int32>&);
template void write_dense(const std::string&, const dense<int64>&);
template void write_dense(const std::string&, const dense<bool>&);

}  // namespace rig
