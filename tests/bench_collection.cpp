// Suite collection of the benchmark, over tests/bench/matrices: files of SciPy and of Matrix
// Market, one of them broken.

#include <map>

#include "programs.hpp"
#include "rig/place.hpp"

namespace {

struct size {
  int rows, columns, entries;
};
/// The matrices below the folder, as SciPy reads them; Matrix Market counts both halves.
const std::map<std::string, size> matrices = {
    {"csc.npz", {9, 17, 38}},       {"csr.npz", {20, 12, 56}},
    {"deep/coo.npz", {16, 16, 47}}, {"deep/rectangular.mtx", {5, 3, 5}},
    {"graph.npz", {14, 14, 37}},    {"symmetric.mtx.gz", {6, 6, 11}}};
const std::vector<int> widths = {1, 3, 512};

/// The rows of a record, by matrix, which have the sizes of the files.
std::map<std::string, int> rows_by_matrix(const json& record) {
  std::map<std::string, int> count;
  for (const json& row : record["rows"]) {
    CAPTURE(row.dump());
    const size& of = matrices.at(row["graph"]);
    CHECK(row["n"] == of.rows);
    CHECK(row.value("columns", row["n"].get<int>()) == of.columns);
    CHECK(row["nnz"] == of.entries);
    CHECK(row["suite"] == "collection");
    CHECK(row["ms"] > 0);
    ++count[row["graph"]];
  }
  return count;
}

void check_profiles(const json& profiles) {
  REQUIRE(profiles.size() == 2 * widths.size());
  for (const json& of : profiles) {
    CAPTURE(of.dump());
    CHECK(of["matrices"] == matrices.size());
    double fastest = 0;
    for (const json& shares : of["share"]) {
      CHECK(shares.size() == of["within"].size());
      CHECK(std::is_sorted(shares.begin(), shares.end()));
      fastest += shares[0].get<double>();
    }
    CHECK(fastest > 0.999);
  }
}

/// Runs the suite in a place; one file fails, and the others are measured. On a GPU a peer may be
/// wrong or absent too, which is no fault of rig's.
void check_run(bool on_cpu) {
  const scratch record("record.json");
  const outcome result = run_built("bench collection " RIG_SOURCE_DIR
                                   "/tests/bench/matrices --features 512,3,1 "
                                   "--threads 2 --repeat 1 --record " +
                                   record.path.string() + (on_cpu ? " --cpu" : ""));
  CAPTURE(result.out);
  CAPTURE(result.err);
  REQUIRE(result.status == 1);
  CHECK(result.err.find("bench: deep/broken.mtx: ") != std::string::npos);
  CHECK(result.err.find("deep/broken.mtx:4: ") != std::string::npos);
  if (on_cpu) CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
  CHECK(result.out.find("/7  deep/rectangular.mtx") != std::string::npos);
  CHECK(result.out.find("5 x 3, 5 entries:") != std::string::npos);

  const json read = json::parse(std::ifstream(record.path));
  const auto count = rows_by_matrix(read);
  CHECK(count.size() == matrices.size());
  for (const auto& [name, rows] : count) CHECK(rows == static_cast<int>(2 * widths.size()));
  check_profiles(read["profile"]);
  for (const json& row : read["rows"])
    if (on_cpu) CHECK(!row["peer_ms"].empty());
  CHECK(read["missed"].size() ==
        static_cast<std::size_t>(std::count(result.err.begin(), result.err.end(), '\n')));
  CHECK(read["summary"]["collection_matrices"] == matrices.size());
  CHECK(read["summary"]["collection_skipped"] == 1);
  // A version has three parts.
  for (const auto& [name, version] : read["peers"].items())
    if (name.find(' ') == std::string::npos) {
      const std::string text = version;
      CHECK(std::count(text.begin(), text.end(), '.') == 2);
    }
}

}  // namespace

TEST_CASE("a folder with a broken file: the others are measured, and the status is 1") {
  check_run(true);
  if (rig::devices().size() > 1) check_run(false);
}

TEST_CASE("a folder whose files all serve: status 0") {
  const scratch record("record.json");
  const outcome result = run_built("bench collection " RIG_SOURCE_DIR
                                   "/tests/bench/matrices --graphs csr.npz --cpu "
                                   "--features 2 --threads 1 --repeat 1 --record " +
                                   record.path.string());
  CAPTURE(result.err);
  CHECK(result.status == 0);
  CHECK(result.err.empty());
}

TEST_CASE("no folder, and a folder without matrices") {
  const auto fails = [](const std::string& arguments, int status, const std::string& named) {
    const scratch record("record.json");
    const outcome result =
        run_built("bench collection " + arguments + " --record " + record.path.string());
    CAPTURE(result.err);
    CHECK(result.status == status);
    CHECK(result.err.find(named) != std::string::npos);
  };
  fails("", 2, "bench collection FOLDER");
  fails("/nowhere/at_all --cpu", 1, "/nowhere/at_all: there is no such folder");
  fails(RIG_SOURCE_DIR "/tests/bench/matrices/deep/broken.mtx --cpu", 1, "there is no such folder");
  fails(RIG_SOURCE_DIR "/docs/plots --cpu", 1, "there is no .mtx, .mtx.gz or .npz");
  fails(RIG_SOURCE_DIR "/docs more", 2, "'more' is one argument too many");
}
