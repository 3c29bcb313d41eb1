// The lines of set_trace and of RIG_VERBOSE.

#include "rig/trace.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "child.hpp"
#include "rig/generate.hpp"
#include "rig/rig.hpp"

namespace {

using rig::dense;
using rig::index;
using rig::matrix;
using rig::trace;

/// The lines of what is called while it lives.
struct traced_lines {
  std::vector<std::string> lines;
  explicit traced_lines(trace what) {
    rig::set_trace(what, [this](const std::string& line) { lines.push_back(line); });
  }
  ~traced_lines() { rig::set_trace(trace::off); }

  /// The only line since the last look, up to its time.
  std::string one() {
    REQUIRE(lines.size() == 1);
    const std::string line = lines[0];
    lines.clear();
    const std::size_t time = line.find(",ms:");
    REQUIRE(time != line.npos);
    CHECK(std::strtod(line.c_str() + time + 4, nullptr) > 0);
    return line.substr(0, time);
  }
};

const matrix<float> a =
    matrix<float>::from_tuples(3, 4, std::vector<index>{0, 0, 1, 2}, std::vector<index>{0, 3, 1, 2},
                               std::vector<float>{1, 2, 3, 4});
const dense<float> b(4, 2, 1.0f);

TEST_CASE("an operation has a line with its kernel, operator, type and operands") {
  traced_lines of(trace::profile);
  dense<float> c = rig::mxm(a, b, rig::plus_times<float>{});
  CHECK(of.lines[0].find(",GB/s:") != std::string::npos);
  CHECK(of.one() == "rig,exec,cpu,mxm,row,plus_times,float32,A:3x4/4,B:4x2");
  rig::mxm(c, rig::accumulator::plus, a, b, rig::max_second<float>{}, rig::values(c));
  CHECK(of.one() == "rig,exec,cpu,mxm,row,max_second,float32,A:3x4/4,B:4x2,mask:3x2");
  const matrix<float> square =
      rig::mxm(a, a, rig::plus_times<float>{}, {.transpose_b = true, .kernel = "gustavson"});
  CHECK(of.one() == "rig,exec,cpu,mxm,gustavson,plus_times,float32,A:3x4/4,B:3x4/4");
  rig::apply(a, rig::unary::hyperbolic_tangent);
  CHECK(of.one() == "rig,exec,cpu,apply,-,hyperbolic_tangent,float32,A:3x4/4");
  rig::ewise_add(c, c, rig::binary::minimum);
  CHECK(of.one() == "rig,exec,cpu,ewise_add,-,minimum,float32,A:3x2,B:3x2");
  rig::transpose(a);
  CHECK(of.one() == "rig,exec,cpu,transpose,-,identity,float32,A:4x3/4");
  rig::reduce(a, rig::binary::plus);
  CHECK(of.one() == "rig,exec,cpu,reduce,-,plus,float32,A:3x4/4");
  rig::to_dense(rig::maxk(c, 1));
  CHECK(of.lines.size() == 2);
  CHECK(of.lines[0].starts_with("rig,exec,cpu,maxk,-,-,float32,A:3x2,ms:"));
  CHECK(of.lines[1].starts_with("rig,exec,cpu,to_dense,-,-,float32,A:3x2/3,ms:"));
}

TEST_CASE("closure, and the products of an algorithm, have lines") {
  const auto graph = rig::generate::random_values(rig::generate::uniform(50, 3));
  traced_lines of(trace::profile);
  dense<float> x(50, 1, 1.0f);
  rig::closure(x, graph, rig::min_max<float>{});
  CHECK(of.one().starts_with("rig,exec,cpu,closure,closure,min_max,float32,A:50x50/"));
  rig::pagerank(graph, {.most_iterations = 2});
  CHECK(of.lines.size() >= 2);
}

TEST_CASE("a choice has a line per kernel, with its reason") {
  traced_lines of(trace::choice);
  rig::mxm(a, b, rig::plus_times<float>{});
  int chosen = 0;
  for (const std::string& line : of.lines) {
    CHECK(line.starts_with("rig,choice,cpu,mxm,"));
    chosen += line.starts_with("rig,choice,cpu,mxm,row,chosen,");
  }
  CHECK(chosen == 1);
  CHECK(of.lines.size() >= 3);
  of.lines.clear();
  rig::mxm(a, b, rig::plus_times<float>{}, {.kernel = "split"});
  CHECK(std::count(of.lines.begin(), of.lines.end(),
                   "rig,choice,cpu,mxm,split,chosen,named by the descriptor") == 1);
  of.lines.clear();
  rig::explain(a, b, rig::plus_times<float>{});
  CHECK(of.lines.empty());
}

TEST_CASE("nothing is written for a call that throws, nor when nothing is traced") {
  traced_lines of(trace::profile | trace::choice);
  CHECK_THROWS_AS(rig::mxm(a, dense<float>(3, 2), rig::plus_times<float>{}), rig::error);
  CHECK(of.lines.empty());
  rig::set_trace(trace::off, [&](const std::string& line) { of.lines.push_back(line); });
  rig::mxm(a, b, rig::plus_times<float>{});
  CHECK(of.lines.empty());
}

TEST_CASE("lines of threads come one at a time") {
  traced_lines of(trace::profile);
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([] {
      for (int k = 0; k < 25; ++k) rig::mxm(a, b, rig::plus_times<float>{}, {.threads = 1});
    });
  for (std::thread& one : callers) one.join();
  CHECK(of.lines.size() == 100);
}

/// The variable is read when the library is loaded, so it is set for a process of its own.
constexpr const char* child = "child: RIG_VERBOSE is set";
TEST_CASE(child* doctest::skip()) { rig::mxm(a, b, rig::plus_times<float>{}); }

/// What a child writes to stderr.
std::string words_of_child(const char* verbose) {
  const std::string file = std::string(RIG_BINARY_DIR) + "/trace_" + std::to_string(getpid());
  const std::string command = std::string("RIG_VERBOSE=") + verbose + " /proc/" +
                              std::to_string(getpid()) + "/exe --no-skip --test-case='" + child +
                              "' 2>" + file + " >/dev/null";
  CHECK(std::system(command.c_str()) == 0);
  std::string out;
  if (std::FILE* const from = std::fopen(file.c_str(), "r")) {
    for (int c; (c = std::fgetc(from)) != EOF;) out += static_cast<char>(c);
    std::fclose(from);
  }
  std::remove(file.c_str());
  return out;
}

TEST_CASE("RIG_VERBOSE writes to stderr, and names a wrong word") {
  const std::string both = words_of_child("profile,choice");
  CHECK(both.find("rig,exec,cpu,mxm,row,plus_times,float32,A:3x4/4,B:4x2,ms:") != both.npos);
  CHECK(both.find("rig,choice,cpu,mxm,row,chosen,") != both.npos);
  CHECK(words_of_child("off") == "");
  CHECK(words_of_child("loud") == "RIG_VERBOSE: 'loud' is none of profile, choice and off\n");
}

}  // namespace
