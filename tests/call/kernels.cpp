// Every CPU kernel over every builtin pair, and the guarantees of single kernels.

#include "provoked.hpp"
#include "rig/generate.hpp"
#include "rig/mxv.hpp"
#include "rig/semirings.hpp"
#include "table.hpp"

namespace {

const rig::place where = rig::cpu();

TEST_CASE("every kernel, builtin semiring, shape and variant") {
  const std::vector<shape> shapes = battery();
  tally met(where);
  int number = 0;
#define RIG_BUILTIN(semiring, type) sweep<rig::semiring<type>, type>(shapes, number++, met);
#include "rig/semirings/builtin.def"
#undef RIG_BUILTIN
  met.conclude(static_cast<std::size_t>(number), shapes.size());
}

/// One column, for which kernels have special code: every semiring and each variant, on rows of all
/// lengths.
template <class S, class T>
void sweep_one_column(const shape& rows, int number, tally& met) {
  for (std::size_t step = 0; step < variants().size(); ++step) {
    trial_spec spec;
    spec.name = variants()[step].name;
    spec.of = &rows;
    spec.seed = test_seed() + step;
    spec.values = (step + static_cast<std::size_t>(number)) % 3 == 0 ? draw::quarters : draw::reals;
    variants()[step].apply(spec);
    normalise<S>(spec);
    trial<S, T, T, T> here(spec);
    met.meet(here, S::name, spec);
  }
}

TEST_CASE("one column") {
  const shape rows = row_lengths_shape();
  tally met(where);
  int number = 0;
#define RIG_BUILTIN(semiring, type) \
  sweep_one_column<rig::semiring<type>, type>(rows, number++, met);
#include "rig/semirings/builtin.def"
#undef RIG_BUILTIN
}

/// Rows of 0 to 9 entries and one long row; a kernel writes fewer rows at once.
rig::matrix<float> many_rows() {
  random_bits random(test_seed() + 4);
  std::vector<rig::index> i, j;
  for (rig::index row = 0; row < 1000; ++row) {
    const int length = row == 700 ? 70000 : random.below(10);
    for (const int column : spread(length, 80000, random)) {
      i.push_back(row);
      j.push_back(column);
    }
  }
  return rig::matrix<float>::from_positions(1000, 80000, i, j);
}

/// Masks of one column in three formats; all admit the same elements.
struct column_masks {
  rig::dense<bool> packed{1000, 1};
  rig::dense<float> wide{1000, 3};
  rig::matrix<float> sparse;

  column_masks() {
    random_bits random(test_seed() + 5);
    std::vector<rig::index> i;
    std::vector<float> v;
    for (rig::index row = 0; row < 1000; ++row) {
      packed(row, 0) = random.chance(0.5);
      wide(row, 0) = packed(row, 0) ? 2.0f : 0.0f;
      if (!packed(row, 0) && random.chance(0.5)) continue;  // absent, or stored as 0
      i.push_back(row);
      v.push_back(wide(row, 0));
    }
    const std::vector<rig::index> j(i.size(), 0);
    sparse = rig::matrix<float>::from_tuples(1000, 1, i, j, v);
  }
};

/// C⟨mask, replace⟩ = C ⊙ T, computed from T, the plain product of one column.
template <class T>
array<T> expected_column(const rig::matrix<T>& a, const rig::dense<T>& plain, T before,
                         rig::accumulator accum, const rig::dense<bool>* mask, bool turned,
                         const rig::descriptor& desc) {
  array<T> out(static_cast<std::size_t>(a.rows()));
  for (rig::index row = 0; row < a.rows(); ++row) {
    const bool in = mask == nullptr || (*mask)(row, 0) != turned;
    const bool is_empty = a.structure().offset(row + 1) == a.structure().offset(row);
    const T fill = desc.fill.as<T>();
    T& to = out.data[static_cast<std::size_t>(row)];
    if (!in)
      to = desc.replace ? fill : before;
    else if (is_empty)
      to = accum == rig::none ? fill : before;
    else
      to = rig::accumulate(accum, before, plain(row, 0));
  }
  return out;
}

/// One product of one column into a C of stride 1 or 2.
template <class S, class T>
struct column_write {
  const rig::matrix<T>& a;
  const rig::dense<T>& b;
  const column_masks& masks;
  const char* kernel;
  int how;   ///< the accumulator
  int kind;  ///< the mask: none, packed, strided or sparse, each plain and complemented

