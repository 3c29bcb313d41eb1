// Option --gap of the benchmark, with programs that stand in for those of the GAP benchmark suite:
// they keep the file that they are given, and print times that are known.

#include <cstring>
#include <map>

#include "programs.hpp"

namespace {

const std::string names[] = {"bfs", "sssp", "pr", "cc", "bc", "tc"};

/// What each program finds of karate.
const std::string right_answers = R"(case $name in
bfs) echo "BFS Tree has 34 nodes and 156 edges" ;;
sssp) echo "SSSP Tree reaches 34 nodes" ;;
cc) echo "There are 1 components" ;;
tc) echo "45 triangles" ;;
esac
)";
/// The first trial does not count, nor does the first of four rounds.
const std::string right_times = R"(case $name in sssp) runs=5 ;; bc) runs=4 ;; *) runs=1 ;; esac
round=$((($(grep -c "^$name " log) - 1) / runs % 4))
set -- 9.80000 0.75000 0.25000 0.50000
shift $round
echo "Trial Time:          9.90000"
echo "Trial Time:          $1"
)";

/// A folder of programs, which is also where the benchmark has its temporary files.
class programs {
 public:
  explicit programs(const std::string& text) {
    fs::create_directories(path_ / "temporary");
    for (const std::string& name : names) {
      const fs::path file = path_ / name;
      std::ofstream(file) << "#!/bin/sh\nname=" << name << "\ncd " << path_.string()
                          << "\necho $name $OMP_NUM_THREADS $* >> log\ncp $2 .\n"
                          << text;
      fs::permissions(file, fs::perms::owner_all);
    }
    setenv("TMPDIR", (path_ / "temporary").c_str(), 1);
  }
  ~programs() {
    unsetenv("TMPDIR");
    fs::remove_all(path_);
  }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

  outcome run() const {
    return run_built("bench analytics --graphs karate --threads 2 --repeat 3 --gap " +
                     path_.string() + " --record " + file("record.json"));
  }
  std::string bytes(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path_ / name, std::ios::binary).rdbuf();
    return text.str();
  }

 private:
  fs::path path_ = fs::temp_directory_path() / ("rig_gap_" + std::to_string(getpid()));
};

template <class T>
std::vector<T> numbers(const std::string& bytes, std::size_t first, std::size_t count) {
  REQUIRE(bytes.size() >= first + count * sizeof(T));
  std::vector<T> out(count);
  std::memcpy(out.data(), bytes.data() + first, count * sizeof(T));
  return out;
}

constexpr std::size_t header = 17, offsets = 8 * 35, arcs = 156;

void check_header(const std::string& bytes, std::size_t arc_bytes) {
  REQUIRE(bytes.size() == header + offsets + arcs * arc_bytes);
  CHECK(bytes[0] == 0);  // no direction
  CHECK(numbers<std::int64_t>(bytes, 1, 2) == std::vector<std::int64_t>{156, 34});
  // Nodes 0, 1 and 2 have 16, 9 and 10 edges.
  CHECK(numbers<std::int64_t>(bytes, header, 4) == std::vector<std::int64_t>{0, 16, 25, 35});
  CHECK(numbers<std::int64_t>(bytes, header + offsets - 8, 1)[0] == 156);
}

/// The rows of algorithms, by name.
std::map<std::string, json> algorithms_of(const json& record) {
  std::map<std::string, json> out;
  for (const json& row : record["rows"])
    if (row["kernel"].get<std::string>().empty()) out[row["operation"]] = row;
  return out;
}

double least_of(const json& times) {
  double least = 1e300;
  for (const json& ms : times) least = std::min(least, ms.get<double>());
  return least;
}

void fails(const std::string& text, const std::vector<std::string>& words) {
  const programs there(text);
  const outcome result = there.run();
  CAPTURE(result.err);
  CHECK(result.status == 1);
  for (const std::string& word : words) {
    CAPTURE(word);
    CHECK(result.err.find(word) != std::string::npos);
  }
  CHECK(!fs::exists(there.file("record.json")));
}

}  // namespace

