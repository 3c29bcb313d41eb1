#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "rig/distributed.hpp"

// Products over ranks of pairs that are chosen at run time: a record for each pair.

namespace rigblas {

/// This rank's rows of X, in the type of the pair.
struct ranked_operand {
  const void* data = nullptr;
  rig::index rows = 0, columns = 0;
  rig::int64 stride = 0;
  const rig::layout* layout = nullptr;
};

/// This rank's rows of a result, packed.
struct ranked_rows {
  std::shared_ptr<void> owner;
  void* values = nullptr;
  rig::int32* indices = nullptr;  ///< of arg-max and arg-min
  rig::index rows = 0, columns = 0;
};

/// The calls of a pair, whose A is the `rig::distributed<rig::matrix<T>>` of its type. Collective.
struct ranked_pair {
  const char* name;
  rig::type of;
  ranked_rows (*multiply)(const void* a, const ranked_operand& x, const rig::descriptor& desc);
  rig::ranks_explanation (*explain)(const void* a, const ranked_operand& x,
                                    const rig::descriptor& desc);
};

/// The rows of a result over ranks.
template <class T>
ranked_rows rows_of(rig::distributed<rig::dense<T>> from) {
  const auto kept = std::make_shared<rig::distributed<rig::dense<T>>>(std::move(from));
  rig::dense<T> here = kept->view();
  return {kept, here.data(), nullptr, here.rows(), here.columns()};
}
template <class T>
ranked_rows rows_of(rig::distributed<rig::indexed_dense<T>> from) {
  const auto kept = std::make_shared<rig::distributed<rig::indexed_dense<T>>>(std::move(from));
  rig::dense<T> here = kept->values.view();
  rig::dense<rig::int32> places = kept->indices.view();
  return {kept, here.data(), places.data(), here.rows(), here.columns()};
}

template <class S>
struct ranked {
  using T = typename S::right;
  static_assert(std::is_same_v<typename S::left, T>, "A and X have one type");

  static const rig::distributed<rig::matrix<T>>& left(const void* a) {
    return *static_cast<const rig::distributed<rig::matrix<T>>*>(a);
  }
  static rig::distributed<rig::dense<T>> right(const void* a, const ranked_operand& x) {
    return rig::in_name_of("mxm", [&] {
      const auto part =
          rig::dense<T>::view(static_cast<const T*>(x.data), x.rows, x.columns, x.stride);
      return rig::distributed<rig::dense<T>>::from_rows(left(a).communicator(), part, *x.layout);
    });
  }
  static ranked_rows multiply(const void* a, const ranked_operand& x, const rig::descriptor& desc) {
    return rows_of(rig::mxm(left(a), right(a, x), S(), desc));
  }
  static rig::ranks_explanation explain(const void* a, const ranked_operand& x,
                                        const rig::descriptor& desc) {
    return rig::explain(left(a), right(a, x), S(), desc);
  }
  static constexpr ranked_pair calls = {S::name, rig::type_of<T>, &multiply, &explain};
};

}  // namespace rigblas
