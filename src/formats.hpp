#pragma once

#include <string_view>

#include "input_file.hpp"
#include "rig/dense.hpp"
#include "rig/matrix.hpp"

namespace rig::io {

inline constexpr std::string_view npy_magic = "\x93NUMPY";
inline constexpr std::string_view matrix_market_magic = "%%MatrixMarket";

// The readers of the formats, from the file's first byte on.
template <class T>
matrix<T> read_matrix_market(input_file& file);
template <class T>
dense<T> read_matrix_market_dense(input_file& file);
template <class T>
matrix<T> read_edge_list(input_file& file);
template <class T>
dense<T> read_npy(input_file& file);

template <class T>
void expect_dense(const input_file& file, index rows, index columns) {
  file.expect_memory(static_cast<double>(sizeof(T)) * rows * columns);
}

}  // namespace rig::io
