#include "rig/io.hpp"

#include <doctest/doctest.h>
#include <pty.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <chrono>
#include <clocale>
#include <cmath>
#include <cstdio>
#include <limits>
#include <locale>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "data_sets.hpp"
#include "files.hpp"

namespace fs = std::filesystem;

namespace {

using tuples = std::map<std::pair<int, int>, double>;

struct listing {
  int rows = 0, columns = 0;
  tuples entries;
};

/// A plain reader of well-formed Matrix Market files.
listing plain_read(const std::string& path) {
  FILE* pipe = popen(("gzip -dcf '" + path + "'").c_str(), "r");
  REQUIRE(pipe != nullptr);
  listing out;
  char line[4096], format[32], field[32], half[32];
  REQUIRE(std::fgets(line, sizeof line, pipe) != nullptr);
  REQUIRE(std::sscanf(line, "%*s %*s %31s %31s %31s", format, field, half) == 3);
  const bool array = std::string(format) == "array", general = std::string(half) == "general";
  bool sized = false;
  int i = 1, j = 1;
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    if (line[0] == '%' || std::string(line).find_first_not_of(" \t\r\n") == std::string::npos)
      continue;
    if (!sized) {
      sized = std::sscanf(line, "%d %d", &out.rows, &out.columns) == 2;
      continue;
    }
    double value = 1;
    if (array)
      std::sscanf(line, "%lf", &value);
    else
      std::sscanf(line, "%d %d %lf", &i, &j, &value);
    out.entries[{i - 1, j - 1}] = value;
    if (!general && i != j) out.entries[{j - 1, i - 1}] = half[1] == 'k' ? -value : value;
    if (array && ++i > out.rows) i = general ? (++j, 1) : ++j;
  }
  pclose(pipe);
  return out;
}

template <class T>
tuples entries_of(const rig::matrix<T>& a) {
  tuples out;
  for (int i = 0; i < a.rows(); ++i)
    for (long p = a.structure().offset(i); p < a.structure().offset(i + 1); ++p)
      out[{i, a.structure().column_indices()[p]}] = static_cast<double>(a.value(p));
  CHECK(static_cast<long>(out.size()) == a.nnz());
  return out;
}

template <class T>
auto bits(T x) {
  if constexpr (sizeof(T) == 8)
    return std::bit_cast<long>(x);
  else if constexpr (sizeof(T) == 4)
    return std::bit_cast<int>(x);
  else
    return x;
}

template <class T>
std::vector<T> nasty_values() {
  using limits = std::numeric_limits<T>;
  std::vector<T> values = {T(0), T(1), limits::max(), limits::lowest(), limits::min()};
  if constexpr (std::is_floating_point_v<T>) {
    values.insert(values.end(), {T(0.1), T(1) / 3, -T(0), limits::denorm_min(), limits::epsilon(),
                                 limits::infinity(), -limits::infinity(), limits::quiet_NaN(),
                                 std::nextafter(T(1), T(2)), T(16777217), T(1e22), T(123456.789)});
  }
  return values;
}

rig::matrix<double> read_text(const std::string& text) {
  return rig::read_matrix<double>(file_of("text", text));
}

std::string npy(const std::string& dictionary, const std::string& data, int major = 1) {
  std::string head = "\x93NUMPY";
  head += static_cast<char>(major);
  head += '\0';
  head += static_cast<char>(dictionary.size());
  head.append(major == 1 ? 1 : 3, '\0');
  return head + dictionary + data;
}

template <class T>
std::string raw(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(std::data(values)), values.size() * sizeof(T)};
}

/// A locale with 1.5 as "1,5" and 1000 as "1.000", because none such may be installed.
struct comma : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

}  // namespace

