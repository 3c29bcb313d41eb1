// Which kernel serves (by name, by RIG_KERNEL, in explain), and the derived structures that
// products build and share.

#include <doctest/doctest.h>
#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "preferred_kernel.hpp"
#include "rig/algorithms/betweenness.hpp"
#include "rig/algorithms/bfs.hpp"
#include "rig/algorithms/components.hpp"
#include "rig/algorithms/pagerank.hpp"
#include "rig/generate.hpp"
#include "rig/mxm.hpp"
#include "rig/semirings.hpp"
#include "rig/sparse_mxm.hpp"

namespace {

using rig::dense;
using rig::matrix;

matrix<float> ring(rig::index n) {
  std::vector<rig::index> i(n), j(n);
  for (rig::index k = 0; k < n; ++k) {
    i[k] = k;
    j[k] = (k + 1) % n;
  }
  return matrix<float>::from_positions(n, n, i, j);
}
const dense<float> ones(5, 3, 1.0f);

std::string chosen(const rig::descriptor& desc = {}) {
  return rig::explain(ring(5), ones, rig::plus_times<float>{}, desc).chosen;
}

template <class Work>
rig::error error_of(Work work) {
  try {
    work();
  } catch (const rig::error& e) {
    return e;
  }
  FAIL("nothing was thrown");
  std::abort();
}
bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("the list of kernels") {
  for (const rig::kernel& k : rig::kernels()) {
    CHECK(std::string(k.name).size() > 0);
    CHECK(std::string(k.summary).size() > 0);
    for (const rig::kernel& other : rig::kernels())
      if (&other != &k) CHECK((std::string(other.name) != k.name || other.where != k.where));
  }
}

TEST_CASE("a named kernel is obeyed, an unknown one is an error") {
  CHECK(chosen({.kernel = "row"}) == "row");
  CHECK(chosen({.kernel = "split"}) == "split");
  const rig::error e =
      error_of([] { rig::mxm(ring(5), ones, rig::plus_times<float>{}, {.kernel = "no such"}); });
  CHECK(e.code() == rig::errc::unknown_kernel);
  CHECK(contains(e.what(), "no such"));
  CHECK(contains(e.what(), "row"));
  CHECK(contains(e.what(), "split"));
  // The name is checked even if there is nothing to compute.
  const matrix<float> nothing(0, 5);
  CHECK(error_of([&] {
          rig::mxm(nothing, ones, rig::plus_times<float>{}, {.kernel = "no such"});
        }).code() == rig::errc::unknown_kernel);
}

TEST_CASE("RIG_KERNEL prefers, the descriptor decides") {
  CHECK(chosen() == "row");
  {
    const preferred_kernel split("split");
    CHECK(chosen() == "split");
    CHECK(contains(rig::explain(ring(5), ones, rig::plus_times<float>{}).reason, "RIG_KERNEL"));
    CHECK(chosen({.kernel = "row"}) == "row");
  }
  {
    const preferred_kernel unset("");
    CHECK(chosen() == "row");
  }
  // A process reads the variable once: later changes are hidden state.
  setenv("RIG_KERNEL", "split", 1);
  CHECK(chosen() == "row");
  unsetenv("RIG_KERNEL");
  const preferred_kernel unknown("no such");
  for (const rig::descriptor& desc : {rig::descriptor{}, rig::descriptor{.kernel = "row"}}) {
    const rig::error e = error_of([&] { rig::mxm(ring(5), ones, rig::plus_times<float>{}, desc); });
    CHECK(e.code() == rig::errc::unknown_kernel);
    CHECK(contains(e.what(), "RIG_KERNEL"));
    CHECK(contains(e.what(), "no such"));
  }
}

TEST_CASE("predicted bytes: entries with the rows of B they gather, and C") {
  const auto bytes = [](const rig::explanation& e, const char* kernel) {
    for (const rig::explained& line : e.kernels)
      if (line.name == kernel && line.where == rig::place::kind::cpu) return line.bytes;
    return -1.0;
  };
  // Four rows have three entries each, and the fifth has none.
  std::vector<rig::index> i, j;
  for (rig::index row = 0; row < 4; ++row)
    for (rig::index k = 0; k < 3; ++k) i.push_back(row), j.push_back(k);
  const std::vector<float> values(12, 2.0f);
  const auto a = matrix<float>::from_tuples(5, 6, i, j, values);
  const dense<float> b(6, 10, 1.0f);
  const rig::plus_times<float> sum;
  CHECK(bytes(rig::explain(a, b, sum), "row") == 12 * (4 + 4 + 10 * 4) + 5 * 10 * 4);
  CHECK(bytes(rig::explain(a, b, rig::max_second<float>{}), "row") ==
        12 * (4 + 10 * 4) + 5 * 10 * 4);
  CHECK(bytes(rig::explain(a.with_value(1.0f), b, sum), "row") == 12 * (4 + 10 * 4) + 5 * 10 * 4);
  CHECK(bytes(rig::explain(a, b, rig::arg_max_second<float>{}), "row") ==
        12 * (4 + 10 * 4) + 5 * 10 * 8);
  CHECK(bytes(rig::explain(a, dense<rig::half>(6, 10), sum), "row") ==
        12 * (4 + 4 + 10 * 2) + 5 * 10 * 4);
  CHECK(bytes(rig::explain(a, b, sum, {.kernel = "bucket", .width = 2}), "bucket") ==
        10 * (4 + 4 + 10 * 4) + 5 * 10 * 4);
  CHECK(bytes(rig::explain(a, b, sum, {.kernel = "maxk", .k = 3}), "maxk") ==
        12 * (4 + 4 + 3 * 5) + 5 * 10 * 4);
  CHECK(bytes(rig::explain(a, rig::maxk(b, 3), sum), "row") == 0);
  const auto retained = rig::maxk(dense<float>(5, 10, 1.0f), 3);
  CHECK(bytes(rig::explain(a, b, sum, rig::structure(retained)), "maxk_backward") ==
        12 * (4 + 4 + 3 * 4) + 5 * 3 * (4 + 1));
}

TEST_CASE("a long row is split if it holds a large share of the entries") {
  std::vector<rig::index> i(200000, 0), j(200000);
  for (rig::index k = 0; k < 200000; ++k) j[k] = k;
  const auto star = matrix<float>::from_positions(3, 200000, i, j);
  const auto e = rig::explain(star, dense<float>(200000, 1), rig::plus_times<float>{});
  if (std::thread::hardware_concurrency() > 1) CHECK(e.chosen == "split");
  const auto few_threads =
      rig::explain(star, dense<float>(200000, 1), rig::plus_times<float>{}, {.threads = 1});
  CHECK(few_threads.chosen == e.chosen);
}

TEST_CASE("numbers of threads out of range do not reach OpenMP") {
  const int usual = omp_get_max_threads(), most = std::max(256, omp_get_num_procs());
  const matrix<float> a = ring(20000);
  const dense<float> b(20000, 4, 1.0f);
  const auto threads = [&](const rig::descriptor& desc) {
    return rig::on_cpu::threads_for(
        rig::make_problem<rig::plus_times<float>>("mxm", a, b, rig::no_mask{}, desc));
  };
  CHECK(threads({.threads = 3}) == 3);
  CHECK(threads({.threads = 1 << 20}) == most);
  omp_set_num_threads(1 << 20);
  CHECK(threads({}) == most);
  omp_set_num_threads(1);
  CHECK(threads({}) == 1);
  omp_set_num_threads(usual);
  CHECK(threads({}) <= std::min(usual, most));
}

/// Calls check(line) for the lines of a folder's files that have these words; returns their number.
template <class Check>
int check_lines(const std::string& folder, const char* words, Check check) {
  int found = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(RIG_SOURCE_DIR + folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      if (!contains(line, words)) continue;
      CAPTURE(entry.path().string());
      CAPTURE(line);
      check(line);
      ++found;
    }
  }
  return found;
}

