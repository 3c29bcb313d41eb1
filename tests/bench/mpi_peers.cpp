// The program bench_mpi: products and searches over the ranks of MPI beside PETSc and CombBLAS.
//   OMP_NUM_THREADS=1 mpirun -n 4 build/bench_mpi --graphs rmat:17:16 --features 32
//   mpirun -n 2 build/bench_mpi --devices --graphs reddit-like --features 256
// It measures 1, 2, 4 … ranks, up to those that it has, in double, which PETSc's matrices have; on
// devices all of them, in float. The answers of all are compared before they are timed.

#include <mpi.h>
#include <omp.h>

#include <boost/program_options.hpp>
#include <chrono>
#include <cmath>
#include <sstream>
#include <thread>

#include "bench.hpp"
#include "mpi.hpp"

namespace bench {
namespace {

way fetch(const problem& of) {
  return way_of(
      "fetch", [&of] { return rig::mxm(of.a, of.x_part, sums()); },
      [](const dense_part& c) { return c.gather(); });
}
way split_features(const problem& of) {
  const auto split = std::make_shared<dense_part>(of.x_part.by_features());
  return way_of(
      "features", [&of, split] { return rig::mxm(of.a, *split, sums()); },
      [](const dense_part& c) { return c.gather(); });
}
way all_gather(const problem& of) {
  return way_of(
      "all_gather", [&of] { return rig::mxm(of.a.local(), of.x_part.gather(), sums()); },
      [&of](const dense& c) { return of.gather(c); });
}
/// The first rank alone, with a thread for each rank. The others have no part in its answer.
way one_rank(const problem& of) {
  const auto work = [&of] {
    if (of.ranks.rank() == 0) rig::mxm(of.whole, of.x, sums(), {.threads = of.ranks.size()});
  };
  return {"one_rank", work, nullptr};
}
way search(const problem& of, index source) {
  return way_of(
      "closure", [&of, source] { return rig::bfs(of.a, source); },
      [](const rig::distributed<rig::bfs_result>& found) {
        const rig::dense<rig::int32> levels = found.levels.gather();
        dense all(levels.rows(), 1);
        for (index i = 0; i < all.rows(); ++i) all(i, 0) = levels(i, 0);
        return all;
      });
}

/// Waits without using the processor, which other ranks need.
void wait_idle(MPI_Request started) {
  for (int is_done = 0; MPI_Test(&started, &is_done, MPI_STATUS_IGNORE), is_done == 0;)
    std::this_thread::sleep_for(std::chrono::microseconds(200));
}

struct times {
  std::map<std::string, double> median, least;
};
/// Milliseconds of each way, of the slowest rank. The ways take turns; one round does not count.
times race(const problem& of, std::span<const way> field, int repeat) {
  std::map<std::string, std::vector<double>> all;
  for (int round = 0; round <= repeat; ++round)
    for (const way& one : field) {
      MPI_Barrier(of.comm);
      const double here = wall_clock(one.run);
      double slowest = 0;
      MPI_Request joined = MPI_REQUEST_NULL;
      MPI_Iallreduce(&here, &slowest, 1, MPI_DOUBLE, MPI_MAX, of.comm, &joined);
      wait_idle(joined);
      if (round > 0) all[one.name].push_back(slowest);
    }
  times out;
  for (auto& [name, ms] : all) {
    std::sort(ms.begin(), ms.end());
    out.median[name] = ms[ms.size() / 2];
    out.least[name] = ms.front();
  }
  return out;
}

/// The greatest difference of two answers, over the greatest number of the first.
double difference(const dense& x, const dense& y) {
  double off = x.rows() == y.rows() && x.columns() == y.columns() ? 0 : 1, size = 0;
  for (index i = 0; i < x.rows() && off < 1; ++i)
    for (index j = 0; j < x.columns(); ++j) {
      if (!(std::abs(x(i, j) - y(i, j)) <= off)) off = std::abs(x(i, j) - y(i, j));  // or NaN
      size = std::max(size, std::abs(x(i, j)));
    }
  return off / std::max(size, 1e-300);
}
/// Throws if an answer is not that of the first way: sums may differ in their last digits.
void compare(const problem& of, std::span<const way> field) {
  dense first;
  for (const way& one : field) {
    if (one.answer == nullptr) continue;
    one.run();
    const dense answer = one.answer();
    if (&one == &field.front()) first = answer;
    if (const double off = difference(first, answer); !(off <= 1e-12))
      rig::fail(rig::errc::cannot, {of.name, ": the answer of ", one.name, " differs from that of ",
                                    field.front().name, " by ", digits(off, 15)});
  }
}

/// What a run measures by; `out` is null but on the first rank.
struct session {
  std::vector<library> beside;
  int repeat;
  record* out;
};

/// Compares, times, and on the first rank records.
void measure(const problem& of, const char* operation, const std::vector<way>& field,
             const session& by) {
  compare(of, field);
  const times ms = race(of, field, by.repeat);
  if (by.out == nullptr) return;
  row line;
  line.operation = operation;
  line.graph = of.name;
  line.n = of.a.rows();
  line.nnz = of.a.nnz();
  line.features = of.x.columns();
  line.type = "double";
  line.kernel = field.front().name;
  line.ranks = of.ranks.size();
  line.peer_ms = ms.median;
  line.least_ms = ms.least;
  line.ms = ms.median.at(field.front().name);
  line.peer_ms.erase(field.front().name);
  double best = 0;
  for (const library& one : by.beside)
    if (const auto at = ms.least.find(one.name); at != ms.least.end())
      best = best > 0 ? std::min(best, at->second) : at->second;
  if (best > 0) line.ratio = best / ms.least.at(field.front().name);
  by.out->add(line);
}

problem problem_of(const std::string& name, MPI_Comm comm, index columns) {
  const rig::communicator ranks = rig::mpi_communicator(comm);
  const rig::matrix<float> values = rig::generate::random_values(graph_of(name));
  if (values.rows() != values.columns())
    rig::fail(rig::errc::shape, {name, " is ", values.rows(), "x", values.columns(),
                                 "; name a graph, which is square"});
  auto whole =
      values.with_values(std::vector<double>(values.values(), values.values() + values.nnz()));
  dense x(whole.rows(), columns);
  for (index i = 0; i < x.rows(); ++i)
    for (index j = 0; j < columns; ++j) x(i, j) = ((i * 31 + j * 17) % 23 + 1) / 32.0;
  const auto rows = rig::layout::by_entries(whole.structure(), ranks.size());
  auto a = matrix_part::from_whole(ranks, whole, rows);
  auto x_part = dense_part::from_whole(ranks, x, rows);
  return {name, comm, ranks, std::move(whole), std::move(a), std::move(x), std::move(x_part)};
}

/// Whether a library has this way, for these ranks.
template <class Way>
bool has(const library& one, Way way, const problem& of) {
  const int ranks = of.ranks.size(), side = static_cast<int>(std::lround(std::sqrt(ranks)));
  return way != nullptr && (!one.is_square_only || side * side == ranks);
}
void products(const problem& of, const session& by) {
  std::vector<way> field{fetch(of), split_features(of), all_gather(of)};
  if (of.ranks.size() > 1) field.push_back(one_rank(of));
  for (const library& one : by.beside)
    if (has(one, one.mxm, of)) field.push_back(one.mxm(of));
  measure(of, "mxm over MPI", field, by);
}
void columns(const problem& of, const session& by) {
  std::vector<way> field{fetch(of), all_gather(of)};
  if (of.ranks.size() > 1) field.push_back(one_rank(of));
  for (const library& one : by.beside)
    if (has(one, one.mxv, of)) field.push_back(one.mxv(of));
  measure(of, "mxv over MPI", field, by);
}
/// From the node with the most entries.
void searches(const problem& of, const session& by) {
  int64 best[2] = {-1, 0};
  const rig::pattern& here = of.a.local().structure();
  for (index i = 0; i < here.rows(); ++i)
    if (const int64 length = here.offset(i + 1) - here.offset(i); length > best[0])
      best[0] = length, best[1] = of.a.layout().row_at(of.ranks.rank(), i);
  const int64 longest = of.ranks.all_reduce(best[0], rig::joining::greatest);
  const auto source = static_cast<index>(
      of.ranks.all_reduce(best[0] == longest ? best[1] : of.a.rows(), rig::joining::least));
  std::vector<way> field{search(of, source)};
  for (const library& one : by.beside)
    if (has(one, one.search, of)) field.push_back(one.search(of, source));
  measure(of, "bfs over MPI", field, by);
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  std::istringstream stream(list);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

/// One graph on the first `count` ranks; the others wait.
void measure_graph(const std::string& name, int count, const options& given, const session& by) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank < count ? 0 : MPI_UNDEFINED, rank, &comm);
  if (comm != MPI_COMM_NULL) {
    for (const int features : given.features) products(problem_of(name, comm, features), by);
    const problem of_one = problem_of(name, comm, 1);
    columns(of_one, by);
    searches(of_one, by);
    MPI_Comm_free(&comm);
  }
  MPI_Request all = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &all);
  wait_idle(all);
}

