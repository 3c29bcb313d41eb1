// Which rows of X move, and which rows of C come in parts from the ranks that have rows of X: the
// fewest, by a minimum vertex cover for each pair of ranks.

#include "distributed/exchange.hpp"

namespace rig::over_ranks {
namespace {

/// Columns of this rank's entries that other ranks have, rank by rank, each with this rank's rows
/// that have an entry there.
struct named_columns {
  std::vector<index> columns, first;  ///< those of rank r begin at first[r]
  std::vector<int64> begin;           ///< those of columns[k] begin at begin[k] in `rows`
  std::vector<index> rows;
};

named_columns columns_of_others(const pattern& here, const layout& of_x, int rank) {
  const index* const entries = here.column_indices();
  std::vector<index> counts = filled<index>(size(here.columns()));
  for (int64 p = 0; p < here.nnz(); ++p) ++counts[size(entries[p])];
  named_columns out;
  out.begin.push_back(0);
  std::vector<int64> next = filled<int64>(size(here.columns()), -1);
  for (int other = 0; other < of_x.ranks(); ++other) {
    out.first.push_back(static_cast<index>(out.columns.size()));
    for (index k = 0; other != rank && k < of_x.rows_of(other); ++k) {
      const index column = of_x.row_at(other, k), count = counts[size(column)];
      if (count == 0) continue;
      out.columns.push_back(column);
      next[size(column)] = out.begin.back();
      out.begin.push_back(out.begin.back() + count);
    }
  }
  out.first.push_back(static_cast<index>(out.columns.size()));
  out.rows = filled<index>(size(out.begin.back()));
  for (index i = 0; i < here.rows(); ++i)
    for (int64 p = here.offset(i); p < here.offset(i + 1); ++p)
      if (int64& to = next[size(entries[p])]; to >= 0) out.rows[size(to++)] = i;
  return out;
}

/// A maximum matching of columns and rows by Hopcroft and Karp, for each rank in turn, and from it
/// a minimum vertex cover, by König.
class matching {
 public:
  matching(const named_columns& of, index rows)
      : of_(of),
        column_of_row_(filled<index>(size(rows), none)),
        row_of_column_(filled<index>(of.columns.size(), none)),
        level_(filled<index>(of.columns.size(), none)),
        next_(filled<int64>(of.columns.size())) {
    reserve(path_, of.columns.size());
  }

  /// Whether columns first … last are outside the cover: is_outside()[k]. What the cover has in
  /// their place are all rows that have an entry there.
  void cover(index first, index last) {
    // After n phases at least n / (n + 1) of a maximum matching is there, and any matching leads to
    // a cover.
    constexpr int most_phases = 200;
    for (int phase = 0; find_paths(first, last) && phase < most_phases; ++phase)
      for (index k = first; k < last; ++k)
        if (row_of_column_[size(k)] == none) extend_from(k);
    for (index k = first; k < last; ++k)
      for (int64 p = of_.begin[size(k)]; p < of_.begin[size(k) + 1]; ++p)
        column_of_row_[size(of_.rows[size(p)])] = none;
  }
  bool is_outside(index k) const { return level_[size(k)] != none; }

 private:
  static constexpr index none = -1;

  /// Gives each column that an alternating path reaches from an unmatched one the length of the
  /// shortest. Returns whether a path ends in an unmatched row.
  bool find_paths(index first, index last) {
    bool is_found = false;
    path_.clear();
    for (index k = first; k < last; ++k) {
      next_[size(k)] = of_.begin[size(k)];
      const bool is_start = row_of_column_[size(k)] == none;
      level_[size(k)] = is_start ? 0 : none;
      if (is_start) path_.push_back(k);
    }
    for (std::size_t at = 0; at < path_.size(); ++at) {  // the queue
      const index k = path_[at];
      for (int64 p = of_.begin[size(k)]; p < of_.begin[size(k) + 1]; ++p) {
        const index other = column_of_row_[size(of_.rows[size(p)])];
        is_found |= other == none;
        if (other == none || level_[size(other)] != none) continue;
        level_[size(other)] = level_[size(k)] + 1;
        path_.push_back(other);
      }
    }
    path_.clear();
    return is_found;
  }

  /// Matches one more column, by a path of ascending levels, if there is one.
  void extend_from(index start) {
    path_.assign(1, start);
    while (!path_.empty()) {
      const index k = path_.back();
      if (next_[size(k)] == of_.begin[size(k) + 1]) {
        path_.pop_back();
        continue;
      }
      const index other = column_of_row_[size(of_.rows[size(next_[size(k)]++)])];
      if (other == none) return match_along_path();
      if (level_[size(other)] == level_[size(k)] + 1) path_.push_back(other);
    }
  }
  void match_along_path() {
    for (const index k : path_) {
      const index row = of_.rows[size(next_[size(k)] - 1)];
      row_of_column_[size(k)] = row;
      column_of_row_[size(row)] = k;
    }
    path_.clear();
  }

