// Operators as arguments of kernels, and the keys of those that are not builtin.

#include <cstring>

#include "cuda/elementwise/work.hpp"

namespace rig::on_cuda {
namespace {

/// The bytes of one element: by its type, unless that is not rig's.
std::size_t bytes_of(type stored, std::size_t otherwise) {
  static constexpr std::size_t bytes[] = {1, 4, 8, 4, 8, 2, 2};  // in the order of `type`
  return stored < type::code ? bytes[static_cast<int>(stored)] : otherwise;
}

}  // namespace

element_array array_of(const element_source& from) {
  element_array out;
  out.values = from.values;
  out.permutation = from.permutation;
  out.permutation_64 = from.permutation_64;
  out.stored = from.stored;
  out.bytes = static_cast<unsigned>(bytes_of(from.stored, from.bytes));
  if (from.iso != nullptr) std::memcpy(out.iso.bytes, from.iso, out.bytes);
  return out;
}

element_arguments arguments_of(const operation& o, const operator_info& op, unsigned char code) {
  element_arguments out;
  out.code = code;
  out.selects = op.kind == operator_kind::select;
  out.out_type = o.out_type;
  out.out_bytes = static_cast<unsigned>(o.out_bytes);
  if (o.scalar_bytes > sizeof(out.scalar))
    fail(errc::cannot, {o.name, ": y has ", o.scalar_bytes,
                        " bytes, and operators on CUDA take at most ", sizeof(out.scalar)});
  if (o.scalar != nullptr) std::memcpy(out.scalar.bytes, o.scalar, o.scalar_bytes);
  return out;
}

kernel_key key_of(const operation& o, const operator_info& op) {
  using enum kernel_key::role;
  if (op.text.source == nullptr && !op.text.is_rigs)
    fail(errc::cannot,
         {o.name, ": the GPU compiler cannot see the text of ", op.name, ": define it",
          op.kind == operator_kind::apply ? " by RIG_OPERATOR" : " by RIG_SEMIRING"});
  kernel_key out = {.type_name = op.text.key,
                    .type_hash = op.text.key_hash,
                    .source = op.text.source,
                    .device = o.where().device};
  out.as = op.kind == operator_kind::add        ? adding
           : op.kind == operator_kind::multiply ? multiplying
                                                : applying;
  if (out.as != applying) return out;
  out.x = op.algebra;
  out.y = o.scalar_type;
  const bool has_x = element_name(out.x) != nullptr;
  if (!has_x || element_name(out.y) == nullptr)
    fail(errc::cannot, {o.name, ": operator ", op.name, " takes ", has_x ? "a y" : "elements",
                        " of a type that the GPU compiler cannot see; pass one of rig's types"});
  return out;
}

}  // namespace rig::on_cuda
