// The CPU as a place: its memory, copies, and the table of what it implements.

#include "storage/backend.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <new>
#include <thread>

#include "rig/error.hpp"
#include "rig/kernels/cpu/isa.hpp"
#include "rig/kernels/cpu/split.hpp"

namespace rig {
namespace {

constexpr std::align_val_t cache_line{64};
constexpr std::align_val_t huge_page{2u << 20};

/// Buffers of at least this size use huge pages, because gathers from a large table then miss the
/// TLB less.
constexpr std::size_t huge_bytes = 4u << 20;

template <class Word>
void transpose_words(const dense_operand& from, void* to) {
  const Word* source = static_cast<const Word*>(from.data);
  Word* target = static_cast<Word*>(to);
  constexpr index block = 32;
  for (index i0 = 0; i0 < from.rows; i0 += block)
    for (index j0 = 0; j0 < from.columns; j0 += block)
      for (index i = i0; i < from.rows && i < i0 + block; ++i)
        for (index j = j0; j < from.columns && j < j0 + block; ++j)
          target[static_cast<int64>(j) * from.rows + i] = source[i * from.stride + j];
}

}  // namespace

void cannot_allocate(std::size_t bytes) {
  fail(errc::out_of_memory, {"out of memory: cannot allocate ", bytes, " bytes on cpu"});
}

buffer buffer::zeros(std::size_t bytes) {
  if (bytes < huge_bytes) {
    buffer made = allocate(bytes);
    if (bytes > 0) std::memset(made.data(), 0, bytes);
    return made;
  }
  void* const pages =
      mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) cannot_allocate(bytes);
  buffer made;
  or_out_of_memory("buffer", [&] {
    made.data_ = std::shared_ptr<void>(pages, [bytes](void* p) { munmap(p, bytes); });
  });
  made.bytes_ = bytes;
  return made;
}

namespace on_cpu {

std::vector<device_info> list_devices() {
  device_info host;
  host.where = cpu();
  host.name = on_cpu::to_string(on_cpu::instruction_set());
  host.threads = static_cast<int>(std::thread::hardware_concurrency());
  host.memory = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGE_SIZE);
  return {host};
}

void synchronise(int) {}
void check_settings() { instruction_set(); }

void* stream_for(int, void*) { return nullptr; }
void* lasting_stream(int, void*) { return nullptr; }
void* owner_for(int, void*) { return nullptr; }
bool begin_order(void*, int, void*, const char*, std::initializer_list<void*>) { return false; }
void end_order(void*) {}

std::shared_ptr<void> allocate(std::size_t bytes, int, void*) {
  const bool large = bytes >= huge_bytes;
  const std::align_val_t alignment = large ? huge_page : cache_line;
  std::shared_ptr<void> made;
  try {
    made = std::shared_ptr<void>(::operator new(bytes, alignment),
                                 [alignment](void* p) { ::operator delete(p, alignment); });
  } catch (const std::bad_alloc&) {
    cannot_allocate(bytes);
  }
  // Advice only: if the operating system declines, small pages serve.
  if (large) madvise(made.get(), bytes, MADV_HUGEPAGE);
  return made;
}

void copy(const buffer& from, const buffer& to) {
  std::memcpy(to.data(), from.data(), from.bytes());
}

void copy_rows(void* to, std::size_t to_stride, const void* from, std::size_t from_stride,
               std::size_t bytes, index rows, int, void*, void*) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i)
    std::memcpy(static_cast<char*>(to) + i * to_stride,
                static_cast<const char*>(from) + i * from_stride, bytes);
}

void transpose_elements(const dense_operand& from, void* to, void*) {
  switch (from.value_bytes) {
    case 1:
      return transpose_words<unsigned char>(from, to);
    case 2:
      return transpose_words<unsigned short>(from, to);
    case 4:
      return transpose_words<unsigned>(from, to);
    case 8:
      return transpose_words<unsigned long>(from, to);
    default:
      break;
  }
  const auto* source = static_cast<const unsigned char*>(from.data);
  auto* target = static_cast<unsigned char*>(to);
  for (index i = 0; i < from.rows; ++i)
    for (index j = 0; j < from.columns; ++j)
      std::memcpy(target + (static_cast<std::size_t>(j) * static_cast<std::size_t>(from.rows) +
                            static_cast<std::size_t>(i)) *
                               from.value_bytes,
                  source + static_cast<std::size_t>(i * from.stride + j) * from.value_bytes,
                  from.value_bytes);
}

void refuse_captured_build(const char*, int, void*) {}
void refuse_captured_copy(int, void*) {}
void prepare_derived(const pattern& oriented) { oriented.derived_of<row_lengths>(); }
void find_statistics(problem&) {}
index tile_columns(const problem&) { return 0; }
std::shared_ptr<void> transfer_stream(int) { return nullptr; }
bool keep_whole(const pattern&, const over_ranks::whole_rows& whole) {
  return splits(whole.nnz, whole.longest);
}

void move_rows(void* to, const index* to_rows, const void* from, const index* from_rows,
               std::size_t from_stride, std::size_t bytes, int64 rows, int, void*) {
  if (bytes == 0) return;
  const auto row_of = [](const index* list, int64 k) {
    return static_cast<std::size_t>(list != nullptr ? list[k] : k);
  };
  for (int64 k = 0; k < rows; ++k)
    std::memcpy(static_cast<char*>(to) + row_of(to_rows, k) * bytes,
                static_cast<const char*>(from) + row_of(from_rows, k) * from_stride, bytes);
}

constinit const backend functions = {
#define RIG_FUNCTION(result, name, ...) .name = &name,
#include "storage/backend.def"
};

}  // namespace on_cpu
}  // namespace rig
