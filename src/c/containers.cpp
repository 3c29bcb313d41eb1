#include "c/handles.hpp"
#include "rig/io.hpp"

// Containers from arrays, files and other containers, and their memory.

using namespace rig::c;

namespace rig::c {
namespace {

/// Index arrays of the caller.
integers integers_from(const char* call, const char* name, const void* data, int64 count,
                       rig_type of) {
  if (of != RIG_INT32 && of != RIG_INT64)
    fail(errc::type, {call, ": ", name, " have type ", of, "; give RIG_INT32 or RIG_INT64"});
  if (count > 0) require(call, name, data);
  const auto size = static_cast<std::size_t>(count);
  if (of == RIG_INT32) return std::span(static_cast<const int32*>(data), size);
  return std::span(static_cast<const int64*>(data), size);
}

void check_counts(const char* call, int64 rows, int64 columns, int64 count, bool is_vector) {
  if (rows < 0 || columns < 0 || count < 0 || rows > highest<index>())
    fail(errc::shape, {call, ": ", rows, "x", columns, " with ", count, " entries is no matrix"});
  if (is_vector && rows != 1) fail(errc::shape, {call, ": a vector has 1 row, not ", rows});
}

/// Sets the one value that all entries have.
void set_iso(const char* call, erased_matrix& out, const rig_number& value) {
  const scalar number = value.kind == 0 ? scalar(1) : scalar_from(call, "arrays->value", value);
  out.is_iso = true;
  with_type(out.stored, [&]<class T>(T) {
    const T one = number.checked<T>(call, "arrays->value");
    std::memcpy(out.iso, &one, sizeof(T));
  });
}

/// Arrays that the container views until `owner` goes.
erased_matrix viewed(const char* call, const rig_csr& from, std::shared_ptr<const void> owner) {
  const place where = place_from(call, from.place);
  erased_matrix out;
  out.stored = type_from(call, from.type);
  const integers offsets =
      integers_from(call, "arrays->offsets", from.offsets, from.rows + 1, from.offset_type);
  const integers entries =
      integers_from(call, "arrays->indices", from.indices, from.entries, from.index_type);
  const input how = where == cpu() ? input::checked : input::trusted;
  out.structure = over_foreign(
      pattern_view(from.rows, from.columns, offsets, entries, how, where, from.stream), owner);
  if (from.values == nullptr) {
    set_iso(call, out, from.value);
    return out;
  }
  out.is_iso = false;
  if (from.entries == 0) return out;
  out.values = buffer::borrow(const_cast<void*>(from.values),
                              static_cast<std::size_t>(from.entries) * bytes_of(out.stored), where,
                              from.stream);
  out.keepalive = std::move(owner);
  return out;
}

/// Arrays that are copied, and whose rows are sorted.
erased_matrix copied(const char* call, const rig_csr& from) {
  if (from.place != RIG_CPU)
    fail(errc::place, {call, ": the arrays are not on the CPU; view them, then call rig_copy_to"});
  erased_matrix out;
  out.stored = type_from(call, from.type);
  std::vector<int64> order;
  out.structure = pattern_from_csr(
      from.rows, from.columns,
      integers_from(call, "arrays->offsets", from.offsets, from.rows + 1, from.offset_type),
      integers_from(call, "arrays->indices", from.indices, from.entries, from.index_type),
      input::sorted, &order);
  if (from.values == nullptr) {
    set_iso(call, out, from.value);
    return out;
  }
  const std::size_t each = bytes_of(out.stored);
  out.is_iso = false;
  out.values = buffer::allocate(static_cast<std::size_t>(from.entries) * each);
  if (!order.empty())
    take_elements(from.values, each, order, out.values.data());
  else if (from.entries > 0)
    std::memcpy(out.values.data(), from.values, out.values.bytes());
  return out;
}

/// The operator of repeated entries; none if there is no name.
accumulator combine_from(const char* call, const char* field, const char* name) {
  if (name == nullptr) return accumulator::none;
  return static_cast<accumulator>(number_of_name(call, field, name, binary_names().first(8)) +
                                  static_cast<int>(accumulator::plus));
}

read_options read_options_from(const char* call, const rig_read_options* options) {
  read_options out;
  if (options == nullptr) return out;
  const rig_read_options from = read(call, "options", options);
  if (from.separator < 0 || from.separator > 127)
    fail(errc::range, {call, ": options->separator is ", from.separator, "; give a character"});
  out.nodes = from.nodes;
  if (from.separator != 0) out.separator = static_cast<char>(from.separator);
  out.values = from.no_values == 0;
  out.extra_columns = from.extra_columns != 0;
  out.symmetrise = from.symmetrise != 0;
  out.duplicates = combine_from(call, "options->duplicates", from.duplicates);
  return out;
}

erased_matrix from_tuples(const char* call, const rig_tuples& from) {
  const type of = type_from(call, from.type);
  const std::vector<int32> zeros(from.is_vector != 0 ? static_cast<std::size_t>(from.count) : 0);
  const integers i = from.is_vector != 0
                         ? integers(zeros)
                         : integers_from(call, "tuples->row_indices", from.row_indices, from.count,
                                         from.index_type);
  const integers j = integers_from(call, "tuples->column_indices", from.column_indices, from.count,
                                   from.index_type);
  if (from.values == nullptr) {
    const sorted_tuples sorted = sort_tuples(from.rows, from.columns, i, j, true);
    return with_type(of, [&]<class T>(T) { return iso_of(sorted.structure, convert<T>(1.0f)); });
  }
  const accumulator combine = combine_from(call, "tuples->combine", from.combine);
  return with_type(of, [&]<class T>(T) {
    const std::span values(static_cast<const T*>(from.values),
                           static_cast<std::size_t>(from.count));
    if (combine == accumulator::none)
      return erased(matrix<T>::from_tuples(from.rows, from.columns, i, j, values));
    using A = algebra<T>;
    return erased(matrix<T>::from_tuples(
        from.rows, from.columns, i, j, values, [combine](const T& x, const T& y) {
          return convert<T>(accumulate(combine, convert<A>(x), convert<A>(y)));
        }));
  });
}

}  // namespace
}  // namespace rig::c

