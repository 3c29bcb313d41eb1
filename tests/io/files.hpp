#pragma once

// Files that tests write, and the results of reading them.

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "rig/error.hpp"

/// A folder of this process, removed at its exit.
inline const std::filesystem::path& scratch() {
  static const struct folder {
    folder() : path(std::filesystem::temp_directory_path() / ("rig_" + std::to_string(getpid()))) {
      std::filesystem::create_directories(path);
    }
    ~folder() { std::filesystem::remove_all(path); }
    std::filesystem::path path;
  } made;
  return made.path;
}

/// Writes a file with these bytes and returns its path.
inline std::string file_of(const std::string& name, const std::string& bytes) {
  const std::string path = scratch() / name;
  std::filesystem::remove(path);  // ext4 flushes a truncated file to disk, which is slow
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

inline std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The message of the rig::error with this code that `work` throws, or a description of any other
/// outcome.
template <class Work>
std::string refusal(rig::errc code, Work&& work) {
  try {
    work();
  } catch (const rig::error& e) {
    return (e.code() == code ? "" : "another code: ") + std::string(e.what());
  }
  return "no error";
}