  std::string run(const rig::dense<T>& plain) const {
    const auto accum = static_cast<rig::accumulator>(how);
    const rig::descriptor desc{.replace = kind % 4 >= 2, .fill = T(1), .kernel = kernel};
    const T before = static_cast<T>(0.7f);
    rig::dense<T> wide(a.rows(), 2, before);
    auto c = rig::dense<T>::view(wide.data(), a.rows(), 1, how % 2 + 1);
    if (kind < 2)
      rig::mxm(c, accum, a, b, S{}, desc);
    else if (kind < 4)
      under(rig::values(masks.packed), c, desc);
    else if (kind < 6)
      under(rig::values(rig::dense<float>::view(masks.wide.data(), a.rows(), 1, 3)), c, desc);
    else
      under(rig::values(masks.sparse), c, desc);
    const auto* const mask = kind < 2 ? nullptr : &masks.packed;
    const auto expected = expected_column(a, plain, before, accum, mask, kind % 2 == 1, desc);
    for (rig::index row = 0; row < a.rows(); ++row)
      if (std::memcmp(&c(row, 0), &expected.data[static_cast<std::size_t>(row)], sizeof(T)) != 0)
        return "row " + std::to_string(row) + ": " + std::to_string(c(row, 0)) + ", not " +
               std::to_string(expected.data[static_cast<std::size_t>(row)]);
    return "";
  }

 private:
  template <class Mask>
  void under(const Mask& mask, rig::dense<T>& c, const rig::descriptor& desc) const {
    const auto accum = static_cast<rig::accumulator>(how);
    if (kind % 2 == 1)
      rig::mxm(c, accum, a, b, S{}, rig::complement(mask), desc);
    else
      rig::mxm(c, accum, a, b, S{}, mask, desc);
  }
};

template <class S, class T>
void check_column_writes(const rig::matrix<T>& a) {
  rig::dense<T> b(a.columns(), 1);
  for (rig::index i = 0; i < b.rows(); ++i) b(i, 0) = static_cast<T>((i * 7 % 11) * 0.37f);
  const column_masks masks;
  for (const char* kernel : {"row", "split"}) {
    const rig::dense<T> plain = rig::mxm(a, b, S{}, {.kernel = kernel});
    for (int how = 0; how <= static_cast<int>(rig::accumulator::logical_and); ++how)
      for (int kind = 0; kind < 8; ++kind) {
        if (how == static_cast<int>(rig::accumulator::own)) continue;
        const std::string wrong = column_write<S, T>{a, b, masks, kernel, how, kind}.run(plain);
        CHECK_MESSAGE(wrong.empty(), std::string(S::name), ", ", kernel, ", accumulator ", how,
                      ", mask ", kind, ": ", wrong);
      }
  }
}

TEST_CASE("masks and accumulators of one column keep the plain product's bits") {
  const rig::matrix<float> ones = many_rows(), weighted = rig::generate::random_values(ones);
  const rig::matrix<bool> flags(ones.shared_structure());
  check_column_writes<rig::plus_times<float>, float>(weighted);
  check_column_writes<rig::min_plus<float>, float>(weighted);
  check_column_writes<rig::plus_second<float>, float>(ones);
  check_column_writes<rig::lor_land<bool>, bool>(flags);
  check_column_writes<rig::any_pair<bool>, bool>(flags);
}

/// Rows long enough to be split, under some variants for each semiring.
template <class S, class T>
void sweep_long_rows(const shape& rows, int number, tally& met) {
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
    normalise<S>(spec);
    trial<S, T, T, T> here(spec);
    met.meet(here, S::name, spec);
  }
}

TEST_CASE("rows of up to 100 000 entries") {
  const shape rows = long_rows_shape();
  tally met(where);
  int number = 0;
#define RIG_BUILTIN(semiring, type) sweep_long_rows<rig::semiring<type>, type>(rows, number++, met);
#include "rig/semirings/builtin.def"
#undef RIG_BUILTIN
}

/// Checks a result on a number of threads, and returns its bytes.
template <class Trial>
std::vector<unsigned char> bytes_of(Trial& t, const char* kernel, int threads) {
  std::vector<unsigned char> bytes;
  const std::string wrong = t.run(kernel, threads, &bytes);
  CHECK_MESSAGE(wrong.empty(), std::string(kernel), ", ", threads, " threads: ", wrong);
  return bytes;
}

