#pragma once

// Ideas that are in the text of `row`'s kernel, each as the edit that takes it out: the benchmark's
// ablation asks what it is worth, and a test, that the edit still meets the text and compiles.

#include "cuda/runtime/compile.hpp"

constexpr rig::on_cuda::text_edit kernel_ideas[] = {
    {"without L2 fetching 256 bytes of A", "cuda/device/load.cuh", "ld.global.nc.L2::256B.u32",
     "ld.global.nc.u32"},
    {"without addresses settled", "cuda/device/gather.cuh",
     "if constexpr (Streamed) asm volatile(\"\" : \"+l\"(at));", ""},
    {"without bounds on registers", "cuda/row/row.cuh",
     "Plain && (V > 1 || holds_singles<TB, U, Read>())", "false"},
    {"without loads held together", "cuda/device/gather.cuh", "hold(from[u][c]);", ";"},
    {"without 32 by 32 bits to find rows of B", "cuda/device/load.cuh",
     "static_cast<unsigned long>(static_cast<unsigned>(k))", "static_cast<long>(k)"},
    {"without streaming stores of C", "cuda/device/load.cuh",
     "__stcs(reinterpret_cast<uint4*>(to) + w, words)", "reinterpret_cast<uint4*>(to)[w] = words"},
    {"with the other end of a row", "cuda/device/gather.cuh", "again = CF > 1", "again = CF == 1"},
    {"without teams that meet by halves", "cuda/row/row.cuh",
     "is_indexed<typename S::accum> ? (G / L < V ? G / L : V) : 1", "1"},
    {"without floats taken by multiply-adds", "cuda/device/gather.cuh", "is_same<T, float>",
     "is_same<T, void>"},
    {"without summing from the last entry", "cuda/device/gather.cuh",
     "backward = has_replaces<S> && !Range::is_sample", "backward = false"},
};
