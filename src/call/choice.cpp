// The choice of a kernel: by the descriptor's name, by RIG_KERNEL, or the cheapest that can serve.

#include "call/choice.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "call/trace.hpp"
#include "storage/backend.hpp"

namespace rig {
namespace {

std::string names_of_kernels() {
  std::vector<std::string_view> seen;
  std::string names;
  for (const kernel& k : kernels()) {
    if (std::find(seen.begin(), seen.end(), k.name) != seen.end()) continue;
    seen.push_back(k.name);
    names += (names.empty() ? "" : ", ") + std::string(k.name);
  }
  return names;
}

/// The kernel of this name in the problem's place, or null. Throws error(unknown_kernel) if no
/// place has the name.
const kernel* find(const problem& p, std::string_view name, const char* source) {
  require_known_kernel(p.name, source, name);
  for (const kernel& k : kernels())
    if (name == k.name && k.where == p.a.where.where) return &k;
  return nullptr;
}

/// Why a kernel does not serve such operands.
const char* refusal_of(const kernel& k, operands asked) {
  switch (asked) {
    case operands::cbsr_right:
      return "B is a cbsr, which this kernel does not read";
    case operands::cbsr_mask:
      return "does not serve the structure of a cbsr as a mask";
    case operands::sparse:
      return "does not serve two sparse matrices";
    case operands::vector:
      return "does not serve a sparse vector";
    case operands::dense_pair:
      return "does not serve two dense operands";
    case operands::updated:
      return "does not multiply its product by weights";
    case operands::closed:
      return "makes one product, not a closure";
    case operands::dense:
      break;
  }
  if (k.takes == operands::closed) return "makes products until nothing changes";
  if (k.takes == operands::updated) return "needs weights to multiply the product by";
  return k.takes == operands::cbsr_mask ? "needs the structure of a cbsr as the mask"
                                        : "has a sparse result, and B is a dense";
}

/// Whether RIG_KERNEL names a kernel that can serve.
bool prefers(const problem& p) {
  return p.preferred != nullptr && !is_approximate(*p.preferred, operands_of(p)) &&
         answer_of(*p.preferred, p).says != verdict::cannot;
}

/// Throws error(cannot) for the kernel that the descriptor names, with those that can serve.
[[noreturn, gnu::cold]] void refuse_named(problem& p) {
  std::string others;
  for (const kernel& k : kernels())
    if (k.where == p.a.where.where && !is_approximate(k, operands_of(p)) &&
        answer_of(k, p).says != verdict::cannot)
      others += (others.empty() ? "" : ", ") + std::string(k.name);
  p.reasons = true;
  fail(errc::cannot,
       {p.name, ": kernel '", p.desc->kernel, "' cannot serve: ", answer_of(*p.named, p).reason,
        "; these can: ", others.empty() ? "none" : others});
}

/// Throws error(cannot) with every kernel's reason.
[[noreturn, gnu::cold]] void refuse(problem& p) {
  p.reasons = true;
  const operands asked = operands_of(p);
  std::string reasons;
  for (const kernel& k : kernels())
    if (k.where == p.a.where.where && !is_approximate(k, asked))
      reasons += std::string("; ") + k.name + ": " + answer_of(k, p).reason;
  fail(errc::cannot,
       {p.name, ": no kernel on ", to_string(p.a.where), " serves ", p.algebra->name, reasons});
}

}  // namespace

void require_known_kernel(const char* operation, const char* source, std::string_view name) {
  for (const kernel& k : kernels())
    if (name == k.name) return;
  fail(errc::unknown_kernel,
       {operation, ": ", source, " names kernel '", name,
        "', which this build does not have; the kernels are ", names_of_kernels()});
}

void prepare_derived(const pattern& structure, bool transpose, std::string_view kernel) {
  if (!kernel.empty()) require_known_kernel("prepare", "the descriptor", kernel);
  const place where = structure.where();
  const auto turned = transpose ? structure.derived_of<transposed>() : nullptr;
  const pattern& oriented = transpose ? *turned->structure : structure;
  backend_of(where).prepare_derived(oriented);
  for (const struct kernel& k : kernels())
    if (k.prepare != nullptr && k.where == where.where && k.name == kernel)
      k.prepare(structure, oriented);
  structure.set_prepared(transpose, kernel);
}

operands operands_of(const problem& p) {
  if (p.closure != nullptr) return operands::closed;
  if (p.multiply_cpu != nullptr)
    return p.right.structure == nullptr ? operands::dense_pair
           : p.is_vector                ? operands::vector
                                        : operands::sparse;
  if (p.is_updated) return operands::updated;
  if (p.mask.over == mask_operand::kind::cbsr) return operands::cbsr_mask;
  return p.b.k > 0 ? operands::cbsr_right : operands::dense;
}

const kernel* named_kernel(const problem& p) {
  if (p.desc->kernel.empty()) return nullptr;
  const kernel* named = find(p, p.desc->kernel, "the descriptor");
  if (named == nullptr)
    fail(errc::cannot, {p.name, ": kernel '", p.desc->kernel, "' does not run on ",
                        to_string(p.a.where), "; copy the operands by .to(), or name no kernel"});
  if (named->samples != sampling::whole && (p.desc->width < 1 || p.desc->width > widest_sample))
    fail(errc::range, {p.name, ": kernel '", p.desc->kernel, "': width is ", p.desc->width,
                       "; set it to the entries to keep per row, 1 … ", widest_sample});
  return named;
}

std::string& preferred_name() {
  // Never destroyed, because a product may run while the process ends.
  static auto& name = *new std::string([] {
    const char* const given = std::getenv("RIG_KERNEL");
    return given != nullptr ? given : "";
  }());
  return name;
}

const kernel* preferred_kernel(const problem& p) {
  const std::string& name = preferred_name();
  return name.empty() ? nullptr : find(p, name, "RIG_KERNEL");
}

answer answer_of(const kernel& k, const problem& p) {
  const operands asked = operands_of(p);
  if (includes(k.takes, asked)) return k.answers(p);
  return refusal(p, refusal_of(k, asked));
}

bool is_approximate(const kernel& k, operands asked) {
  return k.approximate && asked == operands::dense;
}

namespace {

choice pick(problem& p) {
  if (const kernel* named = p.named) {
    if (answer_of(*named, p).says == verdict::cannot) refuse_named(p);
    return {named, "named by the descriptor"};
  }
  if (prefers(p)) return {p.preferred, "preferred by RIG_KERNEL"};

  int able = 0;
  const kernel* const cheapest = cheapest_kernel(p, &able);
  if (cheapest == nullptr) refuse(p);
  return {cheapest, able == 1 ? "the others cannot or are slower" : "cheapest by estimate"};
}

}  // namespace

choice choose(problem& p) {
  const choice made = pick(p);
  if (is_traced(trace::choice)) [[unlikely]]
    trace_choice(p, made);
  return made;
}

const kernel* inner_kernel(const problem& p) {
  return prefers(p) ? p.preferred : cheapest_kernel(p);
}

const kernel* cheapest_kernel(const problem& p, int* able) {
  const operands asked = operands_of(p);
  const kernel* cheapest = nullptr;
  verdict best = verdict::cannot;
  double seconds = 0;
  const place::kind here = p.a.where.where;
  for (const kernel& k : kernels()) {
    if (k.where != here || !includes(k.takes, asked) || is_approximate(k, asked)) continue;
    if (k.last_resort && best == verdict::can) continue;
    const answer says = k.answers(p);
    if (able != nullptr && says.says == verdict::can) ++*able;
    if (says.says < best || (says.says == best && says.seconds < seconds)) {
      cheapest = &k;
      best = says.says;
      seconds = says.seconds;
    }
  }
  return cheapest;
}

explanation explanation_of(problem& p, std::string words, operands any_of,
                           double (*bytes)(const kernel&, const problem&)) {
  const choice made = pick(p);
  explanation out;
  out.operation = std::move(words);
  out.chosen = made.chosen->name;
  out.reason = made.reason;
  for (const kernel& k : kernels()) {
    if (!includes(k.takes, any_of)) continue;
    struct explained line {
      k.name, k.where, is_approximate(k, operands_of(p)), &k == made.chosen, {}
    };
    if (k.where == p.a.where.where)
      line.says = answer_of(k, p);
    else
      line.says = {verdict::cannot, "the operands are on " + to_string(p.a.where), 0};
    if (line.says.says != verdict::cannot) line.bytes = bytes(k, p);
    out.kernels.push_back(std::move(line));
  }
  return out;
}

}  // namespace rig
