#pragma once

// Threads that are ranks, and what tests of products over ranks compare.

#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "rig/distributed.hpp"

namespace ranks {

/// Runs work(communicator) on each rank, a thread each; returns each rank's exception, or null.
template <class Work>
std::vector<std::exception_ptr> run(int size, const Work& work) {
  std::vector<rig::communicator> all = rig::loopback(size);
  std::vector<std::exception_ptr> thrown(all.size());
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < all.size(); ++k)
    threads.emplace_back([&thrown, &work, k, rank = std::move(all[k])]() mutable {
      const rig::communicator here = std::move(rank);  // left before the thread ends
      try {
        work(here);
      } catch (...) {
        thrown[k] = std::current_exception();
      }
    });
  all.clear();
  for (std::thread& thread : threads) thread.join();
  return thrown;
}

/// The same; throws the first rank's exception.
template <class Work>
void run_all(int size, const Work& work) {
  for (const std::exception_ptr& thrown : run(size, work))
    if (thrown != nullptr) std::rethrow_exception(thrown);
}

template <class T>
bool same_bits(const rig::dense<T>& x, const rig::dense<T>& y) {
  if (x.rows() != y.rows() || x.columns() != y.columns()) return false;
  for (rig::index i = 0; i < x.rows() && x.columns() > 0; ++i)
    if (__builtin_memcmp(x.row(i).data(), y.row(i).data(), x.row(i).size_bytes()) != 0)
      return false;
  return true;
}
template <class T>
bool same_bits(const rig::indexed_dense<T>& x, const rig::indexed_dense<T>& y) {
  return same_bits(x.values, y.values) && same_bits(x.indices, y.indices);
}

}  // namespace ranks
