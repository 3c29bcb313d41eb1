// The cbsr container.

#include "rig/cbsr.hpp"

#include <algorithm>
#include <string>

#include "rig/kernels/list.hpp"

namespace rig {

std::string no_cbsr_because(index columns, int k) {
  const bool is_wide = columns > widest_cbsr;
  if (k >= 1 && k <= columns && !is_wide) return {};
  const std::string all = std::to_string(columns);
  const std::string asked = "k is " + std::to_string(k) + " of " + all + " columns";
  if (is_wide) return asked + ", but a cbsr has at most " + std::to_string(widest_cbsr);
  return asked + (columns > 0 ? "; set it to 1 … " + all : ", of which none can be retained");
}

void check_k(const char* operation, index columns, int k) {
  or_out_of_memory(operation, [&] {
    const std::string refusal = no_cbsr_because(columns, k);
    if (!refusal.empty()) fail(errc::range, {operation, ": ", refusal});
  });
}

cbsr_pattern::cbsr_pattern(index rows, index columns, index k, place where, void* stream,
                           buffer (*allocate)(std::size_t, place, void*)) {
  if (rows < 0 || columns < 0)
    fail(errc::shape,
         {"cbsr: ", rows, "x", columns, " is not a shape; rows and columns must be at least 0"});
  check_k("cbsr", columns, k);
  rows_ = rows;
  columns_ = columns;
  k_ = k;
  indices_ = allocate(nnz() * static_cast<std::size_t>(index_bytes()), where, stream);
}

cbsr_pattern cbsr_pattern::uninitialised(checked_index rows, checked_index columns, checked_index k,
                                         place where, void* stream) {
  return {rows.as("cbsr", "rows"), columns.as("cbsr", "columns"), k.as("cbsr", "k"), where, stream,
          &buffer::allocate};
}

cbsr_pattern cbsr_pattern::temporary(checked_index rows, checked_index columns, checked_index k,
                                     place where, void* stream) {
  return {rows.as("cbsr", "rows"), columns.as("cbsr", "columns"), k.as("cbsr", "k"), where, stream,
          &buffer::temporary};
}

cbsr_pattern cbsr_pattern::from(checked_index rows, checked_index columns, checked_index k,
                                std::span<const index> indices) {
  cbsr_pattern made = uninitialised(rows, columns, k);
  const index width = columns;
  if (indices.size() != made.nnz())
    fail(errc::shape, {"cbsr: ", rows, " rows of ", k, " entries need ", made.nnz(),
                       " indices, got ", indices.size()});
  const auto copy = [&](auto* to) {
    for (std::size_t at = 0; at < indices.size(); ++at) {
      const std::size_t row = at / static_cast<std::size_t>(k),
                        p = at % static_cast<std::size_t>(k);
      const index j = indices[at];
      if (j < 0 || j >= width)
        fail(errc::range,
             {"cbsr: row ", row, " has column ", j, ", but there are ", width, " columns"});
      if (p > 0 && j <= indices[at - 1])
        fail(errc::order, {"cbsr: row ", row, " has column ", j, " after column ", indices[at - 1],
                           "; columns must ascend"});
      to[at] = static_cast<std::remove_pointer_t<decltype(to)>>(j);
    }
  };
  if (made.index_bytes() == 1)
    copy(made.indices_.data<unsigned char>());
  else
    copy(made.indices_.data<unsigned short>());
  return made;
}

cbsr_pattern cbsr_pattern::to(place target) const {
  if (target == where()) return *this;
  cbsr_pattern made = *this;
  made.indices_ = indices_.to(target);
  return made;
}

template <class T>
requires(is_float<T> ||
         is_small_float<T>) cbsr<T> cbsr<T>::from(checked_index rows, checked_index columns,
                                                  checked_index k, std::span<const T> values,
                                                  std::span<const index> indices) {
  cbsr made = uninitialised(cbsr_pattern::from(rows, columns, k, indices));
  if (values.size() != indices.size())
    fail(errc::shape, {"cbsr: ", rows, " rows of ", k, " entries need ", indices.size(),
                       " values, got ", values.size()});
  std::copy(values.begin(), values.end(), made.values_.template data<T>());
  return made;
}

#define RIG_CBSR(T)                                                                               \
  template cbsr<T> cbsr<T>::from(checked_index, checked_index, checked_index, std::span<const T>, \
                                 std::span<const index>);
RIG_CBSR(float)
RIG_CBSR(double)
RIG_CBSR(half)
RIG_CBSR(bfloat16)
#undef RIG_CBSR

}  // namespace rig
