// Files that become matrices over ranks: the rows of one rank's matrix, and its refusals.

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "distributed/product_cases.hpp"
#include "io/files.hpp"

namespace {

using namespace ranks;
using rig::accumulator;
using rig::matrix;
using rig::read_options;

/// Compares the file's parts with the rows that one rank reads, for 1 … 7 ranks.
template <class T>
void compare_file(const std::string& path, const read_options& options = {}) {
  CAPTURE(path);
  const auto whole = rig::read_matrix<T>(path, options);
  for (int size = 1; size <= 7; ++size)
    run_all(size, [&](const rig::communicator& here) {
      const auto part = rig::read_matrix<T>(here, path, options);
      const auto expected =
          rig::distributed<matrix<T>>::from_whole(here, whole, part.layout()).local();
      if (part.rows() != whole.rows() || part.nnz() != whole.nnz() || !(part.local() == expected) ||
          part.local().iso() != expected.iso())
        throw std::runtime_error("other rows, " + std::to_string(here.size()) + " ranks");
    });
}

/// Expects the refusal of one rank on each of 1, 3 and 4.
template <class T>
void expect_refusal(const std::string& path, const read_options& options = {}) {
  CAPTURE(path);
  std::string text;
  rig::errc code{};
  try {
    rig::read_matrix<T>(path, options);
    FAIL("one rank reads it");
  } catch (const rig::error& cause) {
    text = cause.what();
    code = cause.code();
  }
  for (const int size : {1, 3, 4})
    for (const auto& thrown : run(size, [&](const rig::communicator& here) {
           rig::read_matrix<T>(here, path, options);
         })) {
      REQUIRE(thrown != nullptr);
      try {
        std::rethrow_exception(thrown);
      } catch (const rig::error& cause) {
        CHECK(cause.code() == code);
        CHECK(cause.what() == "read_matrix: rank 0 of " + std::to_string(size) + ": " + text);
      }
    }
}

const std::string banner = "%%MatrixMarket matrix coordinate ";

/// Lines with the entries of a random matrix, in a random order.
std::string lines_of(rig::index n, int count, int first, bool has_values, bool lower = false) {
  random_bits bits(test_seed() + 31);
  std::string out;
  for (int p = 0; p < count; ++p) {
    // No position comes twice: 13 is prime to n.
    const int place = p * 13 % (n * n), i = place / n, j = place % n;
    if (lower && i <= j) continue;
    out += std::to_string(i + first) + " " + std::to_string(j + first);
    if (has_values) out += " " + std::to_string(bits.below(100) - 50);
    out += p % 7 == 3 ? " \r\n" : "\n";
    if (p % 11 == 5) out += "% a comment\n\n";
  }
  return out;
}
int count_of(const std::string& lines) {
  int count = 0;
  bool starts = true;
  for (const char c : lines) {
    count += starts && c >= '0' && c <= '9';
    starts = c == '\n';
  }
  return count;
}
std::string market(const std::string& kind, rig::index n, const std::string& lines) {
  return banner + kind + "\n% text\n" + std::to_string(n) + " " + std::to_string(n) + " " +
         std::to_string(count_of(lines)) + "\n" + lines;
}

TEST_CASE("coordinate files") {
  const std::string with_values = lines_of(20, 150, 1, true), plain = lines_of(20, 150, 1, false),
                    lower = lines_of(20, 300, 1, true, true);
  const std::string real = file_of("real.mtx", market("real general", 20, with_values));
  compare_file<float>(real);
  compare_file<double>(real);
  compare_file<rig::int64>(file_of("int.mtx", market("integer general", 20, with_values)));
  compare_file<float>(file_of("pattern.mtx", market("pattern general", 20, plain)));
  compare_file<bool>(file_of("mirror.mtx", market("integer symmetric", 20, lower)));
  compare_file<float>(file_of("mirror.mtx", market("real symmetric", 20, lower)));
  compare_file<int>(file_of("skew.mtx", market("integer skew-symmetric", 20, lower)));
  compare_file<float>(real, {.symmetrise = true});
  compare_file<float>(file_of("empty.mtx", market("real general", 3, "")));
  compare_file<float>(file_of("none.mtx", market("real general", 0, "")));
  compare_file<float>(file_of("cut.mtx", market("real general", 20, "3 3 1")));
  REQUIRE(std::system(("gzip -kf " + real).c_str()) == 0);
  compare_file<float>(real + ".gz");
  compare_file<float>(
      file_of("array.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n"));
}

TEST_CASE("entries at one position are folded in the order of the file") {
  std::string lines;
  for (int p = 0; p < 200; ++p)
    lines += std::to_string(1 + p % 3) + " " + std::to_string(1 + p % 2) + " " +
             std::to_string(1.0 / (1 + p)) + "\n";
  for (const char* const kind : {"real general", "real symmetric"}) {
    const std::string path = file_of("folded.mtx", market(kind, 3, lines));
    for (const auto fold : {accumulator::plus, accumulator::minus, accumulator::first})
      compare_file<float>(path, {.duplicates = fold});
    expect_refusal<float>(path);
  }
}

TEST_CASE("edge lists") {
  compare_file<float>(file_of("edges.txt", lines_of(20, 150, 0, true)));
  compare_file<float>(file_of("edges.txt", lines_of(20, 150, 0, true)),
                      {.values = false, .extra_columns = true});
  compare_file<bool>(file_of("edges.txt", lines_of(20, 150, 0, false)), {.nodes = 31});
  compare_file<int>(file_of("edges.txt", "0,1\n1 , 2\n0,1\n5,5"), {.separator = ','});
  compare_file<int>(file_of("edges.txt", "0 1\n"), {.symmetrise = true});
  compare_file<int>(file_of("edges.txt", "# nothing\n"));
  compare_file<int>(file_of("edges.txt", ""));
  compare_file<float>(file_of("edges.txt", "0 1 2\n0 1 3\n0 1 5\n2 0 7\n"),
                      {.duplicates = accumulator::minus});
  compare_file<float>(file_of("edges.txt",
                              "\xEF\xBB\xBF"
                              "0 1 2\n1 0 3\n"));
}

TEST_CASE("a rank whose lines are comments takes rows as the others do") {
  std::string header;
  for (int line = 0; line < 200; ++line) header += "# a long text before the edges\n";
  std::string edges;
  for (int p = 0; p < 40; ++p)
    edges += std::to_string(p % 5) + " " + std::to_string(p % 4) + " " + std::to_string(p) + "\n";
  const std::string path = file_of("header.txt", header + edges);
  for (const auto fold : {accumulator::plus, accumulator::minus, accumulator::second})
    compare_file<float>(path, {.duplicates = fold});
  expect_refusal<float>(path);
}

TEST_CASE("rows go to ranks by the lines that were parsed") {
  // The whole matrix has one entry a row: read as a whole, each rank has five.
  std::string lines;
  for (int p = 0; p < 90; ++p) lines += "0 1\n";
  for (int node = 1; node < 10; ++node) lines += std::to_string(node) + " 0\n";
  const std::string path = file_of("edges.txt", lines);
  run_all(2, [&](const rig::communicator& here) {
    const auto rows = rig::read_matrix<float>(here, path).layout();
    if (rows.rows_of(0) != 1) throw std::runtime_error(std::to_string(rows.rows_of(0)) + " rows");
  });
}

TEST_CASE("archives") {
  for (const char* const name : {"csr", "csc", "graph"})
    compare_file<float>(RIG_SOURCE_DIR "/tests/bench/matrices/" + std::string(name) + ".npz");
}

TEST_CASE("refusals") {
  const std::string good = lines_of(20, 150, 1, true);
  expect_refusal<float>(file_of("bad.mtx", market("real general", 20, good + "3 x 1\n")));
  expect_refusal<float>(file_of("bad.mtx", market("real general", 20, "21 1 1\n" + good)));
  expect_refusal<int>(file_of("bad.mtx", market("real general", 20, good + "20 20 1.5\n")));
  const std::string said = market("real general", 20, good);
  expect_refusal<float>(file_of("bad.mtx", said + "20 20 1\n"));
  expect_refusal<float>(file_of("bad.mtx", said.substr(0, said.size() / 2)));
  expect_refusal<float>(file_of("bad.mtx", market("real general", 20, good + good)));
  expect_refusal<float>(file_of("bad.mtx", "%%MatrixMarket matrix coordinate complex general\n"));
  expect_refusal<float>(file_of("bad.mtx", market("real general", 20, good)),
                        {.duplicates = accumulator::own});
  const std::string edges = lines_of(20, 150, 0, true);
  expect_refusal<float>(file_of("bad.txt", edges + "1 2\n"));
  expect_refusal<float>(file_of("bad.txt", edges + edges));
  expect_refusal<float>(file_of("bad.txt", edges), {.nodes = 7});
  expect_refusal<float>(file_of("bad.txt", edges + "2000000000 1 1\n"));
  expect_refusal<float>(file_of("bad.txt", edges), {.separator = 'x'});
  expect_refusal<float>(scratch() / "there is no file");
}

}  // namespace