/// The exact kernels that serve a trial; a kernel is left out only if it says that it cannot.
template <class Trial>
std::vector<const char*> serving(Trial& t) {
  std::vector<const char*> out;
  for (const rig::kernel& k : rig::kernels()) {
    if (k.where != where.where || k.approximate || k.takes != rig::operands::dense) continue;
    try {
      static_cast<void>(t.run(k.name, 1));
      out.push_back(k.name);
    } catch (const rig::error& e) {
      CHECK(e.code() == rig::errc::cannot);
    }
  }
  CHECK(out.size() >= 2);
  return out;
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
    for (const char* const name : serving(t)) {
      const auto once = bytes_of(t, name, 1);
      for (const int threads : {1, 2, 3, 7, 0, 7})
        CHECK_MESSAGE(bytes_of(t, name, threads) == once, std::string(name), ", ",
                      std::string(S::name), ", ", of.name, ", F = ", features, ", ", threads,
                      " threads: other bits");
    }
  }
}

TEST_CASE("same bits for any number of threads") {
  // Every product has enough work for a second thread.
  const shape rows = long_rows_shape(), lengths = row_lengths_shape();
  for (const shape& s : battery())
    if (s.name == "power law" || s.name == "tall")
      check_same_bits<rig::plus_times<float>, float>(s, 100);
  check_same_bits<rig::plus_times<float>, float>(rows, 1);
  check_same_bits<rig::plus_times<float>, float>(rows, 5);
  check_same_bits<rig::plus_second<double>, double>(rows, 1);
  check_same_bits<rig::mean_second<float>, float>(lengths, 1);
  check_same_bits<rig::plus_times<double>, double>(rows, 3);
  check_same_bits<rig::mean_second<float>, float>(rows, 2);
  check_same_bits<rig::arg_max_second<float>, float>(rows, 2);
  check_same_bits<rig::plus_times<float>, float>(lengths, 257);
  check_same_bits<rig::max_second<float>, float>(lengths, 128);
}

/// Whether A·B has the same bits if B has many more rows that A does not use. Then B is converted
/// row by row, else as a whole.
template <class S, class Features>
bool converts_alike(const S& s, Features features) {
  std::vector<int> i, j;
  std::vector<float> v;
  for (int p = 0; p < 500; ++p) {
    i.push_back(p / 10);
    j.push_back((p / 10 * 3 + p % 10 * p % 10) % 50);
    v.push_back(static_cast<float>(p % 7) - 2.5f);
  }
  const auto product = [&](int rows) {
    const auto a = rig::matrix<float>::from_tuples(50, rows, i, j, v, std::plus<>());
    return rig::mxm(a, features(rows), s);
  };
  const auto whole = product(50), by_rows = product(2000);
  for (rig::index r = 0; r < whole.rows(); ++r)
    if (!std::equal(whole.row(r).begin(), whole.row(r).end(), by_rows.row(r).begin())) return false;
  return true;
}

TEST_CASE("B converted as a whole and row by row gives the same bits") {
  for (const rig::index columns : {1, 5, 33, 300}) {
    CAPTURE(columns);
    const auto element = [&](int row, int column) {
      return static_cast<float>((row * 37 + column * 11) % 256) / 8 - 9;
    };
    const auto stored = [&]<class T>(T) {
      return [&](int rows) {
        rig::dense<T> b(rows, columns);
        for (rig::index r = 0; r < rows; ++r)
          for (rig::index c = 0; c < columns; ++c) b(r, c) = static_cast<T>(element(r, c));
        return b;
      };
    };
    const auto coded = [&](bool per_column) {
      return [&, per_column](int rows) {
        std::vector<unsigned char> codes;
        for (int r = 0; r < rows; ++r)
          for (int c = 0; c < columns; ++c)
            codes.push_back(static_cast<unsigned char>(r * 37 + c * 11));
        std::vector<float> low, step;
        for (int c = 0; c < (per_column ? columns : 1); ++c) {
          low.push_back(-1.3f * static_cast<float>(c + 1));
          step.push_back(0.017f * static_cast<float>(c + 1));
        }
        return rig::quantized::from_codes(rows, columns, codes, low, step);
      };
    };
    const rig::plus_times<float> sum;
    const rig::max_second<double> greatest;
    for (const bool per_column : {false, true}) {
      CHECK(converts_alike(sum, coded(per_column)));
      CHECK(converts_alike(greatest, coded(per_column)));
    }
    CHECK(converts_alike(sum, stored(rig::half())));
    CHECK(converts_alike(sum, stored(double())));
    CHECK(converts_alike(greatest, stored(rig::bfloat16())));
    CHECK(converts_alike(greatest, stored(rig::int32())));
  }
}

