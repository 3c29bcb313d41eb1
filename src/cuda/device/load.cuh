#pragma once

// Loads of A's values and of B's rows.

#include "cuda/device/arguments.cuh"

namespace rig::on_cuda {

/// Element `at` of an array of any storage type, converted to To. An algebra type that is not a
/// storage type is read as it is.
template <class To>
__device__ To load_as(const void* from, type stored, int64 at) {
  if constexpr (is_storage<To>) {
    switch (stored) {
      case type::boolean:
        return convert<To>(static_cast<const bool*>(from)[at]);
      case type::int32:
        return convert<To>(static_cast<const int32*>(from)[at]);
      case type::int64:
        return convert<To>(static_cast<const int64*>(from)[at]);
      case type::float32:
        return convert<To>(static_cast<const float*>(from)[at]);
      case type::float64:
        return convert<To>(static_cast<const double*>(from)[at]);
      case type::half:
        return convert<To>(static_cast<const half*>(from)[at]);
      case type::bfloat16:
        return convert<To>(static_cast<const bfloat16*>(from)[at]);
      case type::code:
      case type::other:
        break;
    }
    return To();
  } else {
    return static_cast<const To*>(from)[at];
  }
}

/// The value of entry p of A, through A's permutation, converted to the semiring's left type.
template <class S>
__device__ typename S::left load_a(const arguments& args, int64 p) {
  using left = typename S::left;
  if constexpr (is_ignoring_left<S>) {
    return left();
  } else {
    if (args.permutation != nullptr)
      p = args.offsets_64 ? static_cast<const int64*>(args.permutation)[p]
                          : static_cast<const int32*>(args.permutation)[p];
    return load_as<left>(args.a_values, args.a_type, p);
  }
}

/// The one value of all entries of A, if A is stored with one.
template <class T>
__device__ __forceinline__ T iso_of(const arguments& args) {
  return *reinterpret_cast<const T*>(args.iso.bytes);
}

/// A value of any size from another lane; `move` moves one 32-bit word.
template <class T, class Move>
__device__ __forceinline__ T shuffle(T x, Move move) {
  constexpr int words = (sizeof(T) + 3) / 4;
  unsigned parts[words] = {};
  memcpy(parts, &x, sizeof(T));
  for (int w = 0; w < words; ++w) parts[w] = move(parts[w]);
  memcpy(&x, parts, sizeof(T));
  return x;
}
/// From the lane whose number is this lane's, exclusive-or `distance`.
template <class T>
__device__ __forceinline__ T shuffle_xor(unsigned members, T x, int distance) {
  return shuffle(x, [=](unsigned word) { return __shfl_xor_sync(members, word, distance); });
}
/// From lane `from`.
template <class T>
__device__ __forceinline__ T shuffle_from(unsigned members, T x, int from) {
  return shuffle(x, [=](unsigned word) { return __shfl_sync(members, word, from); });
}
/// From the lane `distance` lanes before; the first lanes keep their own value.
template <class T>
__device__ __forceinline__ T shuffle_up(T x, int distance) {
  return shuffle(x, [=](unsigned word) { return __shfl_up_sync(0xffffffffu, word, distance); });
}
/// The mask of the lanes in this thread's group of RowLanes.
template <int RowLanes>
__device__ __forceinline__ unsigned group_members() {
  return RowLanes == 32
             ? 0xffffffffu
             : ((1u << (RowLanes % 32)) - 1u) << (threadIdx.x % 32 / RowLanes * RowLanes);
}

/// Counts one arrival of `count`, after the stores of all `members`. Returns true to the last
/// arrival, which may read the stores of the others by `load_written`. The counter is zero again
/// then.
__device__ __forceinline__ bool arrive(unsigned* completion_counters, int64 count, unsigned members,
                                       int leader, bool leads) {
  __syncwarp(members);
  unsigned before = 0;
  // Releases without acquiring, because a fence both ways would empty the L1 cache of the
  // multiprocessor; docs/lab/spmv.md.
  if (leads)
    asm volatile("atom.release.gpu.global.inc.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(completion_counters), "r"(static_cast<unsigned>(count) - 1)
                 : "memory");
  if (__shfl_sync(members, before, leader) != static_cast<unsigned>(count) - 1) return false;
  __threadfence();
  return true;
}

/// A value that another block stored during this launch. It is read from the L2 cache, because L1
/// may hold the value from before.
template <class T>
__device__ T load_written(const T* from) {
  T out;
  if constexpr (alignof(T) % 4 == 0) {
    unsigned words[sizeof(T) / 4];
    for (unsigned w = 0; w < sizeof(T) / 4; ++w)
      words[w] = __ldcg(reinterpret_cast<const unsigned*>(from) + w);
    memcpy(&out, words, sizeof(T));
  } else {
    unsigned char bytes[sizeof(T)];
    for (unsigned w = 0; w < sizeof(T); ++w)
      bytes[w] = __ldcg(reinterpret_cast<const unsigned char*>(from) + w);
    memcpy(&out, bytes, sizeof(T));
  }
  return out;
}

/// An element of a `quantized` B: `code` if one range serves all of B, `column_code` if each column
/// has a range.
struct code {
  unsigned char bits;
};
struct column_code {
  unsigned char bits;
};
template <class T>
inline constexpr bool is_code = is_same<T, code> || is_same<T, column_code>;

/// Whether neighbouring elements of this type are loaded in one vector load.
template <class T>
inline constexpr bool is_vectorisable = is_storage<T> || is_code<T>;

/// A vector: V neighbouring elements, aligned for vector loads of up to 16 bytes if their type has
/// them.
template <class T, int V>
struct alignas(!is_vectorisable<T>   ? alignof(T)
               : sizeof(T) * V <= 16 ? sizeof(T) * V
                                     : 16) vector_of {
  T element[V];
};

/// Loads a vector that other rows read again, so it stays in the caches.
template <class T, int V>
__device__ vector_of<T, V> load_vector(const T* from) {
  vector_of<T, V> out;
  if constexpr (is_vectorisable<T> && sizeof(out) == 16) {
    const uint4 words = __ldg(reinterpret_cast<const uint4*>(from));
    memcpy(&out, &words, 16);
  } else if constexpr (is_code<T> && sizeof(out) == 8) {
    const uint2 words = __ldg(reinterpret_cast<const uint2*>(from));
    memcpy(&out, &words, 8);
  } else if constexpr (is_vectorisable<T> && sizeof(out) == 4) {
    const unsigned word = __ldg(reinterpret_cast<const unsigned*>(from));
    memcpy(&out, &word, 4);
  } else {
    out = *reinterpret_cast<const vector_of<T, V>*>(from);
  }
  return out;
}

/// Loads a word of an array that is read from end to end. A hint makes the L2 cache fetch 256 bytes
/// at once. A's entries and values gain by it; B's rows lose; docs/lab/exact.md.
template <class T>
__device__ __forceinline__ T load_ahead(const T* from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (sizeof(T) == 4 && alignof(T) == 4) {
    unsigned word;
    asm("ld.global.nc.L2::256B.u32 %0, [%1];" : "=r"(word) : "l"(from));
    T out;
    memcpy(&out, &word, sizeof(T));
    return out;
  } else if constexpr (sizeof(T) == 8 && alignof(T) == 8) {
    unsigned long word;
    asm("ld.global.nc.L2::256B.u64 %0, [%1];" : "=l"(word) : "l"(from));
    T out;
    memcpy(&out, &word, sizeof(T));
    return out;
  }
#endif
  return load_vector<T, 1>(from).element[0];
}

/// Loads V neighbouring elements that are read once, with a hint that they should not push B out of
/// the caches.
template <class T, int V>
__device__ __forceinline__ vector_of<T, V> stream_vector(const T* from) {
  vector_of<T, V> out;
  if constexpr (is_storage<T> && sizeof(out) % 16 == 0) {
    for (int w = 0; w < static_cast<int>(sizeof(out) / 16); ++w) {
      const uint4 words = __ldcs(reinterpret_cast<const uint4*>(from) + w);
      memcpy(reinterpret_cast<char*>(&out) + 16 * w, &words, 16);
    }
  } else {
    out = *reinterpret_cast<const vector_of<T, V>*>(from);
  }
  return out;
}

/// Copies 16 bytes to shared memory without a register; `await_copies` waits for the copies of the
/// thread.
__device__ __forceinline__ void copy_ahead(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
               :
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(to))), "l"(from)
               : "memory");
}
__device__ __forceinline__ void await_copies() {
  asm volatile("cp.async.wait_all;" : : : "memory");
}

