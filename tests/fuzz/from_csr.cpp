// CSR arrays of any numbers: an error of rig, or a matrix whose product is that of three loops.

#include <vector>

#include "fuzz.hpp"
#include "rig/rig.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr rig::index features = 3;
  fuzz::bytes from(data, size);
  const auto how =
      static_cast<rig::input>(from.below(2));  // trusted arrays are the caller's affair
  const rig::index rows = static_cast<rig::index>(from.below(20)) - 1,
                   columns = static_cast<rig::index>(from.below(20)) - 1;
  std::vector<int> offsets(from.below(24)), entries;
  for (int& offset : offsets) offset = static_cast<int>(from.below(40)) - 1;
  entries.resize(from.below(40));
  for (int& column : entries) column = static_cast<int>(from.below(20)) - 1;
  std::vector<float> values;
  for (std::size_t p = 0; p < entries.size(); ++p)
    values.push_back(static_cast<float>(from.below(16)));
  fuzz::returns([&] {
    const auto a = rig::matrix<float>::from_csr(rows, columns, offsets, entries, values, how);
    rig::dense<float> b(columns, features);
    for (rig::index k = 0; k < columns; ++k)
      for (rig::index j = 0; j < features; ++j) b(k, j) = static_cast<float>(3 * k + j);
    const auto c = rig::mxm(a, b, rig::plus_times<float>{});
    for (rig::index i = 0; i < rows; ++i)
      for (rig::index j = 0; j < features; ++j) {
        float sum = 0;
        for (int p = offsets[i]; p < offsets[i + 1]; ++p) sum += values[p] * b(entries[p], j);
        fuzz::require(c(i, j) == sum);
      }
  });
  return 0;
}
