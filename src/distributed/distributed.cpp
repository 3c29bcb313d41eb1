// Checks of distributed containers and products, and the report of what a product moves.

#include "rig/distributed.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "distributed/exchange.hpp"
#include "storage/backend.hpp"

namespace rig {
namespace over_ranks {

void check_ranks(const char* name, const communicator& ranks, const layout& rows) {
  constexpr int most = 1 << vote_bits;
  if (ranks.size() >= most)
    fail(errc::cannot,
         {name, ": the communicator has ", ranks.size(), " ranks; use less than ", most});
  if (rows.ranks() != ranks.size())
    fail(errc::shape, {name, ": the layout has ", rows.ranks(), " ranks, the communicator ",
                       ranks.size(), "; make the layout for the communicator's size"});
}

void check_part(const char* name, const communicator& ranks, const layout& rows, index rows_here) {
  check_ranks(name, ranks, rows);
  if (rows_here != rows.rows_of(ranks.rank()))
    fail(errc::shape, {name, ": the part has ", rows_here, " rows, and the layout gives this rank ",
                       rows.rows_of(ranks.rank()), "; pass the rows of the layout"});
}

void require_cpu(const char* name, place where, const char* what) {
  if (where != cpu())
    fail(errc::place, {name, ": ", what, " is on ", to_string(where),
                       ", and this runs on cpu over ranks; copy it with .to(rig::cpu())"});
}

void require_one_kind(const communicator& ranks, const char* name, place where) {
  const int64 on_devices = ranks.all_reduce(where != cpu(), joining::sum);
  if (on_devices != 0 && on_devices != ranks.size())
    fail(errc::place, {name, ": the parts of ", on_devices, " of ", ranks.size(),
                       " ranks are on devices, the others on cpu; copy them with .to()"});
}

void require_one_layout(const communicator& ranks, const char* name, const layout& rows) {
  const auto hash = static_cast<int64>(rows.hash());
  const int64 least = ranks.all_reduce(hash, joining::least),
              greatest = ranks.all_reduce(hash, joining::greatest);
  agree(ranks, name, [&] {
    if (least != hash || greatest != hash)
      fail(errc::shape, {name,
                         ": this rank's layout differs from another rank's; pass the same "
                         "layout on all ranks"});
  });
}

void check_product(const product_shape& of) {
  if (of.ranks.size() != of.ranks_of_x.size() || of.ranks.rank() != of.ranks_of_x.rank())
    fail(errc::place, {"mxm: A is on rank ", of.ranks.rank(), " of ", of.ranks.size(),
                       ", X on rank ", of.ranks_of_x.rank(), " of ", of.ranks_of_x.size(),
                       "; distribute both over one communicator"});
  if (of.inner != of.rows_of_x)
    fail(errc::shape,
         {"mxm: A is ", of.rows, "x", of.inner, ", X is ", of.rows_of_x, "x", of.columns,
          "; the first has ", of.inner, " columns, the second ", of.rows_of_x, " rows"});
  check_enum("mxm", "exchange", of.desc.exchange, exchange::cover);
  if (of.where != of.place_of_x)
    fail(errc::place, {"mxm: A's part is on ", to_string(of.where), ", X's on ",
                       to_string(of.place_of_x), "; copy one with .to()"});
  if (of.where != cpu())  // memory that the ranks exchange outlives the thread's stream
    backend_of(of.where).lasting_stream(of.where.device, of.desc.stream);
  if (of.where != cpu() && of.scheme == exchange::cover)
    fail(errc::cannot, {"mxm: exchange::cover runs on cpu, and the parts are on ",
                        to_string(of.where), "; use exchange::fetch or features"});
  if (of.desc.transpose_b)
    fail(errc::cannot,
         {"mxm: a product over ranks does not transpose X; distribute its transpose"});
  if (!of.is_sparse && !of.desc.kernel.empty() && of.desc.kernel != "row" &&
      of.desc.kernel != "split")
    fail(errc::cannot, {"mxm: kernel '", of.desc.kernel,
                        "' does not run over ranks; name row or split, or none"});
  const char* const scheme = exchange_name(of.scheme);
  if (of.is_masked && of.scheme != exchange::fetch)
    fail(errc::cannot, {"mxm: exchange::", scheme, " takes no mask; use exchange::fetch"});
  if (of.needs_whole_numbers && of.scheme != exchange::features)
    fail(errc::cannot, {"mxm: exchange::", scheme, " renumbers columns, and the multiply of ",
                        of.semiring, " reads positions; use exchange::features, without a mask"});
  if (of.scheme == exchange::cover && !of.is_exact)
    fail(errc::cannot, {"mxm: exchange::cover adds in another order, which changes the bits of ",
                        of.semiring, "; use exchange::fetch"});
}

void check_mask(const communicator& ranks, const layout& rows_of_mask, const layout& rows_of_a,
                bool is_by_features) {
  if (rows_of_mask.ranks() != ranks.size() || !(rows_of_mask == rows_of_a))
    fail(errc::shape, {"mxm: the mask has ", rows_of_mask.rows(), " rows on ", rows_of_mask.ranks(),
                       " ranks, and not in the layout of A's ", rows_of_a.rows(),
                       " rows; distribute it by A.layout()"});
  if (is_by_features)
    fail(errc::cannot, {"mxm: the mask is distributed by features; pass one by_rows()"});
}

void refuse_conversion(index columns, index of_tile, const char* semiring) {
  const char* const remedy =
      " reads, so the ranks would sum in other orders; convert X to that type";
  if (columns == 1)
    fail(errc::type, {"mxm: X is a column of another type than ", semiring, remedy});
  fail(errc::type, {"mxm: X has ", columns, " columns, one beyond tiles of ", of_tile,
                    ", and another type than ", semiring, remedy});
}

void check_by_rows(const char* name, bool is_by_features, bool is_laid_out_as_a) {
  if (is_by_features)
    fail(errc::cannot, {name, ": x is distributed by features; pass it by_rows()"});
  if (!is_laid_out_as_a)
    fail(errc::shape, {name, ": x is not in the layout of A; distribute it by A.layout()"});
}

void check_closing(const char* name, index rows, index columns, index rows_of_x,
                   const descriptor& desc) {
  if (rows != columns)
    fail(errc::shape, {name, ": A is ", rows, "x", columns, ", not square; give a graph's matrix"});
  if (rows_of_x != rows)
    fail(errc::shape, {name, ": x has ", rows_of_x, " rows, A ", rows, "; give x a row per node"});
  const std::pair<bool, const char*> unset[] = {{desc.transpose_a, "transpose_a"},
                                                {desc.transpose_b, "transpose_b"},
                                                {desc.replace, "replace"},
                                                {desc.fill.has_value(), "fill"},
                                                {!desc.kernel.empty(), "kernel"}};
  for (const auto& [is_set, field] : unset)
    if (is_set)
      fail(errc::cannot,
           {name, ": ", field, " of the descriptor has no meaning over ranks; leave it unset"});
}

void refuse_to_settle(const char* name, const char* semiring, index nodes) {
  fail(errc::range, {name, ": ", semiring, " does not settle: values still change after ", nodes,
                     " rounds; a cycle improves them without end; change its weights"});
}

const char* exchange_name(exchange scheme) {
  constexpr const char* names[] = {"automatic", "fetch", "features", "cover"};
  return names[static_cast<std::size_t>(scheme)];
}

void require_one_scheme(const communicator& ranks, const char* name, const votes& said) {
  for (const auto& [scheme, count] :
       {std::pair(exchange::features, said.features), {exchange::cover, said.cover}})
    if (count != 0 && count != ranks.size())
      fail(errc::cannot, {name, ": ", count, " of ", ranks.size(), " ranks use exchange::",
                          exchange_name(scheme), "; pass one exchange on all ranks"});
  if (said.transposed != 0 && said.transposed != ranks.size())
    fail(errc::cannot, {name, ": ", said.transposed, " of ", ranks.size(),
                        " ranks transpose A; pass one transpose_a on all ranks"});
}

namespace {

/// Bytes of a change of distribution that rank `to` gets from rank `from`.
int64 turned_bytes(const layout& rows, index columns, std::size_t bytes_each, bool to_features,
                   int from, int to) {
  const int ranks = rows.ranks(), by_features = to_features ? to : from;
  const int64 width =
      first_feature(columns, by_features + 1, ranks) - first_feature(columns, by_features, ranks);
  return rows.rows_of(to_features ? from : to) * width * static_cast<int64>(bytes_each);
}

/// Bytes that this rank gets from rank `from`.
int64 received_bytes(const volumes& of, int from) {
  const int here = of.ranks.rank();
  int64 bytes = 0;
  if (of.plan != nullptr)
    bytes +=
        static_cast<int64>(of.plan->pairs[size(from)].received.size() * of.x_bytes) * of.columns;
  if (of.cover != nullptr)
    bytes += static_cast<int64>(
                 size(of.cover->added_first[size(from) + 1] - of.cover->added_first[size(from)]) *
                 of.partial_bytes) *
             of.columns;
  const bool is_split = of.plan == nullptr;
  if (is_split != of.by_features)
    bytes += turned_bytes(of.rows_of_x, of.columns, of.x_bytes, is_split, from, here) +
             turned_bytes(of.rows, of.columns, of.c_bytes, of.by_features, from, here);
  return bytes;
}

}  // namespace

void add_shares(const communicator& ranks, const pattern& rows_here, const layout& rows_of_x,
                ranks_explanation& out) {
  const index* const columns = rows_here.column_indices();
  const auto is_here = [&](index k) { return rows_of_x.rank_of(k) == ranks.rank(); };
  int64 interior = 0;
  for (index i = 0; i < rows_here.rows(); ++i)
    interior +=
        std::all_of(columns + rows_here.offset(i), columns + rows_here.offset(i + 1), is_here);
  const auto all = [&](int64 here, joining how) {
    return static_cast<double>(ranks.all_reduce(here, how));
  };
  const double rows = all(rows_here.rows(), joining::sum),
               entries = all(rows_here.nnz(), joining::sum);
  const double own = all(interior, joining::sum), most = all(rows_here.nnz(), joining::greatest);
  out.interior = rows > 0 ? own / rows : 1;
  out.largest_part = entries > 0 ? most / entries : 1.0 / ranks.size();
}

void add_volumes(const communicator& ranks, const callback<std::vector<int64>>& received,
                 ranks_explanation& out) {
  const int count = out.ranks = ranks.size();
  std::vector<int64> here;
  agree(ranks, "explain", [&] {
    here = received();
    out.bytes = filled<int64>(size(count) * size(count));
  });
  const std::vector<int64> all = gather_numbers(ranks, "explain", here);
  int64 sum = 0;
  for (int to = 0; to < count; ++to) {
    int64 bytes = 0;
    for (int from = 0; from < count; ++from)
      bytes += out.bytes[size(from) * size(count) + size(to)] =
          all[size(to) * size(count) + size(from)];
    sum += bytes;
    if (bytes <= out.largest_bytes) continue;
    out.largest_bytes = bytes;
    out.largest_receiver = to;
  }
  out.mean_bytes = static_cast<double>(sum) / count;
}

void add_volumes(const volumes& of, ranks_explanation& out) {
  if (of.cover != nullptr) {
    const int64 row = static_cast<int64>(of.x_bytes) * of.columns;
    out.bytes_by_fetch = of.ranks.all_reduce(of.cover->named * row, joining::sum);
  }
  add_volumes(
      of.ranks,
      [&] {
        std::vector<int64> here = filled<int64>(size(of.ranks.size()));
        for_others(of.ranks, [&](int from) { here[size(from)] = received_bytes(of, from); });
        return here;
      },
      out);
}

}  // namespace over_ranks

double ranks_explanation::seconds(double one_rank, double bytes_per_second) const {
  // The rows of a slice of columns travel while the slice before is multiplied.
  const double part = one_rank * largest_part / slices,
               travel =
                   largest_bytes > 0 ? static_cast<double>(largest_bytes) / bytes_per_second : 0,
               moving = travel / slices;
  return moving + (slices - 1) * std::max(moving, part) + part;
}

std::string ranks_explanation::text() const {
  constexpr int most_columns = 16;
  const auto number = [](auto of) { return std::string(message_piece(of).text()); };
  std::string out = "mxm over " + number(ranks) + " ranks: " + over_ranks::exchange_name(scheme) +
                    " (" + reason + "), kernel " + kernel + "\n";
  const int64 moved = std::accumulate(bytes.begin(), bytes.end(), int64{0});
  out += "a product moves " + number(moved) + " bytes";
  if (scheme == exchange::cover) out += ", and by fetch " + number(bytes_by_fetch);
  if (bytes_once > 0) out += ", and the first one " + number(bytes_once) + " for A";
  if (largest_bytes > 0) {
    const auto percent =
        static_cast<int64>(100.0 * static_cast<double>(largest_bytes) / mean_bytes);
    out += "; rank " + number(largest_receiver) + " receives most, " + number(largest_bytes) +
           ", which is " + number(percent) + " % of the mean";
    if (percent > 130) out += ": another layout can balance the ranks";
  }
  if (slices > 1)
    out += "; in " + number(slices) + " slices of columns, which travel beside the product";
  const auto share = [&](double of) { return number(std::lround(100 * of)) + " %"; };
  const bool is_split = scheme == exchange::features;
  out += "\n" + share(interior) + " of the rows of A need no row of another rank; one rank " +
         (is_split ? "computes " : "has ") + share(largest_part) +
         (is_split ? " of the columns\n" : " of the entries\n");
  if (ranks < 2 || ranks > most_columns) return out;
  out += "bytes from each rank, a line, to each rank:\n";
  for (std::size_t k = 0; k < bytes.size(); ++k)
    out += number(bytes[k]) + ((k + 1) % size(ranks) != 0 ? "\t" : "\n");
  return out;
}

}  // namespace rig
