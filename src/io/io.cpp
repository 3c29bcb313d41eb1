#include "rig/io.hpp"

#include <algorithm>
#include <string_view>

#include "io/formats.hpp"
#include "rig/graph.hpp"

namespace rig {

bool io::is_matrix_market(input_file& file) {
  const std::string& path = file.path();
  if (path.ends_with(".mtx") || path.ends_with(".mtx.gz")) return true;
  const std::string_view head = file.peek(matrix_market_magic.size());
  return std::equal(head.begin(), head.end(), matrix_market_magic.begin(),
                    matrix_market_magic.end(), [](char x, char y) { return (x | 32) == (y | 32); });
}

void io::check_duplicates(const std::string& path, const read_options& options) {
  if (options.duplicates == accumulator::own || options.duplicates > accumulator::logical_and)
    fail(errc::range, {path, ": duplicates are folded by an operator such as plus or maximum; set ",
                       "read_options::duplicates to one, or to none to refuse them"});
}

namespace {

/// Whether the name says that lines hold numbers and commas.
bool is_csv(const std::string& path) { return path.ends_with(".csv") || path.ends_with(".csv.gz"); }

template <class T>
matrix<T> read_sparse(io::input_file& file, const read_options& options) {
  if (io::is_npz(file)) return io::read_npz_matrix<T>(file, options);
  if (io::is_matrix_market(file)) return io::read_matrix_market<T>(file, options);
  // Refused there: a damaged or empty archive is no edge list.
  if (file.path().ends_with(".npz")) return io::read_npz_matrix<T>(file, options);
  return io::read_edge_list<T>(file, options);
}

}  // namespace

template <class T>
matrix<T> read_matrix(const std::string& path, const read_options& options) {
  return io::naming(path, [&] {
    io::check_duplicates(path, options);
    io::input_file file(path);
    if (io::is_npy(file))
      fail(errc::format, {path, ": .npy holds a dense matrix; read it with read_dense"});
    matrix<T> made = read_sparse<T>(file, options);
    return options.symmetrise ? symmetrise(made) : made;
  });
}

template <class T>
dense<T> read_dense(const std::string& path) {
  return io::naming(path, [&] {
    io::input_file file(path);
    if (io::is_npy(file)) return io::read_npy<T>(file);
    if (io::is_matrix_market(file)) return io::read_matrix_market_dense<T>(file);
    if (is_csv(path)) return io::read_csv<T>(file);
    if (io::is_npz(file))
      fail(errc::format, {path, ": .npz holds several arrays; name one: read_dense(path, array)"});
    fail(errc::format, {path, ": the file is neither .npy nor Matrix Market, nor named .csv"});
  });
}

template <class T>
dense<T> read_dense(const std::string& path, const std::string& array) {
  return io::naming(path, [&] {
    io::input_file file(path);
    return io::read_npz_array<T>(file, array);
  });
}

quantized read_quantized(const std::string& path) {
  return io::naming(path, [&] {
    io::input_file file(path);
    return io::read_npz(file);
  });
}

template matrix<float> read_matrix(const std::string&, const read_options&);
template matrix<double> read_matrix(const std::string&, const read_options&);
template matrix<int32> read_matrix(const std::string&, const read_options&);
template matrix<int64> read_matrix(const std::string&, const read_options&);
template matrix<bool> read_matrix(const std::string&, const read_options&);

template dense<float> read_dense(const std::string&);
template dense<double> read_dense(const std::string&);
template dense<int32> read_dense(const std::string&);
template dense<int64> read_dense(const std::string&);
template dense<bool> read_dense(const std::string&);

template dense<float> read_dense(const std::string&, const std::string&);
template dense<double> read_dense(const std::string&, const std::string&);
template dense<int32> read_dense(const std::string&, const std::string&);
template dense<int64> read_dense(const std::string&, const std::string&);
template dense<bool> read_dense(const std::string&, const std::string&);

}  // namespace rig