TEST_CASE_TEMPLATE("a written matrix reads back to the same bits", T, float, double, int, long,
                   bool) {
  const std::vector<T> values = nasty_values<T>();
  const int count = static_cast<int>(values.size());
  std::vector<int> i(values.size()), j(values.size());
  for (int p = 0; p < count; ++p) i[p] = p % 3, j[p] = 2 * p;
  const auto data = std::make_unique<T[]>(values.size());  // because a vector of bool is no array
  std::copy(values.begin(), values.end(), data.get());
  const auto a = rig::matrix<T>::from_tuples(3, 2 * count, i, j,
                                             std::span<const T>(data.get(), values.size()));
  for (const char* name : {"round_trip.npz", "round_trip.mtx.gz", "round_trip.mtx"}) {
    CAPTURE(name);
    rig::write_matrix(scratch() / name, a);
    const auto b = rig::read_matrix<T>(scratch() / name);
    REQUIRE(b.rows() == a.rows());
    REQUIRE(b.columns() == a.columns());
    REQUIRE(b.nnz() == a.nnz());
    CHECK(!b.iso());
    for (long p = 0; p < a.nnz(); ++p) {
      CHECK(b.structure().column_indices()[p] == a.structure().column_indices()[p]);
      CHECK(bits(b.value(p)) == bits(a.value(p)));
    }
  }

  const std::string archive = scratch() / "iso.npz", path = scratch() / "round_trip.mtx";
  for (const auto& iso : {rig::matrix<T>(a.shared_structure()), rig::matrix<T>(0, 5),
                          rig::matrix<T>(5, 0), rig::matrix<T>(a.shared_structure(), T(0))}) {
    rig::write_matrix(archive, iso);
    CHECK(rig::read_matrix<T>(archive) == iso);
  }

  rig::write_matrix(path, rig::matrix<T>(a.shared_structure()));
  CHECK(rig::read_matrix<T>(path).iso());
  CHECK(bytes_of(path).find("pattern") != std::string::npos);
  rig::write_matrix(path, rig::matrix<T>(a.shared_structure(), T(0)));
  CHECK(rig::read_matrix<T>(path).value(1) == T(0));
  rig::write_matrix(path, rig::matrix<T>(0, 5));
  CHECK(rig::read_matrix<T>(path).columns() == 5);

  rig::dense<T> dense(2, count);
  for (int p = 0; p < count; ++p) dense(0, p) = dense(1, count - 1 - p) = data[p];
  rig::write_dense(path, dense);  // the content decides the format, not the name
  const auto again = rig::read_dense<T>(path);
  REQUIRE(again.rows() == 2);
  REQUIRE(again.columns() == count);
  for (int p = 0; p < count; ++p) CHECK(bits(again(0, p)) == bits(data[p]));
  for (int p = 0; p < count; ++p) CHECK(bits(again(1, count - 1 - p)) == bits(data[p]));
  CHECK((bytes_of(path).size() - 2 * values.size() * sizeof(T)) % 64 == 0);

  rig::write_dense(path, rig::dense<T>::view(dense.data() + 1, 2, 2, count));
  CHECK(rig::read_dense<T>(path).columns() == 2);
  CHECK(bits(rig::read_dense<T>(path)(1, 1)) == bits(dense(1, 2)));
}

TEST_CASE("every well-formed file of lagraph-small reads as a plain reader reads it") {
  const fs::path folder = data::folder() / "lagraph-small";
  if (!data::has(folder)) return;
  int read = 0;
  for (const auto& file : fs::directory_iterator(folder)) {
    const std::string path = file.path();
    if (path.ends_with(".json") || file.is_directory()) continue;
    CAPTURE(path);
    if (file.path().filename() == "complex.mtx") {
      CHECK(refusal(rig::errc::format, [&] { rig::read_matrix<double>(path); }) ==
            path + ":1: complex numbers are not supported");
      continue;
    }
    const listing expected = plain_read(path);
    const auto a = rig::read_matrix<double>(path);
    CHECK(a.rows() == expected.rows);
    CHECK(a.columns() == expected.columns);
    CHECK(entries_of(a) == expected.entries);
    const auto full = rig::read_dense<double>(path);
    double difference = 0;
    for (int i = 0; i < a.rows(); ++i) {
      for (int j = 0; j < a.columns(); ++j) {
        const auto at = expected.entries.find({i, j});
        difference += full(i, j) != (at == expected.entries.end() ? 0 : at->second);
      }
    }
    CHECK(difference == 0);
    ++read;
  }
  CHECK(read == 30);
}

TEST_CASE("the graphs have the sizes that their expected answers name") {
  for (const auto& [name, folder, file, answers] : data::sets("n")) {
    const auto a = rig::read_matrix<float>(file);
    CAPTURE(name);
    CHECK(a.rows() == answers["n"]);
    CHECK(a.nnz() == answers["nnz"]);
    CHECK(a.iso() == !answers["weighted"]);
  }
}

