// NumPy's .npz: a zip archive of .npy files, as defined by PKWARE's APPNOTE 6.3. It holds a
// quantized, a sparse matrix of SciPy, or arrays.

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <span>

#include "io/formats.hpp"
#include "rig/accumulate.hpp"
#include "rig/io.hpp"
#include "rig/output_file.hpp"
#include "rig/rearrange.hpp"

namespace rig::io {
namespace {

constexpr std::uint32_t local_signature = 0x04034b50, entry_signature = 0x02014b50,
                        end_signature = 0x06054b50, wide_end_signature = 0x06064b50,
                        wide_locator_signature = 0x07064b50;
constexpr std::size_t local_bytes = 30, end_bytes = 22, wide_end_bytes = 56,
                      wide_locator_bytes = 20;
constexpr std::uint16_t wide_extra = 1;  // the extra field with 64-bit sizes
constexpr std::uint64_t in_wide_extra = 0xffffffff;

constexpr std::array<std::string_view, 3> member_names = {"codes.npy", "low.npy", "step.npy"};

struct member {
  file_part part;
  std::uint64_t unpacked_bytes = 0;
  std::uint32_t crc = 0;
};

/// Reads little-endian numbers from left to right; refuses the file if bytes run out.
class fields {
 public:
  fields(const input_file& file, std::string_view bytes) : file_(file), bytes_(bytes) {}
  bool empty() const { return bytes_.empty(); }
  std::string_view take(std::size_t count) {
    if (bytes_.size() < count) file_.refuse({"the archive's directory is cut"});
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }
  template <class Number>
  Number next() {
    Number out;
    std::memcpy(&out, take(sizeof(out)).data(), sizeof(out));
    return out;
  }

