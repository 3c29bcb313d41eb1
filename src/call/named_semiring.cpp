#include "rig/named_semiring.hpp"

#include <algorithm>
#include <string>

#include "rig/kernels/erased.hpp"
#include "rig/semirings.hpp"

namespace rig {
namespace {

template <class S>
constexpr builtin_pair pair_of() {
  return {S::name,
          type_of<typename S::right>,
          &on_cpu::run<S>,
          {&info_of<S>, &on_cpu::multiply<S>},
          sum_operator<S>()};
}

const std::vector<builtin_pair>& pairs() {
  // Never destroyed, because a product may run while the process ends.
  static const auto& all = *new const std::vector<builtin_pair>{
#define RIG_BUILTIN(semiring, type) pair_of<semiring<type>>(),
#include "rig/builtin.def"
#undef RIG_BUILTIN
  };
  return all;
}

const char* in_words(type of) {
  return of == type::float32 ? "float" : of == type::float64 ? "double" : type_name(of);
}

/// The names over a type, or, where it has none, the types that have some.
std::string alternatives(type of) {
  std::string out;
  for (const char* const each : builtin_names(of))
    out += std::string(out.empty() ? "" : ", ") + each;
  if (!out.empty()) return out;
  for (const type each : {type::float32, type::float64, type::boolean})
    if (!builtin_names(each).empty())
      out += std::string(out.empty() ? "some over " : ", ") + in_words(each);
  return out;
}

}  // namespace

const builtin_pair& find_builtin(std::string_view name, type of) {
  const auto found = std::ranges::find_if(
      pairs(), [=](const builtin_pair& pair) { return pair.of == of && pair.name == name; });
  if (found != pairs().end()) return *found;
  fail(errc::range, {"named_semiring: no builtin semiring over ", in_words(of), " is named '", name,
                     "'; there are ", alternatives(of)});
}

std::vector<const char*> builtin_names(type of) {
  std::vector<const char*> out;
  for (const builtin_pair& pair : pairs())
    if (pair.of == of) out.push_back(pair.name);
  return out;
}

}  // namespace rig