TEST_CASE("Matrix Market: accepted forms") {
  const std::string real = "%%MatrixMarket matrix coordinate real general\n";
  const tuples two = {{{0, 0}, 1.5}, {{2, 1}, -2}};
  CHECK(entries_of(read_text(real + "3 2 2\n1 1 1.5\n3 2 -2\n")) == two);
  CHECK(entries_of(read_text(real + "3 2 2\r\n1 1 1.5\r\n3 2 -2")) == two);
  CHECK(entries_of(read_text(
            real + "% c\n\n \t3 2 2 \n%c\n  3\t2  -2e0\n\n%\n001 1 +1.5\n \n% end")) == two);
  CHECK(entries_of(read_text(
            "%%MatrixMarket Matrix COORDINATE Real General \n3 2 2\n1 1 15e-1\n3 2 -.2E1")) == two);
  CHECK(std::isnan(read_text(real + "1 1 1\n1 1 NaN\n").value(0)));
  CHECK(read_text(real + "1 1 1\n1 1 -Infinity\n").value(0) == -INFINITY);
  CHECK(read_text(real + "1 1 1\n1 1 1e-999\n").value(0) == 0);
  CHECK(std::signbit(read_text(real + "1 1 1\n1 1 -0.00001e-320\n").value(0)));
  CHECK(read_text(real + "0 7 0\n").columns() == 7);
  CHECK(read_text(real + "0 2147483647 0\n").nnz() == 0);
  CHECK(!read_text(real + "1 1 0\n").iso());
  CHECK(read_text("%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n").iso());

  const std::string symmetric = "%%MatrixMarket matrix coordinate integer symmetric\n";
  CHECK(entries_of(read_text(symmetric + "2 2 2\n1 2 5\n2 2 6\n")) ==
        tuples{{{0, 1}, 5}, {{1, 0}, 5}, {{1, 1}, 6}});
  CHECK(entries_of(read_text("%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n")) ==
        tuples{{{1, 0}, 1}, {{0, 1}, -1}, {{2, 0}, 2}, {{0, 2}, -2}, {{2, 1}, 3}, {{1, 2}, -3}});
  CHECK(entries_of(
            read_text("%%MatrixMarket matrix array integer general\n2 3\n1\n0\n3\n4\n5\n6\n")) ==
        tuples{{{0, 0}, 1}, {{1, 0}, 0}, {{0, 1}, 3}, {{1, 1}, 4}, {{0, 2}, 5}, {{1, 2}, 6}});

  const auto value = [](auto t, const std::string& field, const std::string& word) {
    using T = decltype(t);
    return rig::read_matrix<T>(
               file_of("value", "%%MatrixMarket matrix coordinate " + field + " 1 1 " + word))
        .value(0);
  };
  CHECK(value(0, "real general\n1 1 1\n", "3.0e2") == 300);
  CHECK(value(0L, "real general\n1 1 1\n", "9007199254740993") == 9007199254740993);
  CHECK(value(0L, "integer general\n1 1 1\n", "-9223372036854775808") ==
        std::numeric_limits<long>::min());
  CHECK(value(0.0, "integer general\n%%GraphBLAS type uint64_t\n1 1 1\n", "18446744073709551615") ==
        0x1p64);
  CHECK(value(0L, "real general\n1 1 1\n", "9007199254740993.0") == 9007199254740993);
  CHECK(value(0L, "real general\n1 1 1\n", "-92233720368547758.08e2") ==
        std::numeric_limits<long>::min());
  CHECK(value(0L, "real general\n1 1 1\n", ".0092233720368547758070E+21") ==
        std::numeric_limits<long>::max());
  CHECK(value(0L, "real general\n1 1 1\n", "0.0e99999999999999999999") == 0);
  CHECK(value(0, "real general\n1 1 1\n", "1" + std::string(400, '0') + "e-399") == 10);
  CHECK(value(false, "real general\n1 1 1\n", "0.25") == true);
  for (const char* word : {"1e-400", "-1e-400", "1e400", "-inf", "nan", "0.00001e-99999999999999"})
    CHECK(value(false, "real general\n1 1 1\n", word) == true);
  for (const char* word : {"0", "-0.000", "0e400", "0e-99999999999999999999"})
    CHECK(value(true, "real general\n1 1 1\n", word) == false);
  const std::string single = "real general\n%%GraphBLAS type float\n1 1 1\n";
  CHECK(value(0.0, single, "3.4028235e38") == 3.4028235e38);
  CHECK(value(0.0, single, "-inf") == -INFINITY);
  CHECK(value(0.0, single, "1e-99") == 1e-99);
  CHECK(value(0L, single, "9007199254740993") == 9007199254740993);
  CHECK(value(0.0f, "real general\n1 1 1\n", "16777217.0000000001") ==
        16777218.0f);  // rounded once, not twice
}

