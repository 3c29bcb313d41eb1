#pragma once

#include <span>
#include <string>

#include "bench.hpp"
#include "rig/matrix.hpp"

/// The C++ programs of the GAP benchmark suite as peers. Each run is a process of its own.
namespace bench::gap {

/// Throws usage_error where `folder` lacks one of the programs that `peer` runs.
void require_programs(const std::string& folder);

/// Names the programs in the record, with their number of threads, if they are given.
void introduce(const options& given, record& out);

/// Widths of a bucket that are tried; the fastest counts.
constexpr int widths[] = {4, 16, 64, 256, 1024};
std::string width_name(int width);

/// The programs on one undirected graph, on the CPU. Milliseconds are those that a program prints,
/// which leave out reading the graph: the median of some trials after one that does not count. A
/// call throws where the program fails, or where it prints another number than rig found.
class peer {
 public:
  /// Writes the graph, which equals its transpose and has no loops, into a temporary folder.
  peer(const options& given, const rig::pattern& graph, int trials);

  /// GAP's search finds parents. `reached`: the nodes that ours reached.
  double bfs(rig::index source, rig::int64 reached) const;
  /// What `sssp` reads.
  void write_weights(const rig::matrix<rig::int64>& weights) const;
  double sssp(rig::index source, int width, rig::int64 reached) const;
  /// In float, each new rank serving the next node at once: the ranks are not those of rig.
  double pagerank(int iterations) const;
  double components(rig::int64 count) const;
  /// The sum of a run per source. GAP scales its scores, and they are not compared.
  double betweenness(std::span<const rig::index> sources) const;
  double triangles(rig::int64 count) const;

 private:
  std::string run(const char* program, const std::string& arguments) const;
  double median_ms(const char* program, const std::string& printed) const;
  double compared(const char* program, const std::string& arguments, const char* word,
                  rig::int64 expected) const;

  std::string programs_;
  int threads_, trials_;
  scratch_folder folder_;
};

}  // namespace bench::gap
