// Text with commas, and the arrays and sparse matrices of NumPy's archives. Those below
// tests/bench/matrices are of SciPy.

#include "archives.hpp"
#include "rig/io.hpp"

namespace {

using rig::errc;

TEST_CASE(".csv: a row of numbers a line") {
  const std::string path = file_of("x.csv", "# a comment\n1,2.5,-3\n\n 4 , nan,1e2\r\n");
  const auto x = rig::read_dense<double>(path);
  CHECK(x.rows() == 2);
  CHECK(x.columns() == 3);
  CHECK(x(0, 1) == 2.5);
  CHECK(x(1, 1) != x(1, 1));
  CHECK(x(1, 2) == 100);
  CHECK(rig::read_dense<bool>(file_of("b.csv", "0,2\n"))(0, 1));
  CHECK(rig::read_dense<rig::int64>(file_of("i.csv", "9007199254740993\n"))(0, 0) ==
        9007199254740993);
  CHECK(rig::read_dense<float>(file_of("empty.csv", "")).rows() == 0);
  REQUIRE(std::system(("gzip -nf " + path).c_str()) == 0);
  CHECK(rig::read_dense<float>(path + ".gz")(1, 0) == 4);
  std::string many;
  for (int i = 0; i < 5000; ++i) many += std::to_string(i) + "," + std::to_string(2 * i) + "\n";
  const auto long_one = rig::read_dense<rig::int32>(file_of("many.csv", many));
  CHECK(long_one.rows() == 5000);
  CHECK(long_one(4999, 1) == 9998);
}

TEST_CASE("malformed .csv is refused with its line") {
  const auto said = [](const std::string& text) {
    return refusal(errc::format, [&] { rig::read_dense<rig::int32>(file_of("bad.csv", text)); });
  };
  CHECK(said("1,2\n3\n").find("bad.csv:2: there are 1 numbers; the lines before have 2") !=
        std::string::npos);
  CHECK(said("1,2\n3,x\n").find("bad.csv:2: \"x\" is not a number") != std::string::npos);
  CHECK(said("1,,2\n").find("bad.csv:1: \"\" is not a number") != std::string::npos);
  CHECK(said("1,2,\n").find("bad.csv:1: \"\" is not a number") != std::string::npos);
  CHECK(said("1 2\n").find("bad.csv:1: expected \",\" at \"2\"") != std::string::npos);
  CHECK(said("3000000000\n").find("does not fit int32") != std::string::npos);
  CHECK(said("1.5\n").find("does not fit int32") != std::string::npos);
}

/// Σ value · (1 + i + 100·j) over the entries.
double weighted(const rig::matrix<double>& a) {
  double sum = 0;
  for (rig::index i = 0; i < a.rows(); ++i)
    for (auto p = a.structure().offset(i); p < a.structure().offset(i + 1); ++p)
      sum += a.value(p) * (1 + i + 100 * a.structure().column_indices()[p]);
  return sum;
}

TEST_CASE("sparse matrices of SciPy") {
  // The sums are those of the arrays in Python.
  struct expected {
    const char* name;
    int rows, columns, entries;
    double sum;
  };
  for (const expected& of : {expected{"csr.npz", 20, 12, 56, 17329.66794968322},
                             {"csc.npz", 9, 17, 38, 17254.951156097},
                             {"graph.npz", 14, 14, 37, 12786.417771262932},
                             {"deep/coo.npz", 16, 16, 47, 22035.91166003745}}) {
    CAPTURE(of.name);
    const auto a =
        rig::read_matrix<double>(std::string(RIG_SOURCE_DIR "/tests/bench/matrices/") + of.name);
    CHECK(a.rows() == of.rows);
    CHECK(a.columns() == of.columns);
    CHECK(a.nnz() == of.entries);
    CHECK(weighted(a) == doctest::Approx(of.sum).epsilon(1e-12));
  }
}

const std::string shape = npy_of("<i8", "(2,)", little(rig::int64{2}) + little(rig::int64{3})),
                  offsets = npy_of("<i4", "(3,)", little(0) + little(1) + little(3)),
                  columns = npy_of("<i4", "(3,)", little(2) + little(0) + little(1)),
                  wide_csr = npy_of("<U3", "()", std::string("c\0\0\0s\0\0\0r\0\0\0", 12));

std::vector<zipped> small() {
  return {{"attr_shape.npy", shape}, {"attr_indptr.npy", offsets}, {"attr_indices.npy", columns}};
}

TEST_CASE("arrays of an archive by their names") {
  auto members = small();
  members.push_back({"labels.npy", npy_of("<f4", "(2, 1)", little(1.5f) + little(2.f)), true});
  members.push_back({"attr_format.npy", wide_csr});
  const std::string path = file_of("graph.npz", archive(members));
  const auto a = rig::read_matrix<float>(path, {.arrays = "attr_"});
  CHECK(a.rows() == 2);
  CHECK(a.columns() == 3);
  CHECK(weighted(rig::read_matrix<double>(path, {.arrays = "attr_"})) == 201 + 2 + 102);
  CHECK(rig::read_dense<float>(path, "labels")(0, 0) == 1.5f);
  CHECK(rig::read_dense<rig::int32>(path, "attr_indices")(0, 0) == 2);
}

TEST_CASE("entries of coo at one place become one by an operator") {
  const auto twice = [](int of) { return npy_of("<i4", "(2,)", little(of) + little(of)); };
  const std::string coo = npy_of("<U3", "()", std::string("c\0\0\0o\0\0\0o\0\0\0", 12));
  const std::string path =
      file_of("coo.npz", archive({{"shape.npy", shape},
                                  {"format.npy", coo},
                                  {"row.npy", twice(1)},
                                  {"col.npy", twice(2)},
                                  {"data.npy", npy_of("<i4", "(2,)", little(3) + little(5))}}));
  using enum rig::accumulator;
  for (const auto& [how, value] : {std::pair{none, 8}, {plus, 8}, {maximum, 5}, {first, 3}}) {
    const auto a = rig::read_matrix<rig::int32>(path, {.duplicates = how});
    CHECK(a.nnz() == 1);
    CHECK(a.value(0) == value);
  }
}

TEST_CASE("malformed archives of matrices are refused with the reason") {
  const auto said = [](const std::vector<zipped>& members, const char* arrays = "attr_") {
    return refusal(errc::format, [&] {
      rig::read_matrix<float>(file_of("bad.npz", archive(members)), {.arrays = arrays});
    });
  };
  const auto replaced = [](std::size_t at, const std::string& bytes) {
    auto members = small();
    members[at].bytes = bytes;
    return members;
  };
  const auto has = [](const std::string& text, const char* part) {
    CAPTURE(text);
    CHECK(text.find(part) != std::string::npos);
  };
  has(said(small(), ""), "the member \"adj_shape.npy\" is missing; the archive has \"attr_ind");
  has(said({small()[0], small()[1]}), "the member \"attr_indices.npy\" is missing");
  has(said(replaced(0, npy_of("<i8", "(1,)", little(rig::int64{2})))), "has 1x1 numbers, not 2");
  has(said(replaced(1, npy_of("<i4", "(3,)", little(0) + little(9) + little(3)))), "bad.npz: ");
  has(said(replaced(2, npy_of("<i4", "(3,)", little(2) + little(0) + little(3)))), "bad.npz: ");
  has(said(replaced(2, npy_of("<i4", "(3,)", little(2) + little(1) + little(1)))), "bad.npz: ");
  has(said(replaced(2, npy_of("|O", "(3,)", "abc"))), "the type \"|O\" is not supported");
  has(said(replaced(2, "columns")), "attr_indices.npy: not a .npy file");
  auto other = small();
  other.push_back({"attr_format.npy", npy_of("|S3", "()", "bsr")});
  has(said(other), "the format \"bsr\" is not supported");
  other = small();
  other.push_back({"attr_data.npy", npy_of("<f4", "(2,)", little(1.f) + little(1.f))});
  has(said(other), "bad.npz: ");
  const std::string path = file_of("some.npz", archive(small()));
  has(refusal(errc::format, [&] { rig::read_dense<float>(path); }), "name one");
  has(refusal(errc::format, [&] { rig::read_dense<float>(path, "labels"); }),
      "the member \"labels.npy\" is missing");
  has(refusal(errc::format, [&] { rig::read_dense<float>(file_of("x.npy", offsets), "labels"); }),
      "not a .npz file");
  for (const char* text : {"", "0 1\n"})
    has(refusal(errc::format, [&] { rig::read_matrix<float>(file_of("named.npz", text)); }),
        "named.npz: not a .npz file");
  std::string damaged = archive(small());
  damaged[200] = static_cast<char>(damaged[200] ^ 1);
  has(refusal(errc::format,
              [&] { rig::read_matrix<float>(file_of("b.npz", damaged), {.arrays = "attr_"}); }),
      "b.npz");
}

TEST_CASE("a damaged byte of an archive is refused or changes nothing") {
  auto members = small();
  members.push_back({"attr_format.npy", wide_csr});
  const std::string whole = archive(members);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x11);
    try {
      const auto a = rig::read_matrix<double>(file_of("fuzz.npz", damaged), {.arrays = "attr_"});
      CHECK(weighted(a) == 201 + 2 + 102);
    } catch (const rig::error& e) {
      CHECK(std::string(e.what()).find("fuzz.npz") != std::string::npos);
    }
    if (at == 0) continue;  // an empty file is an edge list without edges
    const std::string cut = file_of("fuzz.npz", whole.substr(0, at));
    CHECK(refusal(errc::format, [&] {
            rig::read_matrix<float>(cut, {.arrays = "attr_"});
          }).find("fuzz.npz") != std::string::npos);
  }
}

}  // namespace
