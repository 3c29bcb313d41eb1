#pragma once

// Data folders of tests.

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "rig/conversions.hpp"
#include "rig/io.hpp"

namespace fs = std::filesystem;

/// A folder that is removed with its scope.
struct scratch_folder {
  scratch_folder() { fs::create_directory(path); }
  ~scratch_folder() { fs::remove_all(path); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name, std::ios::binary) << text;
  }
  fs::path path = fs::temp_directory_path() / ("rig_gnn_" + std::to_string(getpid()));
};

inline const std::string symmetric = "%%MatrixMarket matrix coordinate pattern symmetric\n";
inline const std::string general = "%%MatrixMarket matrix coordinate real general\n";

/// A folder of four nodes, of which the last one has no label.
inline void write_small(const scratch_folder& to) {
  to.write("graph.mtx", symmetric + "4 4 3\n2 1\n3 2\n4 3\n");
  to.write("features.mtx", general + "4 3 4\n1 1 1\n1 3 3\n2 2 2\n4 1 5\n");
  to.write("labels.txt", "1\n0\n1\n-1\n");
  to.write("split.txt", "# a comment\ntrain 0\nval 1\ntest 2\n");
}

/// Makes the features of such a folder codes.
inline void store_as_codes(const scratch_folder& folder) {
  const fs::path words = folder.path / "features.mtx";
  const auto x = rig::to_dense(rig::read_matrix<float>(words.string()));
  rig::write_quantized((folder.path / "features.npz").string(), rig::quantized::from(x));
  fs::remove(words);
}
