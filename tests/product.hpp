#pragma once

// One product, run by the oracle and by the library, and the comparison of the two results.

#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "battery.hpp"
#include "rig/mxm.hpp"

template <class T>
inline constexpr oracle::kind kind_of = [] {
  if constexpr (std::is_same_v<T, bool>)
    return oracle::kind::boolean;
  else if constexpr (std::is_same_v<T, int>)
    return oracle::kind::int32;
  else if constexpr (std::is_same_v<T, long>)
    return oracle::kind::int64;
  else if constexpr (std::is_same_v<T, float>)
    return oracle::kind::float32;
  else if constexpr (std::is_same_v<T, double>)
    return oracle::kind::float64;
  else if constexpr (std::is_same_v<T, rig::half>)
    return oracle::kind::half;
  else {
    static_assert(std::is_same_v<T, rig::bfloat16>);
    return oracle::kind::bfloat16;
  }
}();

template <class T>
oracle::number to_number(T x) {
  if constexpr (std::is_same_v<T, rig::half>)
    return oracle::decode(x.bits, 5);
  else if constexpr (std::is_same_v<T, rig::bfloat16>)
    return oracle::decode(x.bits, 8);
  else
    return static_cast<oracle::number>(x);
}

/// Converts x to T, which holds it exactly.
template <class T>
T from_number(oracle::number x) {
  T out{};
  if constexpr (std::is_same_v<T, rig::half>)
    out.bits = oracle::encode(x, 5);
  else if constexpr (std::is_same_v<T, rig::bfloat16>)
    out.bits = oracle::encode(x, 8);
  else
    out = static_cast<T>(x);
  return out;
}

/// An array of T, because std::vector<bool> is not an array.
template <class T>
struct array {
  std::unique_ptr<T[]> data;
  std::size_t size = 0;
  explicit array(std::size_t count = 0) : data(new T[count]()), size(count) {}
  explicit array(const std::vector<oracle::number>& from) : array(from.size()) {
    for (std::size_t p = 0; p < size; ++p) data[p] = from_number<T>(from[p]);
  }
  std::span<const T> span() const { return {data.get(), size}; }
};

/// The kind of values to draw.
enum class draw {
  quarters,  ///< multiples of 1/4 in [−4, 4], zeros among them: sums are exact
  reals,     ///< magnitudes within 2^±8; integers use all their bits, so that they overflow
  extremes,  ///< reals with infinities, NaN, ends of ranges and zeros among them
};

inline oracle::number draw_number(oracle::kind k, draw how, random_bits& random) {
  using oracle::kind;
  if (k == kind::boolean) return random.below(3) != 0;
  const bool integral = oracle::is_integral(k);
  if (how == draw::extremes && random.below(12) == 0) {
    const oracle::number ends[] = {oracle::least(k), oracle::greatest(k), 0,
                                   integral ? 1 : std::numeric_limits<oracle::number>::quiet_NaN()};
    return ends[random.below(4)];
  }
  if (how == draw::quarters) return integral ? random.below(9) - 4 : (random.below(33) - 16) / 4.0L;
  if (k == kind::int32) return static_cast<int>(random.next());
  if (k == kind::int64) return static_cast<long>(random.next());
  const oracle::number x = std::ldexp(random.unit() * 2 - 1, random.below(17) - 8);
  return oracle::convert(kind::float64, k, static_cast<double>(x));
}

/// A dense view of the caller's memory with a gap after each row, which products must not write.
template <class T>
struct padded {
  static constexpr unsigned char untouched = 0xa5;
  int rows, columns, stride;
  std::vector<unsigned char> memory;

  padded(const oracle::full& from, int gap)
      : rows(from.rows),
        columns(from.columns),
        stride(from.columns + gap),
        memory(static_cast<std::size_t>(rows) * stride * sizeof(T) + sizeof(T), untouched) {
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) data()[at(i, j)] = from_number<T>(from.at(i, j));
  }
  std::size_t at(int i, int j) const { return static_cast<std::size_t>(i) * stride + j; }
  T* data() { return reinterpret_cast<T*>(memory.data()); }
  rig::dense<T> view() { return rig::dense<T>::view(data(), rows, columns, stride); }
  bool gaps_untouched() const {
    for (int i = 0; i < rows; ++i)
      for (std::size_t b = at(i, columns) * sizeof(T); b < at(i + 1, 0) * sizeof(T); ++b)
        if (memory[b] != untouched) return false;
    return memory.back() == untouched;
  }
};

