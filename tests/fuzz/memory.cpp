// Files may claim gigabytes, which rig allocates if the machine has them. Here no machine has them.

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

void* allocate(std::size_t count, std::size_t alignment) noexcept {
  constexpr std::size_t most = 64 << 20;
  void* p = nullptr;
  return count > most || posix_memalign(&p, alignment, count) != 0 ? nullptr : p;
}
void* allocate(std::size_t count) noexcept { return allocate(count, alignof(std::max_align_t)); }
void* or_throw(void* p) {
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

}  // namespace

void* operator new(std::size_t count) { return or_throw(allocate(count)); }
void* operator new[](std::size_t count) { return or_throw(allocate(count)); }
void* operator new(std::size_t count, const std::nothrow_t&) noexcept { return allocate(count); }
void* operator new[](std::size_t count, const std::nothrow_t&) noexcept { return allocate(count); }
void* operator new(std::size_t count, std::align_val_t alignment) {
  return or_throw(allocate(count, static_cast<std::size_t>(alignment)));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
