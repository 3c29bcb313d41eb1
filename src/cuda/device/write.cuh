#pragma once

// Stores to C: finish, mask, fill, accumulate, convert.

#include "cuda/device/load.cuh"

namespace rig::on_cuda {

/// Whether entry e of a sparse mask is true.
__device__ inline bool is_set(const mask_arguments& mask, int64 e) {
  if (mask.structural) return true;
  return mask.values != nullptr ? load_as<bool>(mask.values, mask.stored, e)
                                : load_as<bool>(mask.iso.bytes, mask.stored, 0);
}

/// Returns whether the mask allows (row, column). A sparse mask costs a binary search in its row.
__device__ inline bool allows(const mask_arguments& mask, index row, index column) {
  bool set = false;
  if (mask.over == mask_arguments::absent) return true;
  if (mask.over == mask_arguments::dense) {
    set = mask.structural || load_as<bool>(mask.values, mask.stored, row * mask.stride + column);
  } else {
    int64 low = mask.offset(row), high = mask.offset(row + 1);
    const int64 end = high;
    while (low < high) {
      const int64 middle = low + (high - low) / 2;
      if (mask.entries[middle] < column)
        low = middle + 1;
      else
        high = middle;
    }
    if (low < end && mask.entries[low] == column) set = is_set(mask, low);
  }
  return set != mask.complemented;
}

/// to[at] = x, converted to the stored type.
template <class From>
__device__ void store_as(void* to, type stored, int64 at, From x) {
  if constexpr (is_storage<From>) {
    switch (stored) {
      case type::boolean:
        static_cast<bool*>(to)[at] = convert<bool>(x);
        break;
      case type::int32:
        static_cast<int32*>(to)[at] = convert<int32>(x);
        break;
      case type::int64:
        static_cast<int64*>(to)[at] = convert<int64>(x);
        break;
      case type::float32:
        static_cast<float*>(to)[at] = convert<float>(x);
        break;
      case type::float64:
        static_cast<double*>(to)[at] = convert<double>(x);
        break;
      case type::half:
        static_cast<half*>(to)[at] = convert<half>(x);
        break;
      case type::bfloat16:
        static_cast<bfloat16*>(to)[at] = convert<bfloat16>(x);
        break;
      case type::code:
      case type::other:
        break;
    }
  } else {
    static_cast<From*>(to)[at] = x;
  }
}

/// The place of a storage type in the order of common types, as `rank_of`.
__device__ constexpr int rank_of_stored(type stored) {
  return stored == type::boolean   ? 0
         : stored == type::int32   ? 1
         : stored == type::int64   ? 2
         : stored == type::float64 ? 5
                                   : 4;
}

/// C(at) = C(at) ⊙ t, computed in J.
template <class J, class O>
__device__ void join_in(const arguments& args, int64 at, O t) {
  store_as(args.c, args.c_type, at,
           accumulate(args.accum, load_as<J>(args.c, args.c_type, at), convert<J>(t)));
}

/// The same, computed in the common type of C and t.
template <class O>
__device__ void join_stored(const arguments& args, int64 at, O t) {
  const int rank = rank_of_stored(args.c_type);
  if constexpr (rank_of<O> < rank_of<int32>)
    if (rank == rank_of<int32>) return join_in<int32>(args, at, t);
  if constexpr (rank_of<O> < rank_of<int64>)
    if (rank == rank_of<int64>) return join_in<int64>(args, at, t);
  if constexpr (rank_of<O> < rank_of<float>)
    if (rank == rank_of<float>) return join_in<float>(args, at, t);
  if constexpr (rank_of<O> < rank_of<double>)
    if (rank == rank_of<double>) return join_in<double>(args, at, t);
  join_in<algebra<O>>(args, at, t);
}

/// Copies the bits of the fill, because it has C's stored type already.
template <class O>
__device__ void store_fill(const arguments& args, int64 at) {
  if constexpr (is_storage<O>) {
    switch (args.c_type) {
      case type::boolean:
        static_cast<unsigned char*>(args.c)[at] = args.fill.bytes[0];
        break;
      case type::half:
      case type::bfloat16:
        static_cast<unsigned short*>(args.c)[at] =
            *reinterpret_cast<const unsigned short*>(args.fill.bytes);
        break;
      case type::int32:
      case type::float32:
        static_cast<unsigned*>(args.c)[at] = *reinterpret_cast<const unsigned*>(args.fill.bytes);
        break;
      case type::int64:
      case type::float64:
        static_cast<unsigned long*>(args.c)[at] =
            *reinterpret_cast<const unsigned long*>(args.fill.bytes);
        break;
      case type::code:
      case type::other:
        break;
    }
  } else {
    static_cast<O*>(args.c)[at] = *reinterpret_cast<const O*>(args.fill.bytes);
  }
}

/// C⟨mask, replace⟩(row, column) = C ⊙ finish(x, n), with every option of a call. n: the number of
/// products; with 0 the entry has no result.
template <class S>
__device__ void write_any(const arguments& args, index row, index column, typename S::accum x,
                          int64 n) {
  using O = output<S>;
  const int64 at = row * args.c_stride + column;
  const int64 index_at = row * args.indices_stride + column;
  const bool in = allows(args.mask, row, column);
  if (!in || n == 0) {
    if (in ? args.accum != accumulator::none : !args.outside_fills) return;
    if constexpr (is_indexed<O>) {
      store_fill<decltype(O::value)>(args, at);
      args.indices[index_at] = -1;
    } else {
      store_fill<O>(args, at);
    }
    return;
  }
  if constexpr (is_indexed<O>) {
    using value = decltype(O::value);
    if (args.accum == accumulator::own) {
      const int32 held = args.indices[index_at];
      x = S::add({load_as<value>(args.c, args.c_type, at), held < 0 ? highest<int32>() : held}, x);
    }
    const O t = finished<S>(x, n);
    store_as(args.c, args.c_type, at, t.value);
    args.indices[index_at] = t.index;
  } else {
    O t = finished<S>(x, n);
    if constexpr (is_same<O, typename S::accum>)
      if (args.accum == accumulator::own) t = S::add(load_as<O>(args.c, args.c_type, at), t);
    if constexpr (is_storage<O>)
      if (args.accum != accumulator::none && args.accum != accumulator::own)
        return join_stored(args, at, t);
    store_as(args.c, args.c_type, at, t);
  }
}

}  // namespace rig::on_cuda