/// The same elements in a place; nothing is copied if they are there already.
template <class T>
rig::dense<T> placed(rig::dense<T> d, rig::place where) {
  if (d.where() == where) return d;
  return d.to(where);
}

enum class mask_over { nothing, matrix, dense };

/// The settings of one trial, except its types.
struct trial_spec {
  std::string name;
  const shape* of = nullptr;
  int features = 1;
  draw values = draw::quarters;
  unsigned long seed = 1;
  bool transpose_a = false, transpose_b = false, iso = false, offsets_64 = false, strided = false;
  mask_over over = mask_over::nothing;
  bool structural = false, complemented = false, replace = false;
  bool creates_result = true;  ///< the result is new; otherwise C exists before the call
  rig::accumulator accumulator = rig::none;
  std::optional<double> fill;
  bool reproducible = true;
  rig::precision precision = rig::precision::full;
  int bound = 1;  ///< the kernel's bound over that of sums which round each term to nearest
  std::optional<rig::ranges> quantized;  ///< if set, B of float is quantized with these ranges
  rig::place where = rig::cpu();
  oracle::sparse (*sample)(const oracle::sparse&,
                           int width) = nullptr;  ///< if set, the entries that the kernel samples
  int width = 0;
  bool rescale = false;
  int top_k = 0;         ///< if not 0, MaxK retains this many elements per row of B
  bool as_cbsr = false;  ///< the caller selects and passes a cbsr
  int stored = 0;  ///< if not 0, the mask is the structure of a cbsr with this many columns per row
};

inline std::optional<oracle::op> operator_of(rig::accumulator how) {
  using rig::accumulator;
  switch (how) {
    case accumulator::plus:
      return oracle::op::plus;
    case accumulator::minus:
      return oracle::op::minus;
    case accumulator::times:
      return oracle::op::times;
    case accumulator::divide:
      return oracle::op::divide;
    case accumulator::minimum:
      return oracle::op::minimum;
    case accumulator::maximum:
      return oracle::op::maximum;
    case accumulator::first:
      return oracle::op::first;
    case accumulator::second:
      return oracle::op::second;
    case accumulator::logical_or:
      return oracle::op::logical_or;
    case accumulator::logical_and:
      return oracle::op::logical_and;
    default:
      return std::nullopt;
  }
}

/// The types of one trial.
struct trial_types {
  std::string semiring;
  oracle::kind algebra, a, b, c, m;
};

/// The operands of one trial and the oracle's result, as numbers: code that no type of the trial
/// touches is compiled once.
class trial_data {
 protected:
  trial_data(const trial_spec& spec, const trial_types& of) : spec_(spec) {
    random_bits random(spec.seed);
    a_ = spec.of->pattern;
    iso_ = draw_number(of.a, spec.values, random);
    for (auto& x : a_.values) x = spec.iso ? iso_ : draw_number(of.a, spec.values, random);
    b_ = draw_full(a_.columns, spec.features, of.b, random);
    if (spec.quantized) draw_codes(random);
    if (spec.top_k > 0) select_top_k();
    c_ = draw_full(a_.rows, spec.features, of.c, random);
    indices_ = draw_full(a_.rows, spec.features, oracle::kind::int32, random);
    for (auto& x : indices_.values) x = random.below(4) - 1;
    mask_ =
        random_pattern(spec.over == mask_over::matrix ? a_.rows : 0, spec.features, 0.4, random);
    for (auto& x : mask_.values) x = draw_number(of.m, draw::quarters, random);
    full_mask_ =
        draw_full(spec.over == mask_over::dense ? a_.rows : 0, spec.features, of.m, random);
    for (auto& x : full_mask_.values) x = random.below(2) * x;
    for (int i = 0; spec.stored > 0 && i < a_.rows; ++i) {
      std::vector<int> row = every_column(spec.features);
      for (int p = 0; p < spec.stored; ++p)
        std::swap(row[p], row[p + random.below(spec.features - p)]);
      std::sort(row.begin(), row.begin() + spec.stored);
      stored_columns_.insert(stored_columns_.end(), row.begin(), row.begin() + spec.stored);
    }
    expect(of);
    if (spec.transpose_a) a_ = oracle::transpose(a_);
    if (spec.transpose_b) b_ = oracle::transpose(b_);
  }

