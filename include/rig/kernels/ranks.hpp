#pragma once

// What products over ranks need without the type of a semiring: agreement, plans, exchanges.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "rig/buffer.hpp"
#include "rig/checked_number.hpp"
#include "rig/communicator.hpp"
#include "rig/descriptor.hpp"
#include "rig/error.hpp"
#include "rig/kernels/whole_rows.hpp"
#include "rig/layout.hpp"
#include "rig/pattern.hpp"

namespace rig {

/// A container whose rows are on several ranks: of a `matrix`, a `dense` or an `indexed_dense`.
template <class Container>
class distributed;
struct problem;

}  // namespace rig

namespace rig::over_ranks {

struct access;

/// What each rank says before all go on: 0 or 1. After `conclude`, the number of ranks that said 1.
struct votes {
  int64 lacking = 0;     ///< this rank lacks the plan
  int64 features = 0;    ///< this rank exchanges by `exchange::features`
  int64 cover = 0;       ///< by `exchange::cover`
  int64 transposed = 0;  ///< this rank transposes A
};

/// Of each sum of votes, so ranks are less than 2 to this power.
inline constexpr int vote_bits = 12;

/// Why a rank cannot go on. It allocates nothing, because memory may have run out.
struct failure {
  errc code = errc::cannot;
  int32 length = 0;
  char text[1016];  ///< a multiple of 8, as it travels in numbers

  failure() = default;
  failure(errc kind, std::string_view words)
      : code(kind), length(static_cast<int32>(std::min(words.size(), sizeof(text)))) {
    std::memcpy(text, words.data(), static_cast<std::size_t>(length));
  }
};

/// Work that a call does before it returns. It allocates nothing, unlike std::function.
template <class Result, class... Arguments>
class callback {
 public:
  template <class Work>
  callback(const Work& work)
      : work_(&work), call_([](const void* of, Arguments... arguments) -> Result {
          return (*static_cast<const Work*>(of))(arguments...);
        }) {}
  Result operator()(Arguments... arguments) const { return call_(work_, arguments...); }

 private:
  const void* work_;
  Result (*call_)(const void*, Arguments...);
};

/// Joins the ranks' votes. If a rank failed, throws its error on all of them. Collective.
votes conclude(const communicator& ranks, const char* name, const failure* here, votes said = {});

/// Work of a rank between collective calls. Where a step fails, the next ones are left out, and the
/// rank goes on to the calls, because the others wait there.
class attempt {
 public:
  template <class Work>
  void run(Work&& work) {
    if (failed_) return;
    failed_ = true;
    try {
      work();
      failed_ = false;
    } catch (const error& cause) {
      why_ = {cause.code(), cause.what()};
    } catch (const std::bad_alloc&) {
      why_ = {errc::out_of_memory, "out of memory"};
    } catch (const std::exception& cause) {
      why_ = {errc::cannot, cause.what()};
    } catch (...) {
    }
  }
  /// Null if nothing failed.
  const failure* why() const { return failed_ ? &why_ : nullptr; }

