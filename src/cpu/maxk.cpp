// MaxK: the selection, its gradient, the cbsr container, and the kernels' answers.

#include "rig/kernels/cpu/maxk.hpp"

#include <omp.h>

#include <algorithm>
#include <optional>
#include <string>
#include <thread>

#include "cuda/runtime/device.hpp"
#include "rig/cbsr.hpp"
#include "rig/kernels/cpu/run.hpp"
#include "storage/sort_key.hpp"

namespace rig {
namespace {

void check_k(const char* operation, index columns, int k) {
  or_out_of_memory(operation, [&] {
    const std::string refusal = no_cbsr_because(columns, k);
    if (!refusal.empty()) fail(errc::range, {operation, ": ", refusal});
  });
}

/// A pass over x as a problem, which gives the number of its threads and the order of its streams.
problem pass_over(const dense_operand& x, const descriptor& desc) {
  problem p;
  p.a.rows = x.rows;
  p.a.where = x.where;
  p.b = x;
  p.desc = &desc;
  return p;
}

/// Writes the k greatest of `columns` numbers in column order. A bisection over the bits of keys
/// finds the least retained one: one vectorised count per bit, often fewer.
template <class T, class Index, class Word>
void select_top_k(const T* x, index columns, int k, Word* keys, T* values, Index* indices) {
  for (index j = 0; j < columns; ++j) keys[j] = sort_key(x[j]);
  const auto count = [&](Word least) {
    int found = 0;
    for (index j = 0; j < columns; ++j) found += keys[j] >= least;
    return found;
  };
  Word threshold = 0;
  int reached = columns;  // how many keys are at least `threshold`; never fewer than k
  for (Word bit = word_of<sizeof(T)>::sign; bit != 0 && reached > k; bit >>= 1) {
    const auto least = static_cast<Word>(threshold | bit);
    if (const int found = count(least); found >= k) {
      threshold = least;
      reached = found;
    }
  }
  // Among numbers equal to the least retained one, the first in the row are retained.
  int ties = k;
  if (reached > k)
    for (index j = 0; j < columns; ++j) ties -= keys[j] > threshold;
  // Branchless, because branches would be unpredictable: the next entry overwrites one that is not
  // retained.
  for (index j = 0, p = 0; p < k; ++j) {
    const bool tied = keys[j] == threshold;
    values[p] = x[j];
    indices[p] = static_cast<Index>(j);
    p += (keys[j] > threshold) | (tied & (ties > 0));
    ties -= tied;
  }
}

template <class T, class Index>
void select_top_k(const dense_operand& x, int k, int threads, void* values, void* indices) {
  using word = typename word_of<sizeof(T)>::type;
  const int64 columns = x.columns;
  const buffer keys = buffer::allocate(static_cast<std::size_t>(threads * columns) * sizeof(word));
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (index i = 0; i < x.rows; ++i) {
    const int64 to = static_cast<int64>(i) * k;
    select_top_k(static_cast<const T*>(x.data) + i * x.stride, x.columns, k,
                 keys.data<word>() + omp_get_thread_num() * columns, static_cast<T*>(values) + to,
                 static_cast<Index*>(indices) + to);
  }
}

/// A selection with its type erased, and its memory.
struct selection {
  cbsr_pattern structure;
  buffer values;
};

/// Allocates room for k numbers per row of x, whose type a cbsr can hold; for one call, or for a
/// result, which lasts.
selection room_for(const dense_operand& x, int k, void* owner, bool lasts) {
  const auto structure_of = lasts ? &cbsr_pattern::uninitialised : &cbsr_pattern::temporary;
  const auto allocate = lasts ? &buffer::allocate : &buffer::temporary;
  selection out;
  out.structure = structure_of(x.rows, x.columns, k, x.where, owner);
  out.values = allocate(out.structure.nnz() * x.value_bytes, x.where, owner);
  return out;
}

/// Writes the k greatest numbers of every row of x to `out`. On a device it works in the order of
/// the descriptor's stream.
void select_top_k(const dense_operand& x, int k, const descriptor& desc, const selection& out) {
  void* const indices = const_cast<void*>(out.structure.indices());
  if (x.where != cpu()) {
    void* const stream = on_cuda::stream_for(x.where.device, desc.stream);
    return on_cuda::select_top_k(x, k, out.values.data(), indices, stream);
  }
  const int threads = on_cpu::threads_for(pass_over(x, desc));
  const auto as = [&]<class T>(T) {
    if (out.structure.index_bytes() == 1)
      select_top_k<T, unsigned char>(x, k, threads, out.values.data(), indices);
    else
      select_top_k<T, unsigned short>(x, k, threads, out.values.data(), indices);
  };
  if (x.value_type == type::float32) as(float());
  if (x.value_type == type::float64) as(double());
  if (x.value_type == type::half) as(half());
  if (x.value_type == type::bfloat16) as(bfloat16());
}

}  // namespace

cbsr_pattern::cbsr_pattern(index rows, index columns, index k, place where, void* stream,
                           buffer (*allocate)(std::size_t, place, void*)) {
  if (rows < 0 || columns < 0)
    fail(errc::shape,
         {"cbsr: ", rows, "x", columns, " is not a shape; rows and columns must be at least 0"});
  check_k("cbsr", columns, k);
  rows_ = rows;
  columns_ = columns;
  k_ = k;
  indices_ = allocate(nnz() * static_cast<std::size_t>(index_bytes()), where, stream);
}

cbsr_pattern cbsr_pattern::uninitialised(checked_index rows, checked_index columns, checked_index k,
                                         place where, void* stream) {
  return {rows.as("cbsr", "rows"), columns.as("cbsr", "columns"), k.as("cbsr", "k"), where, stream,
          &buffer::allocate};
}

cbsr_pattern cbsr_pattern::temporary(checked_index rows, checked_index columns, checked_index k,
                                     place where, void* stream) {
  return {rows.as("cbsr", "rows"), columns.as("cbsr", "columns"), k.as("cbsr", "k"), where, stream,
          &buffer::temporary};
}

cbsr_pattern cbsr_pattern::from(checked_index rows, checked_index columns, checked_index k,
                                std::span<const index> indices) {
  cbsr_pattern made = uninitialised(rows, columns, k);
  const index width = columns;
  if (indices.size() != made.nnz())
    fail(errc::shape, {"cbsr: ", rows, " rows of ", k, " entries need ", made.nnz(),
                       " indices, got ", indices.size()});
  const auto copy = [&](auto* to) {
    for (std::size_t at = 0; at < indices.size(); ++at) {
      const std::size_t row = at / static_cast<std::size_t>(k),
                        p = at % static_cast<std::size_t>(k);
      const index j = indices[at];
      if (j < 0 || j >= width)
        fail(errc::range,
             {"cbsr: row ", row, " has column ", j, ", but there are ", width, " columns"});
      if (p > 0 && j <= indices[at - 1])
        fail(errc::order, {"cbsr: row ", row, " has column ", j, " after column ", indices[at - 1],
                           "; columns must ascend"});
      to[at] = static_cast<std::remove_pointer_t<decltype(to)>>(j);
    }
  };
  if (made.index_bytes() == 1)
    copy(made.indices_.data<unsigned char>());
  else
    copy(made.indices_.data<unsigned short>());
  return made;
}

cbsr_pattern cbsr_pattern::to(place target) const {
  if (target == where()) return *this;
  cbsr_pattern made = *this;
  made.indices_ = indices_.to(target);
  return made;
}

template <class T>
requires(is_float<T> ||
         is_small_float<T>) cbsr<T> cbsr<T>::from(checked_index rows, checked_index columns,
                                                  checked_index k, std::span<const T> values,
                                                  std::span<const index> indices) {
  cbsr made = uninitialised(cbsr_pattern::from(rows, columns, k, indices));
  if (values.size() != indices.size())
    fail(errc::shape, {"cbsr: ", rows, " rows of ", k, " entries need ", indices.size(),
                       " values, got ", values.size()});
  std::copy(values.begin(), values.end(), made.values_.template data<T>());
  return made;
}

template <class T>
requires(is_float<T> || is_small_float<T>) cbsr<T> maxk(const dense<T>& x, checked_index given,
                                                        const descriptor& desc) {
  const index k = given.as("maxk", "k");
  check_k("maxk", x.columns(), k);
  if (desc.threads < 0)
    fail(errc::range, {"maxk: threads is ", desc.threads, "; set a number, or 0 for the default"});
  return or_out_of_memory("maxk", [&] {
    dense_operand from;
    fill_in(from, x);
    selection made = room_for(from, k, owner_for(from.where, desc.stream), true);
    problem p = pass_over(from, desc);
    p.c.stream = made.values.stream();
    std::optional<on_cuda::stream_order> order;
    if (from.where != cpu()) order.emplace(p);
    select_top_k(from, k, desc, made);
    return cbsr<T>(std::move(made.structure), std::move(made.values));
  });
}

template <class T>
requires(is_float<T> || is_small_float<T>) cbsr<T> maxk_gradient(const dense<T>& dy,
                                                                 const cbsr_pattern& retained) {
  if (dy.rows() != retained.rows() || dy.columns() != retained.columns())
    fail(errc::shape, {"maxk_gradient: the gradient is ", dy.rows(), "x", dy.columns(),
                       ", but the cbsr is ", retained.rows(), "x", retained.columns()});
  if (dy.where() != retained.where())
    fail(errc::place, {"maxk_gradient: the gradient is on ", to_string(dy.where()),
                       ", the cbsr is on ", to_string(retained.where()), "; copy one with .to()"});
  return or_out_of_memory("maxk_gradient", [&] {
    auto out = cbsr<T>::uninitialised(retained);
    dense_operand from, to;
    fill_in(from, dy);
    fill_in(to, out);
    const descriptor plain;
    problem p = pass_over(from, plain);
    p.c = to;
    if (from.where != cpu()) {
      const on_cuda::stream_order order(p);
      on_cuda::take_retained(from, to, out.stream());
      return out;
    }
    T* const values = const_cast<T*>(out.values());
    p.b.columns = retained.k();
    const int threads = on_cpu::threads_for(p);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (index i = 0; i < retained.rows(); ++i)
      for (int p = 0; p < retained.k(); ++p)
        values[static_cast<int64>(i) * retained.k() + p] = dy(i, retained.column(i, p));
    return out;
  });
}

template <class T>
requires(is_float<T> || is_small_float<T>) dense<T> to_dense(const cbsr<T>& x) {
  return or_out_of_memory("to_dense", [&] {
    auto out = dense<T>::uninitialised(x.rows(), x.columns(), x.where());
    dense_operand from, to;
    fill_in(from, x);
    fill_in(to, out);
    const descriptor plain;
    problem p = pass_over(from, plain);
    if (from.where != cpu()) {
      p.c = to;
      const on_cuda::stream_order order(p);
      on_cuda::scatter_retained(from, to, out.stream());
      return out;
    }
    const int threads = on_cpu::threads_for(p);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (index i = 0; i < x.rows(); ++i) {
      std::ranges::fill(out.row(i), T());
      for (int p = 0; p < x.k(); ++p)
        out(i, x.structure().column(i, p)) = x.values()[static_cast<int64>(i) * x.k() + p];
    }
    return out;
  });
}

#define RIG_MAXK(T)                                                                               \
  template cbsr<T> cbsr<T>::from(checked_index, checked_index, checked_index, std::span<const T>, \
                                 std::span<const index>);                                         \
  template cbsr<T> maxk(const dense<T>&, checked_index, const descriptor&);                       \
  template cbsr<T> maxk_gradient(const dense<T>&, const cbsr_pattern&);                           \
  template dense<T> to_dense(const cbsr<T>&);
RIG_MAXK(float)
RIG_MAXK(double)
RIG_MAXK(half)
RIG_MAXK(bfloat16)
#undef RIG_MAXK

answer maxk_answer(const problem& p) {
  const auto cannot = [&](std::initializer_list<const char*> words) {
    answer out{verdict::cannot, "", 0};
    for (const char* word : words)
      if (p.reasons) out.reason += word;
    return out;
  };
  if (p.algebra->samples_as == reduction::none)
    return cannot({"the greatest elements of B do not determine ", p.algebra->name,
                   ", which declares no samples_as"});
  const bool has_floats = p.b.value_type == type::float32 || p.b.value_type == type::float64 ||
                          p.b.value_type == type::half || p.b.value_type == type::bfloat16;
  if (!has_floats || p.algebra->right == type::other)
    return cannot({"MaxK needs a B of float, double, half or bfloat16"});
  const int k = retained_per_row(p);
  if (const std::string refusal = no_cbsr_because(p.b.columns, k); !refusal.empty())
    return cannot({"on B: ", refusal.c_str()});
  answer out;
  if (p.reasons)
    out.reason = "reads " + std::to_string(k) + " of " + std::to_string(p.b.columns) +
                 " columns of each row of B";
  return out;
}

answer maxk_backward_answer(const problem& p) {
  if (p.b.value_type == type::code && !p.algebra->ignores_right)
    return {verdict::cannot, p.reasons ? "reads no codes, and B is quantized" : "", 0};
  answer out;
  if (p.reasons)
    out.reason = "forms " + std::to_string(p.mask.full.k) + " of " + std::to_string(p.b.columns) +
                 " columns of each row of C";
  return out;
}

std::string no_cbsr_because(index columns, int k) {
  const bool is_wide = columns > widest_cbsr;
  if (k >= 1 && k <= columns && !is_wide) return {};
  const std::string all = std::to_string(columns);
  const std::string asked = "k is " + std::to_string(k) + " of " + all + " columns";
  if (is_wide) return asked + ", but a cbsr has at most " + std::to_string(widest_cbsr);
  return asked + (columns > 0 ? "; set it to 1 … " + all : ", of which none can be retained");
}

int retained_per_row(const problem& p) {
  if (p.mask.over == mask_operand::kind::cbsr) return p.mask.full.k;
  return p.b.k > 0 ? p.b.k : index(p.desc->k);
}

void run_with_cbsr(const problem& p, workspace& work, void (*run)(const problem&, workspace&)) {
  if (p.b.k > 0) return run(p, work);
  const selection retained = room_for(p.b, p.desc->k, p.desc->stream, false);
  select_top_k(p.b, p.desc->k, *p.desc, retained);
  problem q = p;
  q.b = {};
  fill_in(q.b, retained.structure);
  q.b.data = retained.values.data();
  q.b.value_bytes = p.b.value_bytes;
  q.b.value_type = p.b.value_type;
  run(q, work);
}

namespace on_cpu {

namespace {

answer with_estimate(answer out, const problem& p) {
  if (out.says != verdict::cannot)
    out.seconds =
        estimate(p, 1.0 / std::max(1u, std::thread::hardware_concurrency()), retained_per_row(p));
  return out;
}

}  // namespace

answer maxk_answer(const problem& p) { return with_estimate(rig::maxk_answer(p), p); }
answer maxk_backward_answer(const problem& p) {
  return with_estimate(rig::maxk_backward_answer(p), p);
}

void maxk_run(const problem& p, workspace& work) {
  run_with_cbsr(p, work, [](const problem& q, workspace&) { run_converted(maxk_family, q); });
}

}  // namespace on_cpu
}  // namespace rig