TEST_CASE("a line may be as long as the limit") {
  const std::string edge = "0 1";
  const auto line_of = [&](std::size_t length) { return edge + std::string(length - 3, ' '); };
  constexpr std::size_t limit = 262144;
  for (const char* end : {"", "\n", "\r\n"}) {
    // The line comes first in the file, or after a line that leaves the buffer unaligned.
    for (const char* before : {"", "1 0\n"})
      for (const std::size_t length : {limit - 1, limit}) {
        const auto a = read_text(before + line_of(length) + end + (*end != 0 ? "2 2" : ""));
        CHECK(a.nnz() == 1 + (*end != 0) + (*before != 0));
      }
    for (const std::size_t length : {limit + 1, limit + 2, limit + 3})
      CHECK(refusal(rig::errc::format, [&] { read_text(line_of(length) + end); }) ==
            (scratch() / "text").string() + ":1: the line is longer than 262144 bytes");
  }
}

TEST_CASE("a coordinate file is read from a pipe; an array is refused") {
  const std::string pipe = scratch() / "pipe.mtx";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const auto piped = [&](const std::string& text, auto read) {
    std::thread writer([&] { std::ofstream(pipe) << text; });
    const std::string said = refusal(rig::errc::io, read);
    writer.join();
    return said;
  };
  const std::string banner = "%%MatrixMarket matrix ";
  CHECK(piped(banner + "coordinate integer general\n2 2 1\n2 1 7\n",
              [&] { CHECK(rig::read_dense<float>(pipe)(1, 0) == 7); }) == "no error");
  const std::string refused = pipe + ": an array is read from a regular file only, not from a pipe";
  CHECK(piped(banner + "array real general\n1 1\n5\n", [&] { rig::read_dense<float>(pipe); }) ==
        refused);
  CHECK(piped(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), }", "1234"),
              [&] { rig::read_dense<float>(pipe); }) == refused);
}

TEST_CASE("edge lists") {
  const auto a = read_text("# FromNodeId\tToNodeId\n0\t3\n\n 3 0 \r\n% more\n1 1\n0 3\n");
  CHECK(a.rows() == 4);
  CHECK(a.columns() == 4);
  CHECK(a.iso());
  CHECK(entries_of(a) == tuples{{{0, 3}, 1}, {{1, 1}, 1}, {{3, 0}, 1}});
  CHECK(entries_of(read_text("0 1 2.5\n1 0 -1")) == tuples{{{0, 1}, 2.5}, {{1, 0}, -1}});
  CHECK(read_text("").rows() == 0);
  CHECK(read_text("# nothing\n").nnz() == 0);
}

TEST_CASE("edge lists: read options") {
  const auto read = [](const std::string& text, const rig::read_options& options) {
    return rig::read_matrix<double>(file_of("text", text), options);
  };
  CHECK(read("0 1\n", {.nodes = 7}).rows() == 7);
  CHECK(read("", {.nodes = 7}).columns() == 7);
  CHECK(read("0 6\n", {.nodes = 7}).nnz() == 1);
  CHECK(read("0 20000000\n", {.nodes = 20000001}).nnz() == 1);  // refused without .nodes

  const tuples two = {{{0, 1}, 2.5}, {{1, 0}, -1}};
  CHECK(entries_of(read("0,1,2.5\n 1 ,\t0, -1 \r\n", {.separator = ','})) == two);
  CHECK(entries_of(read("0;1;2.5\n1;0;-1", {.separator = ';'})) == two);
  CHECK(entries_of(read("0\t1 2.5\n1 0\t-1", {.separator = '\t'})) == two);
  CHECK(read("# a,b\n0,1\n", {.separator = ','}).iso());

  CHECK(entries_of(read("0 1 2.5 1993 a b\n1 0 -1 x", {.extra_columns = true})) == two);
  CHECK(entries_of(read("0,1,2.5,1993,a b,\n1,0,-1,", {.separator = ',', .extra_columns = true})) ==
        two);
  const auto times = read("0 1 1993\n0 1 1994\n", {.values = false, .extra_columns = true});
  CHECK(times.iso());
  CHECK(times.nnz() == 1);
  CHECK(read("0 1\n1 0\n", {.extra_columns = true}).iso());
}

