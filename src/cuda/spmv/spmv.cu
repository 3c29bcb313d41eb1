// spmv: its answer and its launches. spmv.cuh holds the kernel.

#include "cuda/families.hpp"
#include "cuda/spmv/spmv.cuh"
#include "cuda/tuning/product.hpp"
#include "cuda/tuning/table.hpp"
#include "rig/semirings.hpp"

namespace rig::on_cuda {
namespace {

/// Elements of A per vector load.
constexpr int vector = 4;

template <class S, int V, bool Plain>
aot_kernel compiled() {
  return {"spmv", {V, Plain}, reinterpret_cast<const void*>(&spmv<S, typename S::right, V, Plain>)};
}

/// Sets the chunks in `args`, with room for their sums. The returned buffer must live until the
/// launch.
buffer set_chunks(const problem& p, arguments& args, workspace& work) {
  const row_lists& lists = lists_of(*p.oriented, work);
  args.chunk_rows = lists.chunk_rows;
  args.chunk_count = lists.chunk_count;
  // A tail and a head per chunk; a word of them takes the bytes of two counters.
  const int64 words = sent_words(static_cast<int64>(p.algebra->accum_bytes));
  return scratch_for(stream_of(p), lists, 0,
                     static_cast<std::size_t>(4 * int64{lists.chunk_count} * words), args, work);
}

void launch_spmv(const problem& p, const arguments& args) {
  const bool plain = is_plain(p), in_vectors = plain && has_aligned_values(p) &&
                                               is_aligned(p.a.entries, 0, sizeof(index));
  // B's elements come from the L1 cache, which shares its memory with shared memory. Four blocks
  // per multiprocessor with more cache are faster than six (docs/lab/spmv.md).
  const auto shared_percent = static_cast<int>(current_table()[constant::spmv_shared_percent]);
  const device_kernel kernel = kernel_for(key_of(p), {.name = "spmv",
                                                      .file = "cuda/spmv/spmv.cuh",
                                                      .arguments = {in_vectors ? vector : 1, plain},
                                                      .shared_percent = shared_percent});
  constexpr int warps = spmv_threads / 32;
  const int64 count = args.chunk_count, late = count < blocks_behind ? count : blocks_behind;
  launch(stream_of(p), kernel, dim3(static_cast<unsigned>(count + (late + warps - 1) / warps)),
         spmv_threads, &args);
}

}  // namespace

// The answer excludes positional semirings.
template <class S>
std::span<const aot_kernel> spmv_kernels_aot() {
  if constexpr (positional<S>) {
    return {};
  } else {
    static const aot_kernel kernels[] = {compiled<S, vector, true>(), compiled<S, 1, true>(),
                                         compiled<S, 1, false>()};
    return kernels;
  }
}
#define RIG_AHEAD(semiring, type) \
  template std::span<const aot_kernel> spmv_kernels_aot<semiring<type>>();
#include "ahead.def"
#undef RIG_AHEAD

std::span<const int> aot_architectures() {
  static constexpr int compiled_for[] = {__CUDA_ARCH_LIST__};
  return compiled_for;
}

answer spmv_answer(const problem& p) {
  answer out;
  const char* why = no_kernel_because(p);
  if (why == nullptr && p.b.columns != 1) why = "B has more than one column";
  if (why == nullptr && p.b.value_type == type::code && !p.algebra->ignores_right)
    why = "it reads numbers, and B holds 8-bit codes";
  if (why == nullptr && p.algebra->is_positional)
    why = "a chunk of entries does not hold their rows, which the semiring needs";
  constexpr std::size_t static_shared_bytes = 48 * 1024, kept_back = 1024;
  if (why == nullptr && p.algebra->accum_bytes * (chunk_items + 4 + spmv_threads / 32) >
                            static_shared_bytes - kept_back)
    why = "the sums of a chunk do not fit in a block's shared memory";
  if (cannot(out, p, why)) return out;
  // Sums go through shared memory, which costs more than a warp per row if entries are few, or if
  // rows are long and uniform. A lane per row does not beat spmv (docs/lab/spmv.md).
  out.seconds = estimate(p);
  const product_facts facts = facts_of_rows(statistics_of(p), p.a.nnz);
  const tuning_row& row = current_table().find(section::spmv, facts);
  if (p.reasons) out.plan = in_words(row);
  if (row[setting::pays] == 0) {
    out.says = verdict::slower;
    out.seconds *= 2;
    if (p.reasons) out.reason = "one warp per row has less work";
  }
  return out;
}

void spmv_run(const problem& p, workspace& work) {
  arguments args = arguments_of(p);
  const buffer values = ordered_values(p, args), sums = set_chunks(p, args, work);
  launch_spmv(p, args);
}

}  // namespace rig::on_cuda
