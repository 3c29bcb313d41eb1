#pragma once

// Exchanges of bytes between all ranks.

#include <cstddef>
#include <cstring>
#include <vector>

#include "rig/kernels/ranks.hpp"
#include "storage/integers.hpp"
#include "storage/room.hpp"

namespace rig::over_ranks {

/// All ranks except `here`.
template <class Each>
void for_others(const communicator& ranks, Each each) {
  for (int k = 1; k < ranks.size(); ++k) each((ranks.rank() + k) % ranks.size());
}

/// Bytes from each rank, this one among them.
struct received {
  buffer all;
  std::vector<std::size_t> begin;

  const unsigned char* from(int rank) const {
    return all.data<const unsigned char>() + begin[size(rank)];
  }
};

template <class Bytes>
std::size_t add_up(std::vector<std::size_t>& begin, int ranks, Bytes bytes) {
  std::size_t sum = 0;
  reserve(begin, size(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    begin.push_back(sum);
    sum += bytes(rank);
  }
  return sum;
}

/// Each pair of ranks exchanges a part; pack(rank, to) writes the part for a rank.
template <class BytesTo, class BytesFrom, class Pack>
struct parts {
  BytesTo bytes_to;
  BytesFrom bytes_from;
  Pack pack;
};
template <class BytesTo, class BytesFrom, class Pack>
parts(BytesTo, BytesFrom, Pack) -> parts<BytesTo, BytesFrom, Pack>;

inline const auto nothing = [] {};

template <class Parts, class Before>
received exchange_parts(const communicator& ranks, const char* name, const Parts& of,
                        const Before& before) {
  received in;
  buffer out;
  std::vector<message> sends, receives;
  agree(ranks, name, [&] {
    before();
    std::vector<std::size_t> out_begin;
    out = buffer::allocate(add_up(out_begin, ranks.size(), of.bytes_to));
    in.all = buffer::allocate(add_up(in.begin, ranks.size(), of.bytes_from));
    if (of.bytes_to(ranks.rank()) > 0)
      of.pack(ranks.rank(), in.all.data<unsigned char>() + in.begin[size(ranks.rank())]);
    for_others(ranks, [&](int rank) {
      unsigned char* const to = out.data<unsigned char>() + out_begin[size(rank)];
      if (of.bytes_to(rank) > 0) of.pack(rank, to);
      sends.push_back({rank, to, of.bytes_to(rank)});
      receives.push_back(
          {rank, in.all.data<unsigned char>() + in.begin[size(rank)], of.bytes_from(rank)});
    });
  });
  ranks.exchange(sends, receives);
  return in;
}

/// The same where every rank gets all bytes of this one.
template <class BytesFrom, class Before>
received gather_parts(const communicator& ranks, const char* name, const void* here,
                      std::size_t bytes, const BytesFrom& bytes_from, const Before& before) {
  received in;
  std::vector<message> sends, receives;
  agree(ranks, name, [&] {
    before();
    in.all = buffer::allocate(add_up(in.begin, ranks.size(), bytes_from));
    unsigned char* const to = in.all.data<unsigned char>();
    if (bytes > 0) std::memcpy(to + in.begin[size(ranks.rank())], here, bytes);
    for_others(ranks, [&](int rank) {
      sends.push_back({rank, const_cast<void*>(here), bytes});
      receives.push_back({rank, to + in.begin[size(rank)], bytes_from(rank)});
    });
  });
  ranks.exchange(sends, receives);
  return in;
}

/// The lengths of all rows, from each rank's own. Collective.
std::vector<index> gather_lengths(const communicator& ranks, const char* name, const layout& rows,
                                  const pattern& rows_here);

}  // namespace rig::over_ranks
