#pragma once

// An allocator that fails on purpose, for all of the program that includes it, in one file.

#include <doctest/doctest.h>
#include <omp.h>

#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "rig/error.hpp"

namespace {

constexpr long never = -1;

// Atomic, because the threads of a kernel may allocate too.
std::atomic<long> until_failure{never};  // allocations that still succeed
std::atomic<bool> goes_on_failing{false};
std::atomic<bool> failed{false};
std::atomic<std::size_t> most_bytes{SIZE_MAX};  // of an allocation that succeeds
std::atomic<long> live{0}, bytes_asked{0};
/// Allocations inside a parallel region, of one thread too: one that fails there ends the process.
std::atomic<long> in_regions{0};

/// Whether this allocation fails.
bool must_fail(std::size_t bytes) noexcept {
  if (omp_get_level() > 0) ++in_regions;
  if (until_failure != never) {
    if (until_failure == 0) {
      failed = true;
      if (!goes_on_failing) until_failure = never;
      return true;
    }
    --until_failure;
  }
  return bytes > most_bytes;
}
void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (must_fail(bytes)) return nullptr;
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
/// Zeroed words come from here.
extern "C" void* calloc(std::size_t count, std::size_t bytes_each) noexcept {
  const std::size_t bytes = count * bytes_each;
  void* const p = must_fail(bytes) ? nullptr : std::malloc(bytes);
  return p == nullptr ? nullptr : std::memset(p, 0, bytes);
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

struct outcome {
  int failures = 0;    ///< allocations that failed with error(out_of_memory)
  int others = 0;      ///< other exceptions
  bool intact = true;  ///< no failure changed the state that `intact()` checks
  long leaked = 0;     ///< allocations that were live after a failure but not before
};

/// Makes the first, second, third … allocation of `work` fail, alone or with all later ones, until
/// `work` succeeds. `prepare` resets the state before each attempt.
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
    // A failed nothrow allocation raises no error: a sort then works without its buffer.
    if (!failed) return out;
    prepare();  // drops derived structures that the call built before it failed, which may stay
    out.leaked += live - before;
  }
  out.others = -1;
  return out;
}

template <class Prepare, class Work, class Intact>
void check_every_failure(int at_least, Prepare prepare, Work work, Intact intact) {
  for (const bool all_after_it : {false, true}) {
    // The first run makes the objects that stay: threads, and tables of the standard library.
    prepare();
    work();
    const long before = in_regions;
    const outcome out = count_down(all_after_it, prepare, work, intact);
    CHECK(out.failures >= at_least);
    CHECK(out.others == 0);
    CHECK(out.intact);
    CHECK(out.leaked == 0);
    CHECK(in_regions == before);
  }
}

const auto nothing = [] {};
const auto always = [] { return true; };

}  // namespace