 private:
  const input_file& file_;
  std::string_view bytes_;
};

/// Bytes [offset, offset + count) of the archive; the caller has checked the bounds.
std::string bytes_at(const input_file& file, std::uint64_t offset, std::size_t count) {
  std::string out(count, '\0');
  input_file part(file.path(),
                  {"directory", static_cast<int64>(offset), static_cast<int64>(count), false});
  if (part.read(out.data(), count) != count)
    file.refuse({"the file became shorter during the read"});
  return out;
}

struct directory {
  std::uint64_t entries = 0, bytes = 0, offset = 0;
};

/// Finds the directory of the archive by the record at its end.
directory find_directory(const input_file& file) {
  const auto size = static_cast<std::uint64_t>(file.size());
  constexpr std::uint64_t longest_comment = 0xffff;
  const std::size_t count = std::min(size, end_bytes + longest_comment);
  const std::string tail = bytes_at(file, size - count, count);
  // The last record whose comment ends with the file, because a comment may look like a record.
  std::size_t at = count >= end_bytes ? count - end_bytes + 1 : 0;
  const auto is_end = [&] {
    std::uint32_t signature = 0;
    std::uint16_t comment = 0;
    std::memcpy(&signature, tail.data() + at, sizeof(signature));
    std::memcpy(&comment, tail.data() + at + end_bytes - sizeof(comment), sizeof(comment));
    return signature == end_signature && at + end_bytes + comment == count;
  };
  do {
    if (at == 0) file.refuse({"the archive has no end: the file is cut or damaged"});
    --at;
  } while (!is_end());

  directory out;
  std::uint64_t end = size - count + at;
  fields record(file, std::string_view(tail).substr(at + 8));
  static_cast<void>(record.next<std::uint16_t>());  // entries on this disk
  out.entries = record.next<std::uint16_t>();
  out.bytes = record.next<std::uint32_t>();
  out.offset = record.next<std::uint32_t>();
  if (end >= wide_locator_bytes + wide_end_bytes) {
    const std::string found = bytes_at(file, end - wide_locator_bytes, wide_locator_bytes);
    fields locator(file, found);
    if (locator.next<std::uint32_t>() == wide_locator_signature) {
      static_cast<void>(locator.next<std::uint32_t>());  // its disk
      const auto offset = locator.next<std::uint64_t>();
      if (offset > end - wide_locator_bytes - wide_end_bytes)
        file.refuse({"the archive gives byte ", offset, " for its end, after that end"});
      const std::string text = bytes_at(file, offset, wide_end_bytes);
      fields wide(file, text);
      if (wide.next<std::uint32_t>() != wide_end_signature)
        file.refuse({"the archive's end is not at byte ", offset});
      static_cast<void>(wide.take(28));  // its size, versions, disks
      out.entries = wide.next<std::uint64_t>();
      out.bytes = wide.next<std::uint64_t>();
      out.offset = wide.next<std::uint64_t>();
      end = offset;
    }
  }
  constexpr std::uint64_t longest = 1 << 16;  // some hundred members
  if (out.offset > end || out.bytes > end - out.offset)
    file.refuse({"the archive's directory has ", out.bytes, " bytes from byte ", out.offset,
                 ", past its end at ", end});
  if (out.bytes > longest)
    file.refuse({"a directory of ", out.bytes, " bytes; at most ", longest, " are read"});
  return out;
}

/// Reads sizes and offset that exceed their fields.
void read_wide_extra(const input_file& file, std::string_view extra,
                     std::initializer_list<std::uint64_t*> numbers) {
  for (fields list(file, extra); !list.empty();) {
    const auto kind = list.next<std::uint16_t>();
    const auto bytes = list.next<std::uint16_t>();
    fields field(file, list.take(bytes));
    if (kind != wide_extra) continue;
    for (std::uint64_t* number : numbers)
      if (*number == in_wide_extra) *number = field.next<std::uint64_t>();
  }
}

/// Reads the entry of a member in the directory.
member read_entry(const input_file& file, fields& list, const directory& where) {
  if (list.next<std::uint32_t>() != entry_signature)
    file.refuse({"the archive's directory has an invalid entry"});
  static_cast<void>(list.next<std::uint32_t>());  // versions
  const auto flags = list.next<std::uint16_t>(), method = list.next<std::uint16_t>();
  static_cast<void>(list.next<std::uint32_t>());  // time
  member out;
  out.crc = list.next<std::uint32_t>();
  std::uint64_t packed = list.next<std::uint32_t>();
  out.unpacked_bytes = list.next<std::uint32_t>();
  const auto name_bytes = list.next<std::uint16_t>(), extra_bytes = list.next<std::uint16_t>(),
             comment_bytes = list.next<std::uint16_t>();
  static_cast<void>(list.take(8));  // disk, attributes
  std::uint64_t offset = list.next<std::uint32_t>();
  out.part.name = list.take(name_bytes);
  read_wide_extra(file, list.take(extra_bytes), {&out.unpacked_bytes, &packed, &offset});
  static_cast<void>(list.take(comment_bytes));

  const std::string name = in_quotes(out.part.name);
  constexpr unsigned encrypted = 1, stored = 0, deflated = 8;
  if ((flags & encrypted) != 0) file.refuse({"the member ", name, " is encrypted"});
  if (method != stored && method != deflated)
    file.refuse({"the member ", name, " is packed by method ", int(method),
                 "; only stored and deflated members are supported"});
  out.part.deflated = method == deflated;
  const auto fits = [&](std::uint64_t bytes) {
    return offset <= where.offset && bytes <= where.offset - offset;
  };
  if (!fits(local_bytes))
    file.refuse({"the member ", name, " is at byte ", offset, ", past the archive's directory at ",
                 where.offset});
  const std::string text = bytes_at(file, offset, local_bytes);
  fields local(file, text);
  if (local.next<std::uint32_t>() != local_signature)
    file.refuse({"the member ", name, " is not at byte ", offset});
  static_cast<void>(local.take(22));
  const std::uint64_t before =
      local_bytes + local.next<std::uint16_t>() + local.next<std::uint16_t>();
  if (!fits(before) || packed > where.offset - offset - before)
    file.refuse({"the member ", name, " has ", packed, " bytes from byte ", offset,
                 ", past the archive's directory at ", where.offset});
  if (!out.part.deflated && packed != out.unpacked_bytes)
    file.refuse(
        {"the member ", name, " is stored, but has ", packed, " bytes for ", out.unpacked_bytes});
  out.part.offset = static_cast<int64>(offset + before);
  out.part.bytes = static_cast<int64>(packed);
  return out;
}

/// An archive: its members by name.
struct archive {
  const input_file& file;
  std::map<std::string, member, std::less<>> members;