TEST_CASE("duplicates are folded in the order of the file") {
  const auto fold = [](const std::string& text, rig::accumulator how) {
    return entries_of(
        rig::read_matrix<double>(file_of("text", text), rig::read_options{.duplicates = how}));
  };
  using enum rig::accumulator;
  const std::string edges = "1 0 7\n0 2 16\n0 1 3\n0 2 4\n0 2 2\n1 0 1\n";
  CHECK(fold(edges, rig::accumulator::plus) == tuples{{{0, 1}, 3}, {{0, 2}, 22}, {{1, 0}, 8}});
  CHECK(fold(edges, divide) == tuples{{{0, 1}, 3}, {{0, 2}, 2}, {{1, 0}, 7}});
  CHECK(fold(edges, first) == tuples{{{0, 1}, 3}, {{0, 2}, 16}, {{1, 0}, 7}});
  CHECK(fold(edges, second) == tuples{{{0, 1}, 3}, {{0, 2}, 2}, {{1, 0}, 1}});
  CHECK(fold("0 1\n0 1\n", rig::accumulator::plus) == tuples{{{0, 1}, 1}});
  const std::string banner = "%%MatrixMarket matrix coordinate ";
  CHECK(fold(banner + "real general\n2 2 3\n2 1 5\n1 1 1\n2 1 2\n", minus) ==
        tuples{{{0, 0}, 1}, {{1, 0}, 3}});
  CHECK(fold(banner + "real symmetric\n2 2 3\n2 1 5\n2 2 1\n1 2 2\n", minus) ==
        tuples{{{0, 1}, 3}, {{1, 0}, 3}, {{1, 1}, 1}});
  CHECK(fold(banner + "pattern general\n2 2 2\n2 1\n2 1\n", second) == tuples{{{1, 0}, 1}});
  // More entries than there are positions.
  CHECK(fold(banner + "real general\n1 1 3\n1 1 5\n1 1 2\n1 1 1\n", rig::accumulator::plus) ==
        tuples{{{0, 0}, 8}});

  // Long rows, which need a stable sort.
  std::string many;
  tuples expected;
  for (int p = 0; p < 3000; ++p) {
    const int j = p * 7919 % 501;
    many += "0 " + std::to_string(j) + " " + std::to_string(p) + "\n";
    expected[{0, j}] = p;
  }
  CHECK(fold(many, second) == expected);
}

TEST_CASE("a file is symmetrised as it is read") {
  const rig::read_options both{.duplicates = rig::accumulator::plus, .symmetrise = true};
  const std::string text = "0 1 2\n1 0 5\n2 0 3\n0 1 2\n";
  CHECK(entries_of(rig::read_matrix<double>(file_of("text", text), both)) ==
        tuples{{{0, 1}, 4}, {{1, 0}, 5}, {{0, 2}, 3}, {{2, 0}, 3}});
  CHECK(entries_of(rig::read_matrix<bool>(file_of("text", "0 1\n"), both)) ==
        tuples{{{0, 1}, 1}, {{1, 0}, 1}});
  const std::string banner = "%%MatrixMarket matrix coordinate real general\n";
  CHECK(entries_of(rig::read_matrix<double>(file_of("text", banner + "2 2 1\n2 1 5\n"), both)) ==
        tuples{{{0, 1}, 5}, {{1, 0}, 5}});
}

TEST_CASE("npy: types, orders and versions") {
  const auto read = [](const std::string& bytes) {
    return rig::read_dense<double>(file_of("x.npy", bytes));
  };
  const auto head = [](const char* type, const char* order, const char* shape) {
    return std::string("{'descr': '") + type + "', 'fortran_order': " + order +
           ", 'shape': " + shape + ", }\n";
  };
  const auto check = [](const rig::dense<double>& x) {
    CHECK(x.rows() == 2);
    CHECK(x.columns() == 3);
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 3; ++j) CHECK(x(i, j) == 3 * i + j + 1);
  };
  check(read(npy(head("<f4", "False", "(2, 3)"), raw<float>({1, 2, 3, 4, 5, 6}))));
  check(read(npy(head("<f8", "False", "(2, 3)"), raw<double>({1, 2, 3, 4, 5, 6}), 2)));
  check(read(npy(head("<i4", "False", "(2, 3)"), raw<int>({1, 2, 3, 4, 5, 6}), 3)));
  check(read(npy(head("<i8", "True", "(2L, 3L)"), raw<long>({1, 4, 2, 5, 3, 6}))));
  check(read(npy("{\"shape\":(2,3),\"fortran_order\":False,\"descr\":\"<f2\"}",
                 raw<short>({0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600}))));
  const auto flags =
      rig::read_dense<float>(file_of("x.npy", npy(head("|b1", "False", "(4,)"), {"\0\1\1\0", 4})));
  CHECK(flags.rows() == 4);
  CHECK(flags.columns() == 1);
  CHECK(flags(2, 0) == 1);
  const auto bytes =
      rig::read_dense<float>(file_of("x.npy", npy(head("|u1", "False", "(3,)"), {"\0\2\377", 3})));
  CHECK(bytes(1, 0) == 2);
  CHECK(bytes(2, 0) == 255);
  CHECK(read(npy(head("<f4", "True", "(0, 9)"), "")).columns() == 9);
}