  /// B in the form that the call receives.
  rig::quantized quantized_b() const {
    std::vector<unsigned char> codes = codes_;
    if (spec_.transpose_b)  // b_ is transposed already
      for (std::size_t p = 0; p < codes.size(); ++p) {
        const std::size_t rows = static_cast<std::size_t>(b_.rows),
                          columns = static_cast<std::size_t>(b_.columns);
        codes[p] = codes_[p % columns * rows + p / columns];
      }
    return rig::quantized::from_codes(b_.rows, b_.columns, codes, low_, step_).to(spec_.where);
  }

  std::string differs(int i, int j, oracle::number x, const int* index = nullptr) const {
    const oracle::place& want = expected_.at(i, j);
    if (want.allows(x) && (index == nullptr || *index == want.index)) return "";
    std::ostringstream out;
    out.precision(20);
    out << "(" << i << ", " << j << ") is " << x << ", should be " << want.low << " … " << want.high
        << (want.nan ? " NaN" : "");
    if (index != nullptr) out << "; index " << *index << ", should be " << want.index;
    return out.str();
  }

  trial_spec spec_;
  oracle::sparse a_, mask_;
  oracle::number iso_;
  oracle::full b_, c_, indices_, full_mask_;
  std::vector<unsigned char> codes_;
  std::vector<char> retained_;
  std::vector<int> stored_columns_;
  std::vector<float> low_, step_;
  oracle::result expected_;

 private:
  /// Draws codes and ranges; B becomes the numbers that they stand for.
  void draw_codes(random_bits& random) {
    const draw how = spec_.values == draw::extremes ? draw::reals : spec_.values;
    const int ranges = *spec_.quantized == rig::ranges::column ? b_.columns : 1;
    for (int r = 0; r < ranges; ++r) {
      low_.push_back(static_cast<float>(draw_number(oracle::kind::float32, how, random)));
      const auto step = static_cast<float>(draw_number(oracle::kind::float32, how, random));
      // Steps of reals are divided, so that codes up to 255 keep the numbers within the usual
      // magnitudes.
      step_.push_back(std::fabs(step) * (how == draw::quarters ? 1 : 1 / 256.0f));
    }
    for (std::size_t p = 0; p < b_.values.size(); ++p) {
      const std::size_t range = ranges == 1 ? 0 : p % static_cast<std::size_t>(ranges);
      codes_.push_back(static_cast<unsigned char>(random.below(256)));
      b_.values[p] = std::fma(step_[range], static_cast<float>(codes_[p]), low_[range]);
    }
  }

  /// Selects the elements of every row that MaxK retains, by sorting the row.
  void select_top_k() {
    retained_.assign(b_.values.size(), 0);
    for (int i = 0; i < b_.rows; ++i) {
      std::vector<int> row = every_column(b_.columns);
      std::stable_sort(row.begin(), row.end(), [&](int j, int l) {
        const oracle::number x = b_.at(i, j), y = b_.at(i, l);
        return std::isnan(y) ? false : std::isnan(x) || x > y;
      });
      for (int p = 0; p < spec_.top_k; ++p)
        retained_[static_cast<std::size_t>(i) * b_.columns + row[p]] = 1;
    }
  }

  oracle::full draw_full(int rows, int columns, oracle::kind k, random_bits& random) const {
    oracle::full out{rows, columns,
                     std::vector<oracle::number>(static_cast<std::size_t>(rows) * columns)};
    for (auto& x : out.values) x = draw_number(k, spec_.values, random);
    return out;
  }

  void expect(const trial_types& of) {
    oracle::call q;
    q.semiring = of.semiring;
    q.type = of.algebra;
    const oracle::sparse sampled = spec_.sample ? spec_.sample(a_, spec_.width) : a_;
    q.a = &sampled;
    if (spec_.rescale) q.rescaled_to = &a_;
    q.rounds = (spec_.quantized || spec_.bound > 1) && spec_.values != draw::quarters;
    q.bound = spec_.bound;
    q.b = &b_;
    if (spec_.top_k > 0) q.b_stored = &retained_;
    q.a_kind = of.a;
    q.b_kind = of.b;
    q.c_kind = of.c;
    q.replace = spec_.replace;
    q.fill = spec_.fill;
    q.accumulator = operator_of(spec_.accumulator);
    q.own = spec_.accumulator == rig::accumulator::own;
    if (spec_.over == mask_over::matrix) q.mask.matrix = &mask_;
    if (spec_.over == mask_over::dense) q.mask.dense = &full_mask_;
    q.mask.structural = spec_.structural;
    q.mask.complemented = spec_.complemented;
    if (!spec_.creates_result) q.c = &c_;
    if (!spec_.creates_result) q.c_indices = &indices_;
    expected_ = oracle::multiply(q);
  }
};

