#include "cuda/runtime/kernel_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>

namespace rig::on_cuda {
namespace {

// A file: magic, three strings with their lengths (key, lowered name, cubin), and a checksum of
// everything before it.
constexpr char magic[8] = {'r', 'i', 'g', 'k', 'e', 'r', 'n', '1'};

class descriptor_of_file {
 public:
  explicit descriptor_of_file(int opened) : opened_(opened) {}
  descriptor_of_file(const descriptor_of_file&) = delete;
  ~descriptor_of_file() {
    if (opened_ >= 0) close(opened_);
  }
  operator int() const { return opened_; }

 private:
  int opened_;
};

/// Returns whether the user owns the file, and nobody else may write it.
bool is_private(const struct stat& of) {
  return of.st_uid == geteuid() && (of.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::filesystem::path folder_path() {
  if (variable("RIG_CACHE") == "off") return {};
  if (const std::string chosen = variable("RIG_CACHE_DIR"); !chosen.empty()) return chosen;
  if (const std::string xdg = variable("XDG_CACHE_HOME"); !xdg.empty())
    return std::filesystem::path(xdg) / "rig";
  if (const std::string home = variable("HOME"); !home.empty())
    return std::filesystem::path(home) / ".cache" / "rig";
  return {};
}

/// Opens the cache's folder. Returns -1 if there is none, or if it is not private.
int open_folder(bool makes) {
  const std::filesystem::path path = folder_path();
  if (path.empty()) return -1;
  if (makes) {
    std::error_code ignored;
    std::filesystem::create_directories(path.parent_path(), ignored);
    mkdir(path.c_str(), S_IRWXU);
  }
  const int opened = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  struct stat found;
  if (opened >= 0 && fstat(opened, &found) == 0 && is_private(found)) return opened;
  if (opened >= 0) close(opened);
  return -1;
}

std::string file_name(const std::string& key) {
  char name[48];
  std::snprintf(name, sizeof(name), "%016llx%016llx.kernel",
                static_cast<unsigned long long>(text_hash(key)),
                static_cast<unsigned long long>(text_hash(key, 0x9e3779b97f4a7c15ull)));
  return name;
}

void append(std::string& to, std::string_view text) {
  const std::uint64_t size = text.size();
  to.append(reinterpret_cast<const char*>(&size), sizeof(size));
  to.append(text);
}

bool take(std::string_view& from, std::string& text) {
  std::uint64_t size = 0;
  if (from.size() < sizeof(size)) return false;
  std::memcpy(&size, from.data(), sizeof(size));
  from.remove_prefix(sizeof(size));
  if (from.size() < size) return false;
  text = from.substr(0, size);
  from.remove_prefix(size);
  return true;
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// Returns nothing unless the file is a regular file of the user's own, not a link.
std::string contents(int folder, const std::string& name) {
  constexpr off_t most = 1 << 28;  // no kernel is near it, so a larger file is not rig's
  const descriptor_of_file file(
      openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat found;
  if (file < 0 || fstat(file, &found) != 0 || !S_ISREG(found.st_mode) || !is_private(found) ||
      found.st_size > most)
    return {};
  std::string all(static_cast<std::size_t>(found.st_size), '\0');
  std::size_t at = 0;
  while (at < all.size()) {
    const ssize_t got = read(file, all.data() + at, all.size() - at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return {};
    at += static_cast<std::size_t>(got);
  }
  return all;
}

}  // namespace

std::string variable(const char* name) {
  const char* value = secure_getenv(name);
  return value != nullptr ? value : "";
}

std::uint64_t text_hash(std::string_view text, std::uint64_t before) {
  for (const char c : text) before = (before ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return before;
}

bool read_cached(const std::string& key, compiled_kernel& out) {
  const descriptor_of_file folder(open_folder(false));
  if (folder < 0) return false;
  const std::string all = contents(folder, file_name(key));
  std::string_view rest = all;
  if (rest.size() < sizeof(magic) + 8 || std::memcmp(rest.data(), magic, sizeof(magic)) != 0)
    return false;
  std::uint64_t checksum = 0;
  std::memcpy(&checksum, rest.data() + rest.size() - 8, 8);
  rest.remove_suffix(8);
  if (text_hash(rest) != checksum) return false;
  rest.remove_prefix(sizeof(magic));
  std::string kept_key;
  return take(rest, kept_key) && kept_key == key && take(rest, out.lowered_name) &&
         take(rest, out.cubin) && rest.empty();
}

void write_cached(const std::string& key, const compiled_kernel& made) {
  static std::atomic<int> serial = 0;
  const descriptor_of_file folder(open_folder(true));
  if (folder < 0) return;
  std::string all(magic, sizeof(magic));
  append(all, key);
  append(all, made.lowered_name);
  append(all, made.cubin);
  const std::uint64_t checksum = text_hash(all);
  all.append(reinterpret_cast<const char*>(&checksum), sizeof(checksum));
  // Written under a name of its own and renamed, so that readers see a whole file or none.
  const std::string name = file_name(key), temporary = name + "." + std::to_string(getpid()) + "." +
                                                       std::to_string(serial++) + ".part";
  bool whole = false;
  {
    const descriptor_of_file file(openat(folder, temporary.c_str(),
                                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                         S_IRUSR | S_IWUSR));
    if (file < 0) return;
    whole = write_all(file, all);
  }
  if (!whole || renameat(folder, temporary.c_str(), folder, name.c_str()) != 0)
    unlinkat(folder, temporary.c_str(), 0);
}

}  // namespace rig::on_cuda
