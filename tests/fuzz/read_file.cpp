// Every reader on any bytes: an error of rig, or a matrix that keeps its rules and survives a file.

#include <filesystem>
#include <fstream>
#include <string>

#include "fuzz.hpp"
#include "rig/io.hpp"

namespace {

namespace fs = std::filesystem;

/// A folder of this process, removed at its end.
struct folder {
  folder() {
    std::string name = (fs::temp_directory_path() / "rig-fuzz-XXXXXX").string();
    fuzz::require(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  std::string file(const char* ending) const { return (path / "file").string() + ending; }
  fs::path path;
};

/// The columns of a row ascend and are within the matrix; a file of it is the same matrix.
template <class T>
void check_matrix(const rig::matrix<T>& a, const std::string& copy) {
  const rig::pattern& structure = a.structure();
  const rig::index* const columns = structure.column_indices();
  for (rig::index i = 0; i < a.rows(); ++i) {
    rig::index before = -1;
    for (rig::int64 p = structure.offset(i); p < structure.offset(i + 1); ++p) {
      fuzz::require(columns[p] > before && columns[p] < a.columns());
      before = columns[p];
    }
  }
  rig::write_matrix(copy, a);
  const auto again = rig::read_matrix<T>(copy);
  fuzz::require(again.rows() == a.rows() && again.columns() == a.columns() &&
                again.nnz() == a.nnz());
  for (rig::int64 p = 0; p < a.nnz(); ++p) {
    const T x = a.value(p), y = again.value(p);
    fuzz::require(columns[p] == again.structure().column_indices()[p] &&
                  (x == y || (x != x && y != y)));
  }
}

template <class T>
void read_matrix(const std::string& path, const std::string& copy,
                 const rig::read_options& options) {
  fuzz::returns([&] { check_matrix(rig::read_matrix<T>(path, options), copy); });
}
template <class T>
void read_dense(const std::string& path) {
  fuzz::returns([&] { rig::read_dense<T>(path); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const folder mine;
  constexpr const char* endings[] = {".mtx", ".txt", ".npz", ".npy", ".csv", ".gz"};
  constexpr char separators[] = {' ', ',', ';', ':', '|'};
  fuzz::bytes from(data, size);
  const unsigned reader = from.below(7);
  const std::string path = mine.file(endings[from.below(std::size(endings))]);
  const std::string copy = mine.file(".copy.mtx");
  const unsigned flags = from.below(256);
  rig::read_options options;
  options.separator = separators[flags % 5];
  options.values = flags < 128;
  options.extra_columns = flags / 5 % 2 == 1;
  options.symmetrise = flags / 10 % 2 == 1;
  options.duplicates = static_cast<rig::accumulator>(flags / 20 % 4);
  std::ofstream(path, std::ios::binary) << from.rest();
  switch (reader) {
    case 0:
      read_matrix<float>(path, copy, options);
      break;
    case 1:
      read_matrix<rig::int64>(path, copy, options);
      break;
    case 2:
      read_matrix<bool>(path, copy, options);
      break;
    case 3:
      read_dense<float>(path);
      break;
    case 4:
      read_dense<rig::int32>(path);
      break;
    case 5:
      read_dense<double>(path);
      break;
    default:
      fuzz::returns([&] { rig::read_quantized(path); });
  }
  fs::remove(path);
  return 0;
}
