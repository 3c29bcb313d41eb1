// Products with sparse results, and what follows from them, against the known answers.

#include "algorithms/known_answers.hpp"

TEST_CASE("products of the data sets") {
  for (const auto& [name, a, expected] : checks::data_sets("sddmm")) {
    CAPTURE(name);
    checks::check_products(a, expected);
  }
}