TEST_CASE("every number of threads is served") {
  const shape rows = row_lengths_shape();
  trial_spec spec;
  spec.of = &rows;
  spec.features = 100;
  trial<rig::plus_times<float>, float, float, float> t(spec);
  for (const char* const name : serving(t)) CHECK(t.run(name, 1 << 30) == "");
}

/// Rows of 0 to 40 entries in several windows of slices, the last of which is not whole.
rig::matrix<bool> rows_of_slices() {
  random_bits random(test_seed() + 6);
  std::vector<rig::index> i, j;
  for (rig::index row = 0; row < 5003; ++row)
    for (const int column : spread(row == 4000 ? 3000 : random.below(41), 5003, random)) {
      i.push_back(row);
      j.push_back(column);
    }
  return rig::matrix<bool>::from_positions(5003, 5003, i, j);
}

TEST_CASE("slices of rows give the sums of whole rows, and serve once they are built") {
  const auto a = rows_of_slices();
  rig::dense<rig::int64> b(a.columns(), 1);
  for (rig::index k = 0; k < b.rows(); ++k) b(k, 0) = k * 7 % 1001 - 500;
  const rig::plus_second<rig::int64> sum;
  for (const bool transposed : {false, true}) {
    const rig::descriptor usual{.transpose_a = transposed, .fill = 3},
        row{.transpose_a = transposed, .fill = 3, .kernel = "row"},
        sell{.transpose_a = transposed, .fill = 3, .kernel = "sell"};
    CHECK(rig::explain(a, b, sum, usual).chosen == "row");
    const auto expected = rig::mxv(a, b, sum, row);
    auto added = expected;
    a.prepare(sell);
    CHECK(rig::explain(a, b, sum, usual).chosen == "sell");
    const auto found = rig::mxv(a, b, sum, usual);
    rig::mxv(added, rig::accumulator::plus, a, b, sum, usual);
    for (rig::index k = 0; k < expected.rows(); ++k) {
      CHECK(found(k, 0) == expected(k, 0));
      const auto& s = a.structure();
      const bool is_empty = !transposed && s.offset(k) == s.offset(k + 1);
      CHECK(added(k, 0) == (is_empty ? 1 : 2) * expected(k, 0));
    }
  }
}

TEST_CASE("slices refuse what they cannot serve") {
  const auto a = rows_of_slices();
  const rig::dense<float> b(a.columns(), 1, 1.0f), wide(a.columns(), 2, 1.0f);
  const rig::descriptor sell{.kernel = "sell"};
  const rig::plus_second<float> sum;
  const auto weighted = rig::generate::random_values(a.with_value(1.0f));
  check_error(rig::errc::cannot, {"one column"}, [&] { rig::mxm(a, wide, sum, sell); });
  check_error(rig::errc::cannot, {"no mask"},
              [&] { rig::mxv(a, b, sum, rig::structure(b), sell); });
  check_error(rig::errc::cannot, {"no values of A"},
              [&] { rig::mxv(weighted, b, rig::plus_times<float>(), sell); });
  check_error(rig::errc::cannot, {"type"},
              [&] { rig::mxv(a, b, rig::plus_second<double>(), sell); });
}

/// Semirings with the usual mistakes of kernels and algebras.
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
  // One entry per row, because the maximum of several would hide a wrong identity.
  const shape thin{"thin", pattern_of(29, 29, [](int i) { return std::vector<int>{i}; })};
  trial_spec spec;
  spec.of = &thin;
  spec.features = 33;
  trial<S, float, float, float> t(spec);
  return t.run("row");
}

TEST_CASE("the oracle detects wrong results") {
  CHECK(verdict_on<rig::plus_times<float>>() == "");
  CHECK(verdict_on<rig::plus_second<float>>() == "");
  CHECK(verdict_on<rig::max_second<float>>() == "");
  CHECK(verdict_on<max_from_zero>() != "");
  CHECK(verdict_on<sum_of_lefts>() != "");
  CHECK(verdict_on<last_one_lost>() != "");
}

}  // namespace
