// Hop 1 of `closure`: checks the problem, chooses a kernel and runs it.

#include "call/checks.hpp"
#include "call/choice.hpp"
#include "call/trace.hpp"
#include "rig/kernels/closing.hpp"
#include "storage/backend.hpp"

namespace rig {
namespace {

void check_descriptor(const problem& p) {
  check_threads(p.name, *p.desc);
  const auto leave_unset = [&](bool is_set, const char* field) {
    if (is_set)
      fail(errc::cannot,
           {p.name, ": ", field, " of the descriptor has no meaning here; leave it unset"});
  };
  leave_unset(p.desc->transpose_a, "transpose_a");
  leave_unset(p.desc->replace, "replace");
  leave_unset(p.desc->fill.has_value(), "fill");
  if (!(p.closure->width >= 0))
    fail(errc::range, {p.name, ": width is ", p.closure->width, "; set a number of at least 0"});
}

/// Checks the problem, and orients A.
void check_closing(problem& p) {
  check_descriptor(p);
  if (p.a.rows != p.a.columns)
    fail(errc::shape, {p.name, ": A is ", shape_text(p.a.rows, p.a.columns),
                       ", not square; give a graph's matrix"});
  if (p.c.rows != p.a.rows)
    fail(errc::shape, {p.name, ": x is ", shape_text(p.c.rows, p.c.columns), ", A is ",
                       shape_text(p.a.rows, p.a.columns), "; give x a row per node"});
  check_place(p, "x", p.c.where, "A", p.a.where);
  p.preferred = preferred_kernel(p);
  p.named = named_kernel(p);
  backend_of(p.a.where).check_settings();
  p.oriented = p.structure;
  if (!p.desc->transpose_b) return;
  p.keepalive = turn(p.a, *p.structure);
  p.oriented = p.keepalive.get();
}

}  // namespace

void run_closing(problem& p) {
  check_closing(p);
  const kernel& chosen = *choose(p).chosen;
  if (p.c.rows == 0 || p.c.columns == 0) return;
  workspace work;  // before `order`, because it must outlive it
  timed_call line;
  const stream_order order(p);
  if (order.is_captured())
    fail(errc::cannot,
         {p.name, ": the call waits for the device; call it outside the capture of a CUDA graph"});
  line.begin(p.a.where, false, [&] { return traced_words(p, chosen); });
  chosen.run(p, work);
  if (p.closure->diverges)
    fail(errc::range, {p.name, ": ", p.algebra->name,
                       " does not settle: values still change after more rounds than the ",
                       p.a.rows, " nodes; a cycle improves them without end; change its weights"});
}

explanation explain_closing(problem& p) {
  p.reasons = true;
  check_closing(p);
  return explanation_of(
      p,
      std::string("closure ") + p.algebra->name + ": x " + shape_text(p.c.rows, p.c.columns) +
          ", A " + shape_text(p.a.rows, p.a.columns) + " with " + std::to_string(p.a.nnz) +
          " entries, on " + to_string(p.a.where),
      operands::closed, [](const kernel&, const problem& of) {
        const std::size_t of_arc =
            sizeof(index) + of.c.value_bytes + (of.algebra->ignores_right ? 0 : of.a.value_bytes);
        return static_cast<double>(of.a.nnz) * static_cast<double>(of_arc) * of.c.columns;
      });
}

}  // namespace rig
