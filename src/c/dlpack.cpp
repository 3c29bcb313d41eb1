#include "c/handles.hpp"

// Tensors of DLPack in and out. The structs are those of its specification, version 0.8.

namespace rig::c {

struct tensor_device {
  std::int32_t device_type;
  std::int32_t device_id;
};
struct tensor_type {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};
struct tensor_view {
  void* data;
  tensor_device device;
  std::int32_t ndim;
  tensor_type dtype;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};

}  // namespace rig::c

struct DLManagedTensor {
  rig::c::tensor_view dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor*);
};

using namespace rig::c;

namespace rig::c {
namespace {

enum device_code : std::int32_t { on_host = 1, on_cuda = 2, pinned = 3, managed = 13 };

/// The data type of each storage type, in the order of `type`.
constexpr tensor_type data_types[] = {{6, 8, 1},  {0, 32, 1}, {0, 64, 1}, {2, 32, 1},
                                      {2, 64, 1}, {2, 16, 1}, {4, 16, 1}};

type type_of_tensor(const char* call, tensor_type of) {
  int at = 0;
  for (const tensor_type& each : data_types) {
    if (each.code == of.code && each.bits == of.bits && each.lanes == of.lanes)
      return static_cast<type>(at);
    ++at;
  }
  fail(errc::type, {call, ": elements have DLPack's code ", static_cast<int>(of.code), " and ",
                    static_cast<int>(of.bits), " bits; convert them to a type of rig_type"});
}

place place_of_tensor(const char* call, tensor_device of) {
  if (of.device_type == on_host || of.device_type == pinned) return cpu();
  if (of.device_type == on_cuda || of.device_type == managed) return cuda(of.device_id);
  fail(errc::place, {call, ": DLPack's device ", of.device_type,
                     " is none of rig; copy the tensor to the CPU or to CUDA"});
}

/// The elements of a tensor with one or two dimensions.
dense_operand elements_of(const char* call, const tensor_view& of, void* stream) {
  if (of.ndim != 1 && of.ndim != 2)
    fail(errc::shape, {call, ": the tensor has ", of.ndim, " dimensions; give one or two"});
  require(call, "tensor->dl_tensor.shape", of.shape);
  const int64 rows = of.shape[0], columns = of.ndim == 1 ? 1 : of.shape[1];
  const bool is_packed = of.strides == nullptr;
  if (!is_packed && of.ndim == 2 && columns > 1 && of.strides[1] != 1)
    fail(errc::shape, {call, ": elements of a row lie ", static_cast<int64>(of.strides[1]),
                       " apart; make the tensor contiguous"});
  const int64 stride = is_packed || rows < 2 ? columns : static_cast<int64>(of.strides[0]);
  if (stride < columns)  // a tensor that repeats its rows has 0
    fail(errc::shape, {call, ": rows of ", columns, " elements lie ", stride,
                       " apart; make the tensor contiguous"});
  dense_operand out;
  with_type(type_of_tensor(call, of.dtype), [&]<class T>(T) {
    auto* const data = static_cast<unsigned char*>(of.data);
    fill_in(out,
            dense<T>::view(reinterpret_cast<T*>(data == nullptr ? data : data + of.byte_offset),
                           rows, columns, stride, place_of_tensor(call, of.device), stream));
  });
  return out;
}

/// A tensor, and the container that it keeps.
struct exported {
  DLManagedTensor tensor;
  std::int64_t shape[2], strides[2];
  rig_container kept;
};

}  // namespace
}  // namespace rig::c

rig_status rig_from_dlpack(DLManagedTensor* tensor, void* stream, rig_container** out) {
  const char* const call = "rig_from_dlpack";
  return guarded(call, [&] {
    require(call, "out", out);
    auto made = std::make_unique<rig_container>();
    made->kind = RIG_DENSE;
    made->full = elements_of(call, given(call, "tensor", tensor).dl_tensor, stream);
    const auto owner = std::make_shared<foreign>();
    made->owner = owner;
    owner->owner = tensor;
    owner->release = [](void* of) {
      auto* const from = static_cast<DLManagedTensor*>(of);
      if (from->deleter != nullptr) from->deleter(from);
    };
    *out = made.release();
  });
}

rig_status rig_to_dlpack(const rig_container* dense, DLManagedTensor** out) {
  const char* const call = "rig_to_dlpack";
  return guarded(call, [&] {
    require(call, "out", out);
    const rig_container& from = dense_from(call, "dense", dense);
    if (from.read_only)
      rig::fail(rig::errc::read_only,
                {call, ": the elements are read-only, which a tensor cannot say; copy them"});
    auto made = std::make_unique<exported>();
    made->kept = from;
    const rig::dense_operand& full = made->kept.full;
    made->shape[0] = full.rows;
    made->shape[1] = full.columns;
    made->strides[0] = full.stride;
    made->strides[1] = 1;
    const bool is_on_host = full.where == rig::cpu();
    made->tensor = {{full.data,
                     {is_on_host ? on_host : on_cuda, full.where.device},
                     2,
                     data_types[static_cast<int>(full.value_type)],
                     made->shape,
                     made->strides,
                     0},
                    made.get(),
                    [](DLManagedTensor* of) { delete static_cast<exported*>(of->manager_ctx); }};
    // Its readers may use another stream than rig's.
    if (!is_on_host) rig::synchronise(full.where);
    *out = &made.release()->tensor;
  });
}
