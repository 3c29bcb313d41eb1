// SuiteSparse:GraphBLAS as the machine has it, through the addresses of its functions, so that the
// command needs neither its header nor the library. docs/guide/command.md says what is timed.

#include "graphblas.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <memory>

#include "rig/error.hpp"
#include "rig/scalar.hpp"

namespace command {
namespace {

// Types of its C API: handles, and the numbers of its enumerations.
using handle = void*;
using count = std::uint64_t;
constexpr int nonblocking = 0, materialize = 1;

/// A shared library of the machine, the first of some names that the loader finds.
class shared_library {
 public:
  explicit shared_library(std::initializer_list<const char*> names) {
    for (const char* const name : names)
      if ((opened_ = dlopen(name, RTLD_NOW | RTLD_LOCAL)) != nullptr) return;
  }
  /// Null if there is none.
  void* address_of(const std::string& name) const {
    return opened_ != nullptr ? dlsym(opened_, name.c_str()) : nullptr;
  }
  /// Empty if there is none.
  std::string path() const {
    link_map* loaded = nullptr;
    return opened_ != nullptr && dlinfo(opened_, RTLD_DI_LINKMAP, &loaded) == 0 ? loaded->l_name
                                                                                : "";
  }

 private:
  void* opened_ = nullptr;  // never closed: it may have threads
};

const shared_library& library() {
  static const shared_library found({"libgraphblas.so.10", "libgraphblas.so.9", "libgraphblas.so.8",
                                     "libgraphblas.so.7", "libgraphblas.so"});
  return found;
}

template <class... Arguments>
void call(const char* name, Arguments... arguments) {
  const auto function = reinterpret_cast<int (*)(Arguments...)>(library().address_of(name));
  if (function == nullptr)
    rig::fail(rig::errc::cannot, {library().path(), " has no function ", name});
  if (const int failed = function(arguments...); failed != 0)
    rig::fail(rig::errc::cannot, {"GraphBLAS: ", name, " returned ", failed});
}

/// The object of a name, or null.
handle object(const std::string& name) {
  const auto at = static_cast<handle*>(library().address_of(name));
  return at != nullptr ? *at : nullptr;
}

struct release {
  void operator()(void* matrix) const { call<handle*>("GrB_Matrix_free", &matrix); }
};
using matrix_handle = std::unique_ptr<void, release>;

matrix_handle new_matrix(rig::index rows, rig::index columns) {
  handle made = nullptr;
  call<handle*, handle, count, count>("GrB_Matrix_new", &made, object("GrB_FP32"),
                                      static_cast<count>(rows), static_cast<count>(columns));
  return matrix_handle(made);
}

/// Memory that GraphBLAS takes over.
template <class T>
T* given_away(count elements) {
  void* const data = std::malloc(std::max<count>(elements, 1) * sizeof(T));
  if (data == nullptr) throw std::bad_alloc();
  return static_cast<T*>(data);
}

matrix_handle sparse(const rig::matrix<float>& a) {
  const rig::pattern& s = a.structure();
  const auto rows = static_cast<count>(s.rows()), nnz = static_cast<count>(s.nnz());
  auto* offsets = given_away<count>(rows + 1);
  auto* columns = given_away<count>(nnz);
  const count stored = a.iso() ? 1 : nnz;
  auto* values = given_away<float>(stored);
  for (rig::index i = 0; i <= s.rows(); ++i) offsets[i] = static_cast<count>(s.offset(i));
  std::copy_n(s.column_indices(), nnz, columns);
  for (count p = 0; p < stored; ++p) values[p] = a.value(static_cast<rig::int64>(p));
  matrix_handle made = new_matrix(s.rows(), s.columns());
  call<handle, count**, count**, void**, count, count, count, bool, bool, handle>(
      "GxB_Matrix_pack_CSR", made.get(), &offsets, &columns, reinterpret_cast<void**>(&values),
      (rows + 1) * sizeof(count), std::max<count>(nnz, 1) * sizeof(count),
      std::max<count>(stored, 1) * sizeof(float), a.iso(), false, nullptr);
  return made;
}

void fill(const matrix_handle& to, const rig::dense<float>& from) {
  const auto elements = static_cast<count>(from.rows()) * static_cast<count>(from.columns());
  auto* values = given_away<float>(elements);
  std::copy_n(from.data(), elements, values);
  call<handle, void**, count, bool, handle>("GxB_Matrix_pack_FullR", to.get(),
                                            reinterpret_cast<void**>(&values),
                                            elements * sizeof(float), false, nullptr);
}

struct product {
  matrix_handle a, b, c;
  handle semiring, add;
  rig::index rows, columns;
  float zero;

  void run() const {
    call<handle, handle, handle, handle, handle, handle, handle>(
        "GrB_mxm", c.get(), nullptr, add, semiring, a.get(), b.get(), nullptr);
    call<handle, int>("GrB_Matrix_wait", c.get(), materialize);
  }
  rig::dense<float> result() {
    c = new_matrix(rows, columns);
    fill(c, rig::dense<float>(rows, columns, zero));
    run();
    void* values = nullptr;
    count bytes = 0;
    bool has_one_value = false;
    call<handle, void**, count*, bool*, handle>("GxB_Matrix_unpack_FullR", c.get(), &values, &bytes,
                                                &has_one_value, nullptr);
    auto out = rig::dense<float>::uninitialised(rows, columns);
    const auto* const from = static_cast<const float*>(values);
    const auto elements = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
    for (std::size_t e = 0; e < elements; ++e) out.data()[e] = from[has_one_value ? 0 : e];
    std::free(values);
    fill(c, out);
    return out;
  }
};

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

}  // namespace

std::string graphblas_path() { return library().path(); }

peer graphblas(const rig::matrix<float>& a, const rig::dense<float>& b,
               const std::string& semiring) {
  peer out{.name = "GraphBLAS"};
  if (library().path().empty()) {
    out.absent = "libgraphblas.so is not found; Debian has it as libgraphblas7";
    return out;
  }
  static const bool started = (call<int>("GrB_init", nonblocking), true);
  static_cast<void>(started);
  auto made = std::make_shared<product>();
  made->semiring = object("GrB_" + upper(semiring) + "_SEMIRING_FP32");
  if (made->semiring == nullptr) made->semiring = object("GxB_" + upper(semiring) + "_FP32");
  const std::string add = semiring.substr(0, semiring.find('_'));
  made->add = object("GrB_" + upper(add) + "_FP32");
  if (made->semiring == nullptr || made->add == nullptr) {
    out.absent = "it has no " + semiring + " over float";
    return out;
  }
  made->zero = add == "max" ? rig::lowest<float>() : add == "min" ? rig::highest<float>() : 0;
  made->rows = a.rows();
  made->columns = b.columns();
  made->a = sparse(a);
  made->b = new_matrix(b.rows(), b.columns());
  fill(made->b, b);
  out.result = [made] { return made->result(); };
  out.run = [made] { made->run(); };
  return out;
}

}  // namespace command
