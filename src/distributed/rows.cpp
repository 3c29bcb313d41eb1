// Operands with small rows: codes over ranks.

#include <array>
#include <cstdint>
#include <optional>

#include "call/choice.hpp"
#include "distributed/hash.hpp"
#include "rig/distributed_rows.hpp"
#include "storage/integers.hpp"

namespace rig {
namespace {

/// Some rows of codes, row k at row_of(k), with the ranges of another.
template <class RowOf>
quantized with_ranges_of(const quantized& like, index rows, RowOf row_of) {
  const index columns = like.columns(), count = like.range_count();
  quantized::parts out = quantized::uninitialised(rows, columns, count);
  for (index k = 0; k < rows && columns > 0; ++k)
    std::memcpy(out.codes + size(k) * size(columns), row_of(k), size(columns));
  if (count > 0 && like.low() != nullptr && out.low != nullptr) {
    std::memcpy(out.low, like.low(), size(count) * sizeof(float));
    std::memcpy(out.step, like.step(), size(count) * sizeof(float));
  }
  return std::move(out.made);
}

}  // namespace

namespace over_ranks {

void check_fetched(const descriptor& desc, bool is_cbsr) {
  if (desc.exchange != exchange::automatic && desc.exchange != exchange::fetch)
    fail(errc::cannot, {"mxm: exchange::", exchange_name(desc.exchange),
                        " takes a dense X; use exchange::fetch"});
  if (is_cbsr && !desc.kernel.empty())
    fail(errc::cannot, {"mxm: kernel '", desc.kernel,
                        "' is named for a cbsr over ranks, which has one kernel; name none"});
  if (!desc.kernel.empty()) require_known_kernel("mxm", "the descriptor", desc.kernel);
}

int64 number_of_ranges(const quantized& of) {
  hashed hash;
  const auto add = [&](const float* numbers) {
    for (index j = 0; numbers != nullptr && j < of.range_count(); ++j) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, numbers + j, sizeof(bits));
      hash.add(std::array{bits});
    }
  };
  add(of.low());
  add(of.step());
  return static_cast<int64>(hash.value());
}

quantized carried<quantized>::operand(const quantized& like, index rows,
                                      const std::array<fetch, 1>& moved) {
  const auto* const codes = moved[0].x.data<const unsigned char>();
  return with_ranges_of(like, rows,
                        [&](index k) { return codes + size(k) * size(like.columns()); });
}

}  // namespace over_ranks

distributed<quantized> distributed<quantized>::from_whole(const rig::communicator& ranks,
                                                          const quantized& whole,
                                                          const rig::layout& rows) {
  quantized local;
  over_ranks::agree(ranks, "from_whole", [&] {
    over_ranks::check_ranks("from_whole", ranks, rows);
    const index here = rows.rows_of(ranks.rank());
    over_ranks::check_part("from_whole", ranks, rows, here);
    over_ranks::require_cpu("from_whole", whole.where(), "the quantized");
    if (whole.rows() != rows.rows())
      fail(errc::shape, {"from_whole: the quantized has ", whole.rows(), " rows, the layout ",
                         rows.rows(), "; pass a layout of the whole"});
    local = with_ranges_of(whole, here, [&](index k) {
      return whole.data() + size(rows.row_at(ranks.rank(), k)) * size(whole.columns());
    });
  });
  return from_rows(ranks, local, rows);
}

}  // namespace rig
