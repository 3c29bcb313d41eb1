#include <dlfcn.h>
#include <doctest/doctest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data_folder.hpp"
#include "files.hpp"
#include "rig/io.hpp"

namespace fs = std::filesystem;

namespace {

long machine_bytes = 0;  // the bytes of memory that sysconf reports; 0: the machine's

}  // namespace

extern "C" long sysconf(int name) noexcept {
  static const auto real = reinterpret_cast<long (*)(int)>(dlsym(RTLD_NEXT, "sysconf"));
  return name == _SC_PHYS_PAGES && machine_bytes > 0 ? machine_bytes / real(_SC_PAGE_SIZE)
                                                     : real(name);
}

namespace {

std::string banner(const std::string& rest) { return "%%MatrixMarket matrix " + rest + "\n"; }

struct malformed {
  std::string text;
  int line;
  const char* reason;
  bool integers = false;  ///< read as a matrix of int32
};

const std::string real = banner("coordinate real general");
const std::string integer = banner("coordinate integer general");
const std::string pattern = banner("coordinate pattern general");
const std::string symmetric = banner("coordinate real symmetric");
const std::string skew = banner("coordinate integer skew-symmetric");

const std::vector<malformed> matrix_market_files = {
    {"", 1, "the file is empty"},
    {"3 3 1\n1 1 1\n", 1, "does not begin with %%MatrixMarket"},
    {"%%matrixmarket matrix coordinate real general\n0 0 0\n", 1,
     "does not begin with %%MatrixMarket"},
    {"%%MatrixMarketmatrix coordinate real general\n", 1, "does not begin with %%MatrixMarket"},
    {"%%MatrixMarket vector coordinate real general\n", 1, "the object \"vector\" is not matrix"},
    {banner("sparse real general"), 1, "the format \"sparse\" is none of coordinate, array"},
    {banner("coordinate double general"), 1, "the field \"double\""},
    {banner("coordinate complex general"), 1, "complex"},
    {banner("coordinate real hermitian"), 1, "complex"},
    {banner("coordinate real diagonal"), 1, "the symmetry \"diagonal\""},
    {banner("coordinate real"), 1, "names no symmetry"},
    {banner("coordinate real general 1"), 1, "\"1\" after the banner"},
    {banner("array pattern general"), 1, "a pattern cannot be an array"},
    {banner("coordinate pattern skew-symmetric"), 1, "a pattern cannot be skew-symmetric"},
    {real, 1, "ends before the size line"},
    {real + "% 1 1 1\n\n", 3, "ends before the size line"},
    {real + "3 3\n", 2, "lacks the number of entries"},
    {real + "3\n", 2, "lacks the number of columns"},
    {real + "3 3 1 1\n", 2, "\"1\" after the sizes"},
    {real + "a 3 1\n", 2, "\"a\" is not a number of rows"},
    {real + "3 3 1.0\n", 2, "\"1.0\" is not a number of entries"},
    {real + "3 -3 1\n", 2, "\"-3\" is not a number of columns"},
    {real + "-1 3 1\n", 2, "\"-1\" is not a number of rows"},
    {real + "2147483648 3 1\n", 2, "at most 2147483647 are possible"},
    {real + "3 3 10\n", 2, "\"10\" entries, but at most 9"},
    {real + "3 3 99999999999999999999999\n", 2, "at most 9"},
    {symmetric + "3 4 1\n", 2, "3x4 is not square"},
    {symmetric + "3 3 7\n", 2, "at most 6"},
    {skew + "3 3 4\n", 2, "at most 3"},
    {banner("array real general") + "3 3 9\n", 2, "\"9\" after the sizes"},
    {real + "3 3 2\n1 1 1\n", 3, "ends after 1 of 2 entries"},
    {real + "3 3 1\n1 1 1\n\n2 2 2\n", 5, "more than the 1 entries of line 2"},
    {real + "3 3 1\n1\n", 3, "the column is missing"},
    {real + "3 3 1\n1 1\n", 3, "the value is missing"},
    {real + "3 3 1\n1 1 1 1\n", 3, "\"1\" after the entry"},
    {real + "3 3 1\n1 1 1 % one\n", 3, "\"% one\" after the entry"},
    {pattern + "3 3 1\n1 1 1\n", 3, "\"1\" after the entry"},
    {real + "3 3 1\n0 1 1\n", 3, "row 0 is outside 1..3"},
    {real + "3 3 1\n1 4 1\n", 3, "column \"4\" is outside 1..3"},
    {real + "3 3 1\n-1 1 1\n", 3, "row \"-1\" is outside 1..3"},
    {real + "3 3 1\n18446744073709551617 1 1\n", 3, "is outside 1..3"},
    {real + "3 3 1\n1.0 1 1\n", 3, "\"1.0\" is not a row number"},
    {real + "3 3 1\n1,1,1\n", 3, "\"1,1,1\" is not a row number"},
    {real + "3 3 1\n1 1 one\n", 3, "\"one\" is not a number"},
    {real + "3 3 1\n1 1 1e\n", 3, "\"1e\" is not a number"},
    {real + "3 3 1\n1 1 1,5\n", 3, "\"1,5\" is not a number"},
    {real + "3 3 1\n1 1 0x1p3\n", 3, "\"0x1p3\" is not a number"},
    {real + "3 3 1\n1 1 +-1\n", 3, "\"+-1\" is not a number"},
    {real + "3 3 1\n1 1 1e999\n", 3, "\"1e999\" does not fit float64"},
    {real + "3 3 1\n1 1 1000000e304\n", 3, "does not fit float64"},
    {real + std::string("3 3 1\n1 1 1\0\n", 13), 3, "\"1\\x00\" is not a number"},
    {real + "3 3 1\n1 1 " + std::string(300000, '1') + "\n", 3, "longer than"},
    {real + "3 3 2\n2 2 1\n2 2 1\n", 4, "the position is already on line 3"},
    {real + "3 3 3\n2 2 1\n\n3 1 1\n%\n2 2 1\n", 7, "already on line 3"},
    {symmetric + "3 3 2\n2 1 1\n1 2 1\n", 4, "the position or its mirror is already on line 3"},
    {symmetric + "3 3 2\n3 3 1\n3 3 1\n", 4, "already on line 3"},
    {skew + "3 3 1\n2 2 0\n", 3, "lists no diagonal, here (2, 2)"},
    {skew + "%%GraphBLAS type uint8_t\n3 3 1\n2 1 1\n", 2, "needs both signs"},
    {skew + "%%GraphBLAS type int8_t\n3 3 1\n2 1 -128\n", 4, "or its negative does not fit int8_t"},
    {skew + "3 3 1\n2 1 -2147483648\n", 3, "or its negative does not fit int32", true},
    {banner("array real skew-symmetric") + "2 2\n-2147483648\n", 3, "does not fit int32", true},
    {integer + "3 3 1\n1 1 1.5\n", 3, "\"1.5\" is not an integer"},
    {integer + "3 3 1\n1 1 inf\n", 3, "\"inf\" is not an integer"},
    {integer + "3 3 1\n1 1 2147483648\n", 3, "does not fit int32", true},
    {integer + "3 3 1\n1 1 -2147483649\n", 3, "does not fit int32", true},
    {integer + "3 3 1\n1 1 18446744073709551616\n", 3, "does not fit float64"},
    {real + "3 3 1\n1 1 1.5\n", 3, "\"1.5\" does not fit int32", true},
    {real + "3 3 1\n1 1 2147483648.0\n", 3, "does not fit int32", true},
    {real + "3 3 1\n1 1 nan\n", 3, "\"nan\" does not fit int32", true},
    {real + "3 3 1\n1 1 0.99999999999999999999\n", 3, "does not fit int32", true},
    {real + "3 3 1\n1 1 1e-400\n", 3, "\"1e-400\" does not fit int32", true},
    {real + "3 3 1\n1 1 1e99999999999999999999\n", 3, "does not fit int32", true},
    {real + "3 3 1\n1 1 21474836480e-1x\n", 3, "is not a number", true},
    {integer + "%%GraphBLAS type int8_t\n1 1 1\n1 1 128\n", 4,
     "\"128\" does not fit int8_t, the declared type"},
    {integer + "%%GraphBLAS type bool\n1 1 1\n1 1 2\n", 4, "does not fit bool"},
    {real + "%%GraphBLAS type int8_t\n1 1 1\n1 1 1.0\n", 4, "is not an integer"},
    {real + "%%GraphBLAS type float\n1 1 1\n1 1 1.5\n", 4, "\"1.5\" does not fit int32", true},
    {real + "%%GraphBLAS type float\n1 1 1\n1 1 1e300\n", 4,
     "\"1e300\" does not fit float, the declared type"},
    {banner("array real skew-symmetric") + "%%GraphBLAS type float\n2 2\n-3.5e38\n", 4,
     "does not fit float, the declared type"},
    {real + "%%GraphBLAS type float\n1 1 1\n1 1 1e300\n", 4,
     "\"1e300\" does not fit float, the declared type", true},
    {real + "%%GraphBLAS type double\n1 1 1\n1 1 1e999\n", 4,
     "does not fit double, the declared type"},
    {real + "%%GraphBLAS type gunk\n", 2, "\"gunk\" is not a GraphBLAS type"},
    {real + "%\n%%graphblas TYPE double complex\n", 3, "complex"},
    {banner("array real general") + "2 1\n1 2\n", 3, "\"2\" after the entry"},
    {banner("array real general") + "2 1\n1\n", 3, "ends after 1 of 2 entries"},
    {banner("array real general") + "2 1\n1\n2\n3\n", 5, "more than the 2 entries"},
};

const std::vector<malformed> edge_lists = {
    {"0\n", 1, "one word"},
    {"0 1\n2\n", 2, "one word"},
    {"0 1\n\n1 2 3\n", 3, "the edge has a value, unlike that of line 1"},
    {"#\n0 1 5\n1 2\n", 3, "the edge has no value, unlike that of line 2"},
    {"0 1 2 3\n", 1, "\"3\" follows the edge"},
    {"0 1 x\n", 1, "\"x\" is not a number"},
    {"0 1 1.5\n", 1, "\"1.5\" does not fit int32", true},
    {"0 1 1e999\n", 1, "does not fit float64"},
    {"a b\n", 1, "\"a\" is not a node number"},
    {"0,1\n", 1, "\"0,1\" is not a node number"},
    {"-1 0\n", 1, "node \"-1\" is outside 0..2147483646; number the nodes 0, 1, 2, …"},
    {"0 2147483647\n", 1, "is outside 0..2147483646"},
    {"0 99999999999999999999\n", 1, "is outside 0..2147483646"},
    {"0 1\n4000000000 1\n", 2, "node \"4000000000\" is outside 0..2147483646; number the nodes"},
    {"# sparse\n0 1\n7 2000000000\n2000000000 7\n", 3,
     "node 2000000000 is far beyond the number of edges, 3, and memory is taken for each number; "
     "number the nodes 0, 1, 2, …, or set read_options::nodes to 2000000001"},
    {"0 1 5\n1 1 5\n0 1 5\n", 3, "the position is already on line 1"},
    {std::string("0 1\0\n", 5), 1, "is not a node number"},
};

std::string npy(const std::string& dictionary, const std::string& data) {
  return std::string("\x93NUMPY\1\0", 8) + static_cast<char>(dictionary.size()) + '\0' +
         dictionary + data;
}
std::string npy_of(const std::string& type, const std::string& shape, const std::string& data) {
  return npy("{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }\n", data);
}

const std::vector<malformed> npy_files = {
    {"\x93NUMPY", 0, "ends in the header"},
    {std::string("\x93NUMPY\1\0", 8), 0, "ends in the header"},
    {std::string("\x93NUMPY\1\0\x50\0{", 11), 0, "ends in the header"},
    {std::string("\x93NUMPY\4\0", 8) + "xx", 0, "version 4.0"},
    {std::string("\x93NUMPY\2\0\xff\xff\xff\xff", 12), 0, "a header of 4294967295 bytes"},
    {npy("", ""), 0, "expected \"{\""},
    {npy("{}", ""), 0, "descr, fortran_order or shape is missing"},
    {npy("{'descr': '<f4', 'descr': '<f4'}", ""), 0, "comes twice"},
    {npy("{'color': 'red'}", ""), 0, "\"color\" is not known"},
    {npy("{'descr': [('a', '<f4')]}", ""), 0, "expected a string"},
    {npy("{'descr': '<f4", ""), 0, "a string without end"},
    {npy("{'fortran_order': None}", ""), 0, "expected True or False"},
    {npy("{'shape': 3}", ""), 0, "expected \"(\""},
    {npy_of("<f4", "()", "1234"), 0, "a single number has no dimension"},
    {npy_of("<f4", "(1)", "1234"), 0, "expected \",\""},
    {npy_of("<f4", "(1, 1, 1)", "1234"), 0, "one or two dimensions"},
    {npy_of("<f4", "(2, 3, 4)", "1234"), 0, "the array has 3 dimensions; one or two dimensions"},
    {npy_of("<f4", "(2, 3, 4, 5,)", "1234"), 0, "the array has 4 dimensions"},
    {npy_of("<f4", "(2, 3, 4", "1234"), 0, "expected a size"},
    {npy_of("<f4", "(2, 3 4)", "1234"), 0, "expected \")\""},
    {npy_of("<f4", "(-1, 1)", "1234"), 0, "expected a size"},
    {npy_of("<f4", "(4294967297, 1)", "1234"), 0, "expected a size"},
    {npy_of("<f4", "(1, 1)", "123"), 0,
     "numbers, which take 4 bytes or more, but at most 3 follow"},
    {npy_of("<f4", "(1, 1)", "12345"), 0, "bytes follow the 1 numbers"},
    {npy_of("<f8", "(2147483647, 2147483647)", "12345"), 0, "at most 5 follow"},
    {npy_of(">f4", "(1, 1)", "1234"), 0, "\">f4\" is big-endian"},
    {npy_of("<c8", "(1, 1)", "12345678"), 0, "\"<c8\" is not supported"},
    {npy_of("|b1", "(1, 1)", "\2"), 0, "2 is not a bool"},
    {npy_of("<f4", "(1, 1)", std::string("\0\0\xc0\x3f", 4)), 0, "1.5 does not fit int32", true},
    {npy_of("<f8", "(1, 1)", std::string("\0\0\0\0\0\0\xe0\x41", 8)), 0,
     "2147483648 does not fit int32", true},
    {npy_of("<i8", "(1, 1)", std::string("\0\0\0\0\1\0\0\0", 8)), 0,
     "4294967296 does not fit int32", true},
};

void check(const std::vector<malformed>& table, const std::string& name,
           const std::function<void(const std::string&, bool)>& read) {
  for (const malformed& file : table) {
    CAPTURE(file.text.substr(0, 200));
    const std::string path = file_of(name, file.text);
    const std::string message = refusal(rig::errc::format, [&] { read(path, file.integers); });
    CAPTURE(message);
    std::string at = path + ":";
    if (file.line > 0) at += std::to_string(file.line) + ":";
    at += " ";
    CHECK(message.starts_with(at));
    CHECK(message.find(file.reason, at.size()) != std::string::npos);
  }
}

void read_sparse(const std::string& path, bool integers) {
  if (integers)
    rig::read_matrix<int>(path);
  else
    rig::read_matrix<double>(path);
}
void read_full(const std::string& path, bool integers) {
  if (integers)
    rig::read_dense<int>(path);
  else
    rig::read_dense<double>(path);
}

/// Limits the address space to the bytes in use plus `bytes`, during its lifetime.
class little_memory {
 public:
  explicit little_memory(rlim_t bytes) {
    getrlimit(RLIMIT_AS, &before_);
    const rlim_t pages = std::stoul(bytes_of("/proc/self/statm"));
    const rlimit now = {pages * static_cast<rlim_t>(sysconf(_SC_PAGE_SIZE)) + bytes,
                        before_.rlim_max};
    setrlimit(RLIMIT_AS, &now);
  }
  ~little_memory() { setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_;
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool memory_can_be_limited = false;
#else
constexpr bool memory_can_be_limited = true;
#endif

/// Reading must succeed or throw rig::error; any other outcome ends the test.
int count_refusals(const std::string& name, const std::string& bytes) {
  const std::string path = file_of(name, bytes);
  int refused = 0;
  const auto attempt = [&](auto read) {
    try {
      read();
    } catch (const rig::error& e) {
      ++refused;
      CHECK(std::string(e.what()).starts_with(path));
    }
  };
  attempt([&] { rig::read_matrix<float>(path); });
  attempt([&] { rig::read_dense<int>(path); });
  return refused;
}

}  // namespace

TEST_CASE("malformed Matrix Market files are refused with line and reason") {
  check(matrix_market_files, "bad.mtx", read_sparse);
  check(matrix_market_files, "bad.mtx", [](const std::string& path, bool integers) {
    // A dense result has the same errors, except that an array's sizes are first compared with the
    // file's.
    try {
      read_full(path, integers);
    } catch (const rig::error& e) {
      if (std::string(e.what()).find("the sizes announce") == std::string::npos) throw;
      read_sparse(path, integers);
    }
  });
}

TEST_CASE("an integer that a double cannot hold is refused, not rounded") {
  for (const char* word :
       {"9007199254740992.5", "-9007199254740993.0000000000000001", "0.99999999999999999999",
        "9223372036854775808.0", "9223372036854775807.5", "-9223372036854775809.0",
        "92233720368547758070e-1000", "infinity"}) {
    const std::string path = file_of("long.mtx", real + "1 1 1\n1 1 " + word);
    CHECK(refusal(rig::errc::format, [&] { rig::read_matrix<long>(path); }) ==
          path + ":3: \"" + word + "\" does not fit int64");
  }
}

TEST_CASE("a bool is read in the declared type") {
  for (const auto& [type, word] : {std::pair("float", "-1e39"), std::pair("double", "1e999")}) {
    const std::string path =
        file_of("bool.mtx", real + "%%GraphBLAS type " + type + "\n1 1 1\n1 1 " + word + "\n");
    CHECK(refusal(rig::errc::format, [&] { rig::read_matrix<bool>(path); }) ==
          path + ":4: \"" + word + "\" does not fit " + type + ", the declared type");
  }
}

TEST_CASE("malformed edge lists are refused with line and reason") {
  check(edge_lists, "bad.txt", read_sparse);
}

TEST_CASE("files that break the read options are refused") {
  struct held {
    std::string text;
    rig::read_options options;
    const char* message;
    rig::errc code = rig::errc::format;
  };
  const std::vector<held> table = {
      {"0 1\n1 3\n", {.nodes = 3}, ":2: node \"3\" is outside 0..2"},
      {"0,1\n", {}, ":1: \"0,1\" is not a node number; set read_options::separator"},
      {"0 1\n", {.separator = ','}, ":1: expected \",\" at \"1\""},
      {"0,1 2\n", {.separator = ','}, ":1: expected \",\" at \"2\""},
      {"0,,1\n", {.separator = ','}, ":1: \"\" is not a node number"},
      {",0,1\n", {.separator = ','}, ":1: \"\" is not a node number"},
      {"0,\n", {.separator = ','}, ":1: there is one word; an edge"},
      {"0,1,\n", {.separator = ','}, ":1: the value is missing"},
      {"0,1,1,5\n",
       {.separator = ','},
       ":1: \",5\" follows the edge; set read_options::extra_columns"},
      {"0;1;1,5\n", {.separator = ';'}, ":1: \"1,5\" is not a number"},
      {"0,1,2 3\n", {.separator = ',', .extra_columns = true}, ":1: expected \",\" at \"3\""},
      {"0 1 2\n", {.values = false}, ":1: \"2\" follows the edge"},
      {"0 1 2\n0 1\n", {.extra_columns = true}, ":2: the edge has no value"},
      {"0 1 5\n1 1 5\n0 1 5\n", {}, "on line 1; set read_options::duplicates to fold them"},
      {"0 1\n", {.nodes = -1}, ": read_options::nodes is -1", rig::errc::range},
      {"0 1\n", {.separator = '.'}, ": the separator \".\" is neither", rig::errc::range},
      {"0 1\n", {.separator = '\n'}, ": the separator \"\\x0a\" is", rig::errc::range},
      {"0 1\n", {.duplicates = rig::accumulator::own}, ": duplicates are", rig::errc::range},
      {"0 1\n", {.duplicates = rig::accumulator(99)}, ": duplicates are", rig::errc::range},
      {real + "2 3 0\n", {.symmetrise = true}, ": symmetrise: the matrix is 2x3", rig::errc::shape},
      {skew + "3 3 2\n2 1 3\n2 1 4\n", {.duplicates = rig::accumulator::plus}, ":4: the position"},
  };
  for (const held& file : table) {
    CAPTURE(file.text);
    const std::string path = file_of("options", file.text);
    const std::string message =
        refusal(file.code, [&] { rig::read_matrix<float>(path, file.options); });
    CAPTURE(message);
    CHECK(message.starts_with(path + ":"));
    CHECK(message.find(file.message) != std::string::npos);
  }
}

TEST_CASE("malformed .npy files are refused with the reason") {
  check(npy_files, "bad.npy", read_full);
}

TEST_CASE("the malformed files of LAGraph are refused") {
  const fs::path folder = data::folder() / "lagraph-small";
  if (!data::has(folder)) return;
  const auto known = nlohmann::json::parse(std::ifstream(folder / "known.json"))["bad"]["files"];
  CHECK(known.size() == 25);
  for (const auto& [name, why] : known.items()) {
    const std::string path = folder / "bad" / (name + ".mtx");
    CAPTURE(path);
    CAPTURE(why.get<std::string>());
    for (const bool integers : {false, true}) {
      CHECK(
          refusal(rig::errc::format, [&] { read_sparse(path, integers); }).starts_with(path + ":"));
      CHECK(refusal(rig::errc::format, [&] { read_full(path, integers); }).starts_with(path + ":"));
    }
  }
}

TEST_CASE("files that cannot be opened, read or written") {
  const auto io = rig::errc::io;
  const std::string missing = scratch() / "missing" / "a.mtx", folder = scratch();
  CHECK(refusal(io, [&] {
          rig::read_matrix<int>(missing);
        }).starts_with(missing + ": cannot open: "));
  CHECK(
      refusal(io, [&] { rig::read_matrix<int>(folder); }).starts_with(folder + ": cannot read: "));
  CHECK(refusal(io, [&] {
          rig::write_matrix(missing, rig::matrix<int>(1, 1));
        }).starts_with(missing + ": cannot create: "));
  if (!fs::exists("/dev/full")) {
    MESSAGE("SKIPPED: no /dev/full");
    return;
  }
  CHECK(refusal(io, [&] {
          rig::write_matrix("/dev/full", rig::matrix<int>(1, 1));
        }).starts_with("/dev/full: cannot write: "));
  CHECK(refusal(io, [&] {
          rig::write_dense("/dev/full", rig::dense<float>(1000, 1000));
        }).starts_with("/dev/full: cannot write: "));
  const std::string array = file_of("array.npy", "");
  CHECK(refusal(rig::errc::format, [&] { rig::read_dense<int>(array); }) ==
        array + ": the file is neither .npy nor Matrix Market, nor named .csv");
  CHECK(refusal(rig::errc::format, [&] {
          rig::read_matrix<int>(file_of("dense.npy", npy("{}", "")));
        }).find("read_dense") != std::string::npos);
}

TEST_CASE("damaged gzip files are refused") {
  const std::string path = scratch() / "damaged.mtx.gz";
  std::string text = real + "1000 1 1000\n";
  for (int i = 1; i <= 1000; ++i)
    text += std::to_string(i) + " 1 " + std::to_string(i * 37 % 1000) + "\n";
  file_of("damaged.mtx", text);
  REQUIRE(std::system(("gzip -nf " + (scratch() / "damaged.mtx").string()).c_str()) == 0);
  const std::string whole = bytes_of(path);
  CHECK(rig::read_matrix<int>(path).nnz() == 1000);
  // Two bytes identify gzip; after them every byte matters.
  for (std::size_t length = 2; length < whole.size(); length += 3) {
    file_of("damaged.mtx.gz", whole.substr(0, length));
    CHECK(refusal(rig::errc::format, [&] { rig::read_matrix<int>(path); }).find("too early") !=
          std::string::npos);
  }
  for (std::size_t at = 10; at < whole.size(); at += 7) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    file_of("damaged.mtx.gz", damaged);
    CHECK(refusal(rig::errc::format, [&] { rig::read_matrix<int>(path); }).starts_with(path + ":"));
  }
  file_of("damaged.mtx.gz", whole + "garbage");
  CHECK(refusal(rig::errc::format, [&] { rig::read_matrix<int>(path); }).find("damaged gzip") !=
        std::string::npos);
  file_of("damaged.mtx.gz", whole + std::string(512, '\0') + "garbage");
  CHECK(refusal(rig::errc::format, [&] { rig::read_matrix<int>(path); }).find("damaged gzip") !=
        std::string::npos);
}

TEST_CASE("the possible content of a gzip file of petabytes does not overflow") {
  file_of("sparse.npy", npy_of("<f8", "(2147483647, 2147483647)", ""));
  REQUIRE(std::system(("gzip -nf " + (scratch() / "sparse.npy").string()).c_str()) == 0);
  const std::string zipped = bytes_of(scratch() / "sparse.npy.gz");
  // Few file systems hold files of that size; tmpfs does.
  const fs::path shared = fs::exists("/dev/shm") ? fs::path("/dev/shm") : scratch();
  const std::string path = shared / ("rig_" + std::to_string(getpid()) + ".npy.gz");
  std::ofstream(path, std::ios::binary) << zipped;
  const bool grown = truncate(path.c_str(), 9'000'000'000'000'000) == 0;
  const std::string message =
      refusal(rig::errc::out_of_memory, [&] { rig::read_dense<double>(path); });
  fs::remove(path);
  CAPTURE(message);
  if (!grown) {
    MESSAGE("SKIPPED: no file system for a file of 9 PB");
    return;
  }
  CHECK(message.starts_with(path + ": needs 36893488113"));
}

TEST_CASE("false sizes allocate nothing") {
  if (!memory_can_be_limited) {
    MESSAGE("SKIPPED: a sanitizer's address space cannot be limited");
    return;
  }
  const std::string lie = real + "1000000000 1 1000000000\n1 1 1\n";
  const std::string array = banner("array real general") + "2000000000 2000000000\n1\n";
  std::string comments(1 << 27, '%'), bomb = "bomb.mtx";
  for (std::size_t at = 1000; at < comments.size(); at += 1000) comments[at] = '\n';
  file_of(bomb, real + "3 3 3\n" + comments);
  REQUIRE(std::system(("gzip -f " + (scratch() / bomb).string()).c_str()) == 0);
  bomb = scratch() / (bomb + ".gz");
  const std::string many = file_of("lie.mtx", lie), large = file_of("array.mtx", array),
                    nodes = file_of("nodes.txt", "0 2147483646\n"),
                    wide = file_of("wide.mtx", real + "2000000000 2000000000 1\n1 1 1\n"),
                    short_one = file_of("short.mtx", real + "2000000 2000000000 3\n1 1 1\n");
  const little_memory limit(64 << 20);
  const auto format = rig::errc::format, memory = rig::errc::out_of_memory;
  CHECK(refusal(format, [&] { rig::read_matrix<double>(many); }).find("after 1 of 1000000000") !=
        std::string::npos);
  CHECK(refusal(format, [&] {
          rig::read_matrix<double>(large);
        }).find("after 1 of 4000000000000000000") != std::string::npos);
  CHECK(refusal(format, [&] { rig::read_dense<double>(large); }).find("the sizes announce") !=
        std::string::npos);
  CHECK(refusal(format, [&] { rig::read_matrix<double>(bomb); }).find("after 0 of 3") !=
        std::string::npos);
  const rig::read_options all = {.nodes = 2147483647};
  CHECK(refusal(memory, [&] { rig::read_matrix<float>(nodes, all); }).starts_with(nodes + ": "));
  CHECK(refusal(memory, [&] { rig::read_dense<double>(wide); }).starts_with(wide + ": "));
  // The size is refused before the entries are read, although some are missing.
  CHECK(refusal(memory, [&] { rig::read_dense<double>(short_one); }).starts_with(short_one + ": "));
}

TEST_CASE("entries are refused before they fill the machine's memory") {
  const auto repeated = [](const std::string& head, const std::string& line, int count) {
    std::string text = head;
    for (int i = 0; i < count; ++i) text += line;
    return text;
  };
  constexpr int many = 4'000'000;
  const auto zipped = [](const std::string& name, const std::string& text) {
    file_of(name, text);
    REQUIRE(std::system(("gzip -f1 " + (scratch() / name).string()).c_str()) == 0);
    return (scratch() / name).string() + ".gz";
  };
  const std::string sizes = "4000000 4000000 4000000\n";
  const std::string edges = zipped("edges.txt", repeated("", "0 1\n", many)),
                    weighted = zipped("weighted.txt", repeated("", "0 1 2\n", many)),
                    gaps = zipped("gaps.txt", repeated("", "0 1\n\n", many / 3)),
                    coordinates = zipped("many.mtx", repeated(real + sizes, "1 1 1\n", many)),
                    offsets = file_of("offsets.mtx", pattern + "4194303 1 1\n1 1\n");
  const auto message = [](const std::string& path) {
    return refusal(rig::errc::out_of_memory, [&] { rig::read_matrix<double>(path); });
  };
  machine_bytes = 16 << 20;
  for (const std::string& path : {edges, weighted, gaps, coordinates, offsets}) {
    const std::string said = message(path);
    CAPTURE(said);
    CHECK(said.starts_with(path + ": needs "));
    CHECK(said.ends_with(" bytes of memory, but the machine has 16777216"));
  }
  machine_bytes = 0;
  if (memory_can_be_limited) {
    malloc_trim(0);
    const little_memory limit(12 << 20);
    CHECK(message(coordinates).find(" bytes of memory, more than is granted") != std::string::npos);
  }
  CHECK(rig::read_matrix<double>(edges).nnz() == 1);
}

TEST_CASE("every truncated or damaged file reads or is refused") {
  const std::vector<std::pair<std::string, std::string>> files = {
      {"fuzz.mtx", real + "%%GraphBLAS type double\n3 2 3\n1 1 -1.5e-3\n3 2 inf\r\n\n%c\n2 1 +7\n"},
      {"fuzz.mtx", skew + "4 4 3\n2 1 -12\n4 1 3\n4 3 5\n"},
      {"fuzz.mtx", banner("array integer symmetric") + "2 2\n1\n-2\n3\n"},
      {"fuzz.txt", "# c\n0 1\n1\t2\n\n2 0\n"},
      {"fuzz.txt", "0 1 0.5\n1 2 1e9\n"},
      {"fuzz.npy", npy_of("<f4", "(2, 3)", std::string(24, '\0'))},
  };
  const std::string replacements = std::string("\0\xff\n\r\t %#-+.,'01589eE\x1f", 22);
  int refused = 0, tried = 0;
  for (const auto& [name, bytes] : files) {
    for (std::size_t length = 0; length <= bytes.size(); ++length, ++tried)
      refused += count_refusals(name, bytes.substr(0, length));
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      std::string damaged = bytes;
      for (int bit = 0; bit < 8; ++bit, ++tried) {
        damaged[at] = static_cast<char>(bytes[at] ^ (1 << bit));
        refused += count_refusals(name, damaged);
      }
      for (const char c : replacements) {
        damaged[at] = c;
        refused += count_refusals(name, damaged);
        ++tried;
      }
    }
  }
  CHECK(refused > tried / 2);
  CHECK(refused < 2 * tried);
}

TEST_CASE("a byte-order mark before text is skipped") {
  const std::string mark = "\xEF\xBB\xBF";
  const auto expect_one = [](const rig::matrix<float>& a) {
    CHECK(a.nnz() == 1);
    CHECK(a.value(0) == 2.5f);
  };
  const std::string market = mark + real + "2 2 1\n1 2 2.5\n";
  expect_one(rig::read_matrix<float>(file_of("mark.mtx", market)));
  expect_one(rig::read_matrix<float>(file_of("mark.txt", mark + "0 1 2.5\n")));
  expect_one(rig::read_matrix<float>(file_of("mark.txt", market)));
  REQUIRE(std::system(("gzip -nf " + (scratch() / "mark.mtx").string()).c_str()) == 0);
  expect_one(rig::read_matrix<float>(scratch() / "mark.mtx.gz"));
  CHECK(rig::read_dense<float>(file_of("mark.mtx", market))(0, 1) == 2.5f);
  // Lines keep their numbers.
  const std::string path = file_of("mark.mtx", mark + real + "2 2 1\n1 3 2.5\n");
  CHECK(
      refusal(rig::errc::format, [&] { rig::read_matrix<float>(path); }).starts_with(path + ":3:"));
  CHECK(rig::read_matrix<float>(file_of("only.txt", mark)).rows() == 0);
}

TEST_CASE("an array that is one number short says how many there should be") {
  const std::string text = file_of("short.mtx", banner("array real general") + "2 2\n1\n2\n3\n");
  const std::string said = refusal(rig::errc::format, [&] { rig::read_dense<float>(text); });
  CHECK(said.find("announce 4 numbers, which take 7 bytes") != said.npos);
  const std::string binary = file_of("short.npy", npy_of("<f4", "(2, 2)", std::string(12, 'a')));
  CHECK(refusal(rig::errc::format, [&] { rig::read_dense<float>(binary); })
            .find("announce 4 numbers, which take 16 bytes or more, but at most 12 follow") !=
        std::string::npos);
}