  explicit archive(input_file& from) : file(from) {
    if (!is_npz(from)) from.refuse({"not a .npz file: it does not begin as one"});
    if (from.size() == 0)
      fail(errc::io, {from.path(), ": a .npz file is read from a regular file only"});
    const directory where = find_directory(file);
    const std::string text = bytes_at(file, where.offset, where.bytes);
    fields list(file, text);
    for (std::uint64_t e = 0; e < where.entries; ++e) {
      member found = read_entry(file, list, where);
      const std::string name = found.part.name;
      if (!members.emplace(name, std::move(found)).second)
        file.refuse({"the member ", in_quotes(name), " comes twice"});
    }
    if (!list.empty()) file.refuse({"the archive's directory is longer than its entries"});
  }

  bool has(const std::string& array) const { return members.contains(array + ".npy"); }
  const member& at(const std::string& array) const {
    if (const auto found = members.find(array + ".npy"); found != members.end())
      return found->second;
    std::string all;
    for (const auto& [name, of] : members) all += (all.empty() ? "" : ", ") + in_quotes(name);
    file.refuse({"the member ", in_quotes(array + ".npy"), " is missing; the archive has ", all});
  }
  /// Checks the bytes of a member that has been read.
  void check(const member& of, const input_file& read) const {
    if (read.crc() != of.crc)
      read.refuse({"the CRC-32 is ", read.crc(), ", and that of the archive's directory ", of.crc});
  }
  /// The numbers of an array, converted to T.
  template <class T>
  dense<T> numbers(const std::string& array) const {
    const member& of = at(array);
    input_file in(file.path(), of.part);
    if (!is_npy(in)) in.refuse({"not a .npy file"});
    dense<T> out = read_npy<T>(in);
    check(of, in);
    return out;
  }
  /// The letters of a short text without dimensions, of bytes or of four bytes each.
  std::string text(const std::string& array) const {
    const member& of = at(array);
    input_file in(file.path(), of.part);
    char head[10] = {}, letters[64] = {};  // the magic, the version, the header's length
    in.read(head, sizeof(head));
    std::uint16_t length = 0;
    std::memcpy(&length, head + sizeof(head) - sizeof(length), sizeof(length));
    std::string header(length, '\0');
    in.read(header.data(), header.size());
    std::string out(letters, in.read(letters, sizeof(letters)));
    check(of, in);
    std::erase(out, '\0');
    return out;
  }
};

/// The members of a quantized: three, and nothing else.
std::array<member, 3> members_of_codes(const archive& in) {
  for (const auto& [name, of] : in.members)
    if (std::find(member_names.begin(), member_names.end(), name) == member_names.end())
      in.file.refuse({"the member ", in_quotes(name), " is not known"});
  std::array<member, 3> out;
  for (std::size_t n = 0; n < member_names.size(); ++n)
    out[n] = in.at(std::string(member_names[n]).substr(0, member_names[n].size() - 4));
  return out;
}

/// A member, opened at the end of its .npy header.
struct array_in_file {
  input_file file;
  npy_header head;
  const archive& in;
  const member& of;

