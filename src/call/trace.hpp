#pragma once

// Lines about calls. While nothing is traced, a call tests a flag.

#include <atomic>
#include <chrono>
#include <memory>
#include <utility>

#include "call/choice.hpp"
#include "rig/kernels/operation.hpp"
#include "rig/trace.hpp"

namespace rig {

/// The set that is traced.
extern std::atomic<trace> traced;

inline bool is_traced(trace one) {
  const auto set = static_cast<unsigned char>(traced.load(std::memory_order_relaxed));
  return (set & static_cast<unsigned char>(one)) != 0;
}

/// Writes a line per kernel that a problem chose from.
void trace_choice(problem& p, const choice& made);

/// A product, or another operation, in the words of a line; `ran`: the kernel, if there is one.
std::string traced_words(const problem& p, const kernel& ran);
std::string traced_words(const operation& o, const kernel* ran);
std::string traced_words(const char* name, const dense_operand& x);

inline double no_traffic() { return 0; }

/// Writes a line with the time from `begin` to destruction, unless the call throws. It outlives the
/// order of streams, after which the place can wait for the call.
class timed_call {
 public:
  timed_call() = default;
  timed_call(const timed_call&) = delete;
  ~timed_call() {
    if (call_ != nullptr) [[unlikely]]
      finish();
  }
  /// `words` describes the call when it has ended, and `bytes` is its predicted traffic, or 0.
  template <class Words, class Bytes = double (*)()>
  void begin(place where, bool is_captured, const Words& words, const Bytes& bytes = no_traffic) {
    if (is_traced(trace::profile)) [[unlikely]]
      start(where, is_captured, words, bytes);
  }

 private:
  struct state;
  void start(place where, bool is_captured, std::function<std::string()> words,
             std::function<double()> bytes);
  void finish() noexcept;
  std::shared_ptr<state> call_;
};

}  // namespace rig
