// Sparse matrices in NumPy's .npz, a zip archive of arrays.

#include <cstring>
#include <fstream>

#include "collection.hpp"
#include "io/formats.hpp"
#include "rig/rearrange.hpp"

namespace bench {
namespace {

using rig::errc;
using rig::index;
using rig::int64;

/// The members of an archive, by its directory.
class archive {
 public:
  explicit archive(const std::string& path) : path_(path), file_(path, std::ios::binary) {
    if (!file_) rig::fail(errc::io, {path, ": cannot be read"});
    file_.seekg(0, std::ios::end);
    size_ = static_cast<std::uint64_t>(file_.tellg());
    read_directory();
  }

  bool has(const std::string& name) const { return members_.contains(name + ".npy"); }

  /// All numbers of an array, converted to T.
  template <class T>
  rig::dense<T> array(const std::string& name) const {
    const member& of = at(name);
    rig::io::input_file file(path_, of.part);
    rig::dense<T> out = rig::io::read_npy<T>(file);
    if (file.crc() != of.crc) damaged();
    return out;
  }

  /// The text of an array of bytes.
  std::string text(const std::string& name) const {
    constexpr std::size_t before = 10;  // magic, version and the length of the header
    rig::io::input_file file(path_, at(name).part);
    std::string head(before, '\0'), out(16, '\0');
    if (file.read(head.data(), before) != before) damaged();
    std::string header(number<std::uint16_t>(head, before - 2), '\0');
    if (file.read(header.data(), header.size()) != header.size()) damaged();
    out.resize(file.read(out.data(), out.size()));
    return out.substr(0, out.find('\0'));
  }

 private:
  struct member {
    rig::io::file_part part;
    std::uint32_t crc = 0;
  };

  [[noreturn]] void damaged() const {
    rig::fail(errc::format, {path_, ": the archive is cut or damaged"});
  }

  const member& at(const std::string& name) const {
    const auto found = members_.find(name + ".npy");
    if (found == members_.end())
      rig::fail(errc::format, {path_, ": the array ", name, " is missing"});
    return found->second;
  }

  std::string bytes_at(std::uint64_t offset, std::uint64_t count) {
    if (offset > size_ || count > size_ - offset) damaged();
    std::string out(count, '\0');
    file_.seekg(static_cast<std::streamoff>(offset));
    if (!file_.read(out.data(), static_cast<std::streamsize>(count))) damaged();
    return out;
  }

  template <class Number>
  Number number(std::string_view text, std::size_t offset) const {
    Number out;
    if (offset > text.size() || sizeof(out) > text.size() - offset) damaged();
    std::memcpy(&out, text.data() + offset, sizeof(out));
    return out;
  }

  void read_directory() {
    constexpr std::uint64_t end_bytes = 22, longest_comment = 0xffff, locator_bytes = 20;
    const std::uint64_t count = std::min(size_, end_bytes + longest_comment);
    const std::string tail = bytes_at(size_ - count, count);
    const std::size_t end = tail.rfind("PK\5\6");
    if (end == std::string::npos) damaged();
    std::uint64_t bytes = number<std::uint32_t>(tail, end + 12),
                  offset = number<std::uint32_t>(tail, end + 16);
    if (end >= locator_bytes && tail.compare(end - locator_bytes, 4, "PK\6\7") == 0) {
      const std::string wide = bytes_at(number<std::uint64_t>(tail, end - locator_bytes + 8), 56);
      bytes = number<std::uint64_t>(wide, 40);
      offset = number<std::uint64_t>(wide, 48);
    }
    const std::string directory = bytes_at(offset, bytes);
    for (std::size_t entry = 0; entry < directory.size();) entry += read_entry(directory, entry);
  }