TEST_CASE("GAP's times lie beside those of rig, and its programs read karate") {
  const programs there(right_times + right_answers);
  const outcome result = there.run();
  CAPTURE(result.out);
  CAPTURE(result.err);
  const json record = json::parse(there.bytes("record.json"));
  CHECK(record["command"] == "bench analytics --graphs karate --threads 2 --repeat 3 --gap FOLDER");
  CHECK(record["peers"]["gap"] == "GAP's C++ programs, 2 threads");

  const auto rows = algorithms_of(record);
  CHECK(rows.size() == 7);
  for (const auto& of : rows) {
    const std::string& name = of.first;
    const json& row = of.second;
    CAPTURE(row.dump());
    const json& ms = row["peer_ms"];
    if (name == "sssp")
      for (const char* const delta : {"4", "16", "64", "256", "1024"})
        CHECK(ms[std::string("gap_delta_") + delta] == 500);
    else
      CHECK(ms["gap"] == (name == "betweenness" ? 2000 : 500));
    CHECK(row["ratio"].get<double>() == doctest::Approx(least_of(ms) / row["ms"].get<double>()));
    CHECK(record["summary"].contains(name + "_over_gap_least"));
  }

  check_header(there.bytes("graph.sg"), 4);
  CHECK(numbers<int>(there.bytes("graph.sg"), header + offsets, 4) == std::vector{1, 2, 3, 4});
  check_header(there.bytes("graph.wsg"), 8);
  // w(r, c) = 1 + (31·min(r, c) + 17·max(r, c)) mod 64; the last arc is of 33 and 32.
  CHECK(numbers<int>(there.bytes("graph.wsg"), header + offsets, 4) == std::vector{1, 18, 2, 35});
  CHECK(numbers<int>(there.bytes("graph.wsg"), header + offsets + 155 * 8, 2) ==
        std::vector{32, 1 + (31 * 32 + 17 * 33) % 64});
}

TEST_CASE("GAP's programs get source, trials and threads, and their files are removed") {
  const programs there(right_times + right_answers);
  const outcome result = there.run();
  CAPTURE(result.err);
  std::istringstream log(there.bytes("log"));
  std::map<std::string, int> ran;
  for (std::string line; std::getline(log, line);) {
    const std::size_t file = line.find("-f "), rest = line.find(" -a");
    REQUIRE(rest != std::string::npos);
    ++ran[line.substr(0, file) + line.substr(rest + 1)];
  }
  // Three rounds, after one that does not count; the search races levels, then parents.
  std::map<std::string, int> expected = {{"bfs 2 -a -n 2 -r 33", 8},
                                         {"cc 2 -a -n 2", 4},
                                         {"pr 2 -a -n 2 -t 0 -i 20", 4},
                                         {"tc 2 -a -n 2", 4}};
  for (const char* const width : {"4", "16", "64", "256", "1024"})
    expected[std::string("sssp 2 -a -n 2 -r 33 -d ") + width] = 4;
  for (const char* const source : {"0", "8", "17", "25"})
    expected[std::string("bc 2 -a -n 2 -i 1 -r ") + source] = 4;
  CHECK(ran == expected);
  CHECK(fs::is_empty(there.file("temporary")));
}

TEST_CASE("a program is missing") {
  const programs there(right_times + right_answers);
  fs::remove(there.file("cc"));
  const outcome result = there.run();
  CAPTURE(result.err);
  CHECK(result.status == 2);
  CHECK(result.err.find("--gap: there is no program " + there.file("cc")) != std::string::npos);
  CHECK(result.err.find("build the sources of gapbs") != std::string::npos);
}

TEST_CASE("a program fails, or prints something else") {
  fails("echo no memory; exit 3\n", {"GAP's program failed", "/bfs' -f", "no memory"});
  fails(right_times + "echo BFS Tree has 33 nodes and 150 edges\n",
        {"/bfs: ", "GAP has 33, rig has 34 nodes"});
  fails("echo Graph has 34 nodes and 78 edges\n" + right_times, {"/bfs printed no number before"});
  fails("echo Trial Time: 0.5\n" + right_answers, {"/bfs printed 1 times", "not 2"});
  fails("for i in 1 2; do echo Trial Time: 0.00000; done\n" + right_answers,
        {"/bfs took less than", "name a larger graph"});
}
