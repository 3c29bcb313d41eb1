#pragma once

namespace rig::on_cpu {

/// Instruction sets the CPU kernels are compiled for, in ascending order.
enum class isa : int { baseline, avx2, avx512 };

/// The machine's best instruction set, or the one that RIG_ISA names if the machine has it. Read
/// once. Throws error(range) if RIG_ISA names none.
isa instruction_set();

/// "baseline", "avx2", "avx512".
const char* to_string(isa which);

/// Whether this translation unit is optimised. Otherwise no semiring is inlined, and AVX functions
/// call SSE functions while the upper register halves are in use, which stalls some machines.
#ifdef __OPTIMIZE__
constexpr bool is_optimised = true;
#else
constexpr bool is_optimised = false;
#endif

/// Whether the compiler makes functions for instruction sets above the baseline.
#if defined(__x86_64__) && defined(__GNUC__)
constexpr bool has_longer_registers = true;
#else
constexpr bool has_longer_registers = false;
#endif

}  // namespace rig::on_cpu

// Attributes of functions compiled for one instruction set. They name features, not architectures,
// because only then may the compiler inline a semiring's functions.
#if defined(__x86_64__) && defined(__GNUC__)
#define RIG_TARGET_AVX2 [[gnu::target("avx2,fma,f16c,bmi,bmi2")]]
#if defined(__clang__)  // ignores the whole attribute if one word is unknown
#define RIG_TARGET_AVX512 \
  [[gnu::target("avx512f,avx512vl,avx512bw,avx512dq,avx2,fma,f16c,bmi,bmi2")]]
#else
#define RIG_TARGET_AVX512 \
  [[gnu::target(          \
      "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma,f16c,bmi,bmi2,prefer-vector-width=512")]]
#endif
/// For the end of an AVX function: if the upper register halves stay in use, the caller's SSE
/// instructions stall. g++ adds the instruction itself only from -O2.
#define RIG_LEAVE_AVX() __builtin_ia32_vzeroupper()
#else
#define RIG_TARGET_AVX2
#define RIG_TARGET_AVX512
#define RIG_LEAVE_AVX() static_cast<void>(0)
#endif
