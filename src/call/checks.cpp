#include "call/checks.hpp"

namespace rig {

void check_threads(const char* name, const descriptor& desc) {
  if (desc.threads < 0)
    fail(errc::range,
         {name, ": threads is ", desc.threads, "; set a number, or 0 for the default"});
}

void check_place(const any_call& of, const char* first, place here, const char* what, place where) {
  if (where != here)
    fail(errc::place, {of.name, ": ", first, " is on ", to_string(here), ", ", what, " is on ",
                       to_string(where), "; copy one with .to()"});
}

void check_accumulator(const any_call& of, const semiring_info& s) {
  check_enum(of.name, "accumulator", of.accum, accumulator::logical_and);
  if (of.accum == accumulator::none) return;
  if (of.accum == accumulator::own && !s.is_indexed && s.has_finish)
    fail(errc::cannot, {of.name, ": ", s.name,
                        " finishes its sums, so its own add cannot accumulate them; pass an "
                        "operator such as accumulator::plus"});
  if (of.accum != accumulator::own && (s.is_indexed || s.result == type::other))
    fail(errc::cannot,
         {of.name, ": ", s.name,
          " yields a structure, which only its own add can accumulate; pass accumulator::own"});
}

void refuse_result(const any_call& of, const std::string& operands, const std::string& result,
                   const char* what, const std::string& given) {
  fail(errc::shape,
       {of.name, ": ", operands, "the result is ", result, ", but ", what, " is ", given});
}

}  // namespace rig