  /// Adds the member of an entry of the directory. Returns the bytes of the entry.
  std::size_t read_entry(const std::string& directory, std::size_t entry) {
    constexpr std::size_t entry_bytes = 46, local_bytes = 30;
    const auto wide = [&](std::size_t offset) {
      return std::uint64_t{number<std::uint32_t>(directory, entry + offset)};
    };
    const auto narrow = [&](std::size_t offset) {
      return number<std::uint16_t>(directory, entry + offset);
    };
    const std::size_t name_bytes = narrow(28), extra_bytes = narrow(30);
    if (directory.compare(entry, 4, "PK\1\2") != 0 ||
        entry + entry_bytes + name_bytes + extra_bytes > directory.size())
      damaged();
    const std::string name = directory.substr(entry + entry_bytes, name_bytes);
    const std::uint16_t method = narrow(10);
    if (method != 0 && method != 8)
      rig::fail(errc::format, {path_, ": ", name, " is packed by method ", method,
                               "; stored and deflated members are read"});
    std::uint64_t unpacked = wide(24), packed = wide(20), offset = wide(42);
    read_wide_extra(directory.substr(entry + entry_bytes + name_bytes, extra_bytes),
                    {&unpacked, &packed, &offset});
    const std::string local = bytes_at(offset, local_bytes);
    const std::uint64_t first =
        offset + local_bytes + number<std::uint16_t>(local, 26) + number<std::uint16_t>(local, 28);
    if (first > size_ || packed > size_ - first) damaged();
    members_[name] = {{name, static_cast<int64>(first), static_cast<int64>(packed), method == 8},
                      number<std::uint32_t>(directory, entry + 16)};
    return entry_bytes + name_bytes + extra_bytes + narrow(32);
  }

  /// Reads the numbers that exceed their fields of an entry.
  void read_wide_extra(const std::string& extra,
                       std::initializer_list<std::uint64_t*> numbers) const {
    for (std::size_t at = 0; at < extra.size();) {
      const auto kind = number<std::uint16_t>(extra, at),
                 bytes = number<std::uint16_t>(extra, at + 2);
      std::size_t from = at + 4;
      for (std::uint64_t* const one : numbers)
        if (kind == 1 && *one == 0xffffffff) {
          *one = number<std::uint64_t>(extra, from);
          from += sizeof(*one);
        }
      at += std::size_t{4} + bytes;
    }
  }

  std::string path_;
  std::ifstream file_;
  std::uint64_t size_ = 0;
  std::map<std::string, member> members_;
};

template <class T>
std::span<const T> numbers(const rig::dense<T>& of) {
  return {of.data(), static_cast<std::size_t>(of.rows()) * static_cast<std::size_t>(of.columns())};
}

rig::matrix<float> from_offsets(const archive& in, const std::string& prefix, int64 rows,
                                int64 columns) {
  const auto offsets = in.array<int64>(prefix + "indptr");
  const auto entries = in.array<index>(prefix + "indices");
  return rig::matrix<float>::from_csr(rows, columns, numbers(offsets), numbers(entries),
                                      rig::input::sorted);
}

}  // namespace

rig::matrix<float> read_npz(const std::string& path) {
  const archive in(path);
  const std::string prefix = in.has("adj_indptr") ? "adj_" : "";
  if (!in.has(prefix + "shape"))
    rig::fail(errc::format, {path,
                             ": it holds no sparse matrix; matrices of SciPy's save_npz and "
                             "graphs in arrays adj_* are read"});
  const rig::dense<int64> shape = in.array<int64>(prefix + "shape");
  if (shape.rows() != 2 || shape.columns() != 1)
    rig::fail(errc::format, {path, ": the shape has ", shape.rows(), " numbers, not 2"});
  const int64 rows = shape(0, 0), columns = shape(1, 0);
  const std::string format = in.has("format") ? in.text("format") : "csr";
  if (format == "csr") return from_offsets(in, prefix, rows, columns);
  if (format == "csc") return rig::transpose(from_offsets(in, prefix, columns, rows));
  if (format != "coo")
    rig::fail(errc::format, {path, ": the format ", rig::io::in_quotes(format),
                             " is not read; csr, csc and coo are"});
  const auto i = in.array<index>("row"), j = in.array<index>("col");
  return rig::matrix<float>::from_positions(rows, columns, numbers(i), numbers(j), 1, true);
}

}  // namespace bench