  const named_columns& of_;
  std::vector<index> column_of_row_, row_of_column_, level_;
  std::vector<int64> next_;  ///< of a column: its first entry that no path has tried
  std::vector<index> path_;
};

/// The entries of this rank's rows that stay, and those that go to ranks that have their columns.
struct divided {
  std::vector<int64> kept;
  std::vector<std::vector<int64>> sent;
};

divided divide(const pattern& here, const layout& of_x, const named_columns& named) {
  matching of(named, here.rows());
  std::vector<char> is_sent = filled<char>(size(here.columns()));
  for (int other = 0; other < of_x.ranks(); ++other)
    of.cover(named.first[size(other)], named.first[size(other) + 1]);
  for (std::size_t k = 0; k < named.columns.size(); ++k)
    is_sent[size(named.columns[k])] = of.is_outside(static_cast<index>(k));
  divided out;
  out.sent.resize(size(of_x.ranks()));
  for (int64 p = 0; p < here.nnz(); ++p) {
    const index column = here.column_indices()[p];
    if (is_sent[size(column)] == 0)
      out.kept.push_back(p);
    else
      out.sent[size(of_x.rank_of(column))].push_back(p);
  }
  return out;
}

std::shared_ptr<const pattern> pattern_of(index columns, const std::vector<int64>& offsets,
                                          const buffer& entries) {
  bool offsets_64 = false;
  buffer packed = pack_offsets(offsets, offsets_64);
  return std::make_shared<const pattern>(static_cast<index>(offsets.size()) - 1, columns,
                                         offsets.back(), std::move(packed), offsets_64, entries);
}

/// These entries of a pattern, ascending, in all of its rows.
std::shared_ptr<const pattern> entries_of(const pattern& of, const std::vector<int64>& kept) {
  std::vector<int64> offsets = filled<int64>(size(of.rows()) + 1);
  std::size_t at = 0;
  for (index i = 0; i < of.rows(); ++i) {
    while (at < kept.size() && kept[at] < of.offset(i + 1)) ++at;
    offsets[size(i) + 1] = static_cast<int64>(at);
  }
  const buffer columns = buffer::allocate(kept.size() * sizeof(index));
  take_elements(of.column_indices(), sizeof(index), kept, columns.data());
  return pattern_of(of.columns(), offsets, columns);
}

}  // namespace

std::size_t cover_plan::bytes() const {
  std::size_t numbers = kept.size();
  for (const std::vector<int64>& list : by.sent) numbers += list.size();
  return fetched->bytes() + numbers * sizeof(int64) +
         (added.size() + size(partial->nnz())) * sizeof(index);
}

std::shared_ptr<const cover_plan> make_cover_plan(const communicator& ranks, const char* name,
                                                  const pattern& here, const layout& of_x) {
  std::shared_ptr<cover_plan> plan;
  std::shared_ptr<const pattern> kept;
  std::vector<index> row_of_entry, place_of_entry;
  delivery by = exchange_counts(ranks, name, [&] {
    plan = std::make_shared<cover_plan>(of_x);
    const named_columns named = columns_of_others(here, of_x, ranks.rank());
    plan->named = static_cast<int64>(named.columns.size());
    divided entries = divide(here, of_x, named);
    kept = entries_of(here, entries.kept);
    plan->kept = std::move(entries.kept);
    row_of_entry = filled<index>(size(here.nnz()));
    place_of_entry = filled<index>(size(here.nnz()));
    for (index i = 0; i < here.rows(); ++i)
      for (int64 p = here.offset(i); p < here.offset(i + 1); ++p) {
        row_of_entry[size(p)] = i;
        place_of_entry[size(p)] = of_x.place_of(here.column_indices()[p]);
      }
    for (const std::vector<int64>& list : entries.sent) {
      plan->added_first.push_back(static_cast<index>(plan->added.size()));
      index last = -1;
      for (const int64 p : list)
        if (row_of_entry[size(p)] != last) plan->added.push_back(last = row_of_entry[size(p)]);
    }
    plan->added_first.push_back(static_cast<index>(plan->added.size()));
    return std::move(entries.sent);
  });
  const buffer rows = deliver(ranks, name, by, row_of_entry.data(), sizeof(index)),
               places = deliver(ranks, name, by, place_of_entry.data(), sizeof(index));
  agree(ranks, name, [&] {
    std::vector<int64> offsets;
    const index* row = rows.data<const index>();
    for (int64 p = 0; const int64 count : by.received) {
      plan->partial_first.push_back(static_cast<index>(offsets.size()));
      for (const int64 end = p + count; p < end; ++p, ++row)
        if (offsets.size() == size(plan->partial_first.back()) || row[0] != row[-1])
          offsets.push_back(p);
    }
    plan->partial_first.push_back(static_cast<index>(offsets.size()));
    offsets.push_back(static_cast<int64>(places.bytes() / sizeof(index)));
    plan->partial = pattern_of(of_x.rows_of(ranks.rank()), offsets, places);
  });
  plan->by = std::move(by);
  plan->fetched = make_fetch_plan(ranks, name, std::move(kept), of_x);
  return plan;
}

}  // namespace rig::over_ranks
