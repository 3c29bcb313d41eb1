// Files that become matrices over ranks. Lines are parsed in parts. If a rank finds anything wrong,
// all ranks read the file as one rank does, which refuses it in its own words.

#include <optional>

#include "distributed/exchange.hpp"
#include "io/entry_list.hpp"
#include "io/formats.hpp"
#include "io/to_matrix.hpp"
#include "rig/distributed_io.hpp"

namespace rig {
namespace {

using over_ranks::agree;

constexpr const char* name = "read_matrix";

/// Whether `work` succeeds on all ranks; it returns whether it does on this one. Collective.
template <class Work>
bool succeed(const communicator& ranks, Work&& work) {
  bool here = false;
  try {
    here = work();
  } catch (const std::exception&) {
    // Another reader finds it again, and says so.
  }
  return ranks.all_reduce(here, joining::least) == 1;
}

template <class T>
std::unique_ptr<io::listed_part<T>> list_part(const communicator& ranks, const std::string& path,
                                              const read_options& options) {
  io::check_duplicates(path, options);
  io::input_file file(path);
  if (file.is_stream() || options.symmetrise || io::is_npy(file) || io::is_npz(file)) return {};
  return io::is_matrix_market(file)
             ? io::list_matrix_market<T>(file, options, ranks.rank(), ranks.size())
             : io::list_edges<T>(file, options, ranks.rank(), ranks.size());
}

/// Makes the parts those of one file. Returns false if they are not. Collective.
template <class T>
bool join_parts(const communicator& ranks, io::listed_part<T>& part, const read_options& options) {
  const auto listed = static_cast<int64>(part.list.size());
  const int64 all = ranks.all_reduce(listed, joining::sum);
  const bool speaks = listed > 0 || part.entries_of_file >= 0;
  const int64 some = ranks.all_reduce(speaks && part.list.has_values, joining::greatest),
              every = ranks.all_reduce(!speaks || part.list.has_values, joining::least);
  part.rows = static_cast<index>(ranks.all_reduce(part.rows, joining::greatest));
  part.columns = static_cast<index>(ranks.all_reduce(part.columns, joining::greatest));
  part.list.has_values = some == 1;
  const bool is_whole = part.entries_of_file < 0
                            ? options.nodes > 0 || !io::is_far_beyond(part.rows, all)
                            : all == part.entries_of_file;
  return is_whole && (some == 0 || every == 1);
}

/// Entries of the whole matrix in the order of the file; without values the matrix is iso.
template <class T>
struct entries {
  std::vector<index> rows, columns;
  buffer values;
};

/// All entries of a part, the other half of a symmetric file among them, and the lengths of rows.
template <class T>
entries<T> entries_of(const io::listed_part<T>& part, std::vector<int64>& lengths) {
  const io::entry_list<T>& list = part.list;
  entries<T> out;
  list.file.expect_memory(2 * list.bytes() + 16.0 * part.rows);
  const std::size_t most = list.size() * (part.half == io::symmetry::none ? 1 : 2);
  reserve(out.rows, most);
  reserve(out.columns, most);
  out.values = buffer::allocate(list.has_values ? most * sizeof(T) : 0);
  lengths = filled<int64>(size(part.rows));
  const auto add = [&](index i, index j, T value) {
    if (list.has_values) out.values.template data<T>()[out.rows.size()] = value;
    out.rows.push_back(i);
    out.columns.push_back(j);
    ++lengths[size(i)];
  };
  for (std::size_t p = 0; p < list.size(); ++p) {
    const index i = list.row(p), j = list.column(p);
    const T value = list.has_values ? list.value(p) : T(1);
    add(i, j, value);
    if (part.half != io::symmetry::none && i != j) add(j, i, io::mirrored(value, part.half));
  }
  return out;
}

/// The rows of this rank from the entries that have come.
template <class T>
matrix<T> rows_from(const io::listed_part<T>& part, accumulator fold, const layout& rows, int rank,
                    const buffer& i, const buffer& j, const buffer& values) {
  io::entry_list<T> list(*part.file, part.list.has_values);
  const std::size_t count = i.bytes() / sizeof(index);
  list.reserve(count);
  for (std::size_t p = 0; p < count; ++p) {
    const T value = list.has_values ? values.data<const T>()[p] : T(1);
    list.add(rows.place_of(i.data<const index>()[p]), j.data<const index>()[p], value);
  }
  return io::to_matrix(io::entry_lists<T>(&list, 1), rows.rows_of(rank), part.columns,
                       io::symmetry::none, fold);
}

/// The matrix from parts of the lines, or none. Collective.
template <class T>
std::optional<distributed<matrix<T>>> read_in_parts(const communicator& ranks,
                                                    const std::string& path,
                                                    const read_options& options) {
  std::unique_ptr<io::listed_part<T>> part;
  if (!succeed(ranks, [&] {
        part = list_part<T>(ranks, path, options);
        return part != nullptr;
      }))
    return {};
  if (!join_parts(ranks, *part, options)) return {};
  std::vector<int64> lengths;
  entries<T> read;
  agree(ranks, name, [&] { read = entries_of(*part, lengths); });
  const layout rows = over_ranks::layout_by_lengths(ranks, name, lengths);
  const bool has_values = part->list.has_values;
  const over_ranks::delivery by = over_ranks::deliver_to_rows(ranks, name, rows, read.rows);
  const auto arrived = [&](const void* elements, std::size_t bytes_each) {
    return over_ranks::deliver(ranks, name, by, elements, bytes_each);
  };
  const buffer i = arrived(read.rows.data(), sizeof(index)),
               j = arrived(read.columns.data(), sizeof(index)),
               values = arrived(read.values.data(), has_values ? sizeof(T) : 0);
  const accumulator fold =
      part->entries_of_file < 0 && !has_values ? accumulator::first : part->fold;
  std::optional<matrix<T>> here;
  if (!succeed(ranks, [&] {
        here = rows_from(*part, fold, rows, ranks.rank(), i, j, values);
        return true;
      }))
    return {};
  return distributed<matrix<T>>::from_rows(ranks, *here, rows);
}

}  // namespace

template <class T>
distributed<matrix<T>> read_matrix(const communicator& ranks, const std::string& path,
                                   const read_options& options) {
  if (auto made = read_in_parts<T>(ranks, path, options)) return *std::move(made);
  std::optional<matrix<T>> whole;
  std::optional<layout> rows;
  agree(ranks, name, [&] {
    whole = read_matrix<T>(path, options);
    rows = layout::by_entries(whole->structure(), ranks.size());
  });
  return distributed<matrix<T>>::from_whole(ranks, *whole, *rows);
}

template distributed<matrix<float>> read_matrix(const communicator&, const std::string&,
                                                const read_options&);
template distributed<matrix<double>> read_matrix(const communicator&, const std::string&,
                                                 const read_options&);
template distributed<matrix<int32>> read_matrix(const communicator&, const std::string&,
                                                const read_options&);
template distributed<matrix<int64>> read_matrix(const communicator&, const std::string&,
                                                const read_options&);
template distributed<matrix<bool>> read_matrix(const communicator&, const std::string&,
                                               const read_options&);

}  // namespace rig
