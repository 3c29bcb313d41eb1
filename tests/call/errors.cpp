// Bad input: the error names the values, and not a byte of any output has changed.

#include <cstdlib>
#include <cstring>
#include <vector>

#include "preferred_kernel.hpp"
#include "provoked.hpp"
#include "rig/kernels/list.hpp"
#include "rig/mxm.hpp"
#include "rig/semirings.hpp"
#include "rig/sparse_mxm.hpp"

namespace {

using rig::dense;
using rig::errc;
using rig::index;
using rig::matrix;

/// The operands of a call whose shapes fit: A is 5×4, B 4×3, C 5×3.
struct operands {
  matrix<float> a =
      matrix<float>::from_positions(5, 4, std::vector<index>{0, 1, 4}, std::vector<index>{1, 2, 3});
  dense<float> b{4, 3, 1.0f};
  std::vector<float> memory = std::vector<float>(20, 42.0f);
  dense<float> c = dense<float>::view(memory.data(), 5, 3, 4);
};

/// Checks that the call throws and leaves C's memory, gaps included, unchanged.
template <class Call>
void check_refused(errc code, std::initializer_list<std::string> texts, Call call) {
  operands o;
  check_error(code, texts, [&] { call(o); });
  CHECK(o.memory == std::vector<float>(20, 42.0f));
}

constexpr rig::plus_times<float> plus_times;
constexpr auto plus = rig::accumulator::plus;

TEST_CASE("shapes") {
  check_refused(errc::shape, {"A is 5x4", "B is 3x2", "4 columns", "3 rows"},
                [](operands& o) { rig::mxm(o.c, plus, o.a, dense<float>(3, 2), plus_times); });
  check_refused(errc::shape, {"Aᵀ is 4x5", "B is 4x3"}, [](operands& o) {
    rig::mxm(o.c, plus, o.a, o.b, plus_times, {.transpose_a = true});
  });
  check_refused(errc::shape, {"A is 5x4", "Bᵀ is 3x4"}, [](operands& o) {
    rig::mxm(o.c, plus, o.a, o.b, plus_times, {.transpose_b = true});
  });
  check_refused(errc::shape, {"5x2", "C is 5x3"},
                [](operands& o) { rig::mxm(o.c, plus, o.a, dense<float>(4, 2), plus_times); });
  check_refused(errc::shape, {"the result is a vector of", "the mask is a vector of 7"},
                [](operands& o) {
                  const rig::vector<float> u(o.a.columns());
                  rig::mxv(o.a, u, rig::plus_times<float>(), rig::structure(rig::vector<float>(7)));
                });
  check_refused(errc::shape, {"5x3", "the mask is 3x5"}, [](operands& o) {
    rig::mxm(o.c, plus, o.a, o.b, plus_times, rig::structure(matrix<float>(3, 5)));
  });
  check_refused(errc::shape, {"5x3", "the mask is 5x4"}, [](operands& o) {
    rig::mxm(o.c, plus, o.a, o.b, plus_times, rig::complement(rig::values(dense<int>(5, 4))));
  });
  check_refused(errc::shape, {"A is 5x4"},
                [](operands& o) { rig::mxm(o.a, dense<float>(3, 2), plus_times); });
  check_refused(errc::shape, {"the mask is 5x4"},
                [](operands& o) { rig::mxm(o.a, o.b, plus_times, rig::structure(o.a)); });
}

TEST_CASE("the arrays of an indexed result") {
  operands o;
  rig::indexed_dense<float> c{dense<float>(5, 3, 1.0f), dense<int>(5, 2, 7)};
  check_error(errc::shape, {"index array", "5x2"},
              [&] { rig::mxm(c, rig::none, o.a, o.b, rig::arg_max_second<float>{}); });
  CHECK(c.values(0, 0) == 1);
  CHECK(c.indices(0, 0) == 7);
}

TEST_CASE("an indexed result without its index array") {
  operands o;
  rig::indexed_dense<float> c{dense<float>(5, 3, 1.0f), {}};
  check_error(errc::shape, {"index array", "0x0"},
              [&] { rig::mxm(c, rig::none, o.a, o.b, rig::arg_max_second<float>{}); });
  CHECK(c.values(0, 0) == 1);
}

TEST_CASE("enums cast from invalid numbers") {
  for (const int number : {12, 99, 255})
    check_refused(
        errc::range, {"mxm: ", "accumulator", std::to_string(number), "11"},
        [&](operands& o) { rig::mxm(o.c, rig::accumulator(number), o.a, o.b, plus_times); });
  const std::vector<rig::int64> offsets{0, 2}, wide{1, 0};
  const std::vector<rig::int32> narrow_offsets{0, 2};
  const std::vector<index> entries{1, 0};
  const auto refused = [](std::initializer_list<std::string> texts, auto work) {
    check_error(errc::range, texts, work);
  };
  for (const int number : {-1, 3}) {
    const auto how = rig::input(number);
    const std::string said = std::to_string(number);
    refused({"matrix: ", "input", said},
            [&] { rig::pattern_from_csr(1, 2, std::span(offsets), std::span(entries), how); });
    refused({"matrix: ", "input", said}, [&] {
      rig::pattern_from_csr(1, 2, std::span(narrow_offsets), std::span(entries), how);
    });
    refused({"matrix: ", "input", said},
            [&] { rig::pattern_from_csr(1, 2, std::span(offsets), std::span(wide), how); });
    refused({"matrix: ", "input", said},
            [&] { rig::pattern_view(1, 2, std::span(offsets), std::span(entries), how); });
  }
  const operands o;
  refused({"quantized: ", "ranges", "2"}, [&] { rig::quantized::from(o.b, rig::ranges(2)); });
  refused({"quantized: ", "rounding", "7"},
          [&] { rig::quantized::from(o.b, rig::ranges::matrix, rig::rounding(7)); });
}

TEST_CASE("invalid places") {
  const operands o;
  const auto refused = [](rig::place where, std::initializer_list<std::string> texts) {
    operands o;
    check_error(errc::place, texts, [&] { rig::buffer::allocate(64, where); });
    check_error(errc::place, texts, [&] { rig::buffer::borrow(o.memory.data(), 80, where); });
    check_error(errc::place, texts, [&] { static_cast<void>(o.a.to(where)); });
    check_error(errc::place, texts, [&] { static_cast<void>(o.b.to(where)); });
    check_error(errc::place, texts, [&] { rig::synchronise(where); });
  };
  refused({rig::place::kind(7), 0}, {"kind 7"});
  refused({rig::place::kind::cpu, 3}, {"device 3", "rig::cpu()"});
}

TEST_CASE("null pointers") {
  check_error(errc::range, {"pattern", "null"}, [] { matrix<float>(nullptr); });
  check_error(errc::range, {"pattern", "null"}, [] { matrix<float>(nullptr, rig::buffer()); });
  check_error(errc::range, {"80 bytes", "null"}, [] { rig::buffer::borrow(nullptr, 80); });
  CHECK(rig::buffer::borrow(nullptr, 0).bytes() == 0);
  const auto pattern = rig::cbsr_pattern::from(1, 4, 2, std::vector<index>{1, 3});
  check_error(errc::shape, {"cbsr", "2 entries", "8 bytes", "0"},
              [&] { rig::cbsr<float>(pattern, rig::buffer()); });
}

TEST_CASE("kernels") {
  check_refused(errc::unknown_kernel, {"no such", "row", "split"}, [](operands& o) {
    rig::mxm(o.c, plus, o.a, o.b, plus_times, {.kernel = "no such"});
  });
  operands o;
  try {
    rig::mxm(o.a, o.b, plus_times, {.kernel = "no such"});
  } catch (const rig::error& e) {
    const std::string said = e.what() + std::string(",");
    for (const rig::kernel& k : rig::kernels())
      CHECK_MESSAGE(said.find(" " + std::string(k.name) + ",") != std::string::npos, k.name);
  }
}

TEST_CASE("read-only results") {
  check_refused(errc::read_only, {"5x3"}, [](operands& o) {
    auto fixed = dense<float>::view(static_cast<const float*>(o.memory.data()), 5, 3, 4);
    rig::mxm(fixed, plus, o.a, o.b, plus_times);
  });
  operands o;
  const std::vector<int> indices(15, 3);
  rig::indexed_dense<float> c{dense<float>(5, 3, 1.0f), dense<int>::view(indices.data(), 5, 3)};
  check_error(errc::read_only, {"5x3"},
              [&] { rig::mxm(c, rig::none, o.a, o.b, rig::arg_max_second<float>{}); });
  CHECK(c.values(0, 0) == 1);
}

TEST_CASE("unsupported accumulators") {
  check_refused(errc::cannot, {"mean_times"}, [](operands& o) {
    rig::mxm(o.c, rig::accumulator::own, o.a, o.b, rig::mean_times<float>{});
  });
  operands o;
  rig::indexed_dense<float> c{dense<float>(5, 3, 1.0f), dense<int>(5, 3, 7)};
  for (const auto how :
       {rig::accumulator::plus, rig::accumulator::maximum, rig::accumulator::first})
    check_error(errc::cannot, {"arg_max_second"},
                [&] { rig::mxm(c, how, o.a, o.b, rig::arg_max_second<float>{}); });
  CHECK(c.values(0, 0) == 1);
  CHECK(c.indices(4, 2) == 7);
}

TEST_CASE("descriptors") {
  check_refused(errc::range, {"threads", "-2"},
                [](operands& o) { rig::mxm(o.c, plus, o.a, o.b, plus_times, {.threads = -2}); });
}

/// Sums of a type to which no number converts.
struct pair {
  float x, y;
};
struct pair_of_sums {
  using left = float;
  using right = float;
  using accum = pair;
  static constexpr pair zero() { return {0, 0}; }
  static constexpr pair add(pair s, pair t) { return {s.x + t.x, s.y + t.y}; }
  static constexpr pair multiply(float a, float b) { return {a, b}; }
};

TEST_CASE("a number as the fill of structures is refused") {
  operands o;
  dense<pair> c(5, 3, pair{1, 2});
  check_error(errc::type, {"fill"},
              [&] { rig::mxm(c, rig::none, o.a, o.b, pair_of_sums{}, {.fill = 0}); });
  CHECK(c(2, 0).y == 2);
  check_error(errc::type, {"fill"},
              [&] { rig::mxm(o.a, o.b, pair_of_sums{}, rig::structure(o.c), {.fill = 0}); });
  rig::mxm(c, rig::none, o.a, o.b, pair_of_sums{});
  CHECK(c(2, 0).y == 0);
}

TEST_CASE("places of missing devices") {
  // No machine has 41 devices. gpu_runtime tests operands in two places that exist.
  const rig::place nowhere = rig::cuda(40);
  check_refused(errc::place, {"cuda:40"}, [&](operands& o) { static_cast<void>(o.a.to(nowhere)); });
  check_refused(errc::place, {"cuda:40"}, [&](operands& o) { static_cast<void>(o.b.to(nowhere)); });
  check_refused(errc::place, {"cuda:40"}, [&](operands&) { rig::buffer::allocate(64, nowhere); });
  check_refused(errc::place, {"cuda:40"},
                [&](operands& o) { rig::buffer::borrow(o.memory.data(), 80, nowhere); });
}

TEST_CASE("operands in two places") {
  // Without a GPU, a second place can appear only in the records of the operands.
  const operands o;
  const rig::descriptor desc;
  rig::indexed_dense<float> c{dense<float>(5, 3), dense<int>(5, 3)};
  const auto records = [&] {
    auto p =
        rig::make_problem<rig::arg_max_second<float>>("mxm", o.a, o.b, rig::structure(o.c), desc);
    rig::fill_in_result<rig::arg_max_second<float>>(p, c);
    return p;
  };
  const auto refused = [](const char* what, rig::problem p) {
    check_error(errc::place, {"A is on cpu", what, "is on cuda:1"}, [&] { rig::check(p); });
  };
  auto fits = records(), b = records(), values = records(), indices = records(), mask = records();
  rig::check(fits);
  b.b.where = values.c.where = indices.indices.where = mask.mask.full.where = rig::cuda(1);
  refused("B", b);
  refused("C", values);
  refused("C's index array", indices);
  refused("the mask", mask);
}

TEST_CASE("the first mistake is found before structures are derived") {
  operands o;
  check_error(errc::shape, {},
              [&] { rig::mxm(o.a, dense<float>(3, 2), plus_times, {.transpose_a = true}); });
  check_error(errc::unknown_kernel, {"the descriptor", "no such"}, [&] {
    rig::mxm(o.a, dense<float>(5, 2), plus_times, {.transpose_a = true, .kernel = "no such"});
  });
  const preferred_kernel unknown("none like this");
  check_error(errc::unknown_kernel, {"RIG_KERNEL", "none like this"},
              [&] { rig::mxm(o.a, dense<float>(5, 2), plus_times, {.transpose_a = true}); });
  CHECK(o.a.derived_structures().empty());
}

TEST_CASE("errors are exceptions of the standard library too") {
  const rig::error e(errc::range, "a message");
  const std::runtime_error& standard = e;
  CHECK(std::string(standard.what()) == "a message");
  const rig::message_piece piece(0.1);
  CHECK(piece.text() == "0.1");
  CHECK(rig::message_piece(-9223372036854775807l - 1).text() == "-9223372036854775808");
  CHECK(rig::message_piece(18446744073709551615ul).text() == "18446744073709551615");
}

}  // namespace