 private:
  bool failed_ = false;
  failure why_ = {errc::cannot, "an exception without a text"};
};

/// Runs work, which makes no collective call, and concludes. What allocates is such work: a rank
/// that lacks memory then fails with the others. Collective.
template <class Work>
votes agree(const communicator& ranks, const char* name, Work&& work, votes said = {}) {
  attempt here;
  here.run(work);
  return conclude(ranks, name, here.why(), said);
}

/// Throws on all ranks if their numbers differ. Collective.
void require_equal(const communicator& ranks, const char* name, const char* what, int64 number);
/// The same for what a number stands for, which the error does not show. Collective.
void require_alike(const communicator& ranks, const char* name, const char* what, int64 number);
/// What all ranks pass alike to a call: what an error calls it, and a number for it.
struct fact {
  const char* what;
  int64 number;
  fact(const char* name, int64 of) : what(name), number(of) {}
  fact(const char* name, std::uint64_t hash) : what(name), number(static_cast<int64>(hash)) {}
  fact(const char* name, std::string_view text);
  fact(const char* name, const scalar& of);
};
/// Throws on all ranks if their facts differ, and names the first that does. Collective.
void require_alike(const communicator& ranks, const char* name, std::span<const fact> facts);
/// Throws unless the layout has as many ranks as the communicator.
void check_ranks(const char* name, const communicator& ranks, const layout& rows);
/// Throws if a part does not fit its layout.
void check_part(const char* name, const communicator& ranks, const layout& rows, index rows_here);
/// Throws if a part is not on the CPU, or what else the message calls it.
void require_cpu(const char* name, place where, const char* what = "the part");
/// Throws on all ranks if some parts are on the CPU and others on a device. Collective.
void require_one_kind(const communicator& ranks, const char* name, place where);
const char* exchange_name(exchange scheme);
/// Throws on all ranks unless all exchange alike, and transpose A or do not.
void require_one_scheme(const communicator& ranks, const char* name, const votes& said);
/// Throws on all ranks if they pass containers of another form. Collective.
void require_one_form(const communicator& ranks, const char* name, const layout& rows,
                      index columns, std::string_view type, bool by_features = false);
/// Throws on all ranks unless all have one layout. Collective.
void require_one_layout(const communicator& ranks, const char* name, const layout& rows);

/// Throws unless a product by fetch is what the descriptor means, for an X that is by rows only.
void check_fetched(const descriptor& desc, bool is_cbsr);
/// Throws unless an algorithm's column is by rows, in the layout of A.
void check_by_rows(const char* name, bool is_by_features, bool is_laid_out_as_a);
/// What a closure over ranks requires of its shapes and its descriptor.
void check_closing(const char* name, index rows, index columns, index rows_of_x,
                   const descriptor& desc);
[[noreturn]] void refuse_to_settle(const char* name, const char* semiring, index nodes);

/// Rows of X that a rank sends to, and receives from, another rank or has itself.
struct fetch_pair {
  int rank;
  std::vector<index> sent;      ///< as rows of this rank's part of X
  std::vector<index> received;  ///< as rows of the fetched X
  const index *sent_there = nullptr, *received_there = nullptr;  ///< the same where A lies
};

/// Which rows of X go where, and this rank's rows of A with the columns that are fetched.
struct fetch_plan {
  std::shared_ptr<const pattern> local;     ///< columns are renumbered, and ascend as before
  std::shared_ptr<const pattern> original;  ///< has the offsets of `local`
  std::vector<index> columns;               ///< the whole matrix's number of each column
  std::vector<fetch_pair> pairs;            ///< one for each rank, this one among them
  buffer lists;             ///< on a device: what the pairs have there, and −1 and the columns
  bool splits = false;      ///< on a device: rows of the whole matrix are split
  int64 most_received = 0;  ///< on a device: rows that the largest receiver gets
  /// On the CPU: what fetches left for the next ones. New pages cost as much as copies of rows.
  mutable std::vector<buffer> memory;

