// Files that threads read in parts: the same matrix and the same refusals as in one part.

#include <doctest/doctest.h>
#include <omp.h>

#include <functional>
#include <map>
#include <vector>

#include "files.hpp"
#include "rig/io.hpp"
#include "seed.hpp"

namespace {

constexpr rig::index n = 977;
// Each part has 64 KiB or more, so seven parts take about so many entries.
constexpr int many = 50'000;

/// Calls work() with 1 … 7 threads, and as many parts. More threads than OpenMP's default are
/// always taken; fewer may be one on a busy machine.
void with_threads(const std::function<void()>& work) {
  const int usual = omp_get_max_threads();
  for (int threads = 1; threads <= 7; ++threads) {
    CAPTURE(threads);
    omp_set_num_threads(threads);
    work();
  }
  omp_set_num_threads(usual);
}

using tuples = std::map<std::pair<rig::index, rig::index>, double>;

/// Lines of a file, and what they list.
struct listing {
  bool has_values = true;
  rig::index first = 1;  // the number of row 0
  random_bits bits{test_seed() + 5};
  std::string text = {};
  tuples entries = {};
  int lines = 0;

  listing& line(const std::string& words) {
    text += words + "\n";
    ++lines;
    return *this;
  }
  void list(rig::index i, rig::index j, double value) {
    entries[{i, j}] = value;
    line(words(i, j, value));
  }
  /// An entry in one of the notations that readers accept.
  std::string words(rig::index i, rig::index j, double value) {
    const std::string row = std::to_string(i + first), column = std::to_string(j + first);
    std::string rest = has_values ? std::to_string(static_cast<int>(value)) : "";
    const int style = bits.below(40);
    if (style == 0) return " " + row + "  " + column + "\t" + rest;
    if (style == 1) return "+" + row + " 0000000" + column + " " + rest;
    if (style == 2) return std::string(15, '0') + row + "\t" + column + " " + rest;
    if (style == 3) return std::string(25, '0') + row + " " + column + " " + rest + " \t";
    if (has_values) rest = " " + rest;
    return row + " " + column + rest + (style < 14 ? "\r" : "");
  }
  /// `count` entries at places that differ, rows in no order, with other lines in between.
  listing& random(int count, bool lower = false) {
    for (int p = 0; p < count; ++p) {
      const auto place = static_cast<rig::index>(p * 7919L % (n * n));
      rig::index i = place / n, j = place % n;
      if (lower && i <= j) continue;
      list(i, j, bits.below(2000) - 1000);
      if (p % 101 == 5) line("");
      if (p % 97 == 5) line("% a comment");
      if (p % 93 == 5) line(" \t\r");
    }
    return *this;
  }
  /// The whole file; `half` as "general".
  std::string market(const std::string& half, int claimed = -1) const {
    return "%%MatrixMarket matrix coordinate " + std::string(has_values ? "real " : "pattern ") +
           half + "\n% text\n" + std::to_string(n) + " " + std::to_string(n) + " " +
           std::to_string(claimed < 0 ? static_cast<int>(entries.size()) : claimed) + "\n" + text;
  }
};
constexpr int header_lines = 3;

template <class T>
void compare(const rig::matrix<T>& a, const tuples& expected) {
  REQUIRE(a.nnz() == static_cast<long>(expected.size()));
  auto next = expected.begin();
  long wrong = 0;
  for (rig::index i = 0; i < a.rows(); ++i)
    for (long p = a.structure().offset(i); p < a.structure().offset(i + 1); ++p, ++next)
      wrong += next->first != std::pair(i, a.structure().column_indices()[p]) ||
               static_cast<double>(a.value(p)) != next->second;
  CHECK(wrong == 0);
}
template <class T>
void compare_file(const std::string& bytes, const tuples& expected,
                  const rig::read_options& options = {}) {
  const std::string path = file_of("parts", bytes);
  with_threads([&] { compare(rig::read_matrix<T>(path, options), expected); });
}
void expect_refusal(const std::string& bytes, int line, const std::string& reason,
                    const rig::read_options& options = {}) {
  const std::string path = file_of("bad", bytes), at = path + ":" + std::to_string(line) + ": ";
  with_threads([&] {
    CHECK(refusal(rig::errc::format, [&] { rig::read_matrix<float>(path, options); }) ==
          at + reason);
  });
}
tuples ones(tuples all) {
  for (auto& [place, value] : all) value = 1;
  return all;
}

}  // namespace