rig_status rig_from_csr(const rig_csr* arrays, rig_container** out) {
  const char* const call = "rig_from_csr";
  return guarded(call, [&] {
    require(call, "out", out);
    const rig_csr from = read(call, "arrays", arrays);
    check_counts(call, from.rows, from.columns, from.entries, from.is_vector != 0);
    const auto owner = std::make_shared<foreign>();
    auto made =
        held(from.copy != 0 ? copied(call, from) : viewed(call, from, owner), from.is_vector != 0);
    owner->owner = from.owner;
    owner->release = from.release;
    *out = made.release();
  });
}

rig_status rig_from_tuples(const rig_tuples* tuples, rig_container** out) {
  const char* const call = "rig_from_tuples";
  return guarded(call, [&] {
    require(call, "out", out);
    const rig_tuples from = read(call, "tuples", tuples);
    check_counts(call, from.rows, from.columns, from.count, from.is_vector != 0);
    *out = held(from_tuples(call, from), from.is_vector != 0).release();
  });
}

rig_status rig_view_elements(const rig_elements* elements, rig_container** out) {
  const char* const call = "rig_view_elements";
  return guarded(call, [&] {
    require(call, "out", out);
    const rig_elements from = read(call, "elements", elements);
    auto made = std::make_unique<rig_container>();
    made->kind = RIG_DENSE;
    made->read_only = from.read_only != 0;
    rig::with_type(type_from(call, from.type), [&]<class T>(T) {
      rig::fill_in(made->full,
                   rig::dense<T>::view(static_cast<T*>(from.data), from.rows, from.columns,
                                       from.stride, place_from(call, from.place), from.stream));
    });
    const auto owner = std::make_shared<foreign>();
    made->owner = owner;
    owner->owner = from.owner;
    owner->release = from.release;
    *out = made.release();
  });
}

