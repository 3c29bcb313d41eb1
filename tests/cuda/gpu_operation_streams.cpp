// Operations besides products on streams of the caller: order, results that outlive a stream,
// errors under way, and capture.

#include <span>

#include "gpu_cases.hpp"
#include "provoked.hpp"
#include "rig/generate.hpp"
#include "rig/rearrange.hpp"
#include "rig/reduce.hpp"
#include "rig/semirings.hpp"
#include "rig/sparse_mxm.hpp"
#include "rig/user_semiring.hpp"

namespace {

using rig::binary;

rig::matrix<float> weighted() {
  return rig::generate::random_values(rig::generate::from_text("rmat:12:8"), 3);
}

bool are_equal(const rig::matrix<float>& x, const rig::matrix<float>& y) {
  if (x.nnz() != y.nnz()) return false;
  const auto s = rig::to_tuples(x), t = rig::to_tuples(y);
  for (rig::index p = 0; p < s.rows.rows(); ++p)
    if (s.rows(p, 0) != t.rows(p, 0) || s.columns(p, 0) != t.columns(p, 0) ||
        s.values(p, 0) != t.values(p, 0))
      return false;
  return true;
}

/// A view of a matrix on a device whose values arrive late on the stream of the view.
class late_values {
 public:
  late_values(const rig::matrix<float>& a, const own_stream& writer)
      : of_(a),
        there_(a.to(gpu)),
        late_(rig::buffer::allocate(values().size_bytes(), gpu)),
        view_(rig::matrix<float>(there_.shared_structure(),
                                 rig::buffer::borrow(late_.data(), late_.bytes(), gpu, writer))) {
    rig::synchronise(gpu);
    writer.hold_back();
    REQUIRE(cudaMemcpyAsync(late_.data(), there_.values(), late_.bytes(), cudaMemcpyDeviceToDevice,
                            writer) == cudaSuccess);
  }
  const rig::matrix<float>& view() const { return view_; }

 private:
  std::span<const float> values() const {
    return {of_.values(), static_cast<std::size_t>(of_.nnz())};
  }
  rig::matrix<float> of_, there_;
  rig::buffer late_;
  rig::matrix<float> view_;
};

TEST_CASE("operations wait for the streams of their operands") {
  const auto a = weighted(), b = rig::apply(a, rig::unary::negate);
  const own_stream writer, caller;
  const rig::descriptor there{.stream = caller};
  const auto on_gpu = b.to(gpu);
  const auto check = [&](const char* what, auto work) {
    INFO(what);
    work(on_gpu, there);  // loads the kernels
    const late_values late(a, writer);
    CHECK(are_equal(work(a, rig::descriptor()), work(late.view(), there).to(rig::cpu())));
  };
  check("apply", [](const auto& x, const auto& d) { return rig::apply(x, rig::unary::square, d); });
  check("select", [](const auto& x, const auto& d) {
    return rig::select(x, rig::selection::greater, 0.5f, d);
  });
  check("add", [](const auto& x, const auto& d) { return rig::ewise_add(x, x, binary::plus, d); });
  check("transpose", [](const auto& x, const auto& d) { return rig::transpose(x, d); });
  check("mask", [](const auto& x, const auto& d) {
    return rig::ewise_mult(x, x, binary::times, rig::complement(rig::values(x)), d);
  });
  check("product that does not fill its mask", [](const auto& x, const auto& d) {
    rig::descriptor by_rows = d;
    if (x.where() == gpu) by_rows.kernel = "gustavson";
    const auto mask = rig::ewise_add(x, rig::transpose(x, d), binary::plus, d);
    return rig::mxm(x, x, rig::plus_times<float>(), rig::structure(mask), by_rows);
  });
  check("extract", [](const auto& x, const auto& d) {
    return rig::extract(x, rig::range{9, 3000}, rig::all, d);
  });
  const late_values late(a, writer);
  const auto t = rig::to_tuples(late.view());
  CHECK(distance(t.values.to(rig::cpu()), rig::to_tuples(a).values) == 0);
}

TEST_CASE("results outlive the stream of their call") {
  const auto a = weighted();
  const auto on_gpu = a.to(gpu);
  rig::matrix<float> c;
  {
    const own_stream gone;
    gone.hold_back();
    c = rig::transpose(rig::ewise_add(on_gpu, on_gpu, binary::plus, {.stream = gone}),
                       {.stream = gone});
  }
  CHECK(are_equal(c.to(rig::cpu()), rig::transpose(rig::ewise_add(a, a, binary::plus))));
}

struct hidden {  // without its text the GPU has no kernel of it
  using left = float;
  using right = float;
  using accum = float;
  static constexpr float zero() { return 0; }
  static constexpr float add(float x, float y) { return x + y; }
  static constexpr float multiply(float x, float y) { return x * y; }
};

TEST_CASE("an error under way leaves no memory to two calls") {
  const auto a = rig::extract(weighted(), rig::range{0, 64}, rig::range{0, 64});
  const auto on_gpu = a.to(gpu);
  const auto expected = rig::kronecker(a, a, binary::times);
  const own_stream first, second;
  rig::kronecker(on_gpu, on_gpu, binary::times, {.stream = second});
  first.hold_back();
  check_error(rig::errc::cannot, {"kronecker", "RIG_SEMIRING"},
              [&] { rig::kronecker(on_gpu, on_gpu, hidden(), {.stream = first}); });
  const auto c = rig::kronecker(on_gpu, on_gpu, binary::times, {.stream = second});
  CHECK(are_equal(c.to(rig::cpu()), expected));
}

TEST_CASE("dense operations are captured, sparse results refuse") {
  const auto x = waves(300, 40);
  const auto x_there = x.to(gpu);
  auto expected = rig::apply(x, rig::unary::identity), c = expected.to(gpu);
  const own_stream stream;
  const auto step = [](rig::dense<float>& to, const rig::dense<float>& of, rig::descriptor desc) {
    rig::apply(to, rig::accumulator::plus, of, binary::times, 0.5f,
               rig::complement(rig::values(of)), desc);
    rig::ewise_add(to, rig::none, to, of, binary::maximum, desc);
  };
  step(c, x_there, {.stream = stream});  // loads the kernels
  step(expected, x, {});
  const auto a = weighted().to(gpu);
  rig::synchronise(gpu);
  const captured_work graph(stream, [&] {
    step(c, x_there, {.stream = stream});
    check_error(rig::errc::cannot, {"ewise_add", "captured"},
                [&] { rig::ewise_add(a, a, binary::plus, {.stream = stream}); });
  });
  for (int run = 0; run < 2; ++run) {
    graph.launch(stream);
    step(expected, x, {});
  }
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(distance(c.to(rig::cpu()), expected) == 0);
}

}  // namespace