TEST_CASE("every parallel region sets its number of threads") {
  int regions = 0;
  for (const char* folder : {"/src", "/include"})
    regions += check_lines(folder, "#pragma omp parallel", [](const std::string& line) {
      CHECK(contains(line, "num_threads(threads"));
    });
  CHECK(regions > 10);
}

TEST_CASE("a place is reached by its table: no other room includes a backend") {
  int includes = 0;
  const std::string cpu = "#include \"cpu/", cuda = "#include \"cuda/";
  for (const char* room : {"storage", "call", "io", "graph", "algorithms", "cpu", "cuda"})
    includes += check_lines("/src/" + std::string(room), "#include", [&](const std::string& line) {
      CHECK((room == std::string("cpu") || !contains(line, cpu)));
      CHECK((room == std::string("cuda") || !contains(line, cuda)));
    });
  CHECK(includes > 100);
}

TEST_CASE("explain as text and as JSON") {
  // Kernels with sparse results have no line in the table of a dense one.
  std::vector<rig::kernel> serving;
  for (const rig::kernel& k : rig::kernels())
    if (k.takes < rig::operands::sparse) serving.push_back(k);
  const auto e = rig::explain(ring(5), ones, rig::plus_times<float>{}, rig::structure(ones),
                              {.transpose_a = true});
  const std::string text = e.text(), all = e.full_text();
  for (const std::string& words : {text, all}) {
    CHECK(contains(words, "plus_times"));
    CHECK(contains(words, "chosen: row"));
  }
  // The winner comes first. Kernels of another place are in the full text alone.
  CHECK(contains(text, "reason\n* row"));
  CHECK(contains(text, "\n  split"));
  CHECK(std::count(text.begin(), text.end(), '\n') == 3 + 8);
  CHECK(std::count(all.begin(), all.end(), '\n') == 3 + std::ssize(serving));
  CHECK(contains(all, "operands are on cpu") == (serving.size() > 8));
  // The reasons start in one column, although the estimates differ in length.
  rig::explanation table;
  for (const double seconds : {2e-3, 1.2345e-8})
    table.kernels.push_back(
        {"row", rig::place::kind::cpu, false, false, {rig::verdict::slower, "because", seconds}});
  table.kernels.push_back(
      {"split", rig::place::kind::cpu, false, false, {rig::verdict::cannot, "because", 0}});
  const std::string by_hand = table.text();
  std::istringstream lines(by_hand.substr(by_hand.find("  kernel")));
  std::string line;
  std::getline(lines, line);
  std::vector<std::size_t> begins;
  while (begins.size() < 3 && std::getline(lines, line)) begins.push_back(line.find("because"));
  CHECK(begins == std::vector<std::size_t>(3, begins[0]));
  const auto json = nlohmann::json::parse(e.json());
  CHECK(json["chosen"] == e.chosen);
  CHECK(json["reason"] == e.reason);
  CHECK(contains(json["operation"].get<std::string>(), "5x5"));
  CHECK(contains(json["operation"].get<std::string>(), "masked"));
  REQUIRE(json["kernels"].size() == serving.size());
  int chosen_lines = 0;
  for (std::size_t k = 0; k < json["kernels"].size(); ++k) {
    const auto& line = json["kernels"][k];
    CHECK(line["name"] == serving[k].name);
    CHECK(contains(all, serving[k].name));
    chosen_lines += line["chosen"].get<bool>() ? 1 : 0;
    CHECK(line["approximate"].is_boolean());
    CHECK(line["predicted_bytes"].is_number() == (line["answer"] != "cannot"));
    if (line["answer"] == "can")
      CHECK(line["estimated_ms"].is_number());
    else
      CHECK(!line["reason"].get<std::string>().empty());
  }
  CHECK(chosen_lines == 1);
  // Only errors of the problem itself are thrown.
  CHECK(error_of([] { rig::explain(ring(4), ones, rig::plus_times<float>{}); }).code() ==
        rig::errc::shape);

  rig::explanation odd;
  odd.operation = "quote \" backslash \\ line\nend";
  CHECK(nlohmann::json::parse(odd.json())["operation"] == odd.operation);
}

