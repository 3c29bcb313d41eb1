// closure on a device: memory for the lists, and the launch of the one kernel.

#include <algorithm>

#include "cuda/spgemm/closure.cuh"
#include "cuda/spgemm/product.hpp"
#include "rig/kernels/closing.hpp"

namespace rig::on_cuda {

answer closure_answer(const problem& p) {
  if (p.algebra->accum_bytes > 8) return refusal(p, "its sums have more than 8 bytes each");
  const double of_arc = sizeof(index) + static_cast<double>(p.c.value_bytes + p.a.value_bytes);
  return estimated(p, 1, of_arc * static_cast<double>(p.a.nnz) * p.c.columns);
}

namespace {

/// The memory of one closure; columns use it in turn.
struct closure_room {
  buffer slots, marks, waits, lists, parts, state;

  closure_room(const work& by, const problem& p)
      : slots(by.room(p.a.rows, p.algebra->accum_bytes > 4 ? 8 : 4)),
        marks(by.room(p.a.rows, sizeof(unsigned))),
        waits(by.room(p.a.rows, sizeof(unsigned))),
        lists(by.room(int64{p.a.rows} * 4, sizeof(index))),
        parts(by.room(2 * (p.a.nnz / arcs_of_part) + 1, sizeof(int64))),
        state(by.room(1, sizeof(closure_state))) {}
};

closure_arguments arguments_of(const problem& p, const closure_room& room) {
  constexpr int64 few_arcs = 4096;
  closure_arguments out;
  out.offsets = p.a.offsets;
  out.offsets_64 = p.a.offsets_64;
  out.ends = p.a.entries;
  out.weights = p.a.values;
  out.permutation = p.a.values == nullptr ? nullptr : p.a.permutation;
  __builtin_memcpy(out.iso.bytes, p.a.iso, sizeof(out.iso.bytes));
  out.nodes = p.a.rows;
  out.stride = p.c.stride;
  out.slots = room.slots.data();
  out.marks = room.marks.data<unsigned>();
  out.waits = room.waits.data<unsigned>();
  for (int k = 0; k < 2; ++k) {
    out.near[k] = room.lists.data<index>() + int64{k} * p.a.rows;
    out.far[k] = room.lists.data<index>() + int64{k + 2} * p.a.rows;
  }
  out.parts = room.parts.data<int64>();
  out.state = room.state.data<closure_state>();
  out.width = p.closure->is_ordered ? p.closure->width : 0;
  out.few_near = static_cast<unsigned>(
      std::clamp<int64>(few_arcs * out.nodes / std::max<int64>(p.a.nnz, 1), 32, closure_threads));
  return out;
}

/// The fixed point of one column.
void close_column(const work& by, const device_kernel& kernel, closure_arguments& args,
                  closing& of) {
  const bool reports = of.progress != nullptr && *of.progress;
  const auto processors =
      static_cast<int64>(attribute_of(by.where.device, cudaDevAttrMultiProcessorCount));
  const auto blocks =
      static_cast<unsigned>(std::clamp<int64>(args.nodes / closure_threads, 1, processors));
  args.most_rounds = reports ? 1 : 0;
  args.begins = true;
  closure_state state{};
  const int64 rounds_before = of.rounds;
  unsigned waited = 0;
  check(cudaMemsetAsync(args.state, 0, sizeof(closure_state), by.stream), by.name);
  while (!state.is_done) {
    by.launch_together(kernel, blocks, &args, closure_threads);
    args.begins = false;
    by.to_host(&state, args.state, sizeof(closure_state));
    by.wait();
    const bool made_round = rounds_before + state.round > of.rounds;
    of.rounds = rounds_before + state.round;
    const unsigned waits = state.far[state.limits % 3];
    if (reports && made_round)
      (*of.progress)(static_cast<int>(of.rounds),
                     state.near[state.round % 3] + std::max<int64>(int64{waits} - waited, 0));
    waited = waits;
  }
  of.diverges = state.diverges;
}

}  // namespace

void closure_run(const problem& p, workspace&) {
  const work by(p);
  const device_kernel kernel = kernel_of(p, "cuda/spgemm/closure.cuh", "closure");
  const closure_room room(by, p);
  closure_arguments args = arguments_of(p, room);
  for (index column = 0; column < p.c.columns && !p.closure->diverges; ++column) {
    args.values = static_cast<char*>(p.c.data) + static_cast<std::size_t>(column) * p.c.value_bytes;
    close_column(by, kernel, args, *p.closure);
  }
}

}  // namespace rig::on_cuda
