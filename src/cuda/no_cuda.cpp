// The CUDA functions of a build without CUDA: no device is listed, and calls throw error(place).

#include "call/steps.hpp"
#include "cuda/runtime/device.hpp"

namespace rig {
namespace {

[[noreturn]] void absent(int device) {
  fail(errc::place, {to_string(cuda(device)),
                     " is not available: this rig was built without CUDA; build it with "
                     "`PRESET=cuda make build`"});
}

}  // namespace

void set_device_allocator(device_allocator) {}

namespace on_cuda {

std::vector<device_info> list_devices() { return {}; }
void synchronise(int device) { absent(device); }
void* stream_for(int device, void*) { absent(device); }
void* lasting_stream(int device, void*) { absent(device); }
void* owner_for(int device, void*) { absent(device); }
std::shared_ptr<void> allocate(std::size_t, int device, void*) { absent(device); }
void copy(const buffer&, const buffer& to) { absent(to.where().device); }
void copy_rows(void*, std::size_t, const void*, std::size_t, std::size_t, index, int device, void*,
               void*) {
  absent(device);
}
void transpose_elements(const dense_operand& from, void*, void*) { absent(from.where.device); }
void select_top_k(const dense_operand& x, int, void*, void*, void*) { absent(x.where.device); }
void take_retained(const dense_operand& full, const dense_operand&, void*) {
  absent(full.where.device);
}
void scatter_retained(const dense_operand&, const dense_operand& full, void*) {
  absent(full.where.device);
}
double count_products(const problem& p) { absent(p.a.where.device); }
void find_statistics(problem& p) { absent(p.a.where.device); }
void refuse_captured_build(const char*, int device, void*) { absent(device); }
void prepare_derived(const pattern& of) { absent(of.where().device); }
std::shared_ptr<const pattern> transpose(const pattern& original, buffer&) {
  absent(original.where().device);
}

/// Without a device no operand is on one.
const operation_steps steps = {};

device_scope::device_scope(int device) : mode_(0) { absent(device); }
device_scope::~device_scope() = default;

stream_order::stream_order(const problem& p)
    : device_(p.a.where.device), current_(device_), stream_(nullptr) {}
stream_order::stream_order(int device, void*, const char*, std::initializer_list<void*>)
    : device_(device), current_(device_), stream_(nullptr) {}
stream_order::~stream_order() = default;

}  // namespace on_cuda
}  // namespace rig