  array_in_file(const archive& in, const member& of, const char* type)
      : file(in.file.path(), of.part), in(in), of(of) {
    if (!is_npy(file)) file.refuse({"not a .npy file"});
    head = read_npy_header(file);
    if (head.type != type) file.refuse({"the type ", in_quotes(head.type), " is not ", type});
  }
  template <class T>
  void read(T* out) {
    read_npy_numbers(file, head, out);
    in.check(of, file);
  }
};

template <class T>
std::span<const T> span_of(const dense<T>& x) {
  return {x.data(), static_cast<std::size_t>(x.rows()) * static_cast<std::size_t>(x.columns())};
}

/// The values of a sparse matrix, or a 1 for each entry if the archive has none.
template <class T>
dense<T> values_of(const archive& in, const std::string& name, index count) {
  return in.has(name) ? in.numbers<T>(name) : dense<T>(count, 1, T(1));
}

template <class T>
matrix<T> from_offsets(const archive& in, const std::string& arrays, int64 rows, int64 columns) {
  const auto offsets = in.numbers<int64>(arrays + "indptr");
  const auto entries = in.numbers<index>(arrays + "indices");
  const auto values = values_of<T>(in, arrays + "data", entries.rows());
  return matrix<T>::from_csr(rows, columns, span_of(offsets), span_of(entries), span_of(values),
                             input::sorted);
}

template <class T>
matrix<T> from_coordinates(const archive& in, const std::string& arrays, int64 rows, int64 columns,
                           accumulator duplicates) {
  const auto i = in.numbers<index>(arrays + "row"), j = in.numbers<index>(arrays + "col");
  const auto values = values_of<T>(in, arrays + "data", i.rows());
  return matrix<T>::from_tuples(rows, columns, span_of(i), span_of(j), span_of(values),
                                [=](T x, T y) { return accumulate(duplicates, x, y); });
}

}  // namespace

template <class T>
dense<T> read_npz_array(input_file& file, const std::string& array) {
  return archive(file).numbers<T>(array);
}

template <class T>
matrix<T> read_npz_matrix(input_file& file, const read_options& options) {
  const archive in(file);
  const std::string arrays(options.arrays.empty() && !in.has("shape") ? "adj_" : options.arrays);
  const accumulator duplicates =
      options.duplicates == accumulator::none ? accumulator::plus : options.duplicates;
  const auto shape = in.numbers<int64>(arrays + "shape");
  if (shape.rows() != 2 || shape.columns() != 1)
    file.refuse({"the array ", in_quotes(arrays + "shape"), " has ", shape.rows(), "x",
                 shape.columns(), " numbers, not 2"});
  const int64 rows = shape(0, 0), columns = shape(1, 0);
  const std::string format = in.has(arrays + "format") ? in.text(arrays + "format") : "csr";
  try {
    if (format == "csr") return from_offsets<T>(in, arrays, rows, columns);
    if (format == "csc") return transpose(from_offsets<T>(in, arrays, columns, rows));
    if (format == "coo") return from_coordinates<T>(in, arrays, rows, columns, duplicates);
  } catch (const error& e) {
    if (std::string_view(e.what()).starts_with(file.path())) throw;
    file.refuse({e.what()});
  }
  file.refuse({"the format ", in_quotes(format),
               " is not supported; csr, csc and coo are: convert it with SciPy's tocsr()"});
}

quantized read_npz(input_file& file) {
  const archive in(file);
  const std::array<member, 3> members = members_of_codes(in);
  array_in_file codes(in, members[0], "|u1"), low(in, members[1], "<f4"),
      step(in, members[2], "<f4");
  for (const array_in_file* range : {&low, &step}) {
    const npy_header& head = range->head;
    if (head.columns != 1 || (head.rows != 1 && head.rows != codes.head.columns))
      range->file.refuse({"the shape is ", head.rows, "x", head.columns, "; the codes are ",
                          codes.head.rows, "x", codes.head.columns, ", so 1 or ",
                          codes.head.columns, " numbers fit"});
  }
  if (low.head.rows != step.head.rows)
    file.refuse({"low has ", low.head.rows, " numbers, step has ", step.head.rows});
  expect_npy_numbers<unsigned char>(codes.file, codes.head);
  expect_npy_numbers<float>(low.file, low.head);
  expect_npy_numbers<float>(step.file, step.head);
  const quantized::parts out =
      quantized::uninitialised(codes.head.rows, codes.head.columns, low.head.rows);
  low.read(out.low);
  step.read(out.step);
  try {
    out.check("the ranges");
  } catch (const error& e) {
    file.refuse({e.what()});
  }
  codes.read(out.codes);
  return out.made;
}

template dense<float> read_npz_array(input_file&, const std::string&);
template dense<double> read_npz_array(input_file&, const std::string&);
template dense<int32> read_npz_array(input_file&, const std::string&);
template dense<int64> read_npz_array(input_file&, const std::string&);
template dense<bool> read_npz_array(input_file&, const std::string&);

template matrix<float> read_npz_matrix(input_file&, const read_options&);
template matrix<double> read_npz_matrix(input_file&, const read_options&);
template matrix<int32> read_npz_matrix(input_file&, const read_options&);
template matrix<int64> read_npz_matrix(input_file&, const read_options&);
template matrix<bool> read_npz_matrix(input_file&, const read_options&);

}  // namespace rig::io