/// One product over S, with A, B, C and masks stored as TA, TB, TC and TM. The oracle computes it
/// once; then any number of kernels run it.
template <class S, class TA, class TB, class TC, class TM = float>
class trial : trial_data {
 public:
  using algebra_type = typename S::left;
  static constexpr bool indexed = rig::is_indexed<rig::output<S>>;

  explicit trial(const trial_spec& spec)
      : trial_data(spec, {std::string(S::name), kind_of<algebra_type>, kind_of<TA>, kind_of<TB>,
                          kind_of<TC>, kind_of<TM>}),
        values_(a_.values),
        iso_value_(from_number<TA>(iso_)) {}
  trial(const trial&) = delete;

  rig::descriptor describe(const char* kernel, int threads) const {
    rig::descriptor desc;
    desc.transpose_a = spec_.transpose_a;
    desc.transpose_b = spec_.transpose_b;
    desc.replace = spec_.replace;
    if (spec_.fill) desc.fill = rig::is_integer<TC> ? std::trunc(*spec_.fill) : *spec_.fill;
    desc.kernel = kernel;
    desc.reproducible = spec_.reproducible;
    desc.precision = spec_.precision;
    desc.threads = threads;
    desc.width = spec_.width;
    desc.rescale = spec_.rescale;
    desc.k = spec_.top_k;
    return desc;
  }

  /// Runs the product like `run`, under the structure of a cbsr with `stored` columns per row.
  std::string run_under_cbsr(const char* kernel, int threads = 0,
                             std::vector<unsigned char>* bytes = nullptr) {
    const rig::descriptor desc = describe(kernel, threads);
    const auto a =
        make_matrix<TA>(a_, values_, spec_.iso, iso_value_, spec_.offsets_64).to(spec_.where);
    padded<TB> b(b_, spec_.strided ? 3 : 0);
    const std::vector<TM> ones(stored_columns_.size());
    const auto mask = rig::cbsr<TM>::from(expected_.rows, expected_.columns, spec_.stored,
                                          std::span<const TM>(ones), stored_columns_)
                          .to(spec_.where);
    const auto made =
        rig::mxm<TC>(a, placed(b.view(), spec_.where), S{}, rig::structure(mask), desc);
    if (made.indices() != mask.indices()) return "the pattern is not the mask's";
    const auto got = made.to(rig::cpu());
    for (std::size_t p = 0; p < stored_columns_.size(); ++p) {
      const int i = static_cast<int>(p) / spec_.stored, j = stored_columns_[p];
      if (const std::string wrong = differs(i, j, to_number(got.values()[p])); !wrong.empty())
        return wrong;
    }
    const auto* const first = reinterpret_cast<const unsigned char*>(got.values());
    if (bytes != nullptr) bytes->assign(first, first + stored_columns_.size() * sizeof(TC));
    return "";
  }

  /// Runs the product; returns the difference from the oracle in words, or nothing. `bytes`, if
  /// given, receives the result's bytes.
  std::string run(const char* kernel, int threads = 0,
                  std::vector<unsigned char>* bytes = nullptr) {
    const rig::descriptor desc = describe(kernel, threads);
    const auto a =
        make_matrix<TA>(a_, values_, spec_.iso, iso_value_, spec_.offsets_64).to(spec_.where);
    padded<TB> b(b_, spec_.strided ? 3 : 0);
    if (spec_.over == mask_over::matrix) {
      const array<TM> values(mask_.values);
      const auto m = make_matrix<TM>(mask_, values, false, TM(), spec_.offsets_64).to(spec_.where);
      return product(a, b, in_words(m), desc, bytes);
    }
    if (spec_.over == mask_over::dense) {
      padded<TM> values(full_mask_, spec_.strided ? 1 : 0);
      const rig::dense<TM> m = placed(values.view(), spec_.where);
      return product(a, b, in_words(m), desc, bytes);
    }
    return product(a, b, rig::no_mask{}, desc, bytes);
  }

 private:
  /// B as a cbsr.
  auto retained_b() const {
    std::vector<TB> values;
    std::vector<int> columns;
    for (std::size_t p = 0; p < retained_.size(); ++p) {
      if (!retained_[p]) continue;
      values.push_back(from_number<TB>(b_.values[p]));
      columns.push_back(static_cast<int>(p) % b_.columns);
    }
    return rig::cbsr<TB>::from(b_.rows, b_.columns, spec_.top_k, std::span<const TB>(values),
                               columns)
        .to(spec_.where);
  }