TEST_CASE("devices: the CPU comes first") {
  const auto all = rig::devices();
  REQUIRE(!all.empty());
  CHECK(all[0].where == rig::cpu());
  CHECK(all[0].threads >= 1);
  CHECK(all[0].memory > 0);
  CHECK(std::string(rig::version()).find('.') != std::string::npos);
}

std::vector<std::string> names_of_derived(const matrix<float>& a) {
  std::vector<std::string> names;
  for (const rig::derived_info& f : a.derived_structures()) {
    CHECK(f.bytes > 0);
    names.push_back(f.name);
  }
  return names;
}
bool has_transpose(const matrix<float>& a) {
  for (const std::string& name : names_of_derived(a))
    if (name == "transpose") return true;
  return false;
}

TEST_CASE("derived structures are listed, shared and dropped") {
  const matrix<float> a = ring(5);
  CHECK(a.derived_structures().empty());
  rig::mxm(a, ones, rig::plus_times<float>{});
  CHECK(!has_transpose(a));
  const matrix<float> copy = a;
  const std::vector<float> weights{1, 2, 3, 4, 5};
  const matrix<float> weighted = a.with_values(std::span<const float>(weights));
  rig::mxm(a, ones, rig::plus_times<float>{}, {.transpose_a = true});
  CHECK(has_transpose(a));
  CHECK(has_transpose(copy));
  CHECK(has_transpose(weighted));
  // The shared transpose holds no values, so each matrix uses its own.
  CHECK(rig::mxm(weighted, ones, rig::plus_times<float>{}, {.transpose_a = true})(1, 0) == 1);
  CHECK(rig::mxm(weighted, ones, rig::plus_times<float>{}, {.transpose_a = true})(0, 0) == 5);
  CHECK(rig::mxm(a.with_value(2.0), ones, rig::plus_times<float>{}, {.transpose_a = true})(1, 0) ==
        2);
  copy.drop_derived();
  CHECK(a.derived_structures().empty());
  CHECK(rig::mxm(a, ones, rig::plus_times<float>{}, {.transpose_a = true})(1, 0) == 1);
}

