# Turns the examples of the headers' comments, their blocks @code … @endcode, into one program:
#
#   awk -f examples.awk include/rig/*.hpp
#
# Each example is a function of its own, and may use the names that are declared below. One that begins
# with RIG_SEMIRING, RIG_OPERATOR or static_assert stands in a namespace. One that names rig::cuda runs only if there is
# a CUDA device. #line makes errors name the header. A comment of more than 12 lines without its example
# is an error too, except that of a file.

function wrong(text) {
  print FILENAME ":" FNR ": " text > "/dev/stderr"
  failed = 1
  exit 1
}

BEGIN {
  print "#include <cmath>\n#include <cstdio>\n#include <exception>\n#include <functional>\n#include <iostream>\n#include <thread>\n#include <vector>"
  print "#include \"rig/check_semiring.hpp\"\n#include \"rig/distributed.hpp\"\n#include \"rig/generate.hpp\"\n#include \"rig/rig.hpp\""
  print "namespace {"
  print "const auto A = rig::matrix<float>::from_tuples(3, 3, std::vector<int>{0, 1, 1}, std::vector<int>{1, 0, 2},"
  print "                                               std::vector<float>{2, 3, 4});"
  print "const auto B = rig::dense<float>::from(3, 4, std::vector<float>{1, -4, 2, 5, 3, 0, 7, 8, 6, -1, 9, 4});"
  print "const auto M = rig::matrix<float>::from_positions(3, 4, std::vector<int>{0, 1}, std::vector<int>{3, 2});"
  print "const auto X = B, dC = B;"
  print "const auto Y = rig::maxk(X, 2);"
  print "const rig::dense<float> W(4, 4, 1.0f);"
  print "auto C = B, Z = B;"
  print "const auto ranks = rig::loopback(1)[0];"
  print "const auto rows = rig::layout::by_entries(A.structure(), 1);"
  print "const auto parts_of_A = rig::distributed<rig::matrix<float>>::from_whole(ranks, A, rows);"
  print "const auto parts_of_X = rig::distributed<rig::dense<float>>::from_whole(ranks, X, rows);"
  print "[[maybe_unused]] void* my_allocate(std::size_t, int, void*, void*) { return nullptr; }"
  print "[[maybe_unused]] void my_release(void*, std::size_t, int, void*, void*) {}"
  print "void write_files() {"
  print "  rig::write_matrix(\"graph.mtx\", A);"
  print "  rig::write_dense(\"features.npy\", B);"
  print "  rig::write_quantized(\"features.npz\", rig::quantized::from(B));"
  print "  std::FILE* const edges = std::fopen(\"graph.txt\", \"w\");"
  print "  std::fputs(\"0 1\\n1 2\\n\", edges);"
  print "  std::fclose(edges);"
  print "}"
}

!/^ *\/\/\// { lines = of_file = 0 }
/^ *\/\/\/ @file/ { of_file = 1 }
/^ *\/\/\/( [^@]|$)/ && !inside && ++lines > 12 && !of_file { wrong("the comment has more than 12 lines") }

/^ *\/\/\/ @code *$/ {
  if (inside) wrong("the example above does not end")
  inside = 1
  body = "#line " (FNR + 1) " \"" FILENAME "\"\n"
  first = ""
  next
}
/^ *\/\/\/ @endcode *$/ {
  if (!inside || first == "") wrong("an example without a begin or without lines")
  inside = 0
  ++count
  name = "example_" count
  if (first ~ /^(RIG_SEMIRING|RIG_OPERATOR|static_assert)/) {
    print "namespace " name " {\n" body "}"
    next
  }
  print "void " name "() {\n" body "}"
  calls = calls (body ~ /rig::cuda\(/ ? "  if (has_cuda) " : "  ") name "();\n"
  next
}
inside {
  if (!sub(/^ *\/\/\/ ?/, "")) wrong("the example above does not end")
  if (first == "") first = $0
  body = body $0 "\n"
}

END {
  if (failed) exit 1
  if (inside) wrong("the last example does not end")
  if (!count) wrong("there is no example")
  print "}  // namespace\n#line 1 \"the main of the examples\""
  print "int main() try {\n  write_files();"
  print "  [[maybe_unused]] const bool has_cuda = rig::devices().size() > 1;"
  printf "%s", calls
  print "  std::puts(\"" count " examples ran\");"
  print "} catch (const std::exception& e) {\n  std::fprintf(stderr, \"%s\\n\", e.what());\n  return 1;\n}"
}
