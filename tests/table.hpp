#pragma once

// The table: every kernel of a place with semirings, shapes, feature widths and variants of the
// call. A semiring steps through them at different rates and skips most combinations. The tally
// asserts that every pair occurred.

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "product.hpp"

struct variant {
  const char* name;
  void (*apply)(trial_spec&);
};

inline void mask_with(trial_spec& s, mask_over over, bool structural, bool complemented) {
  s.over = over;
  s.structural = structural;
  s.complemented = complemented;
}
template <rig::accumulator How>
void accumulate_with(trial_spec& s) {
  s.creates_result = false;
  s.accumulator = How;
}

inline const std::vector<variant>& variants() {
  using s = trial_spec&;
  using enum rig::accumulator;
  constexpr auto matrix = mask_over::matrix, dense = mask_over::dense;
  static const std::vector<variant> all = {
      {"plain", [](s) {}},
      {"into", [](s x) { x.creates_result = false; }},
      {"transpose_a", [](s x) { x.transpose_a = true; }},
      {"transpose_b", [](s x) { x.transpose_b = true; }},
      {"both transposed", [](s x) { x.transpose_a = x.transpose_b = true; }},
      {"iso", [](s x) { x.iso = true; }},
      {"iso transposed", [](s x) { x.iso = x.transpose_a = true; }},
      {"int64 offsets", [](s x) { x.offsets_64 = true; }},
      {"int64 offsets transposed", [](s x) { x.offsets_64 = x.transpose_a = true; }},
      {"strided", [](s x) { x.strided = true, x.creates_result = false; }},
      {"strided transpose_b",
       [](s x) { x.strided = x.transpose_b = true, x.creates_result = false; }},
      {"fill", [](s x) { x.fill = -3.5; }},
      {"structure", [](s x) { mask_with(x, matrix, true, false), x.creates_result = false; }},
      {"values", [](s x) { mask_with(x, matrix, false, false), x.creates_result = false; }},
      {"complement structure",
       [](s x) { mask_with(x, matrix, true, true), x.creates_result = false; }},
      {"complement values",
       [](s x) { mask_with(x, matrix, false, true), x.creates_result = false; }},
      {"dense structure", [](s x) { mask_with(x, dense, true, false), x.creates_result = false; }},
      {"dense values", [](s x) { mask_with(x, dense, false, false), x.creates_result = false; }},
      {"dense complement structure",
       [](s x) { mask_with(x, dense, true, true), x.creates_result = false; }},
      {"dense complement values",
       [](s x) { mask_with(x, dense, false, true), x.creates_result = false; }},
      {"fresh structure", [](s x) { mask_with(x, matrix, true, false); }},
      {"fresh complement values", [](s x) { mask_with(x, matrix, false, true), x.fill = 2; }},
      {"fresh dense values", [](s x) { mask_with(x, dense, false, false), x.strided = true; }},
      {"replace",
       [](s x) { mask_with(x, matrix, false, false), x.replace = true, x.creates_result = false; }},
      {"replace fill",
       [](s x) {
         mask_with(x, dense, false, false), x.replace = true, x.creates_result = false, x.fill = 7;
       }},
      {"replace complement",
       [](s x) { mask_with(x, matrix, true, true), x.replace = true, x.creates_result = false; }},
      {"replace without a mask", [](s x) { x.replace = true, x.creates_result = false; }},
      {"own", accumulate_with<own>},
      {"plus", accumulate_with<plus>},
      {"minus", accumulate_with<minus>},
      {"times", accumulate_with<times>},
      {"divide", accumulate_with<divide>},
      {"minimum", accumulate_with<minimum>},
      {"maximum", accumulate_with<maximum>},
      {"first", accumulate_with<first>},
      {"second", accumulate_with<second>},
      {"logical_or", accumulate_with<logical_or>},
      {"logical_and", accumulate_with<logical_and>},
      {"plus masked", [](s x) { accumulate_with<plus>(x), mask_with(x, matrix, false, false); }},
      {"plus replace",
       [](s x) { accumulate_with<plus>(x), mask_with(x, dense, false, true), x.replace = true; }},
      {"own masked strided",
       [](s x) { accumulate_with<own>(x), mask_with(x, matrix, true, false), x.strided = true; }},
      {"everything",
       [](s x) {
         accumulate_with<maximum>(x), mask_with(x, matrix, false, true);
         x.replace = x.strided = x.offsets_64 = x.transpose_a = x.transpose_b = true;
         x.fill = 1.25;
       }},
  };
  return all;
}

/// RIG_TEST_CASES=1 prints the cases of each table.
inline const bool prints_cases = std::getenv("RIG_TEST_CASES") != nullptr;