rig_status rig_new_dense(int64_t rows, int64_t columns, rig_type type, rig_place place,
                         rig_container** out) {
  const char* const call = "rig_new_dense";
  return guarded(call, [&] {
    require(call, "out", out);
    const rig::place where = place_from(call, place);
    *out = rig::with_type(type_from(call, type), [&]<class T>(T) {
             rig::dense<T> zeros(rows, columns);
             return held(where == rig::cpu() ? std::move(zeros) : zeros.to(where));
           }).release();
  });
}

rig_status rig_read_file(const char* path, rig_type type, const rig_read_options* options,
                         rig_container** out) {
  const char* const call = "rig_read_file";
  return guarded(call, [&] {
    require(call, "out", out);
    const std::string name = &given(call, "path", path);
    const rig::read_options how = read_options_from(call, options);
    rig::erased_matrix made =
        rig::with_type(type_from(call, type), [&]<class T>(T) -> rig::erased_matrix {
          if constexpr (rig::is_small_float<T>)
            return rig::converted(rig::erased(rig::read_matrix<float>(name, how)), rig::type_of<T>);
          else
            return rig::erased(rig::read_matrix<T>(name, how));
        });
    *out = held(std::move(made), false).release();
  });
}

rig_status rig_describe(const rig_container* of, rig_description* out) {
  const char* const call = "rig_describe";
  return guarded(call, [&] {
    const rig_container& x = container_from(call, "of", of);
    rig_description made{};
    made.kind = x.kind;
    made.type = type_to(x.stored());
    made.place = place_to(x.where());
    made.is_iso = !x.is_dense() && x.sparse.is_iso;
    made.rows = x.rows();
    made.columns = x.columns();
    made.entries = x.is_dense() ? made.rows * made.columns : x.sparse.nnz();
    write(call, "out", made, out);
  });
}

rig_status rig_csr_of(const rig_container* of, rig_csr* out) {
  const char* const call = "rig_csr_of";
  return guarded(call, [&] {
    const rig_container& x = container_from(call, "of", of);
    if (x.is_dense())
      rig::fail(rig::errc::type, {call, ": a dense has no entries; call rig_elements_of"});
    const rig::pattern& places = *x.sparse.structure;
    rig_csr made{};
    made.rows = x.rows();
    made.columns = x.columns();
    made.entries = x.sparse.nnz();
    made.offsets = places.offsets();
    made.indices = places.column_indices();
    made.offset_type = places.offsets_64() ? RIG_INT64 : RIG_INT32;
    made.index_type = RIG_INT32;
    made.type = type_to(x.sparse.stored);
    made.is_vector = x.kind == RIG_VECTOR;
    made.place = place_to(x.where());
    made.stream = places.stream();
    if (x.sparse.is_iso)
      made.value = number_to(x.sparse.iso, x.sparse.stored);
    else
      made.values = x.sparse.values.data();
    write(call, "out", made, out);
  });
}

rig_status rig_elements_of(const rig_container* of, rig_elements* out) {
  const char* const call = "rig_elements_of";
  return guarded(call, [&] {
    const rig_container& x = dense_from(call, "of", of);
    rig_elements made{};
    made.data = x.full.data;
    made.rows = x.full.rows;
    made.columns = x.full.columns;
    made.stride = x.full.stride;
    made.type = type_to(x.full.value_type);
    made.read_only = x.read_only;
    made.place = place_to(x.full.where);
    made.stream = x.full.stream;
    write(call, "out", made, out);
  });
}

rig_status rig_share(const rig_container* of, rig_container** out) {
  const char* const call = "rig_share";
  return guarded(call, [&] {
    require(call, "out", out);
    *out = new rig_container(container_from(call, "of", of));
  });
}

rig_status rig_copy_to(const rig_container* of, rig_place place, rig_container** out) {
  const char* const call = "rig_copy_to";
  return guarded(call, [&] {
    require(call, "out", out);
    const rig_container& x = container_from(call, "of", of);
    const rig::place where = place_from(call, place);
    if (x.where() == where)
      *out = new rig_container(x);
    else if (x.is_dense())
      *out = rig::with_type(x.stored(), [&]<class T>(T) {
               return held(view_of<T>(x).to(where));
             }).release();
    else
      *out = held(rig::moved(x.sparse, where), x.kind == RIG_VECTOR).release();
  });
}
