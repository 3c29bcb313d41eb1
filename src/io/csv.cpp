#include <algorithm>
#include <vector>

#include "io/formats.hpp"
#include "io/number.hpp"

// Rows of numbers in text, with commas between them.

namespace rig::io {
namespace {

/// Appends the numbers of a line. Returns how many they are.
template <class T, class Stored>
index read_row(const input_file& file, std::string_view line, std::vector<Stored>& numbers) {
  word_reader words(line, ',');
  index count = 0;
  do {
    T value{};
    const verdict said = words.real(value);
    if (said != verdict::good)
      file.refuse({in_quotes(words.peek()),
                   said == verdict::not_a_number ? " is not a number" : " does not fit ",
                   said == verdict::not_a_number ? "" : name_of<T>});
    numbers.push_back(value);
    ++count;
  } while (words.take_separator());
  if (!words.at_end()) file.refuse({"expected \",\" at ", in_quotes(words.rest())});
  return count;
}

}  // namespace

template <class T>
dense<T> read_csv(input_file& file) {
  std::vector<std::conditional_t<is_same<T, bool>, unsigned char, T>> numbers;
  int64 rows = 0;
  index columns = 0;
  std::string_view line;
  while (file.next_line(line)) {
    if (word_reader words(line); words.at_end() || words.front() == '#') continue;
    if (numbers.size() == numbers.capacity())
      file.with_memory(2.0 * sizeof(T) * static_cast<double>(numbers.size()),
                       [&] { numbers.reserve(std::max<std::size_t>(1024, 2 * numbers.size())); });
    const index count = read_row<T>(file, line, numbers);
    if (rows == 0) columns = count;
    if (count != columns)
      file.refuse({"there are ", count, " numbers; the lines before have ", columns});
    if (++rows > highest<index>()) file.refuse({"there are more than ", highest<index>(), " rows"});
  }
  expect_dense<T>(file, static_cast<index>(rows), columns);
  dense<T> out = dense<T>::uninitialised(static_cast<index>(rows), columns);
  std::copy(numbers.begin(), numbers.end(), out.data());
  return out;
}

template dense<float> read_csv(input_file&);
template dense<double> read_csv(input_file&);
template dense<int32> read_csv(input_file&);
template dense<int64> read_csv(input_file&);
template dense<bool> read_csv(input_file&);

}  // namespace rig::io
