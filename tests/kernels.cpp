// Every kernel of the CPU over every builtin pair, and the promises that hold for kernels alone.

#include "rig/semirings.hpp"
#include "table.hpp"

namespace {

const rig::place where = rig::cpu();

TEST_CASE("every kernel, builtin semiring, shape and variant") {
  const std::vector<shape> shapes = battery();
  tally met(where);
  int number = 0;
#define RIG_BUILTIN(semiring, type) walk<rig::semiring<type>, type>(shapes, number++, met);
#include "rig/semirings/builtin.def"
#undef RIG_BUILTIN
  met.conclude(static_cast<std::size_t>(number), shapes.size());
}

/// A single column, where kernels take shortcuts: every semiring, each variant on rows of all
/// lengths.
template <class S, class T>
void walk_one_column(const shape& rows, int number, tally& met) {
  for (std::size_t step = 0; step < variants().size(); ++step) {
    trial_spec spec;
    spec.name = variants()[step].name;
    spec.of = &rows;
    spec.seed = test_seed() + step;
    spec.values = (step + static_cast<std::size_t>(number)) % 3 == 0 ? draw::quarters : draw::reals;
    variants()[step].apply(spec);
    settle<S>(spec);
    trial<S, T, T, T> here(spec);
    met.meet(here, S::name, spec);
  }
}

TEST_CASE("one column") {
  const shape rows = row_lengths_shape();
  tally met(where);
  int number = 0;
#define RIG_BUILTIN(semiring, type) walk_one_column<rig::semiring<type>, type>(rows, number++, met);
#include "rig/semirings/builtin.def"
#undef RIG_BUILTIN
}

/// Rows long enough to be cut, under some variants for each semiring.
template <class S, class T>
void walk_long_rows(const shape& rows, int number, tally& met) {
  static constexpr const char* names[] = {"plain",        "transpose_a",  "complement values",
                                          "own",          "replace fill", "int64 offsets",
                                          "dense values", "iso",          "strided transpose_b"};
  for (int step = 0; step < 2; ++step) {
    trial_spec spec;
    spec.name = names[(number * 2 + step) % 9];
    spec.of = &rows;
    spec.features = std::vector{1, 3, 2, 17}[static_cast<std::size_t>(step + number) % 4];
    spec.seed = test_seed() + static_cast<unsigned long>(number);
    spec.values = step == 0 ? draw::quarters : draw::reals;
    for (const variant& v : variants())
      if (spec.name == v.name) v.apply(spec);
    settle<S>(spec);
    trial<S, T, T, T> here(spec);
    met.meet(here, S::name, spec);
  }
}

TEST_CASE("rows of up to 100 000 entries") {
  const shape rows = long_rows_shape();
  tally met(where);
  int number = 0;
#define RIG_BUILTIN(semiring, type) walk_long_rows<rig::semiring<type>, type>(rows, number++, met);
#include "rig/semirings/builtin.def"
#undef RIG_BUILTIN
}

/// The bytes of a result, on a number of threads.
template <class Trial>
std::vector<unsigned char> bytes_of(Trial& t, const char* kernel, int threads) {
  std::vector<unsigned char> bytes;
  const std::string wrong = t.run(kernel, threads, &bytes);
  CHECK_MESSAGE(wrong.empty(), std::string(kernel), ", ", threads, " threads: ", wrong);
  return bytes;
}

template <class S, class T>
void check_same_bits(const shape& of, int features) {
  for (const bool transposed : {false, true}) {
    trial_spec spec;
    spec.of = &of;
    spec.features = features;
    spec.seed = test_seed();
    spec.values = draw::reals;
    spec.transpose_a = transposed;
    trial<S, T, T, T> t(spec);
    for (const rig::kernel& k : rig::kernels()) {
      if (k.where != where.where || k.approximate || k.takes != rig::operands::dense) continue;
      const auto once = bytes_of(t, k.name, 1);
      for (const int threads : {1, 2, 3, 7, 0, 7})
        CHECK_MESSAGE(bytes_of(t, k.name, threads) == once, std::string(k.name), ", ",
                      std::string(S::name), ", ", of.name, ", F = ", features, ", ", threads,
                      " threads: other bits");
    }
  }
}

TEST_CASE("same bits for any number of threads") {
  // All of them are above the work that starts a second thread.
  const shape rows = long_rows_shape(), lengths = row_lengths_shape();
  for (const shape& s : battery())
    if (s.name == "power law" || s.name == "tall")
      check_same_bits<rig::plus_times<float>, float>(s, 100);
  check_same_bits<rig::plus_times<float>, float>(rows, 1);
  check_same_bits<rig::plus_times<float>, float>(rows, 5);
  check_same_bits<rig::plus_times<double>, double>(rows, 3);
  check_same_bits<rig::mean_second<float>, float>(rows, 2);
  check_same_bits<rig::arg_max_second<float>, float>(rows, 2);
  check_same_bits<rig::plus_times<float>, float>(lengths, 257);
  check_same_bits<rig::max_second<float>, float>(lengths, 128);
}

TEST_CASE("any number of threads is served") {
  const shape rows = row_lengths_shape();
  trial_spec spec;
  spec.of = &rows;
  spec.features = 100;
  trial<rig::plus_times<float>, float, float, float> t(spec);
  for (const rig::kernel& k : rig::kernels())
    if (k.where == where.where && !k.approximate && k.takes == rig::operands::dense)
      CHECK(t.run(k.name, 1 << 30) == "");
}

/// Semirings that are wrong in the ways kernels and algebras usually are.
struct max_from_zero : rig::max_second<float> {
  static constexpr float zero() { return 0; }
};
struct sum_of_lefts : rig::plus_times<float> {
  static constexpr float multiply(float a, float) { return a; }
};
struct last_one_lost : rig::plus_second<float> {
  static constexpr float multiply(float, float b, rig::position at) {
    return at.inner == 28 ? 0 : b;
  }
};

template <class S>
std::string verdict_on() {
  // One entry a row: the greatest of many would hide a wrong identity.
  const shape thin{"thin", pattern_of(29, 29, [](int i) { return std::vector<int>{i}; })};
  trial_spec spec;
  spec.of = &thin;
  spec.features = 33;
  trial<S, float, float, float> t(spec);
  return t.run("row");
}

TEST_CASE("the oracle notices what is wrong") {
  CHECK(verdict_on<rig::plus_times<float>>() == "");
  CHECK(verdict_on<rig::plus_second<float>>() == "");
  CHECK(verdict_on<rig::max_second<float>>() == "");
  CHECK(verdict_on<max_from_zero>() != "");
  CHECK(verdict_on<sum_of_lefts>() != "");
  CHECK(verdict_on<last_one_lost>() != "");
}

}  // namespace
