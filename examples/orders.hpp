#pragma once

#include <algorithm>
#include <iterator>
#include <string>

#include "options.hpp"
#include "rig/reorder.hpp"

// The orders of nodes by their names on a command line.

namespace example {

struct order_of_nodes {
  const char* name;
  rig::ordering by;
};
inline constexpr order_of_nodes orders[] = {
    {"loa", rig::ordering::loa}, {"degree", rig::ordering::degree}, {"rcm", rig::ordering::rcm}};

/// The order that an option names.
inline const order_of_nodes& order_named(const char* option, const std::string& name) {
  const auto found = std::ranges::find(orders, name, &order_of_nodes::name);
  require(found != std::end(orders),
          std::string(option) + " is loa, degree or rcm, not '" + name + "'");
  return *found;
}

}  // namespace example
