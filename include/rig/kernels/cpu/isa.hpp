#pragma once

namespace rig::on_cpu {

/// Instruction sets the CPU kernels are compiled for, in ascending order.
enum class isa : int { baseline, avx2, avx512 };

/// The best this machine has, or the one RIG_ISA names if the machine has it. Read once. Throws
/// error(range) where RIG_ISA names none.
isa instruction_set();

/// "baseline", "avx2", "avx512".
const char* to_string(isa which);

/// Is this translation unit optimised? If not, no semiring is inlined, and a function for AVX calls
/// its functions for SSE with the upper halves of the registers in use, for which some machines
/// wait.
#ifdef __OPTIMIZE__
constexpr bool is_optimised = true;
#else
constexpr bool is_optimised = false;
#endif

}  // namespace rig::on_cpu

// Attributes of the functions compiled for one instruction set. They name features, not
// architectures, because only then may the compiler inline a semiring's functions into them.
#if defined(__x86_64__) && defined(__GNUC__)
#define RIG_TARGET_AVX2 [[gnu::target("avx2,fma,f16c,bmi,bmi2")]]
#if defined(__clang__)  // ignores the whole attribute where one word is unknown to it
#define RIG_TARGET_AVX512 \
  [[gnu::target("avx512f,avx512vl,avx512bw,avx512dq,avx2,fma,f16c,bmi,bmi2")]]
#else
#define RIG_TARGET_AVX512 \
  [[gnu::target(          \
      "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma,f16c,bmi,bmi2,prefer-vector-width=512")]]
#endif
/// At the end of a function for AVX: with the upper halves of its registers in use, the caller's
/// SSE instructions wait. g++ sees to it by itself only from -O2 on.
#define RIG_LEAVE_AVX() __builtin_ia32_vzeroupper()
#else
#define RIG_TARGET_AVX2
#define RIG_TARGET_AVX512
#define RIG_LEAVE_AVX() static_cast<void>(0)
#endif