  /// Where A lies.
  place where() const { return local->where(); }
  /// Bytes that the plan takes, with the memory that it keeps.
  std::size_t bytes() const;
};
std::shared_ptr<fetch_plan> make_fetch_plan(const communicator& ranks, const char* name,
                                            std::shared_ptr<const pattern> rows_here,
                                            const layout& of_x);
/// Puts a plan where A lies, a device. `rows` lays out A, of which `rows_here` are on the CPU.
/// Collective.
void place_plan(const communicator& ranks, const char* name, fetch_plan& plan, place where,
                const layout& rows, const pattern& rows_here);

/// The pattern of the whole matrix, which each rank has.
struct whole_pattern {
  std::shared_ptr<const pattern> on_host, there;  ///< on the CPU, and where A lies
  bool splits = false;                            ///< on a device: rows are split
};
/// Gathers it from each rank's rows. Collective.
whole_pattern gather_whole(const communicator& ranks, const char* name, place where,
                           const layout& rows, const pattern& rows_here);

/// An array of X with the bytes of a row.
struct row_array {
  const void* data;
  std::size_t stride, bytes;
  void* stream = nullptr;  ///< that the rows belong to
};
/// One fetch of rows of X. Data on a device goes in the order of `stream`, and through `on_host` if
/// the ranks do not reach devices.
struct fetch {
  buffer x, sent, staged, on_host;
  std::vector<message> sends, receives;
  std::vector<void*> landing;  ///< where receives by `on_host` belong
  void* stream = nullptr;
};
fetch start_fetch(const fetch_plan& plan, const communicator& ranks, const row_array& x,
                  void* stream = nullptr);
/// After the exchange: puts staged rows in their places.
void finish_fetch(const fetch_plan& plan, fetch& of, int rank, std::size_t row_bytes);
/// Whether rows of so many bytes may travel in slices of columns. The same on all ranks.
bool is_worth_slices(const communicator& ranks, const fetch_plan& plan, std::size_t row_bytes);
/// The number of slices for a product, which is not checked. `row_bytes`: of the whole X.
int slices_of(const fetch_plan& plan, problem& p, std::size_t row_bytes);
/// Fetches rows of X in slices of columns of equal widths. While the rows of a slice travel, those
/// before are multiplied: `multiply` has the number of a slice and its rows, and launches on
/// `stream`. `begin` allocates the result. Collective.
void fetch_in_slices(const communicator& ranks, const fetch_plan& plan, const row_array& x,
                     int slices, void* stream, const callback<void>& begin,
                     const callback<void, int, const buffer&>& multiply);
/// Replaces numbers of the plan's columns, where they are not −1, by those of the whole matrix.
void name_columns(const fetch_plan& plan, int32* numbers, int64 count, void* stream);

/// Sparse rows without the type of their values; of an iso matrix no values.
struct sparse_rows {
  std::shared_ptr<const pattern> structure;
  buffer values;
};
/// Fetches rows of a sparse B, as many as the plan has columns. `values` is null if they do not
/// travel, and `bytes_each` 0 then. Collective.
sparse_rows fetch_sparse_rows(const communicator& ranks, const char* name, const fetch_plan& plan,
                              const pattern& rows_here, const void* values, std::size_t bytes_each);

/// Bytes that this rank receives from each other one in a product with such a B, the report of iso
/// values and the lengths of rows among them. Moves the lengths. Collective.
std::vector<int64> sparse_volumes(const communicator& ranks, const char* name,
                                  const fetch_plan& plan, const pattern& rows_here,
                                  std::size_t bytes_each);

/// The columns of X of rank `rank` begin here, if X is distributed by features.
index first_feature(index columns, int rank, int ranks);

/// Elements of a dense, some rows of all columns or some columns of all rows.
struct elements {
  const void* data;
  std::size_t stride, bytes_each;  ///< in bytes
  index columns;                   ///< of the whole dense
};
/// Changes the distribution. `make` allocates this rank's part of the result, whose rows are
/// packed. Collective.
void rows_to_features(const communicator& ranks, const layout& rows, const elements& from,
                      const callback<void*>& make);
void features_to_rows(const communicator& ranks, const layout& rows, const elements& from,
                      const callback<void*>& make);
/// All rows on each rank. Collective.
void gather_rows(const communicator& ranks, const layout& rows, const elements& from,
                 const callback<void*>& make);

/// The pattern of the whole matrix on the CPU, from each rank's rows. Collective.
std::shared_ptr<const pattern> gather_pattern(const communicator& ranks, const char* name,
                                              const layout& rows, const pattern& rows_here);

/// Whether all ranks that have entries have one value, and which; of at most 16 bytes. Collective.
struct plain_iso {
  bool is_iso;
  unsigned char value[16];
};
inline constexpr std::size_t plain_iso_bytes = 24;  ///< that each rank sends to each
plain_iso common_iso(const communicator& ranks, const char* name, int64 entries_here,
                     std::size_t bytes_each, bool is_iso, const void* value);
/// One value, `count` times.
buffer repeated(const void* value, std::size_t bytes_each, int64 count);
/// Values on their way to other ranks, unless all ranks have one. `data` reads the matrix's values,
/// or `spread`, which a rank has that is iso beside others.
struct sent_values {
  plain_iso one;
  buffer spread;
  const void* data;
};
/// Collective. `iso` and `values` are the matrix's.
sent_values values_to_send(const communicator& ranks, const char* name, int64 entries_here,
                           std::size_t bytes_each, bool is_iso, const void* iso,
                           const void* values);

/// The values of a matrix without their type; of an iso matrix one value.
struct plain_values {
  bool is_iso;
  buffer values;
};
/// The values of the whole matrix. It is iso if all ranks with entries have one value. Collective.
plain_values gather_values(const communicator& ranks, const char* name, const layout& rows,
                           const pattern& whole, int64 entries_here, std::size_t bytes_each,
                           bool is_iso, const void* values);

/// Which entries go to which rank.
struct delivery {
  std::vector<std::vector<int64>> sent;  ///< by rank, ascending numbers of entries
  std::vector<int64> received;           ///< by rank, how many entries come from there
};
/// Completes the entries that `sent` returns, by rank. Collective.
delivery exchange_counts(const communicator& ranks, const char* name,
                         const callback<std::vector<std::vector<int64>>>& sent);
/// Entries go to the ranks that have their rows. Collective.
delivery deliver_to_rows(const communicator& ranks, const char* name, const layout& rows,
                         std::span<const index> row_of_entry);
/// An element of each entry: from rank 0 first, then from rank 1 and so on, each in the order of
/// the sender. Collective.
buffer deliver(const communicator& ranks, const char* name, const delivery& by,
               const void* elements, std::size_t bytes_each);

/// How the transpose comes from a matrix over ranks.
struct turn_plan {
  layout rows;               ///< of the transpose
  delivery by;               ///< of A's entries
  std::vector<int64> order;  ///< entry p of the transpose is this one of those that come
  std::shared_ptr<const pattern> structure;  ///< this rank's rows of the transpose