TEST_CASE("coordinate files in parts are what their lines list") {
  listing file;
  file.random(many);
  compare_file<float>(file.market("general"), file.entries);
  compare_file<double>(file.market("general"), file.entries);
  compare_file<int>(file.market("general"), file.entries);
  const std::string text = file.market("general");
  compare_file<rig::int64>(text.substr(0, text.find_last_not_of("\r\n\t ") + 1), file.entries);

  listing pattern{.has_values = false};
  pattern.random(many);
  compare_file<float>(pattern.market("general"), ones(pattern.entries));
  compare_file<bool>(pattern.market("general"), ones(pattern.entries));

  listing half;
  half.random(2 * many, true);
  for (const double sign : {1.0, -1.0}) {
    tuples both = half.entries;
    for (const auto& [place, value] : half.entries)
      both[{place.second, place.first}] = sign * value;
    compare_file<float>(half.market(sign > 0 ? "symmetric" : "skew-symmetric"), both);
  }
}

TEST_CASE("rows and columns in order") {
  listing by_row, by_column;
  for (rig::index i = 0; i < n; ++i)
    for (rig::index j = i % 13; j < n; j += 13) {
      by_row.list(i, j, i - j);
      by_column.list(j, i, i + j);
    }
  compare_file<float>(by_row.market("general"), by_row.entries);
  compare_file<float>(by_column.market("general"), by_column.entries);
}

TEST_CASE("edge lists in parts are what their lines list") {
  listing file{.first = 0};
  file.random(many);
  compare_file<float>(file.text, file.entries);
  compare_file<float>(file.text, ones(file.entries), {.values = false, .extra_columns = true});
  compare_file<double>("\xEF\xBB\xBF" + file.text, file.entries, {.nodes = n});

  listing plain{.has_values = false, .first = 0};
  plain.random(many);
  compare_file<float>(plain.text + plain.text, ones(plain.entries));

  listing commas{.first = 0};
  for (const auto& [place, value] : file.entries) {
    commas.entries[place] = value;
    commas.line(std::to_string(place.first) + "," + std::to_string(place.second) + " ,\t" +
                std::to_string(value));
  }
  compare_file<double>(commas.text, commas.entries, {.separator = ','});
}

TEST_CASE("entries at one position in several parts are folded in the order of the file") {
  listing file;
  std::map<rig::accumulator, tuples> expected;
  for (int p = 0; p < many; ++p) {
    const rig::index i = p * 31 % 40, j = p * 17 % 50;
    const double value = file.bits.below(100);
    file.line(file.words(i, j, value));
    for (const auto fold :
         {rig::accumulator::minus, rig::accumulator::first, rig::accumulator::second}) {
      const auto [at, is_new] = expected[fold].try_emplace({i, j}, value);
      if (!is_new && fold == rig::accumulator::minus) at->second -= value;
      if (!is_new && fold == rig::accumulator::second) at->second = value;
    }
  }
  for (const auto& [fold, entries] : expected)
    compare_file<double>(file.market("general", many), entries, {.duplicates = fold});
}

TEST_CASE("arrays, whose places follow from the lines before") {
  constexpr rig::index side = 400;
  std::string text = "%%MatrixMarket matrix array integer general\n400 400\n";
  for (int p = 1; p <= side * side; ++p) text += std::to_string(p) + "\n";
  const std::string path = file_of("array.mtx", text);
  for (const auto fold : {rig::accumulator::none, rig::accumulator::first, rig::accumulator::plus})
    with_threads([&] {
      const auto a = rig::read_matrix<double>(path, {.duplicates = fold});
      REQUIRE(a.nnz() == side * side);
      int wrong = 0;
      for (const auto& [i, j, value] : a.entries()) wrong += value != j * side + i + 1;
      CHECK(wrong == 0);
    });
}