namespace rig {
namespace {

/// Appends bytes, little-endian.
class record {
 public:
  template <class Number>
  record& add(std::type_identity_t<Number> number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof(number));
    return *this;
  }
  record& text(std::string_view text) {
    bytes_.append(text);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// The fields that a member's record and its directory entry share: from the version to the lengths
/// of the name and of the extra field. The extra field holds `wide_numbers` numbers.
void add_common(record& to, std::uint32_t crc, std::size_t name_bytes, int wide_numbers) {
  constexpr std::uint16_t version = 45;  // the first version with 64-bit sizes
  constexpr std::uint16_t first_of_january_1980 = 1 << 5 | 1;
  to.add<std::uint16_t>(version).add<std::uint16_t>(0).add<std::uint16_t>(0);
  to.add<std::uint16_t>(0).add<std::uint16_t>(first_of_january_1980).add<std::uint32_t>(crc);
  to.add<std::uint32_t>(0xffffffff).add<std::uint32_t>(0xffffffff);
  to.add<std::uint16_t>(static_cast<std::uint16_t>(name_bytes));
  to.add<std::uint16_t>(static_cast<std::uint16_t>(4 + 8 * wide_numbers));
}

/// A file of the archive: its header and its numbers.
struct source {
  std::string_view name;
  std::string header;
  const void* data;
  std::size_t bytes;
};

std::array<source, 3> sources_of(const quantized& q) {
  const auto ranges = static_cast<std::size_t>(q.range_count());
  const std::string one_dimension = std::to_string(q.range_count()) + ",";
  const std::string header = io::npy_text("<f4", one_dimension);
  return {{{io::member_names[0],
            io::npy_text("|u1", std::to_string(q.rows()) + ", " + std::to_string(q.columns())),
            q.data(), static_cast<std::size_t>(q.rows()) * static_cast<std::size_t>(q.columns())},
           {io::member_names[1], header, q.low(), ranges * sizeof(float)},
           {io::member_names[2], header, q.step(), ranges * sizeof(float)}}};
}

/// The directory of an archive, followed by the records that locate it.
std::string with_end(const std::string& directory, std::uint64_t count, std::uint64_t offset) {
  const std::uint64_t size = directory.size();
  record end;
  end.text(directory);
  end.add<std::uint32_t>(io::wide_end_signature).add<std::uint64_t>(io::wide_end_bytes - 12);
  end.add<std::uint16_t>(45).add<std::uint16_t>(45).add<std::uint32_t>(0).add<std::uint32_t>(0);
  end.add<std::uint64_t>(count).add<std::uint64_t>(count);
  end.add<std::uint64_t>(size).add<std::uint64_t>(offset);
  end.add<std::uint32_t>(io::wide_locator_signature).add<std::uint32_t>(0);
  end.add<std::uint64_t>(offset + size).add<std::uint32_t>(1);
  end.add<std::uint32_t>(io::end_signature).add<std::uint16_t>(0).add<std::uint16_t>(0);
  end.add<std::uint16_t>(0xffff).add<std::uint16_t>(0xffff);
  end.add<std::uint32_t>(0xffffffff).add<std::uint32_t>(0xffffffff).add<std::uint16_t>(0);
  return end.bytes();
}

/// Builds everything except the numbers before it opens the file, so missing memory leaves the file
/// as it was.
void write_archive(const std::string& path, std::span<const source> sources) {
  std::vector<record> fronts(sources.size());
  record directory;
  std::uint64_t offset = 0;
  for (std::size_t n = 0; n < sources.size(); ++n) {
    const source& from = sources[n];
    const auto bytes = static_cast<std::uint64_t>(from.header.size() + from.bytes);
    unsigned long crc =
        crc32_z(0, reinterpret_cast<const Bytef*>(from.header.data()), from.header.size());
    if (from.bytes > 0) crc = crc32_z(crc, static_cast<const Bytef*>(from.data), from.bytes);
    const auto sum = static_cast<std::uint32_t>(crc);

    record& front = fronts[n];
    front.add<std::uint32_t>(io::local_signature);
    add_common(front, sum, from.name.size(), 2);
    front.text(from.name).add<std::uint16_t>(io::wide_extra).add<std::uint16_t>(16);
    front.add<std::uint64_t>(bytes).add<std::uint64_t>(bytes).text(from.header);

    constexpr std::uint16_t made_on_unix = 3 << 8 | 45;
    constexpr std::uint32_t mode = 0600u << 16;
    directory.add<std::uint32_t>(io::entry_signature).add<std::uint16_t>(made_on_unix);
    add_common(directory, sum, from.name.size(), 3);
    directory.add<std::uint16_t>(0).add<std::uint16_t>(0).add<std::uint16_t>(0);
    directory.add<std::uint32_t>(mode).add<std::uint32_t>(0xffffffff);
    directory.text(from.name).add<std::uint16_t>(io::wide_extra).add<std::uint16_t>(24);
    directory.add<std::uint64_t>(bytes).add<std::uint64_t>(bytes).add<std::uint64_t>(offset);
    offset += front.bytes().size() + from.bytes;
  }
  const std::string end = with_end(directory.bytes(), sources.size(), offset);

  output_file out(path);
  for (std::size_t n = 0; n < sources.size(); ++n) {
    out.text(fronts[n].bytes());
    out.write(sources[n].data, sources[n].bytes);
  }
  out.text(end);
  out.close();
}

}  // namespace

void write_quantized(const std::string& path, const quantized& q) {
  io::naming(path, [&] {
    const quantized here = q.to(cpu());
    write_archive(path, sources_of(here));
  });
}

template <class T>
void io::write_npz_matrix(const std::string& path, const matrix<T>& a) {
  const pattern& structure = a.structure();
  const auto nnz = static_cast<std::size_t>(a.nnz());
  const std::size_t rows = static_cast<std::size_t>(a.rows()) + 1,
                    offset_bytes = structure.offsets_64() ? sizeof(int64) : sizeof(int32);
  // SciPy needs a value per entry, so an iso matrix gets them.
  std::unique_ptr<T[]> ones;
  if (a.iso()) std::fill_n((ones = std::make_unique<T[]>(nnz)).get(), nnz, a.iso_value());
  const int64 shape[] = {a.rows(), a.columns()};
  const auto length = [](std::size_t count) { return std::to_string(count) + ","; };
  const source sources[] = {
      {"indices.npy", npy_text("<i4", length(nnz)), structure.column_indices(),
       nnz * sizeof(index)},
      {"indptr.npy", npy_text(structure.offsets_64() ? "<i8" : "<i4", length(rows)),
       structure.offsets(), rows * offset_bytes},
      {"format.npy", npy_text("|S3", ""), "csr", 3},
      {"shape.npy", npy_text("<i8", length(2)), shape, sizeof(shape)},
      {"data.npy", npy_text(npy_type<T>(), length(nnz)), a.iso() ? ones.get() : a.values(),
       nnz * sizeof(T)}};
  write_archive(path, sources);
}

template void io::write_npz_matrix(const std::string&, const matrix<float>&);
template void io::write_npz_matrix(const std::string&, const matrix<double>&);
template void io::write_npz_matrix(const std::string&, const matrix<int32>&);
template void io::write_npz_matrix(const std::string&, const matrix<int64>&);
template void io::write_npz_matrix(const std::string&, const matrix<bool>&);

}  // namespace rig