  template <class T>
  rig::matrix<T> make_matrix(const oracle::sparse& from, const array<T>& values, bool iso,
                             T iso_value, bool wide) const {
    const std::span<const int> inner(from.inner);
    if (iso)
      return rig::matrix<T>::from_csr(from.rows, from.columns, std::span<const long>(from.offsets),
                                      inner, rig::input::checked, iso_value);
    if (wide)
      return rig::matrix<T>::view(from.rows, from.columns, std::span<const long>(from.offsets),
                                  inner, values.span());
    return rig::matrix<T>::from_csr(from.rows, from.columns, std::span<const long>(from.offsets),
                                    inner, values.span());
  }

  template <class Container>
  rig::mask<Container> in_words(const Container& m) const {
    const auto of = spec_.structural ? rig::structure(m) : rig::values(m);
    return spec_.complemented ? rig::complement(of) : of;
  }

  template <class Mask>
  std::string product(const rig::matrix<TA>& a, padded<TB>& b, const Mask& mask,
                      const rig::descriptor& desc, std::vector<unsigned char>* bytes) {
    if constexpr (std::is_same_v<TB, float>)
      if (spec_.quantized) return product_with(a, quantized_b(), mask, desc, bytes);
    if constexpr (rig::is_float<TB> || rig::is_small_float<TB>)
      if (spec_.as_cbsr) return product_with(a, retained_b(), mask, desc, bytes);
    const std::vector<unsigned char> before = b.memory;
    const std::string wrong = product_with(a, placed(b.view(), spec_.where), mask, desc, bytes);
    return b.memory != before ? "B was written" : wrong;
  }

  template <class Right, class Mask>
  std::string product_with(const rig::matrix<TA>& a, const Right& right, const Mask& mask,
                           const rig::descriptor& desc, std::vector<unsigned char>* bytes) {
    constexpr bool masked = !std::is_same_v<Mask, rig::no_mask>;
    rig::mxm_result<TC, S> made;
    padded<TC> c(c_, spec_.strided ? 5 : 0);
    padded<int> indices(indices_, spec_.strided ? 2 : 0);
    if (spec_.creates_result) {
      if constexpr (masked)
        made = rig::mxm<TC>(a, right, S{}, mask, desc);
      else
        made = rig::mxm<TC>(a, right, S{}, desc);
    } else {
      if constexpr (indexed) {
        made.values = placed(c.view(), spec_.where);
        made.indices = placed(indices.view(), spec_.where);
      } else {
        made = placed(c.view(), spec_.where);
      }
      if constexpr (masked)
        rig::mxm(made, spec_.accumulator, a, right, S{}, mask, desc);
      else
        rig::mxm(made, spec_.accumulator, a, right, S{}, desc);
      if (!c.gaps_untouched() || !indices.gaps_untouched()) return "a gap after a row was written";
    }
    if constexpr (indexed) {
      const rig::dense<int> found = placed(std::move(made.indices), rig::cpu());
      return compare(placed(std::move(made.values), rig::cpu()), &found, bytes);
    } else {
      return compare(placed(std::move(made), rig::cpu()), nullptr, bytes);
    }
  }

  std::string compare(const rig::dense<TC>& got, const rig::dense<int>* indices,
                      std::vector<unsigned char>* bytes) const {
    std::ostringstream out;
    if (got.rows() != expected_.rows || got.columns() != expected_.columns) {
      out << "the result is " << got.rows() << "x" << got.columns();
      return out.str();
    }
    for (int i = 0; i < expected_.rows; ++i)
      for (int j = 0; j < expected_.columns; ++j) {
        const int* const index = indices != nullptr ? &(*indices)(i, j) : nullptr;
        if (const std::string wrong = differs(i, j, to_number(got(i, j)), index); !wrong.empty())
          return wrong;
      }
    if (bytes == nullptr) return "";
    const auto keep = [&](const auto& d) {
      for (int i = 0; i < d.rows(); ++i) {
        const auto* row = reinterpret_cast<const unsigned char*>(d.row(i).data());
        bytes->insert(bytes->end(), row, row + d.row(i).size_bytes());
      }
    };
    keep(got);
    if (indices != nullptr) keep(*indices);
    return "";
  }

  array<TA> values_;
  TA iso_value_;
};
