// Lines about calls, for set_trace and RIG_VERBOSE.

#include "call/trace.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <mutex>
#include <string_view>

#include "rig/kernels/erased.hpp"
#include "storage/backend.hpp"

namespace rig {
namespace {

struct named_trace {
  std::string_view name;
  trace what;
};
constexpr named_trace names[] = {
    {"profile", trace::profile}, {"choice", trace::choice}, {"off", trace::off}};

/// What RIG_VERBOSE sets. The library is being loaded, so a wrong word is a line, not an error.
trace from_environment() {
  const char* const given = std::getenv("RIG_VERBOSE");
  trace out = trace::off;
  for (std::string_view rest = given != nullptr ? given : ""; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    const auto* const found =
        std::find_if(std::begin(names), std::end(names),
                     [&](const named_trace& one) { return one.name == word; });
    if (found != std::end(names))
      out = out | found->what;
    else
      std::fprintf(stderr, "RIG_VERBOSE: '%.*s' is none of profile, choice and off\n",
                   static_cast<int>(word.size()), word.data());
  }
  return out;
}

struct sink {
  std::mutex one_at_a_time;
  std::function<void(const std::string&)> to;
};
/// Never destroyed, because calls may run while the process ends.
sink& lines() {
  static sink& made = *new sink;
  return made;
}

void write(const std::string& line) {
  sink& out = lines();
  const std::lock_guard lock(out.one_at_a_time);
  if (!out.to) {
    std::fprintf(stderr, "%s\n", line.c_str());
    return;
  }
  try {
    out.to(line);
  } catch (...) {  // a call does not fail because its line was not taken
    return;
  }
}

std::string in_words(const char* name, const sparse_operand& of) {
  return std::string(",") + name + ":" + shape_text(of.rows, of.columns) + "/" +
         std::to_string(of.nnz);
}
std::string in_words(const char* name, const dense_operand& of) {
  return std::string(",") + name + ":" + shape_text(of.rows, of.columns) +
         (of.k > 0 ? "/" + std::to_string(static_cast<int64>(of.rows) * of.k) : "");
}
std::string in_words(const char* name, const operand& of) {
  if (of.what == operand::kind::absent) return "";
  return of.what == operand::kind::sparse ? in_words(name, of.sparse) : in_words(name, of.full);
}
std::string in_words(const mask_operand& mask) {
  if (!mask.is_there()) return "";
  return mask.over == mask_operand::kind::matrix ? in_words("mask", mask.sparse)
                                                 : in_words("mask", mask.full);
}

std::string head(const char* operation, const char* ran, const char* by, type result) {
  return std::string(operation) + "," + ran + "," + by + "," + type_name(result);
}

/// The name of an operator, of which a builtin one is a code.
const char* name_of(const operator_info& op, unsigned char code) {
  switch (op.kind) {
    case operator_kind::join:
      return name_of(static_cast<binary>(code));
    case operator_kind::map:
      return unary_names()[code];
    case operator_kind::select:
      return name_of(static_cast<selection>(code));
    default:
      return op.name;
  }
}

const char* by_of(const operation& o) {
  if (o.product != nullptr) return o.product->algebra->name;
  if (o.sums != nullptr)
    return o.sums->add->kind == operator_kind::join ? name_of(*o.sums->add, o.sums->code)
                                                    : o.sums->name;
  return o.op != nullptr ? name_of(*o.op, o.code) : "-";
}

type result_of(const operation& o) {
  return o.out_type == type::other && o.sums != nullptr ? o.sums->result : o.out_type;
}

std::string digits(double x) {
  char text[32];
  return {text, std::to_chars(text, std::end(text), x, std::chars_format::general, 4).ptr};
}

}  // namespace

std::atomic<trace> traced = from_environment();

void set_trace(trace what, std::function<void(const std::string&)> to) {
  or_out_of_memory("set_trace", [&] {
    const std::lock_guard lock(lines().one_at_a_time);
    lines().to = std::move(to);
  });
  traced.store(what);
}

void trace_choice(problem& p, const choice& made) {
  const bool had_reasons = std::exchange(p.reasons, true);
  const std::string start = "rig,choice," + to_string(p.a.where) + "," + p.name + ",";
  for (const kernel& k : kernels()) {
    if (k.where != p.a.where.where || !includes(k.takes, operands_of(p))) continue;
    if (&k != made.chosen && is_approximate(k, operands_of(p))) continue;
    const answer says = answer_of(k, p);
    static constexpr const char* words[] = {"can", "slower", "cannot"};
    write(start + k.name + "," +
          (&k == made.chosen ? "chosen" : words[static_cast<int>(says.says)]) + "," +
          (&k == made.chosen ? made.reason : says.reason));
  }
  p.reasons = had_reasons;
}

std::string traced_words(const problem& p, const kernel& ran) {
  std::string words = head(p.name, ran.name, p.algebra->name, p.c.value_type) + in_words("A", p.a);
  if (p.closure == nullptr) words += in_words("B", p.b);
  if (p.is_updated) words += in_words("W", p.weights);
  return words + in_words(p.mask);
}

std::string traced_words(const operation& o, const kernel* ran) {
  std::string words = head(o.name, ran != nullptr ? ran->name : "-", by_of(o), result_of(o)) +
                      in_words("A", o.x) + in_words("B", o.y);
  if (!o.creates_result) words += in_words("C", o.c);
  return words + in_words(o.mask);
}

std::string traced_words(const char* name, const dense_operand& x) {
  return head(name, "-", "-", x.value_type) + in_words("A", x);
}

struct timed_call::state {
  place where;
  bool is_captured;
  std::function<std::string()> words;
  std::function<double()> bytes;
  int exceptions = std::uncaught_exceptions();
  std::chrono::steady_clock::time_point begin = {};

  /// A capture records work, and may not wait for it.
  void wait() const {
    if (!is_captured) backend_of(where).synchronise(where.device);
  }
};

void timed_call::start(place where, bool is_captured, std::function<std::string()> words,
                       std::function<double()> bytes) {
  call_ = std::make_shared<state>(state{where, is_captured, std::move(words), std::move(bytes)});
  try {
    call_->wait();
  } catch (const error&) {  // the call itself may serve
    call_ = nullptr;
    return;
  }
  call_->begin = std::chrono::steady_clock::now();
}

void timed_call::finish() noexcept {
  if (std::uncaught_exceptions() > call_->exceptions) return;
  try {
    call_->wait();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - call_->begin;
    const double bytes = call_->bytes();
    std::string line = "rig,exec," + to_string(call_->where) + "," + call_->words();
    line += call_->is_captured ? ",captured" : ",ms:" + digits(1e3 * seconds.count());
    if (bytes > 0 && !call_->is_captured) line += ",GB/s:" + digits(1e-9 * bytes / seconds.count());
    write(line);
  } catch (...) {  // a line that cannot be made is left out
    return;
  }
}

}  // namespace rig
