// Operands without entries, rows or columns on a GPU: nothing is launched for what is not there.

#include "gpu_cases.hpp"
#include "rig/semirings.hpp"

namespace {

/// An m×n view without entries, whose values lie somewhere nevertheless.
template <class T>
class no_entries {
 public:
  no_entries(int m, int n)
      : offsets_(rig::dense<int>(m + 1, 1, 0).to(gpu)),
        memory_(rig::dense<T>(8, 1).to(gpu)),
        columns_(rig::dense<int>(8, 1).to(gpu)),
        view_(rig::matrix<T>::view(
            m, n, std::span(std::as_const(offsets_).data(), static_cast<std::size_t>(m) + 1),
            std::span(std::as_const(columns_).data(), 0),
            std::span(std::as_const(memory_).data(), 0), rig::input::trusted, gpu)) {}
  const rig::matrix<T>& view() const { return view_; }

 private:
  rig::dense<int> offsets_;
  rig::dense<T> memory_;
  rig::dense<int> columns_;
  rig::matrix<T> view_;
};

template <class T>
void check_products(const rig::descriptor& desc, int features) {
  CAPTURE(desc.kernel);
  const no_entries<T> a(100, 50);
  REQUIRE(a.view().values() != nullptr);
  const auto b = waves(desc.transpose_a ? 100 : 50, features).to(gpu);
  const auto c = rig::mxm(a.view(), b, rig::plus_times<float>{}, desc);
  CHECK(distance(c.to(rig::cpu()), rig::dense<float>(c.rows(), features, 0)) == 0);
}

TEST_CASE("a matrix without entries whose values have another type than the semiring") {
  for (const bool transpose : {false, true}) {
    for (const char* kernel : {"", "row", "split"})
      for (const int features : {1, 32, 33}) {
        const rig::descriptor desc{.transpose_a = transpose, .kernel = kernel};
        check_products<double>(desc, features);
        check_products<rig::half>(desc, features);
        check_products<float>(desc, features);
      }
    check_products<double>({.transpose_a = transpose, .kernel = "spmv"}, 1);
    check_products<double>({.transpose_a = transpose, .kernel = "bucket", .width = 4}, 32);
  }
}

TEST_CASE("a matrix without columns, and one without rows") {
  const rig::matrix<float> tall(100, 0), wide(0, 100);
  for (const int features : {1, 7, 32, 33, 100, 256})
    for (const bool transpose : {false, true}) {
      const rig::descriptor desc{.transpose_a = transpose};
      const auto& long_one = transpose ? wide : tall;
      const auto& flat_one = transpose ? tall : wide;
      const auto c = rig::mxm(long_one.to(gpu), rig::dense<float>(0, features).to(gpu),
                              rig::plus_times<float>{}, desc);
      CHECK(distance(c.to(rig::cpu()), rig::dense<float>(100, features, 0)) == 0);
      const auto none =
          rig::mxm(flat_one.to(gpu), waves(100, features).to(gpu), rig::plus_times<float>{}, desc);
      CHECK(none.rows() == 0);
    }
}

}  // namespace