TEST_CASE("gzip is detected by content, also with several members") {
  const std::string path = file_of("plain", "0 1\n1 2\n");
  REQUIRE(std::system(
              ("cd " + scratch().string() + " && gzip -c plain > zipped && gzip -c plain >> zipped")
                  .c_str()) == 0);
  CHECK(rig::read_matrix<int>(scratch() / "zipped").nnz() == 2);
  // Like gzip, the reader skips any number of zeros between and after members.
  const std::string member = bytes_of(scratch() / "zipped");
  for (const std::size_t zeros : {1u, 511u, 300000u}) {
    const std::string padding(zeros, '\0');
    CHECK(rig::read_matrix<int>(file_of("padded", member + padding)).nnz() == 2);
    CHECK(rig::read_matrix<int>(file_of("padded", member + padding + member)).nnz() == 2);
  }
  std::string many;
  for (int i = 0; i < 200000; ++i) many += std::to_string(i) + " 0\n";
  file_of("plain", many);
  REQUIRE(std::system(("gzip -f " + path).c_str()) == 0);
  CHECK(rig::read_matrix<int>(path + ".gz").nnz() == 200000);
}

TEST_CASE("numbers do not depend on the locale") {
  const std::string text =
      "%%MatrixMarket matrix coordinate real general\n2000 1 1\n1500 1 1234.5\n";
  const bool installed = std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr;
  if (!installed) MESSAGE("no comma locale is installed; a global C++ locale with commas serves");
  const std::locale before = std::locale::global(std::locale(std::locale(), new comma));
  const auto a = read_text(text);
  CHECK(a.value(0) == 1234.5);
  rig::write_matrix(scratch() / "locale.mtx", a);
  rig::write_dense(scratch() / "locale.npy", rig::dense<float>(1000, 2));
  const std::string reason = refusal(rig::errc::format, [] {
    read_text("%%MatrixMarket matrix array real general\n1000 1\n1,5");
  });
  std::locale::global(before);
  std::setlocale(LC_ALL, "C");
  CHECK(bytes_of(scratch() / "locale.mtx").find("\n2000 1 1\n1500 1 1234.5\n") !=
        std::string::npos);
  CHECK(rig::read_dense<float>(scratch() / "locale.npy").rows() == 1000);
  CHECK(reason.find("\"1,5\" is not a number") != std::string::npos);
}

TEST_CASE("a slow read shows its progress, on a terminal only") {
  const std::string fifo = scratch() / "slow";
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  for (const bool terminal : {true, false}) {
    int master = -1, slave = -1, ends[2] = {-1, -1};
    if (terminal && openpty(&master, &slave, nullptr, nullptr, nullptr) != 0) {
      MESSAGE("SKIPPED: no pseudo-terminal can be opened");
      continue;
    }
    if (!terminal) {
      REQUIRE(pipe(ends) == 0);
      master = ends[0];
      slave = ends[1];
    }
    std::thread writer([&] {
      std::ofstream out(fifo);
      out << "0 1\n" << std::flush;
      std::this_thread::sleep_for(std::chrono::milliseconds(2200));
      out << "1 0\n" << std::flush;
    });
    std::fflush(stderr);
    const int standard_error = dup(STDERR_FILENO);
    dup2(slave, STDERR_FILENO);
    const auto a = rig::read_matrix<float>(fifo);
    dup2(standard_error, STDERR_FILENO);
    writer.join();
    CHECK(a.nnz() == 2);
    REQUIRE(write(slave, "|", 1) == 1);
    char shown[4096];
    const auto count = read(master, shown, sizeof shown);
    const std::string text(shown, static_cast<std::size_t>(count < 0 ? 0 : count));
    if (terminal)
      CHECK(text.find("rig: reading " + fifo) != std::string::npos);
    else
      CHECK(text == "|");
    for (const int descriptor : {master, slave, standard_error}) close(descriptor);
  }
}
