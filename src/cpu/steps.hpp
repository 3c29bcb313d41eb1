#pragma once

// The steps of operations on the CPU; `on_cpu::steps` lists them.

#include "call/steps.hpp"

namespace rig::on_cpu {

sparse_result run(const merge_step& m);
buffer run(const map_step& m);
void run_dense(const operation& o);
void fold_dense(const operation& o, const dense_operand& t);
void extract_dense(const operation& o, const dense_operand& t);
void placed_dense(const operation& o, const dense_operand& t);
rearranged extract(const operation& o);
rearranged kronecker(const operation& o);
rearranged diagonal(const operation& o);
rearranged from_diagonal(const operation& o);
buffer values(const operation& o, const rearranged& r, const operator_info& op);
wrong_index find_outside(const operation& o, const index_list& list, index limit);
assigned_region region(const operation& o);
std::shared_ptr<const pattern> fill_region(const operation& o, const assigned_region& region);
sparse_result placed(const operation& o);
sparse_result reduce_rows(const operation& o);
void reduce(const operation& o, void* out);

}  // namespace rig::on_cpu
