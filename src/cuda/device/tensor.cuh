#pragma once

// Tensor cores: numbers of TF32 and the product of a tile by a warp.

namespace rig::on_cuda {

/// The nearest number with eleven significant bits, which is what Tensor cores read.
__device__ __forceinline__ float rounded_to_tf32(float x) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return __uint_as_float(bits);
}

/// c += a · b by a warp: 16×8 += 16×8 · 8×8. With g = lane / 4, t = lane % 4 the lane holds
/// a(g, t), a(g + 8, t), a(g, t + 4), a(g + 8, t + 4); b(t, g), b(t + 4, g);
/// c(g, 2t), c(g, 2t + 1), c(g + 8, 2t), c(g + 8, 2t + 1).
__device__ __forceinline__ void multiply_tile(float (&c)[4], const float (&a)[4],
                                              const float (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])),
        "r"(__float_as_uint(a[3])), "r"(__float_as_uint(b[0])), "r"(__float_as_uint(b[1])));
}

}  // namespace rig::on_cuda
