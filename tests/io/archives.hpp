#pragma once

// NumPy's archives as other programs write them.

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "files.hpp"

template <class Number>
std::string little(Number number) {
  return {reinterpret_cast<const char*>(&number), sizeof(number)};
}

inline std::uint32_t crc_of(const std::string& bytes) {
  std::uint32_t crc = ~0u;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  return ~crc;
}

/// The raw deflate stream of gzip's output, without the header of 10 bytes and the trailer of 8.
inline std::string deflated(const std::string& bytes) {
  const std::string path = file_of("member", bytes);
  REQUIRE(std::system(("gzip -nf " + path).c_str()) == 0);
  const std::string packed = bytes_of(path + ".gz");
  return packed.substr(10, packed.size() - 18);
}

struct zipped {
  std::string name, bytes;
  bool deflate = false;
};

/// An archive as old programs write it, with sizes in 32 bits.
inline std::string archive(const std::vector<zipped>& members, const std::string& comment = "") {
  using u16 = std::uint16_t;
  using u32 = std::uint32_t;
  std::string out, directory;
  for (const zipped& m : members) {
    const std::string data = m.deflate ? deflated(m.bytes) : m.bytes;
    const std::string common = little<u16>(20) + little<u16>(0) + little<u16>(m.deflate ? 8 : 0) +
                               little<u32>(0) + little(crc_of(m.bytes)) + little<u32>(data.size()) +
                               little<u32>(m.bytes.size()) + little<u16>(m.name.size()) +
                               little<u16>(0);
    directory += "PK\1\2" + little<u16>(20) + common + little<u16>(0) + std::string(8, '\0') +
                 little<u32>(out.size()) + m.name;
    out += "PK\3\4" + common + m.name + data;
  }
  const auto count = little<u16>(members.size());
  return out + directory + "PK\5\6" + std::string(4, '\0') + count + count +
         little<u32>(directory.size()) + little<u32>(out.size()) + little<u16>(comment.size()) +
         comment;
}

inline std::string npy_of(const std::string& type, const std::string& shape,
                          const std::string& data, const char* fortran = "False") {
  const std::string text =
      "{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
  return std::string("\x93NUMPY\1\0", 8) + static_cast<char>(text.size()) + '\0' + text + data;
}
