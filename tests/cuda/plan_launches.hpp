#pragma once

// The launches of a product, without a GPU. This file defines the library's few device functions
// again, and a program's own functions replace those of a shared library. All code above them is
// the library's. For a program of one file.

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "cuda/analysis/column_panels.hpp"
#include "cuda/analysis/row_panels.hpp"
#include "cuda/families.hpp"
#include "cuda/tuning/product.hpp"
#include "plan_facts.hpp"

/// The calls of device functions since this was emptied.
struct observed {
  std::string b_copy = "none", launches, reads;
  std::array<std::string, 4> kernels;  ///< requested kernels; their addresses stand for the kernels
  std::size_t asked = 0, launched = 0;
  rig::int64 split_length = 0, segments = 0;
  bool by_length = false;
};
inline observed seen;
inline const graph_facts* looked_at = nullptr;

/// If set, collects one text per kind of kernel. Kernels of a kind differ in numbers alone.
inline std::map<std::string, rig::on_cuda::kernel_source>* sources = nullptr;

/// A CUDA call without a replacement: the launches after it are unknown without a GPU.
struct asks_the_device {};

/// An address that is never read.
inline void* somewhere(std::size_t beyond = 0) { return reinterpret_cast<void*>(4096 + beyond); }

inline void replace_all(std::string& in, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = in.find(from, at)) != std::string::npos; at += to.size())
    in.replace(at, from.size(), to);
}

inline void add_words(std::string& to, std::string_view word, rig::int64 number) {
  ((to += ' ') += word) += ' ';
  to += std::to_string(number);
}

namespace rig::on_cuda {

// An H200's numbers: answers depend on them.
std::size_t shared_room(int) { return 232'448; }
const char* no_machine_code_because(int) { return nullptr; }
std::vector<device_info> list_devices() { return {{cuda(), "GPU", 132, 150'754'820'096}}; }

void* stream_for(int, void* stream) { return stream; }
void* lasting_stream(int, void* stream) { return stream; }
void refuse_captured_build(const char*, int, void*) {}
std::shared_ptr<void> allocate(std::size_t, int, void*) {
  return {std::shared_ptr<void>(), somewhere(1 << 20)};
}
void fail_by(cudaError_t, const char*) { throw asks_the_device(); }

void pad_rows(const dense_operand&, void*, int64 stride, void*) {
  seen.b_copy = "rows of " + std::to_string(stride);
}
void tile_rows(const dense_operand&, void*, int tile, int rest, void*) {
  seen.b_copy = "tiles of " + std::to_string(tile) + " and " + std::to_string(rest);
}

row_statistics::row_statistics(const pattern& pattern) {
  const graph_facts& of = *looked_at;
  longest = of.longest;
  if (of.filled > 0) {
    mean_length = static_cast<double>(of.nnz) / static_cast<double>(of.filled);
    imbalance = static_cast<double>(of.quads) / static_cast<double>(of.nnz);
  }
  static_assert(split_lengths == split_length_count);
  std::copy_n(of.split_rows, split_length_count, split_rows);
  std::copy_n(of.segments, split_length_count, segments);
  local = of.local;
  split_length = split_length_of(*this, pattern.nnz());
}

/// The device counts longer segments than those of the statistics; here the last kind stands for
/// them.
row_lists::row_lists(const pattern& of) {
  const auto statistics = of.derived_of<row_statistics>();
  if (has_rows_to_split(*statistics)) {
    split_length = statistics->split_length;
    int kind = 0;
    while (kind + 1 < split_length_count && nth_split_length(kind) != split_length) ++kind;
    split_count = statistics->split_rows[kind];
    segment_count = statistics->segments[kind];
    of_warps.split_length = split_length;
    of_warps.split_count = split_count;
    of_warps.segment_count = static_cast<index>(splits_per_segment) * segment_count;
  }
  chunk_count = static_cast<index>((of.nnz() + of.rows() + chunk_items - 1) / chunk_items);
  if (is_skewed(*statistics, of.nnz())) by_length = static_cast<const listed_row*>(somewhere());
}
buffer row_lists::counters_of(void* stream, std::size_t count) const {
  return buffer::borrow(somewhere(), count * sizeof(unsigned), cuda(), stream);
}
buffer row_lists::sums_of(void* stream, std::size_t bytes) const {
  return buffer::borrow(somewhere(), bytes, cuda(), stream);
}

row_panels::row_panels(const pattern&)
    : unit_count(132), segment_count(static_cast<int32>(looked_at->panel_segments)) {}

column_panels::column_panels(const pattern& original)
    : panel_count(column_panel_count(original.columns())), block_count(132) {}

device_kernel kernel_for(const kernel_key& key, const kernel_request& wanted) {
  std::string& kernel = seen.kernels.at(seen.asked++);
  kernel = expression_of(wanted, "S", "B");
  replace_all(kernel, "rig::on_cuda::", "");
  replace_all(kernel, ",", "");
  if (sources != nullptr) {
    std::string kind = kernel;
    std::erase_if(kind, [](char c) { return c >= '0' && c <= '9'; });
    sources->try_emplace(kind, source_of(key, wanted));
  }
  if (const std::size_t read = kernel.find("entries_read::"); read != std::string::npos)
    seen.reads = kernel.substr(read + 14, kernel.find_first_of(" >", read) - read - 14);
  if (wanted.shared_percent >= 0) add_words(kernel, "shared per cent", wanted.shared_percent);
  return {&kernel, wanted.name};
}

void launch(const launch_stream&, const device_kernel& kernel, dim3 grid, unsigned threads,
            const void* of_kernel, std::size_t shared) {
  const auto& args = *static_cast<const arguments*>(of_kernel);
  std::string& out = seen.launches;
  if (seen.launched++ > 0) out += "; then ";
  for (const char* c = kernel.name; *c != '\0'; ++c)
    if (*c != ',') out += *c;
  (out += ": ") += *static_cast<const std::string*>(kernel.handle);
  add_words(out, "grid", grid.x);
  (out += '.') += std::to_string(grid.y);
  (out += '.') += std::to_string(grid.z);
  add_words(out, "of", threads);
  if (shared > 0) add_words(out, "shared", static_cast<int64>(shared));
  if (args.tile > 0) add_words(out, "tile", args.tile);
  if (args.b_tile_bytes > 0) {
    add_words(out, "tiles of rows of", args.b_row_bytes);
    add_words(out, "less", args.b_tile_bytes);
    add_words(out, "rest at",
              static_cast<const char*>(args.b_rest) - static_cast<const char*>(args.b));
  }
  if (args.c_in_vectors) out += " to C in packs";
  if (args.permutation != nullptr) out += " permuted";
  if (args.rescales) out += " rescaled";
  seen.split_length = args.split_length;
  seen.segments = args.segment_count;
  seen.by_length = args.order != nullptr;
}

}  // namespace rig::on_cuda
