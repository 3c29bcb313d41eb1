// Memory that runs out: every allocation of every call is made to fail in turn. The error is
// out_of_memory, inputs and C stay, nothing leaks. And what a product allocates at all.

#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "rig/cbsr.hpp"
#include "rig/mxm.hpp"

namespace {

constexpr long never = -1;

// Atomic, because the threads of a kernel may allocate too.
std::atomic<long> until_failure{never};  // calls that still succeed
std::atomic<bool> goes_on_failing{false};
std::atomic<bool> failed{false};
std::atomic<long> live{0}, bytes_asked{0};

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (until_failure != never) {
    if (until_failure == 0) {
      failed = true;
      if (!goes_on_failing) until_failure = never;
      return nullptr;
    }
    --until_failure;
  }
  const std::size_t rounded = (bytes + alignment) / alignment * alignment;
  void* p = std::aligned_alloc(alignment, rounded);
  if (p == nullptr) return nullptr;
  ++live;
  bytes_asked += static_cast<long>(bytes);
  return p;
}
void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  void* p = allocate(bytes, alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
void release(void* p) noexcept {
  if (p == nullptr) return;
  --live;
  std::free(p);
}
constexpr std::size_t usual = alignof(std::max_align_t);

}  // namespace

void* operator new(std::size_t n) { return allocate_or_throw(n, usual); }
void* operator new[](std::size_t n) { return allocate_or_throw(n, usual); }
void* operator new(std::size_t n, std::align_val_t a) {
  return allocate_or_throw(n, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t n, std::align_val_t a) {
  return allocate_or_throw(n, static_cast<std::size_t>(a));
}
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return allocate(n, usual); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return allocate(n, usual); }
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(n, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(n, static_cast<std::size_t>(a));
}
void operator delete(void* p) noexcept { release(p); }
void operator delete[](void* p) noexcept { release(p); }
void operator delete(void* p, std::size_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t) noexcept { release(p); }
void operator delete(void* p, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::align_val_t) noexcept { release(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { release(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { release(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { release(p); }
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept { release(p); }
void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept { release(p); }

namespace {

using rig::dense;
using rig::index;
using rig::matrix;

struct outcome {
  int failures = 0;    ///< allocations that failed with error(out_of_memory)
  int others = 0;      ///< anything else that was thrown
  bool intact = true;  ///< no failure changed what `intact()` looks at
  long leaked = 0;     ///< allocations more than before, after a failure
};

/// Lets the first, second, third … allocation of `work` fail, alone or with all after it, until
/// `work` needs no more of them. `prepare` makes a fresh start for each attempt.
template <class Prepare, class Work, class Intact>
outcome count_down(bool all_after_it, Prepare prepare, Work work, Intact intact) {
  outcome out;
  for (long n = 0; n < 10000; ++n) {
    prepare();
    const long before = live;
    failed = false;
    goes_on_failing = all_after_it;
    until_failure = n;
    try {
      work();
      until_failure = never;
    } catch (const rig::error& e) {
      until_failure = never;
      ++(e.code() == rig::errc::out_of_memory ? out.failures : out.others);
      out.intact = out.intact && intact();
    } catch (...) {
      until_failure = never;
      ++out.others;
    }
    // A nothrow allocation may fail without an error: a sort does without its buffer then.
    if (!failed) return out;
    prepare();  // drops forms that were built before the failure and are rightly kept
    out.leaked += live - before;
  }
  out.others = -1;
  return out;
}

template <class Prepare, class Work, class Intact>
void check_every_failure(int at_least, Prepare prepare, Work work, Intact intact) {
  for (const bool all_after_it : {false, true}) {
    // Once for what is made once and kept: threads, tables of the standard library.
    prepare();
    work();
    const outcome out = count_down(all_after_it, prepare, work, intact);
    CHECK(out.failures >= at_least);
    CHECK(out.others == 0);
    CHECK(out.intact);
    CHECK(out.leaked == 0);
  }
}

const auto nothing = [] {};
const auto always = [] { return true; };

struct operands {
  matrix<float> a;
  dense<float> b{60, 60, 1.0f}, c{60, 60, 42.0f};

  operands() {
    std::vector<index> i, j;
    std::vector<float> v;
    for (index k = 0; k < 60; ++k)
      for (const index step : {1, 7, 20}) {
        i.push_back(k);
        j.push_back((k + step) % 60);
        v.push_back(static_cast<float>(step));
      }
    a = matrix<float>::from_tuples(60, 60, i, j, v);
  }
  bool intact() const {
    for (index i = 0; i < 60; ++i)
      for (index j = 0; j < 60; ++j)
        if (c(i, j) != 42 || b(i, j) != 1) return false;
    return a.nnz() == 180 && a.value(0) == 1;
  }
};

TEST_CASE("products") {
  operands o;
  const auto fresh_forms = [&] { o.a.drop_forms(); };
  const auto intact = [&] { return o.intact(); };
  const rig::plus_times<float> s;
  for (const bool ta : {false, true})
    for (const bool tb : {false, true})
      for (const char* kernel : {"", "row", "split", "adaptive"}) {
        const rig::descriptor desc{
            .transpose_a = ta, .transpose_b = tb, .kernel = kernel, .width = 2, .rescale = true};
        check_every_failure(
            2 + ta * 4 + tb, fresh_forms, [&] { static_cast<void>(rig::mxm(o.a, o.b, s, desc)); },
            intact);
        check_every_failure(
            2, fresh_forms,
            [&] { static_cast<void>(rig::mxm(o.a, o.b, s, rig::values(o.c), desc)); }, intact);
        // C holds another value after a success, so each attempt starts with its own.
        dense<float> c(60, 60);
        const auto again = [&] {
          fresh_forms();
          for (index i = 0; i < 60; ++i) std::fill_n(c.row(i), 60, 42.0f);
        };
        const auto c_intact = [&] { return c(0, 0) == 42 && c(59, 59) == 42 && o.intact(); };
        check_every_failure(
            1, again, [&] { rig::mxm(c, rig::accumulator::plus, o.a, o.b, s, desc); }, c_intact);
      }
}

TEST_CASE("aliased and indexed products") {
  operands o;
  dense<float> c(60, 60);
  const auto again = [&] {
    o.a.drop_forms();
    for (index i = 0; i < 60; ++i) std::fill_n(c.row(i), 60, 42.0f);
  };
  const auto intact = [&] { return c(0, 0) == 42 && c(59, 59) == 42; };
  const rig::plus_times<float> s;
  check_every_failure(
      2, again, [&] { rig::mxm(c, rig::none, o.a, c, s, rig::values(c)); }, intact);
  check_every_failure(
      3, again,
      [&] { rig::mxm(c, rig::none, o.a, c, s, {.transpose_b = true, .kernel = "split"}); }, intact);

  rig::indexed_dense<float> best{dense<float>(60, 60), dense<int>(60, 60)};
  const auto once_more = [&] {
    o.a.drop_forms();
    best.values(0, 0) = 42;
    best.indices(0, 0) = 42;
  };
  const auto best_intact = [&] { return best.values(0, 0) == 42 && best.indices(0, 0) == 42; };
  const rig::arg_max_second<float> arg;
  check_every_failure(
      4, once_more, [&] { static_cast<void>(rig::mxm(o.a, o.b, arg)); }, best_intact);
  check_every_failure(
      3, once_more, [&] { rig::mxm(best, rig::none, o.a, best.values, arg, {.kernel = "split"}); },
      best_intact);
}

TEST_CASE("maxk, and products with what it keeps") {
  operands o;
  const auto fresh_forms = [&] { o.a.drop_forms(); };
  const auto intact = [&] { return o.intact(); };
  const rig::plus_times<float> s;
  const rig::cbsr<float> y = rig::maxk(o.b, 5);
  check_every_failure(
      3, nothing, [&] { static_cast<void>(rig::maxk(o.b, 5)); }, intact);
  check_every_failure(
      1, nothing, [&] { static_cast<void>(rig::to_dense(y)); }, intact);
  check_every_failure(
      1, nothing, [&] { static_cast<void>(rig::maxk_gradient(o.b, y)); }, intact);
  check_every_failure(
      2, fresh_forms, [&] { static_cast<void>(rig::mxm(o.a, y, s)); }, intact);
  check_every_failure(
      4, fresh_forms, [&] { static_cast<void>(rig::mxm(o.a, o.b, s, {.kernel = "maxk", .k = 5})); },
      intact);
  check_every_failure(
      4, fresh_forms,
      [&] { static_cast<void>(rig::mxm(o.a, o.b, s, rig::structure(y), {.transpose_a = true})); },
      intact);
}

TEST_CASE("a row that is cut") {
  std::vector<index> i(70000, 1), j(70000);
  for (index k = 0; k < 70000; ++k) j[k] = k;
  const auto a = matrix<float>::from_positions(3, 70000, i, j);
  const dense<float> b(70000, 2, 1.0f);
  check_every_failure(
      3, [&] { a.drop_forms(); },
      [&] { static_cast<void>(rig::mxm(a, b, rig::plus_times<float>{}, {.kernel = "split"})); },
      always);
}

TEST_CASE("construction") {
  const std::vector<index> i{1, 0, 1, 1}, j{2, 0, 2, 0};
  const std::vector<float> v{1, 2, 3, 4};
  const auto sum = [](float x, float y) { return x + y; };
  check_every_failure(
      5, nothing, [&] { matrix<float>::from_tuples(2, 3, i, j, v, sum); }, always);
  check_every_failure(
      3, nothing, [&] { matrix<float>::from_positions(2, 3, i, j, 1.0f, true); }, always);
  check_every_failure(
      2, nothing, [&] { matrix<float>(5, 5); }, always);
  check_every_failure(
      2, nothing, [&] { matrix<float>(); }, always);

  const std::vector<long> offsets{0, 2, 4}, wide_columns{2, 0, 0, 1};
  const std::vector<int> columns{2, 0, 0, 1};
  const std::span<const long> o(offsets);
  const std::span<const float> values(v);
  check_every_failure(
      3, nothing,
      [&] {
        matrix<float>::from_csr(2, 3, o, std::span<const int>(columns), values, rig::input::sorted);
      },
      always);
  check_every_failure(
      4, nothing,
      [&] {
        matrix<float>::from_csr(2, 3, o, std::span<const long>(wide_columns), values,
                                rig::input::sorted);
      },
      always);
  check_every_failure(
      2, nothing,
      [&] {
        matrix<float>::from_csr(2, 3, o, std::span<const int>(columns), rig::input::sorted, 1.0f);
      },
      always);
  check_every_failure(
      1, nothing,
      [&] {
        matrix<float>::view(2, 3, o, std::span<const int>(columns), values, rig::input::trusted);
      },
      always);

  const operands kept;
  const std::vector<double> weights(180, 0.5);
  check_every_failure(
      1, nothing, [&] { kept.a.with_values(std::span<const double>(weights)); }, always);
  check_every_failure(
      1, nothing, [&] { dense<float>(30, 30); }, always);
  check_every_failure(
      1, nothing, [&] { const dense<float> copy = kept.b; }, always);
}

TEST_CASE("forms and explain") {
  operands o;
  const auto none = [&] { return o.a.forms().empty() || o.a.forms().size() < 2; };
  check_every_failure(
      5, [&] { o.a.drop_forms(); }, [&] { o.a.prepare({.transpose_a = true}); }, none);
  o.a.prepare({.transpose_a = true});
  check_every_failure(
      1, nothing, [&] { o.a.forms(); }, always);
  check_every_failure(
      3, [&] { o.a.drop_forms(); },
      [&] { static_cast<void>(rig::explain(o.a, o.b, rig::plus_times<float>{})); }, always);
}

/// Bytes that `work` asks for.
template <class Work>
long bytes_of(Work work) {
  const long before = bytes_asked;
  work();
  return bytes_asked - before;
}

TEST_CASE("a product allocates its result, and scratch for its threads") {
  constexpr index n = 20000, f = 64;
  std::vector<index> i, j;
  for (index k = 0; k < n; ++k)
    for (index step = 1; step <= 8; ++step) {
      i.push_back(k);
      j.push_back((k + step * 17) % n);
    }
  const auto a = matrix<float>::from_positions(n, n, i, j);
  const dense<float> b(n, f, 1.0f);
  dense<float> c(n, f);
  const rig::plus_times<float> s;
  // 32 pieces of a long row, and the control blocks of what is shared.
  constexpr long scratch = 32 * f * static_cast<long>(sizeof(float)) + 4096;
  constexpr long result = static_cast<long>(n) * f * static_cast<long>(sizeof(float));
  for (const char* kernel : {"", "row", "split"})
    for (const int threads : {1, 2, 7}) {
      const rig::descriptor desc{.kernel = kernel, .threads = threads};
      a.drop_forms();
      CHECK(bytes_of([&] { rig::mxm(c, rig::none, a, b, s, desc); }) <= scratch);
      CHECK(bytes_of([&] { rig::mxm(c, rig::accumulator::plus, a, b, s, rig::values(b), desc); }) <=
            scratch);
      const long fresh = bytes_of([&] { static_cast<void>(rig::mxm(a, b, s, desc)); });
      CHECK(fresh >= result);
      CHECK(fresh <= result + scratch);
    }
}

}  // namespace
