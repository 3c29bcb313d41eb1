// What the tuning table says of structures: which rows are split, whether rows are taken by length,
// which windows have tiles.

#include "cuda/analysis/windows.hpp"
#include "cuda/tuning/plan.hpp"

namespace rig::on_cuda {
namespace {

const tuning_row& segments_row(const row_statistics& statistics, int64 nnz) {
  return current_table().find(section::segments, facts_of_rows(statistics, nnz));
}

const tuning_row& order_row(const problem& p, const row_statistics& statistics) {
  const deciding_sizes sizes = sizes_of(p, statistics);
  product_facts facts = facts_of_rows(statistics, sizes.nnz);
  facts[fact::b_bytes] = static_cast<double>(sizes.rows_of_b) *
                         static_cast<double>(deciding_columns(p)) *
                         static_cast<double>(p.b.value_bytes);
  return current_table().find(section::order, facts);
}

}  // namespace

int64 split_length_of(const row_statistics& statistics, int64 nnz) {
  int64 length = segments_row(statistics, nnz)[setting::split_length];
  // The block that ends last adds up what a row's groups of segments leave.
  const double most = current_table()[constant::most_segments];
  while (length > 0 && static_cast<double>(statistics.longest / length) > most) length *= 2;
  return length;
}

int least_entries_per_tile(int64 nnz) {
  product_facts facts;
  facts[fact::nonzeros] = static_cast<double>(nnz);
  return current_table().find(section::windows, facts)[setting::least_entries];
}

bool order_helps(const problem& p, const row_statistics& statistics) {
  return order_row(p, statistics)[setting::by_length] != 0;
}

bool split_helps(const problem& p, const row_statistics& statistics) {
  return has_rows_to_split(statistics) || order_helps(p, statistics);
}

std::string segments_in_words(const problem& p) {
  const row_statistics& statistics = statistics_of(p);
  return ", split_length=" + std::to_string(statistics.split_length) + " (" +
         line_of(segments_row(statistics, sizes_of(p, statistics).nnz)) + ")";
}

std::string order_in_words(const problem& p) {
  const tuning_row& row = order_row(p, statistics_of(p));
  return ", " + row.plan_text + " (" + line_of(row) + ")";
}

const listed_row* order_of(const problem& p, const row_lists& lists) {
  return order_helps(p, statistics_of(p)) ? lists.by_length : nullptr;
}

void find_statistics(problem& p) {
  if (no_kernel_because(*p.algebra) == nullptr)
    p.statistics = p.oriented->derived_of<row_statistics>();
}

}  // namespace rig::on_cuda