TEST_CASE("parts without entries") {
  const std::string comment = "% " + std::string(200'000, 'c') + "\n";
  std::string comments;
  for (int k = 0; k < 8; ++k) comments += comment;
  const std::string head = "%%MatrixMarket matrix coordinate real general\n";
  const tuples one = {{{2, 0}, 7}}, two = {{{0, 1}, 5}, {{2, 0}, 7}};
  compare_file<float>(head + "3 3 1\n" + comments + "3 1 7", one);
  compare_file<float>(head + "3 3 2\n1 2 5\n" + comments + "3 1 7\n", two);
  compare_file<float>(head + "3 3 1\n3 1 7\n" + comments, one);
  compare_file<float>(head + "3 3 0\n" + comments, {});
  compare_file<float>(comments + "2 0 7\n", one);
  compare_file<float>("2 0 7\n" + comments + "0 1 5", two);
  compare_file<float>("2 0 7\n" + std::string(500'000, '\n'), one);
  compare_file<float>(comments, {});
}

TEST_CASE("the first fault of a file is named with its line, whatever part finds it") {
  for (const int count : {many / 100, many / 2, many - 1}) {
    listing file;
    file.random(count).line("1 x 1");
    const int line = header_lines + file.lines;
    file.random(many).line("0 1 1").line("1 1");
    expect_refusal(file.market("general", 2 * many), line, "\"x\" is not a column number");

    listing edges{.first = 0};
    edges.random(count).line("1 1 1 1");
    const int second = edges.lines;
    edges.random(many).line("1");
    expect_refusal(edges.text, second,
                   "\"1\" follows the edge; set read_options::extra_columns to skip it");
  }
}

TEST_CASE("faults that no part can find alone") {
  listing file;
  file.random(many);
  const int lines = header_lines + file.lines;
  const std::string count = std::to_string(many), text = file.market("general", many + 1);
  expect_refusal(text, lines, "the file ends after " + count + " of 50001 entries");
  expect_refusal(text.substr(0, text.size() - 1), lines,
                 "the file ends after " + count + " of 50001 entries");
  file.line("0 1 1");
  expect_refusal(file.market("general", many), lines + 1,
                 "more than the " + count + " entries of line 3");
  expect_refusal(file.market("general", many + 1), lines + 1, "row 0 is outside 1..977");

  // The position of the first entry comes again at the end.
  listing twice;
  twice.list(1, 2, 5);
  for (int p = 1; p < many; ++p) twice.list(3 + p / 900, p % 900, p);
  twice.line("2 3 7");
  const std::string remedy = "; set read_options::duplicates to fold them";
  expect_refusal(twice.market("general", many + 1), header_lines + many + 1,
                 "the position is already on line 4" + remedy);

  listing edges{.has_values = false, .first = 0};
  edges.random(many).line("1 2 3");
  expect_refusal(edges.text, edges.lines, "the edge has a value, unlike that of line 1");
  listing weighted{.first = 0};
  weighted.random(many).line("976 1");
  expect_refusal(weighted.text, weighted.lines, "the edge has no value, unlike that of line 1");
  listing nodes{.first = 0};
  nodes.random(many).line("977 1 1");
  expect_refusal(nodes.text, nodes.lines, "node \"977\" is outside 0..976", {.nodes = n});
}

TEST_CASE("a line that is too long is refused in every part") {
  for (const int count : {100, many / 2, many}) {
    listing file{.first = 0};
    file.random(count).line("1 2 " + std::string(600'000, ' ') + "\r");
    const int line = file.lines;
    file.random(many);
    expect_refusal(file.text, line, "the line is longer than 262144 bytes");
  }
}

TEST_CASE("numbers of any length are read at every place of a buffer") {
  // The end of the file is within the bytes that are read at once.
  const std::string head = "%%MatrixMarket matrix coordinate pattern general\n7 2000000000 1\n";
  for (const std::string row : {"3", "0000003", "00000003", "000000003", "00000000000000000003"})
    for (const std::string column : {"1", "9999999", "10000000", "99999999", "123456789"})
      for (int before = 0; before < 70; before += 3) {
        const std::string text = head + std::string(before, '\n') + row + " " + column;
        for (const std::string end : {"", "\n", "\r\n", " \n\n\n"}) {
          const auto a = rig::read_matrix<float>(file_of("short", text + end));
          REQUIRE(a.nnz() == 1);
          CHECK(a.structure().offset(3) - a.structure().offset(2) == 1);
          CHECK(a.structure().column_indices()[0] == std::stoi(column) - 1);
        }
      }
}