/// This lane's first element in row k of B. Both factors have 32 bits, so the product is a single
/// instruction; docs/lab/exact.md.
template <class T>
__device__ __forceinline__ const T* at_row(const char* first, index k, unsigned row_bytes) {
  return reinterpret_cast<const T*>(first + static_cast<unsigned long>(static_cast<unsigned>(k)) *
                                                row_bytes);
}

/// Keeps the compiler from delaying a load until the first use of its value.
template <class T, int V>
__device__ __forceinline__ void hold(vector_of<T, V>& loaded) {
  if constexpr (is_vectorisable<T> && sizeof(loaded) == 16) {
    uint4 words;
    memcpy(&words, &loaded, 16);
    asm volatile("" : "+r"(words.x), "+r"(words.y), "+r"(words.z), "+r"(words.w));
    memcpy(&loaded, &words, 16);
  } else if constexpr (is_code<T> && sizeof(loaded) % 4 == 0) {
    unsigned words[sizeof(loaded) / 4];
    memcpy(words, &loaded, sizeof(loaded));
    for (unsigned& word : words) asm volatile("" : "+r"(word));
    memcpy(&loaded, words, sizeof(loaded));
  }
}

/// Makes `first` wait for a load, because the assembler may otherwise use it before it issues that
/// load; docs/lab/exact.md. The result is `first`: the operation ignores `loaded`, which the
/// assembler does not see. Values of other sizes than 4 bytes do not wait.
template <class Loaded, class T>
__device__ __forceinline__ void wait_for(const Loaded& loaded, T& first) {
  if constexpr (is_vectorisable<T> && sizeof(T) == 4 && sizeof(loaded) >= 4) {
    unsigned word, bits;
    memcpy(&word, &loaded, 4);
    memcpy(&bits, &first, 4);
    asm volatile("lop3.b32 %0, %0, %1, 0, 0xF0;" : "+r"(bits) : "r"(word));
    memcpy(&first, &bits, 4);
  }
}

