#include "c/handles.hpp"

#include "rig/place.hpp"

namespace rig::c {
namespace {

thread_local std::string message;
/// Says that there was no memory for the text.
thread_local bool is_message_lost = false;

rig_status failed(rig_status status, const char* text) noexcept {
  try {
    message = text;
    is_message_lost = false;
  } catch (...) {
    is_message_lost = true;
  }
  return status;
}

}  // namespace

rig_status status_of_failure() noexcept {
  static_assert(static_cast<int>(errc::shape) + 1 == RIG_ERROR_SHAPE &&
                static_cast<int>(errc::device) + 1 == RIG_ERROR_DEVICE);
  try {
    throw;
  } catch (const error& failure) {
    return failed(static_cast<rig_status>(static_cast<int>(failure.code()) + 1), failure.what());
  } catch (const misuse& failure) {
    return failed(failure.status, failure.what());
  } catch (const std::bad_alloc&) {  // not even for the text of an error
    return failed(RIG_ERROR_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& failure) {
    return failed(RIG_ERROR_INTERNAL, failure.what());
  } catch (...) {
    return failed(RIG_ERROR_INTERNAL, "an exception that is not of the standard library");
  }
}

void check_size(const char* call, const char* name, std::size_t size, std::size_t known) {
  constexpr std::size_t most = 4096;  // no version has so many; the size was not set
  if (size < known || size > most)
    throw misuse(RIG_ERROR_SIZE, std::string(call) + ": " + name + "->size is " +
                                     std::to_string(size) + ", and the struct has " +
                                     std::to_string(known) + " bytes; set it to its sizeof");
}

void check_rest(const char* call, const char* name, const void* from, std::size_t size,
                std::size_t known) {
  const auto* const bytes = static_cast<const unsigned char*>(from);
  for (std::size_t at = known; at < size; ++at)
    if (bytes[at] != 0)
      throw misuse(RIG_ERROR_SIZE, std::string(call) + ": byte " + std::to_string(at) + " of " +
                                       name + " is not 0, and rig " + version() + " knows " +
                                       std::to_string(known) + " bytes; use a later library");
}

type type_from(const char* call, rig_type of) {
  static_assert(static_cast<int>(type::boolean) + 1 == RIG_BOOL &&
                static_cast<int>(type::bfloat16) + 1 == RIG_BFLOAT16);
  if (of < RIG_BOOL || of > RIG_BFLOAT16)
    fail(errc::type, {call, ": type ", of, " is none of rig_type"});
  return static_cast<type>(of - 1);
}

place place_from(const char* call, rig_place of) {
  if (of < RIG_CPU)
    fail(errc::place, {call, ": place ", of, " is none; pass RIG_CPU or RIG_CUDA(device)"});
  return of == RIG_CPU ? cpu() : cuda(of - 1);
}

given_number number_from(const char* call, const char* name, const rig_number& from) {
  using kind = given_number::kind;
  if (from.kind == RIG_BOOLEAN) return {kind::boolean, from.integer != 0};
  if (from.kind == RIG_INTEGER) return {kind::integer, static_cast<int64>(from.integer)};
  if (from.kind == RIG_REAL) return {kind::real, from.real};
  fail(errc::range, {call, ": ", name, " has kind ", from.kind,
                     ", and is no number; set RIG_INTEGER, RIG_REAL or RIG_BOOLEAN"});
}
scalar scalar_from(const char* call, const char* name, const rig_number& from) {
  return from.kind == 0 ? scalar() : number_from(call, name, from).value;
}

rig_number number_to(const void* element, type of) {
  return with_type(of, [&]<class T>(T) -> rig_number {
    T value;
    std::memcpy(&value, element, sizeof(T));
    if constexpr (is_same<T, bool>)
      return {RIG_BOOLEAN, value ? 1 : 0, 0};
    else if constexpr (is_integer<T>)
      return {RIG_INTEGER, value, 0};
    else
      return {RIG_REAL, 0, convert<double>(value)};
  });
}

const rig_container& container_from(const char* call, const char* name, const rig_container* from) {
  return given(call, name, from);
}
const rig_container& dense_from(const char* call, const char* name, const rig_container* from) {
  const rig_container& out = given(call, name, from);
  if (!out.is_dense()) fail(errc::type, {call, ": ", name, " is sparse; give a dense"});
  return out;
}
const rig_container& matrix_from(const char* call, const char* name, const rig_container* from) {
  const rig_container& out = given(call, name, from);
  if (out.kind != RIG_MATRIX)
    fail(errc::type, {call, ": ", name, " is a ", out.is_dense() ? "dense" : "vector",
                      "; give a sparse matrix"});
  return out;
}

std::unique_ptr<rig_container> held(erased_matrix from, bool is_vector) {
  auto out = std::make_unique<rig_container>();
  out->kind = is_vector ? RIG_VECTOR : RIG_MATRIX;
  out->sparse = std::move(from);
  return out;
}

std::unique_ptr<rig_container> new_dense(index rows, index columns, type of, place where,
                                         void* stream) {
  return with_type(of, [&]<class T>(T) {
    return held(dense<T>::uninitialised(rows, columns, where, owner_for(where, stream)));
  });
}

}  // namespace rig::c

using namespace rig::c;

const char* rig_version(void) { return rig::version(); }

const char* rig_error_message(void) { return is_message_lost ? "out of memory" : message.c_str(); }

rig_status rig_synchronise(rig_place place) {
  const char* const call = "rig_synchronise";
  return guarded(call, [&] { rig::synchronise(place_from(call, place)); });
}

void rig_free(rig_container* container) { delete container; }
void rig_free_semiring(rig_semiring* semiring) { delete semiring; }

rig_status rig_semiring_by_name(const char* name, rig_type type, rig_semiring** out) {
  const char* const call = "rig_semiring_by_name";
  return guarded(call, [&] {
    require(call, "out", out);
    const rig::builtin_pair& pair =
        rig::find_builtin(&given(call, "name", name), type_from(call, type));
    *out = new rig_semiring{&pair, false};
  });
}

rig_status rig_semiring_from_text(const rig_semiring_text* text, rig_semiring** out) {
  const char* const call = "rig_semiring_from_text";
  return guarded(call, [&] {
    require(call, "out", out);
    const rig_semiring_text from = read(call, "text", text);
    const auto or_empty = [](const char* of) { return std::string(of == nullptr ? "" : of); };
    const rig::semiring_text words = {&given(call, "text->name", from.name),
                                      type_from(call, from.type),
                                      or_empty(from.add),
                                      or_empty(from.multiply),
                                      or_empty(from.zero),
                                      or_empty(from.finish),
                                      or_empty(from.terminal),
                                      from.check != 0};
    const rig::builtin_pair& pair = rig::compile_semiring(words);
    *out = new rig_semiring{&pair, true};
  });
}