TEST_CASE("prepare builds the structures that the call would build") {
  const matrix<float> a = ring(5);
  a.prepare({.transpose_a = true});
  CHECK(has_transpose(a));
  const auto before = names_of_derived(a);
  rig::mxm(a, ones, rig::plus_times<float>{}, {.transpose_a = true});
  CHECK(names_of_derived(a) == before);
  const matrix<float> b = ring(6);
  b.prepare();
  CHECK(!b.derived_structures().empty());
  CHECK(!has_transpose(b));
}

TEST_CASE("a choice does not depend on earlier calls") {
  const auto a = rig::generate::rmat(9, 16).with_value(1.0f);
  const rig::dense<double> x(a.rows(), 1, 0.1);
  const rig::plus_second<double> sum;
  const rig::plus_pair<int> pairs;
  const auto mask = rig::structure(a);
  const auto choices = [&] {
    std::string out;
    for (const bool transposed : {false, true}) {
      out += rig::explain(a, x, sum, {.transpose_a = transposed}).full_text();
      out += rig::explain(a, a, pairs, mask, {.transpose_b = transposed}).full_text();
    }
    return out;
  };
  const std::string before = choices();
  const auto bits = rig::mxm(a, x, sum, {.transpose_a = true});
  rig::mxm(a, x, sum, {.kernel = "sell"});
  rig::mxm(a, a, pairs, mask, {.kernel = "dot"});
  rig::pagerank(a);
  rig::bfs(a, 0);
  rig::components(a);
  rig::betweenness(a, std::vector<int>{0, 1});
  CHECK(has_transpose(a));
  CHECK(choices() == before);
  CHECK(rig::mxm(a, x, sum, {.transpose_a = true}) == bits);

  a.prepare({.transpose_a = true, .kernel = "sell"});
  CHECK(rig::explain(a, x, sum, {.transpose_a = true}).chosen == "sell");
  CHECK(rig::explain(a, x, sum).chosen != "sell");
  a.drop_derived();
  CHECK(choices() == before);
}

TEST_CASE("threads that need the same derived structure build it once") {
  const matrix<float> a = ring(20000);
  std::vector<std::shared_ptr<const rig::transposed>> got(8);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] { got[t] = a.structure().derived_of<rig::transposed>(); });
  for (std::thread& t : threads) t.join();
  for (const auto& derived : got) CHECK(derived == got[0]);
  // A dropped structure lives as long as a pointer to it.
  a.drop_derived();
  CHECK(got[0]->structure->nnz() == 20000);
  CHECK(got[0]->structure->column_indices()[1] == 0);
}

}  // namespace
