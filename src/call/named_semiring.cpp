#include "rig/named_semiring.hpp"

#include <algorithm>
#include <string>

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

}  // namespace

const builtin_pair& find_builtin(std::string_view name, type of) {
  const auto found = std::ranges::find_if(
      pairs(), [=](const builtin_pair& pair) { return pair.of == of && pair.name == name; });
  if (found == pairs().end()) {
    std::string names;
    for (const char* const each : builtin_names(of))
      names += std::string(names.empty() ? "" : ", ") + each;
    const char* const over = of == type::float32   ? "float"
                             : of == type::float64 ? "double"
                                                   : "bool";
    fail(errc::range, {"named_semiring: no builtin semiring over ", over, " is named '", name,
                       "'; there are ", names});
  }
  return *found;
}

std::vector<const char*> builtin_names(type of) {
  std::vector<const char*> out;
  for (const builtin_pair& pair : pairs())
    if (pair.of == of) out.push_back(pair.name);
  return out;
}

}  // namespace rig
