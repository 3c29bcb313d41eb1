// The run-time compiler without a GPU: every kernel file compiles from its embedded text to a GPU's
// machine code.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "child.hpp"
#include "cuda/families.hpp"
#include "cuda/runtime/compile.hpp"
#include "cuda/runtime/launch.hpp"
#include "gnn/algebra.hpp"
#include "rig/error.hpp"
#include "rig/semirings.hpp"
#include "rig/user_semiring.hpp"

namespace {

using rig::on_cuda::compile_to_cubin;

void check_compiles(const std::string& expression, const rig::source_text* source = nullptr,
                    const char* file = "cuda/row/row.cuh", int architecture = 90) {
  CAPTURE(architecture);
  std::string name;
  const std::string cubin = compile_to_cubin({file, expression, source}, architecture, name);
  CHECK_MESSAGE(cubin.substr(0, 4) == "\177ELF", expression);
  CHECK_MESSAGE(cubin.find(name) != std::string::npos, expression,
                " is not in the machine code as ", name);
}

/// One kernel of each kind, in several shapes.
void check_every_kernel(const std::string& semiring, int architecture) {
  const auto compiles = [&](const std::string& expression, const char* file = "cuda/row/row.cuh") {
    check_compiles(expression, nullptr, file, architecture);
  };
  compiles("rig::on_cuda::row<" + semiring + ", " + semiring + "::right, 1, 8, 8, 4, 1, true>");
  compiles("rig::on_cuda::row<" + semiring + ", rig::half, 8, 8, 8, 2, 2, false>");
  compiles("rig::on_cuda::row<" + semiring +
           ", rig::half, 8, 8, 8, 4, 1, true, rig::on_cuda::entries_read::prefix>");
  for (const char* rest : {"1", "4"})
    compiles("rig::on_cuda::row<" + semiring +
             ", float, 4, 8, 32, 6, 1, true, rig::on_cuda::entries_read::full, " + rest + ">");
  compiles("rig::on_cuda::row<" + semiring + ", rig::on_cuda::code, 16, 8, 16, 4, 1, true>");
  compiles(
      "rig::on_cuda::row<" + semiring +
      ", rig::on_cuda::column_code, 1, 8, 8, 2, 1, false, rig::on_cuda::entries_read::sampled>");
  compiles("rig::on_cuda::row<" + semiring +
           ", rig::half, 8, 8, 16, 4, 1, true, rig::on_cuda::entries_read::mostly_full>");
  compiles("rig::on_cuda::row<" + semiring +
           ", rig::on_cuda::code, 4, 32, 32, 4, 2, true, rig::on_cuda::entries_read::mostly_full>");
  compiles("rig::on_cuda::permute_values<" + semiring + ">");
  for (const char* rest : {"1, 1", "4, 4"})
    compiles("rig::on_cuda::multiply_rows<" + semiring + ", " + rest + ">",
             "cuda/update/update.cuh");
  compiles("rig::on_cuda::spmv<" + semiring + ", rig::half, 4, true>", "cuda/spmv/spmv.cuh");
  compiles("rig::on_cuda::spmv<" + semiring + ", rig::half, 1, false>", "cuda/spmv/spmv.cuh");
  compiles(
      "rig::on_cuda::spmv_panels<" + semiring + ", " + semiring + "::right, 2, true, true, false>",
      "cuda/spmv/spmv_panels.cuh");
  compiles("rig::on_cuda::spmv_panels<" + semiring + ", rig::half, 1, false, false, false>",
           "cuda/spmv/spmv_panels.cuh");
  compiles("rig::on_cuda::spmv_panels<" + semiring + ", rig::half, 4, false, false, true>",
           "cuda/spmv/spmv_panels.cuh");
  for (const char* plain : {"true", "false"})
    compiles("rig::on_cuda::add_panels<" + semiring + ", rig::half, " + plain + ">",
             "cuda/spmv/spmv_panels.cuh");
  compiles(
      "rig::on_cuda::maxk<" + semiring + ", rig::half, unsigned char, 4, 8, false, true, true>",
      "cuda/maxk/maxk.cuh");
  compiles("rig::on_cuda::maxk<" + semiring + ", float, unsigned short, 1, 32, true, false, false>",
           "cuda/maxk/maxk.cuh");
  compiles("rig::on_cuda::maxk_backward<" + semiring + ", float, unsigned char, 16, 1>",
           "cuda/maxk/maxk_backward.cuh");
  compiles("rig::on_cuda::maxk_backward_whole<" + semiring + ", float, unsigned char, 4>",
           "cuda/maxk/maxk_backward.cuh");
  compiles("rig::on_cuda::maxk_backward_panels<" + semiring +
               ", float, unsigned char, 4, 8, true, false>",
           "cuda/maxk/maxk_panels.cuh");
  compiles("rig::on_cuda::maxk_backward_panels<" + semiring +
               ", rig::half, unsigned short, 32, 1, false, false>",
           "cuda/maxk/maxk_panels.cuh");
  compiles("rig::on_cuda::maxk_combine<" + semiring + ", 1, 32, 32>", "cuda/maxk/maxk_panels.cuh");
  compiles("rig::on_cuda::maxk_combine<" + semiring + ", 4, 4, 8>", "cuda/maxk/maxk_panels.cuh");
  for (const char* kernel : {"entry_values", "dense_values", "join_groups", "place_elements"})
    compiles(std::string("rig::on_cuda::") + kernel + "<rig::on_cuda::adding<" + semiring + ">>",
             "cuda/elementwise/values.cuh");
  for (const char* plain : {"true", "false"})
    compiles("rig::on_cuda::merge_tiles<rig::on_cuda::adding<" + semiring + ">, " + plain + ">",
             "cuda/elementwise/merge.cuh");
  compiles("rig::on_cuda::fold_segments<rig::on_cuda::adding<" + semiring + ">>",
           "cuda/elementwise/fold.cuh");
  if (semiring.find("arg_") != semiring.npos) return;  // a sparse result has one array
  const auto of_sparse = [&](const char* kernel, const char* rest, const char* file) {
    compiles(std::string("rig::on_cuda::") + kernel + "<" + semiring + rest + ">", file);
  };
  for (const char* rest : {", 8, 48, 256, true", ", 32, 192, 256, false"})
    of_sparse("rank_rows", rest, "cuda/spgemm/gustavson.cuh");
  for (const char* kernel : {"sort_rows", "count_rows"})
    for (const char* rest : {", false", ", true"})
      of_sparse(kernel, rest, "cuda/spgemm/sort_rows.cuh");
  for (const char* rest : {", true", ", false"})
    of_sparse("window_rows", rest, "cuda/spgemm/gustavson.cuh");
  for (const char* rest : {", 8, true", ", 8, false", ", 4, false", ", 2, false"})
    of_sparse("dot_entries", rest, "cuda/spgemm/dot.cuh");
  for (const char* kernel : {"pull_columns", "pull_long_columns"})
    of_sparse(kernel, "", "cuda/spgemm/dot.cuh");
  for (const char* kernel : {"clear_slots", "push_products", "collect_slots", "push_few"})
    of_sparse(kernel, "", "cuda/spgemm/push.cuh");
}

/// The kernel of Tensor cores, which serves linear semirings alone.
void check_hybrid(const std::string& semiring, int architecture) {
  for (const char* rest :
       {"float, 4, 2, false, true", "float, 1, 1, true, false", "rig::half, 4, 2, false, true",
        "rig::half, 4, 1, true, false", "rig::bfloat16, 1, 2, false, false",
        "rig::on_cuda::code, 4, 2, true, true", "rig::on_cuda::column_code, 1, 1, true, false"})
    check_compiles("rig::on_cuda::hybrid<" + semiring + ", " + rest + ">", nullptr,
                   "cuda/hybrid/hybrid.cuh", architecture);
}

TEST_CASE("every kernel file compiles from its text") {
  int files = 0;
  for (const rig::on_cuda::kernel_text& text : rig::on_cuda::kernel_texts())
    if (const std::string_view name = text.name;
        name.starts_with("cuda/") && !name.starts_with("cuda/device/"))
      ++files;
  CHECK(files == 19);
  for (const char* semiring : {"rig::plus_times<float>", "rig::min_plus<rig::int32>",
                               "rig::arg_second<double, true>", "rig::lor_land<bool>"})
    check_every_kernel(semiring, 90);
  for (const char* semiring :
       {"rig::plus_times<float>", "rig::plus_second<float>", "rig::mean_times<float>"})
    check_hybrid(semiring, 90);
}

TEST_CASE("closure compiles from its text, for values of every size") {
  for (const char* semiring :
       {"rig::min_plus<double>", "rig::min_plus<rig::int64>", "rig::max_min<float>",
        "rig::min_first<rig::int32>", "rig::lor_land<bool>", "rig::any_pair<bool>"})
    check_compiles(std::string("rig::on_cuda::closure<") + semiring + ">", nullptr,
                   "cuda/spgemm/closure.cuh");
}

TEST_CASE("every kernel compiles for GPUs without machine code in the default build") {
  for (const int architecture : {80, 86, 100}) {
    check_every_kernel("rig::plus_times<float>", architecture);
    check_hybrid("rig::plus_times<float>", architecture);
  }
}

RIG_OPERATOR(
    shifted, static constexpr float apply(float x, rig::index i, rig::index j, double y) {
      return x + static_cast<float>(y) * (i - j);
    });

TEST_CASE("operators of the caller compile from their text") {
  for (const char* kernel : {"entry_values", "dense_values"})
    check_compiles(std::string("rig::on_cuda::") + kernel +
                       "<rig::on_cuda::applying<rig_user::shifted, float, double>>",
                   &shifted::rig_source, "cuda/elementwise/values.cuh");
  check_compiles(
      "rig::on_cuda::merge_tiles<rig::on_cuda::multiplying<rig::plus_times<float>>, true>", nullptr,
      "cuda/elementwise/merge.cuh");
}

TEST_CASE("the operators of the GNN client compile from their text") {
  const auto applies = [](const char* name, const char* number, const rig::source_text& text) {
    for (const char* type : {"float", "double"})
      check_compiles(std::string("rig::on_cuda::dense_values<rig::on_cuda::applying<rig_user::") +
                         name + ", " + type + ", " + (number != nullptr ? number : type) + ">>",
                     &text, "cuda/elementwise/values.cuh");
  };
  applies("dropped", "rig::int64", gnn::dropped::rig_source);
  applies("leaky_relu", nullptr, gnn::leaky_relu::rig_source);
  applies("leaky_slope", nullptr, gnn::leaky_slope::rig_source);
}

TEST_CASE("machine code runs within its major number, from its minor number on") {
  using rig::on_cuda::has_machine_code;
  constexpr int h200[] = {900}, several[] = {800, 890, 1000};
  CHECK(has_machine_code(h200, 90));
  for (const int other : {80, 86, 89, 100, 103, 120, 121}) CHECK(!has_machine_code(h200, other));
  for (const int served : {80, 86, 87, 89, 100, 103}) CHECK(has_machine_code(several, served));
  for (const int other : {75, 90, 110, 120}) CHECK(!has_machine_code(several, other));
  constexpr int newer[] = {860};
  CHECK(!has_machine_code(newer, 80));
  CHECK(!has_machine_code({}, 90));
  CHECK(!rig::on_cuda::aot_architectures().empty());
}

TEST_CASE("a GPU below compute capability 8.0 is refused") {
  for (const int served : {80, 86, 90, 121}) rig::on_cuda::require_capability(0, served);
  try {
    rig::on_cuda::require_capability(1, 75);
    FAIL("it was not refused");
  } catch (const rig::error& e) {
    CHECK(e.code() == rig::errc::place);
    CHECK(std::string(e.what()) == "cuda:1 has compute capability 7.5; rig needs 8.0 or more");
  }
}

constexpr rig::source_text scaled_sum = {
    "scaled_sum",
    "using left = float; using right = float; using accum = float;"
    "static constexpr float zero() { return 0; }"
    "static constexpr float add(float x, float y) { return x + y; }"
    "static constexpr float multiply(float a, float b) { return 2 * a * b; }",
    "user.cpp", 17};

TEST_CASE("the sum by atomics compiles") {
  for (const int architecture : {80, 90})
    check_compiles(
        "rig::on_cuda::maxk_backward_panels<rig::plus_times<float>, rig::half, unsigned short, 16, "
        "4, true, true>",
        nullptr, "cuda/maxk/maxk_panels.cuh", architecture);
}

TEST_CASE("a semiring of the caller compiles") {
  check_compiles("rig::on_cuda::hybrid<rig_user::scaled_sum, rig::half, 4, 2, false, true>",
                 &scaled_sum, "cuda/hybrid/hybrid.cuh");
  check_compiles("rig::on_cuda::row<rig_user::scaled_sum, float, 4, 8, 8, 4, 1, true>",
                 &scaled_sum);
  check_compiles("rig::on_cuda::spmv_panels<rig_user::scaled_sum, float, 2, true, true, false>",
                 &scaled_sum, "cuda/spmv/spmv_panels.cuh");
}

/// The error of a semiring whose body does not compile.
std::string refusal_of(const char* body) {
  rig::source_text broken = scaled_sum;
  broken.body = body;
  std::string name;
  try {
    compile_to_cubin(
        {"cuda/row/row.cuh", "rig::on_cuda::row<rig_user::scaled_sum, float, 4, 8, 8, 4, 1, true>",
         &broken},
        90, name);
  } catch (const rig::error& e) {
    CHECK(e.code() == rig::errc::cannot);
    return e.what();
  }
  FAIL("it compiled");
  return {};
}

TEST_CASE("a semiring that does not compile is refused with the compiler's words, file and line") {
  const std::string said = refusal_of(
      "using left = float; using right = float; using accum = float; int zero() { return nothing; "
      "}");
  CHECK(said.find("user.cpp:17") != std::string::npos);
  CHECK(said.find("nothing") != std::string::npos);
  CHECK(said.find("rig::maximum") == std::string::npos);
}

TEST_CASE("the error of a semiring that uses the standard library names rig's functions") {
  const std::string said = refusal_of(
      "using left = float; using right = float; using accum = float;"
      "static constexpr float zero() { return 0; }"
      "static constexpr float add(float x, float y) { return std::max(x, y); }"
      "static constexpr float multiply(float a, float b) { return a * b; }");
  CHECK(said.find("rig::maximum") != std::string::npos);
}

TEST_CASE("a file's name may hold quotes") {
  rig::source_text odd = scaled_sum;
  odd.file = "a \"user's\" \\file.cpp";
  check_compiles("rig::on_cuda::row<rig_user::scaled_sum, float, 4, 8, 8, 4, 1, true>", &odd);
}

/// The test after it runs it in a process of its own, because a process searches for NVRTC once.
constexpr const char* without_nvrtc = "child: without NVRTC";
TEST_CASE(without_nvrtc* doctest::skip()) {
  REQUIRE(rig::on_cuda::no_compiler_because() != nullptr);
  std::string name;
  try {
    compile_to_cubin(
        {"cuda/row/row.cuh", "rig::on_cuda::permute_values<rig::plus_times<float>>", nullptr}, 90,
        name);
    FAIL("it compiled");
  } catch (const rig::error& e) {
    CHECK(e.code() == rig::errc::cannot);
    CHECK(std::string(e.what()).find("needs NVRTC") != std::string::npos);
    CHECK(std::string(e.what()).find("/no/such/library") != std::string::npos);
  }
}

TEST_CASE("without NVRTC, work that needs it is refused") {
  CHECK(rig::on_cuda::no_compiler_because() == nullptr);
  setenv("RIG_NVRTC", "/no/such/library", 1);
  CHECK(result_of(start_child(without_nvrtc)) == 0);
  unsetenv("RIG_NVRTC");
}

/// Exits, and compiles a kernel in a function that std::atexit calls. The exit code is 0 if the
/// kernel is refused.
[[noreturn]] void compile_at_exit(bool compiles_before) {
  static const rig::on_cuda::kernel_source source = {
      "cuda/row/row.cuh", "rig::on_cuda::permute_values<rig::plus_times<float>>", nullptr};
  static std::string name;
  std::atexit([] {
    try {
      compile_to_cubin(source, 90, name);
    } catch (const rig::error& e) {
      _exit(e.code() == rig::errc::cannot ? 0 : 2);
    }
    _exit(1);
  });
  if (compiles_before) compile_to_cubin(source, 90, name);
  if (rig::on_cuda::no_compiler_because() != nullptr) _exit(3);
  std::exit(4);
}
constexpr const char* at_exit = "child: a kernel is compiled at exit";
TEST_CASE(at_exit* doctest::skip()) { compile_at_exit(false); }
constexpr const char* again_at_exit = "child: another kernel is compiled at exit";
TEST_CASE(again_at_exit* doctest::skip()) { compile_at_exit(true); }

TEST_CASE("no kernel is compiled once NVRTC's own objects are destroyed") {
  CHECK(result_of(start_child(at_exit)) == 0);
  CHECK(result_of(start_child(again_at_exit)) == 0);
}

}  // namespace
