// The builtin operators on blocks of elements.

#include <algorithm>
#include <cstring>

#include "cpu/with_constant.hpp"
#include "rig/kernels/cpu/element.hpp"

namespace rig {
namespace {

using namespace on_cpu;

constexpr int most = element_block::most;

/// An operand of a block where it lies, or gathered into `room`; absent elements are A().
template <class A>
const A* operand_of(const element_source& of, element_positions at, int count, A* room) {
  if (const A* const there = in_place<A>(of, at)) return there;
  if (!at.are_adjacent()) std::fill_n(room, count, A());
  gather(of, at, count, room);
  return room;
}

/// Calls work(x, y) with both operands of a block.
template <class A, class Work>
void with_operands(const element_block& b, Work work) {
  A x[most], y[most];
  work(operand_of(*b.x_of, b.x, b.count, x), operand_of(*b.y_of, b.y, b.count, y));
}

/// Calls work(z) with room for the results of a block: where they go, unless `kept` is there.
template <class A, class Work>
void with_results(const element_block& b, const A* kept, Work work) {
  A room[most];
  A* const z = b.out_type == type_of<A> && b.out != kept ? static_cast<A*>(b.out) : room;
  work(z);
  if (z == room) store(b, z);
}

/// z[k] = x[k] where y is absent, y[k] where x is absent.
template <class A, class O>
void fill_single(const element_block& b, const A* x, const A* y, O* z) {
  if (b.x.are_adjacent() && b.y.are_adjacent()) return;
  for (int k = 0; k < b.count; ++k) {
    if (b.x[k] < 0) z[k] = convert<O>(y[k]);
    if (b.y[k] < 0) z[k] = convert<O>(x[k]);
  }
}

template <class A>
void run_binary(const element_block& b) {
  with_operands<A>(b, [&](const A* x, const A* y) {
    // Operands with absent elements are read after the results are written.
    const bool is_whole = b.x.are_adjacent() && b.y.are_adjacent();
    with_results<A>(b, is_whole ? nullptr : static_cast<const A*>(b.out), [&](A* z) {
      using enum accumulator;
      with_constant<first, second, plus, minus, times, divide, minimum, maximum, logical_or,
                    logical_and>(as_accumulator(static_cast<binary>(b.code)), [&](auto op) {
#pragma omp simd
        for (int k = 0; k < b.count; ++k) z[k] = accumulate(op(), x[k], y[k]);
      });
      fill_single(b, x, y, z);
    });
  });
}

template <class A>
void run_comparison(const element_block& b) {
  with_operands<A>(b, [&](const A* x, const A* y) {
    bool z[most];
    with_constant<binary::equal, binary::not_equal, binary::less, binary::less_equal,
                  binary::greater, binary::greater_equal>(static_cast<binary>(b.code),
                                                          [&](auto op) {
                                                            for (int k = 0; k < b.count; ++k)
                                                              z[k] = compare(op(), x[k], y[k]);
                                                          });
    fill_single(b, x, y, z);
    store(b, z);
  });
}

template <class A>
void run_unary(const element_block& b) {
  A room[most];
  const A* const x = operand_of(*b.x_of, b.x, b.count, room);
  using enum unary;
  with_constant<identity, negate, absolute, reciprocal, square, square_root, exponential, logarithm,
                sigmoid, hyperbolic_tangent, relu, sign, floor, ceiling, round, logical_not, one>(
      static_cast<unary>(b.code), [&](auto op) {
        with_results<A>(b, nullptr, [&](A* z) {
#pragma omp simd
          for (int k = 0; k < b.count; ++k) z[k] = apply_unary(op(), x[k]);
        });
      });
}

/// A selection by value; `map` finds what those by place keep.
template <class A>
void run_selection(const element_block& b) {
  bool z[most];
  A room[most], y;
  std::memcpy(&y, b.scalar, sizeof(y));
  const A* const x = operand_of(*b.x_of, b.x, b.count, room);
  const auto how = comparison_of(static_cast<selection>(b.code));
  for (int k = 0; k < b.count; ++k) z[k] = compare(how, x[k], y);
  store(b, z);
}

void run_copy(const element_block& b) {
  auto* out = static_cast<unsigned char*>(b.out);
  for (int k = 0; k < b.count; ++k, out += b.out_bytes) {
    const bool from_y = b.y[k] >= 0;
    const element_source& of = from_y ? *b.y_of : *b.x_of;
    const int64 at = value_at(of, from_y ? b.y[k] : b.x[k]);
    copy_element(out,
                 of.values == nullptr ? of.iso
                                      : static_cast<const unsigned char*>(of.values) +
                                            static_cast<std::size_t>(at) * of.bytes,
                 b.out_bytes);
  }
}

template <class A>
constexpr operator_info binary_info = {"binary",      type_of<A>,          sizeof(A), false,
                                       run_binary<A>, operator_kind::join, type_of<A>};
template <class A>
constexpr operator_info comparison_info = {"comparison",      type::boolean,       1,         false,
                                           run_comparison<A>, operator_kind::join, type_of<A>};
template <class A>
constexpr operator_info unary_info = {"unary",      type_of<A>,         sizeof(A), false,
                                      run_unary<A>, operator_kind::map, type_of<A>};
template <class A>
constexpr operator_info selection_info = {"selection",      type::boolean,         1,         true,
                                          run_selection<A>, operator_kind::select, type_of<A>};
constexpr operator_info copy_info = {"copy", type::other, 0, false, run_copy, operator_kind::copy};

}  // namespace

const operator_info& builtin_binary(type algebra) {
  return with_algebra(algebra, []<class A>(A) -> const operator_info& { return binary_info<A>; });
}
const operator_info& builtin_comparison(type algebra) {
  return with_algebra(algebra,
                      []<class A>(A) -> const operator_info& { return comparison_info<A>; });
}
const operator_info& builtin_unary(type algebra) {
  return with_algebra(algebra, []<class A>(A) -> const operator_info& { return unary_info<A>; });
}
const operator_info& builtin_selection(type algebra) {
  return with_algebra(algebra,
                      []<class A>(A) -> const operator_info& { return selection_info<A>; });
}
const operator_info& copying() { return copy_info; }

}  // namespace rig