/// Converts elements of B's vectors to the semiring's right type, for the columns of one lane.
template <class S, class TB, int V, int Coarsening>
struct b_reader {
  static constexpr bool folds = false;
  __device__ b_reader(const arguments&, const index (&)[Coarsening]) {}
  __device__ __forceinline__ typename S::right value(const vector_of<TB, V>& from, int,
                                                     int v) const {
    return convert<typename S::right>(from.element[v]);
  }
};

/// Dequantises codes: the float nearest to low + step · code. A linear semiring sums code − zero,
/// where zero is the code nearest to the number 0, and `unfold` turns the sums into numbers. This
/// saves one operation per element, and zero terms stay zero.
template <class S, class TB, int V, int Coarsening>
requires is_code<TB>
struct b_reader<S, TB, V, Coarsening> {
  static constexpr bool folds =
      is_linear<S> && is_same<typename S::right, float> && is_same<typename S::accum, float>;
  static constexpr bool per_column = is_same<TB, column_code>;
  static constexpr int ranges = per_column ? V * Coarsening : 1;
  static constexpr float bias = 8388608.0f;  // 2^23
  float low[ranges], step[ranges], less[ranges];

  __device__ b_reader(const arguments& args, const index (&columns)[Coarsening]) {
    for (int r = 0; r < ranges; ++r) {
      const index column = columns[r / V] + r % V;
      const index at = per_column && column < args.columns ? column : 0;
      low[r] = args.low[at];
      step[r] = args.step[at];
      const float nearest = step[r] > 0 ? rintf(-low[r] / step[r]) : 0.0f;
      const float zero = folds ? fminf(fmaxf(nearest, 0.0f), 255.0f) : 0.0f;
      less[r] = bias + zero;
      if (folds) low[r] = __fmaf_rn(step[r], zero, low[r]);
    }
  }
  __device__ __forceinline__ typename S::right value(const vector_of<TB, V>& from, int c,
                                                     int v) const {
    // The byte becomes the low bits of the float 2^23, and 2^23 is subtracted, because integer
    // conversions run at an eighth of the speed.
    unsigned word = 0;
    if constexpr (V % 4 == 0)
      memcpy(&word, &from.element[v / 4 * 4], 4);
    else
      word = from.element[v].bits;
    const unsigned place = V % 4 == 0 ? static_cast<unsigned>(v) % 4 : 0;
    const int r = per_column ? c * V + v : 0;
    const float code = __uint_as_float(__byte_perm(word, 0x4b000000u, 0x7440u | place)) - less[r];
    if constexpr (folds)
      return code;
    else
      return convert<typename S::right>(__fmaf_rn(step[r], code, low[r]));
  }
  /// The number that a sum of codes stands for; `factors`: the sum of the codes' factors.
  __device__ __forceinline__ float unfold(float sum, float factors, int c, int v) const {
    const int r = per_column ? c * V + v : 0;
    return __fmaf_rn(step[r], sum, low[r] * factors);
  }
};

/// Stores a vector that is not read again soon, with a hint that it should not push B out of the
/// caches.
template <class T, int V>
__device__ void store_vector(T* to, const vector_of<T, V>& from) {
  if constexpr (is_storage<T> && sizeof(from) % 16 == 0) {
    for (int w = 0; w < static_cast<int>(sizeof(from) / 16); ++w) {
      uint4 words;
      memcpy(&words, reinterpret_cast<const char*>(&from) + 16 * w, 16);
      __stcs(reinterpret_cast<uint4*>(to) + w, words);
    }
  } else {
    *reinterpret_cast<vector_of<T, V>*>(to) = from;
  }
}

}  // namespace rig::on_cuda