/// Counts the cases of a table that each kernel served.
class tally {
 public:
  explicit tally(rig::place where) : where_(where) {}
  tally(const tally&) = delete;
  /// A table in which no kernel served a case proves nothing.
  ~tally() {
    if (std::uncaught_exceptions() > 0) return;
    long served = 0;
    for (const auto& [kernel, times] : ran_) served += times;
    CHECK_MESSAGE(served > 0, "no kernel of ", to_string(where_), " served any of ", cases_,
                  " cases");
  }
  rig::place where() const { return where_; }

  /// Runs the trial on every exact kernel of the place that takes a dense B.
  template <class Trial>
  void meet(Trial& t, const std::string& semiring, const trial_spec& spec) {
    ++cases_;
    if (prints_cases)
      std::printf("%s, %s, F = %d, %s, seed %lu\n", semiring.c_str(), spec.of->name.c_str(),
                  spec.features, spec.name.c_str(), spec.seed);
    for (const rig::kernel& k : rig::kernels()) {
      if (k.where != where_.where || k.approximate || k.takes != rig::operands::dense) continue;
      shapes_.insert({k.name, semiring, spec.of->name});
      variants_.insert({k.name, semiring, spec.name});
      std::string wrong;
      try {
        wrong = t.run(k.name);
        ++ran_[k.name];
      } catch (const rig::error& e) {
        if (e.code() == rig::errc::cannot)
          ran_[k.name] += 0;
        else
          wrong = e.what();
      }
      if (!wrong.empty())
        FAIL_CHECK(std::string(k.name), ", ", semiring, ", ", spec.of->name,
                   ", F = ", spec.features, ", ", spec.name, ", seed ", spec.seed, ": ", wrong);
    }
  }

  /// Checks that every (kernel, semiring, shape) and (kernel, semiring, variant) occurred, and that
  /// every kernel ran, except the one that never can.
  void conclude(std::size_t semirings, std::size_t shapes, std::string_view never = {}) const {
    CHECK(!ran_.empty());
    std::size_t exact = 0;
    for (const rig::kernel& k : rig::kernels()) {
      if (k.where != where_.where || k.takes != rig::operands::dense) continue;
      exact += !k.approximate;
      // Other tests cover the kernels that this loop skips: the sampled ones and those of a cbsr.
      CHECK(k.approximate == (k.samples != rig::sampling::whole));
    }
    CHECK(ran_.size() == exact);
    CHECK(shapes_.size() == ran_.size() * semirings * shapes);
    CHECK(variants_.size() == ran_.size() * semirings * variants().size());
    for (const auto& [kernel, times] : ran_) {
      CHECK_MESSAGE((times > 0) == (kernel != never), kernel, " served ", times, " cases");
      std::printf("%s: ran %ld of %ld cases\n", kernel.c_str(), times, cases_);
    }
  }

 private:
  rig::place where_;
  long cases_ = 0;
  std::map<std::string, long> ran_;
  std::set<std::tuple<std::string, std::string, std::string>> shapes_, variants_;
};

/// Replaces an accumulator that the semiring cannot serve by one that it serves.
template <class S>
void normalise(trial_spec& spec) {
  if (spec.accumulator == rig::none) return;
  if (rig::is_indexed<rig::output<S>>)
    spec.accumulator = rig::accumulator::own;
  else if (rig::has_finish<S> && spec.accumulator == rig::accumulator::own)
    spec.accumulator = rig::accumulator::plus;
}

/// Runs all shapes and variants for one semiring over T. `number`, its index in the list, sets the
/// start of the sweep.
template <class S, class T, class TB = T>
void sweep(const std::vector<shape>& shapes, int number, tally& met) {
  const std::string name = std::string(S::name) + " " + std::to_string(number);
  const auto count = static_cast<int>(variants().size());
  const int rounds = count / static_cast<int>(shapes.size()) + 1;
  for (int step = 0; step < rounds * static_cast<int>(shapes.size()); ++step) {
    random_bits random(test_seed() * 1000003 + static_cast<unsigned long>(number) * 1009 + step);
    const variant& v = variants()[static_cast<std::size_t>((step + 5 * number) % count)];
    trial_spec spec;
    spec.name = v.name;
    spec.of = &shapes[static_cast<std::size_t>((step + number) % static_cast<int>(shapes.size()))];
    spec.features = feature_widths[static_cast<std::size_t>(step * 4 + number + step / 11) %
                                   feature_widths.size()];
    spec.seed = random.next();
    spec.values = random.below(8) == 0   ? draw::extremes
                  : random.below(2) == 0 ? draw::reals
                                         : draw::quarters;
    spec.where = met.where();
    spec.reproducible = false;  // because `vendor` refuses reproducible products
    v.apply(spec);
    normalise<S>(spec);
    trial<S, T, TB, T> here(spec);
    met.meet(here, name, spec);
  }
}