  std::size_t bytes() const;
};
std::shared_ptr<const turn_plan> make_turn_plan(const communicator& ranks, const char* name,
                                                const layout& rows_of_a, const pattern& rows_here,
                                                const layout& rows);
/// The values of the transpose. Collective.
buffer turn_values(const communicator& ranks, const char* name, const turn_plan& plan,
                   const void* values, std::size_t bytes_each);

/// Which rows of X go where, and which rows of C come in parts. An entry of A is multiplied on the
/// rank that has its row of C, or on the one that has its row of X.
struct cover_plan {
  layout of_x;
  std::shared_ptr<const fetch_plan> fetched;  ///< of the entries that stay
  std::vector<int64> kept;                    ///< the numbers of these entries, ascending
  delivery by;                                ///< of the other entries
  /// Rows of C in part, of entries that came, for rank 0 first; columns are rows of X here.
  std::shared_ptr<const pattern> partial;
  std::vector<index> partial_first;  ///< the first row for each rank
  std::vector<index> added;          ///< rows of C here that partial rows of other ranks belong to
  std::vector<index> added_first;    ///< the first from each rank
  int64 named = 0;                   ///< rows of X of other ranks that `fetch` would move here

  explicit cover_plan(const layout& rows) : of_x(rows) {}
  std::size_t bytes() const;
};
std::shared_ptr<const cover_plan> make_cover_plan(const communicator& ranks, const char* name,
                                                  const pattern& rows_here, const layout& of_x);

/// The layout by entries of a matrix whose row i has the sum of lengths[i] over ranks. Collective.
layout layout_by_lengths(const communicator& ranks, const char* name,
                         std::span<const int64> lengths);

/// Numbers of each rank, rank by rank. Collective.
std::vector<int64> gather_numbers(const communicator& ranks, const char* name,
                                  std::span<const int64> here);

}  // namespace rig::over_ranks