void run_on_devices(const std::vector<std::string>& graphs, const options& given, record* out) {
#ifdef RIG_HAS_NCCL
  device_suite(graphs, given, out);
  if (out != nullptr) out->save();
#else
  static_cast<void>(graphs), static_cast<void>(given), static_cast<void>(out);
  rig::fail(rig::errc::cannot, {"--devices: this build found no CUDA or no NCCL (RIG_NCCL)"});
#endif
}

void run(int count, char** words) {
  namespace po = boost::program_options;
  options given;
  std::string graphs, features;
  bool on_devices = false;
  po::options_description known("bench_mpi, under mpirun");
  auto add = known.add_options();
  add("graphs", po::value(&graphs)->default_value("rmat:17:16,uniform:131072:16,web-cnr2000"));
  add("features", po::value(&features)->default_value("64"));
  add("devices", po::bool_switch(&on_devices), "a CUDA device for each rank, rows by NCCL");
  add("repeat", po::value(&given.repeat)->default_value(5));
  add("record", po::value(&given.record), "the file of the record");
  po::variables_map seen;
  po::store(po::parse_command_line(count, words, known), seen);
  po::notify(seen);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (given.repeat < 1)
    rig::fail(rig::errc::range, {"--repeat is ", given.repeat, "; give a number of at least 1"});
  given.threads = 1;
  omp_set_num_threads(1);
  given.command = "mpirun -n " + std::to_string(size) + " build/bench_mpi";
  for (int k = 1; k < count; ++k) given.command += std::string(" ") + words[k];
  for (const std::string& one : split(features)) given.features.push_back(std::stoi(one));
  std::optional<record> out;
  if (rank == 0) out.emplace(on_devices ? "devices" : "mpi", given);
  if (on_devices) return run_on_devices(split(graphs), given, out ? &*out : nullptr);
  const session by{{petsc(), combblas()}, given.repeat, out ? &*out : nullptr};
  if (rank == 0) std::printf("one thread on each rank; medians, ratios of least times\n");
  for (const library& one : by.beside) {
    if (rank != 0) continue;
    out->peer(one.name, one.version);
    std::printf("%s: %s\n", one.name, one.version.c_str());
  }
  for (const std::string& name : split(graphs))
    for (int ranks = 1; ranks <= size; ranks *= 2) measure_graph(name, ranks, given, by);
  if (out) out->save();
}

}  // namespace
}  // namespace bench

int main(int count, char** words) {
  MPI_Init(&count, &words);
  try {
    bench::run(count, words);
  } catch (const std::exception& wrong) {
    std::fprintf(stderr, "bench_mpi: %s\n", wrong.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
