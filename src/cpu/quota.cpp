// The quota of processor time of a container: of control groups of version 1 and 2. Nothing here
// allocates or throws.

#include "cpu/quota.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace rig::on_cpu {
namespace {

/// Reads the begin of a file as text; nothing if it cannot be read.
template <int Bytes>
void read_text(const char* path, char (&text)[Bytes]) {
  text[0] = '\0';
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  text[std::max<ssize_t>(0, read(file, text, Bytes - 1))] = '\0';
  close(file);
}

constexpr int longest_path = 4096;

/// The first numbers of a file of a group; returns how many there are.
int read_numbers(const char* folder, const char* name, double* first, double* second) {
  char path[longest_path], text[64];
  if (std::snprintf(path, sizeof(path), "%s/%s", folder, name) >= longest_path) return 0;
  read_text(path, text);
  return std::sscanf(text, "%lf %lf", first, second);
}

/// The cores of one group, or 0.
double cores_of_group(const char* folder) {
  double quota = -1, period = 0, unused = 0;
  if (read_numbers(folder, "cpu.max", &quota, &period) != 2) {
    read_numbers(folder, "cpu.cfs_quota_us", &quota, &unused);
    read_numbers(folder, "cpu.cfs_period_us", &period, &unused);
  }
  return quota > 0 && period > 0 ? quota / period : 0;
}

/// The lesser of two numbers of cores, of which 0 is no bound.
double lesser(double x, double y) { return x > 0 && y > 0 ? std::min(x, y) : std::max(x, y); }

/// Whether a list of controllers, "cpu,cpuacct", holds `cpu`; version 2 has an empty one.
bool limits_cpu(const char* controllers) {
  if (*controllers == ':') return true;
  for (const char* at = controllers; *at != ':' && *at != '\0'; at += std::strcspn(at, ",:")) {
    at += *at == ',';
    if (std::strncmp(at, "cpu", 3) == 0 && (at[3] == ',' || at[3] == ':')) return true;
  }
  return false;
}

/// The least cores of a group and its parents, or 0. Shortens `group`, the text of a path.
double cores_of_path(const char* root, char* group) {
  double least = 0;
  for (char* cut = group + std::strlen(group); cut != nullptr; cut = std::strrchr(group, '/')) {
    *cut = '\0';
    for (const char* mount : {"", "/cpu", "/unified"}) {
      char folder[longest_path];
      if (std::snprintf(folder, sizeof(folder), "%s/sys/fs/cgroup%s%s", root, mount, group) <
          longest_path)
        least = lesser(least, cores_of_group(folder));
    }
  }
  return least;
}

}  // namespace

double cores_of_quota(const char* root) {
  char path[longest_path], groups[longest_path];
  if (std::snprintf(path, sizeof(path), "%s/proc/self/cgroup", root) >= longest_path) return 0;
  read_text(path, groups);
  double least = 0;
  // A line is "number:controllers:/path". A container may see only the last groups of the path.
  for (char* line = groups; *line != '\0';) {
    char* const end = line + std::strcspn(line, "\n");
    char* const next = *end == '\0' ? end : end + 1;
    *end = '\0';
    const char* const controllers = line + std::strcspn(line, ":") + 1;
    char* const group = std::strchr(line, '/');
    if (controllers < end && group != nullptr && limits_cpu(controllers))
      least = lesser(least, cores_of_path(root, group));
    line = next;
  }
  return least;
}

}  // namespace rig::on_cpu
