// Products over devices: a rank of MPI on each, whose rows go by NCCL, beside the product of one
// device; and what four devices would take, from the volumes and each part's product on one.

#include <cuda_runtime_api.h>

#include <algorithm>

#include "bench.hpp"
#include "distributed/simulated.hpp"
#include "mpi.hpp"
#include "rig/distributed/mpi_nccl.hpp"

namespace bench {
namespace {

using sums_of_floats = rig::plus_times<float>;
using matrix = rig::matrix<float>;
using features = rig::dense<float>;
constexpr double nvlink_bytes_per_ms = 370e6;  ///< 370 GB/s, which is assumed, not measured

/// NCCL's communicator of the ranks of MPI, each on the device of its number.
struct by_nccl {
  ncclComm_t of = nullptr;

  explicit by_nccl(MPI_Comm comm) {
    int rank = 0, size = 0, count = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (cudaGetDeviceCount(&count) != cudaSuccess || count < size)
      rig::fail(rig::errc::place, {"bench_mpi: ", size, " ranks, and ", count,
                                   " CUDA devices; start as many ranks as devices"});
    rig::over_nccl::check(cudaSetDevice(rank), "cudaSetDevice");
    ncclUniqueId id;
    if (rank == 0) rig::over_nccl::check(ncclGetUniqueId(&id), "ncclGetUniqueId", of);
    MPI_Bcast(&id, sizeof(id), MPI_BYTE, 0, comm);
    rig::over_nccl::check(ncclCommInitRank(&of, size, id, rank), "ncclCommInitRank", of);
  }
  by_nccl(const by_nccl&) = delete;
  ~by_nccl() { ncclCommDestroy(of); }
};

struct devices {
  by_nccl data;
  rig::communicator ranks;
  rig::place here;

  explicit devices(MPI_Comm comm)
      : data(comm), ranks(rig::mpi_communicator(comm, data.of)), here(rig::cuda(ranks.rank())) {}
};

/// The median of the slowest rank's times.
double median_ms(const devices& on, int repeat, const std::function<void()>& work) {
  std::vector<double> all;
  for (int round = 0; round <= repeat; ++round) {
    on.ranks.barrier();
    const double here = wall_clock([&] {
      work();
      rig::synchronise(on.here);
    });
    const auto slowest =
        on.ranks.all_reduce(static_cast<int64>(here * 1e6), rig::joining::greatest);
    if (round > 0) all.push_back(static_cast<double>(slowest) / 1e6);
  }
  std::ranges::sort(all);
  return all[all.size() / 2];
}

/// Throws unless this rank's rows are those of the product of one device, to the bit.
void compare(const features& part, const features& whole, const rig::layout& rows, int rank) {
  std::vector<index> here, there;
  for (index k = 0; k < part.rows(); k += std::max(1, part.rows() / 1000)) {
    here.push_back(k);
    there.push_back(static_cast<index>(rows.row_at(rank, k)));
  }
  const auto mine = rig::extract(part, here, rig::all).to(rig::cpu());
  const auto right = rig::extract(whole, there, rig::all).to(rig::cpu());
  for (index i = 0; i < mine.rows(); ++i)
    if (!std::ranges::equal(mine.row(i), right.row(i)))
      rig::fail(rig::errc::cannot, {"bench_mpi: row ", there[static_cast<std::size_t>(i)],
                                    " differs from that of one device"});
}

row line_of(const std::string& name, const matrix& a, const features& x, int ranks) {
  row line;
  line.graph = name;
  line.n = a.rows();
  line.nnz = a.nnz();
  line.features = x.columns();
  line.semiring = sums_of_floats::name;
  line.type = "float";
  line.kernel = "fetch";
  line.ranks = ranks;
  return line;
}

/// The longest of the parts' products, one after another on this rank's device.
double longest_part_ms(const devices& on, const matrix& whole, const features& x,
                       const rig::layout& rows, int repeat) {
  double longest = 0;
  for (int part = 0; part < rows.ranks(); ++part) {
    const auto of =
        rig::distributed<matrix>::from_whole(ranks::simulated(part, rows.ranks()), whole, rows)
            .local()
            .to(on.here);
    longest = std::max(longest, median_ms(on, repeat, [&] { rig::mxm(of, x, sums_of_floats()); }));
  }
  return longest;
}

/// Measures a product over the devices that there are. Returns the predicted share of four.
double measure_devices(const devices& on, const std::string& name, index columns, int repeat,
                       record* out) {
  const matrix whole = rig::generate::random_values(graph_of(name));
  features x(whole.columns(), columns);
  for (index i = 0; i < x.rows(); ++i)
    for (index j = 0; j < columns; ++j)
      x(i, j) = static_cast<float>((i * 31 + j * 17) % 23 + 1) / 32;
  const matrix a = whole.to(on.here);
  const features x_here = x.to(on.here);
  const double one = median_ms(on, repeat, [&] { rig::mxm(a, x_here, sums_of_floats()); });
  const auto add = [&](const char* operation, int ranks, double ms, double local, double bytes) {
    if (out == nullptr) return;
    row line = line_of(name, whole, x, ranks);
    line.operation = operation;
    line.ms = ms;
    line.peer_ms = {{"one_device", one}, {"longest_part", local}};
    line.bytes = bytes;
    line.ratio = one / ms / ranks;  // 1: no time is lost
    out->add(line);
  };
  int slices = 1;
  if (const int size = on.ranks.size(); size > 1) {
    const auto rows = rig::layout::by_entries(whole.structure(), size);
    const auto parts = rig::distributed<matrix>::from_whole(on.ranks, whole, rows).to(on.here);
    const auto of_x = rig::distributed<features>::from_whole(on.ranks, x, rows).to(on.here);
    compare(rig::mxm(parts, of_x, sums_of_floats()).local(), rig::mxm(a, x_here, sums_of_floats()),
            rows, on.ranks.rank());
    const double ms = median_ms(on, repeat, [&] { rig::mxm(parts, of_x, sums_of_floats()); });
    const auto moved = rig::explain(parts, of_x, sums_of_floats());
    slices = moved.slices;
    const double local =
        median_ms(on, repeat, [&] { rig::mxm(parts.local(), x_here, sums_of_floats()); });
    add("mxm over devices", size, ms, local, static_cast<double>(moved.largest_bytes));
  }
  constexpr int four = 4;
  const auto rows = rig::layout::by_entries(whole.structure(), four);
  const ranks::volumes moved = ranks::volumes_of(whole, rows);
  const double each = moved.share * (four - 1) / four * x.rows() * columns * sizeof(float),
               most = each * moved.balance,
               local = longest_part_ms(on, whole, x_here, rows, repeat);
  // The rows of a slice of columns travel while the slice before is multiplied.
  const double rows_of_slice = most / nvlink_bytes_per_ms / slices, part_of_slice = local / slices,
               predicted = rows_of_slice + (slices - 1) * std::max(rows_of_slice, part_of_slice) +
                           part_of_slice;
  add("mxm predicted", four, predicted, local, most);
  return one / predicted / four;
}

}  // namespace

void device_suite(const std::vector<std::string>& graphs, const options& given, record* out) {
  const devices on(MPI_COMM_WORLD);
  std::vector<double> shares;
  for (const std::string& name : graphs)
    for (const int columns : given.features)
      shares.push_back(measure_devices(on, name, columns, given.repeat, out));
  if (out != nullptr) out->summarise("predicted_share_least", std::ranges::min(shares), 0.85);
}

}  // namespace bench
