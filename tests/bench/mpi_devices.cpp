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
constexpr double nvlink_bytes_per_second = 370e9;  ///< assumed, not measured

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

/// The columns of this rank, or of another one.
rig::range columns_of(const features& x, int rank, int ranks) {
  return {rig::over_ranks::first_feature(x.columns(), rank, ranks),
          rig::over_ranks::first_feature(x.columns(), rank + 1, ranks)};
}

/// Throws unless this rank's part, by rows or by features, is that of one device, to the bit.
void compare(const rig::distributed<features>& product, const features& whole) {
  const features& part = product.local();
  const int rank = product.communicator().rank(), ranks = product.communicator().size();
  const bool is_split = product.is_by_features();
  std::vector<index> here, there;
  for (index k = 0; k < part.rows(); k += std::max(1, part.rows() / 1000)) {
    here.push_back(k);
    there.push_back(is_split ? k : static_cast<index>(product.layout().row_at(rank, k)));
  }
  const auto mine = rig::extract(part, here, rig::all).to(rig::cpu());
  const auto columns = columns_of(whole, is_split ? rank : 0, is_split ? ranks : 1);
  const auto right = rig::extract(whole, there, columns).to(rig::cpu());
  for (index i = 0; i < mine.rows(); ++i)
    if (!std::ranges::equal(mine.row(i), right.row(i)))
      rig::fail(rig::errc::cannot, {"bench_mpi: row ", there[static_cast<std::size_t>(i)],
                                    " differs from that of one device"});
}

row line_of(const std::string& name, const matrix& a, const features& x, const char* scheme,
            int ranks) {
  row line;
  line.graph = name;
  line.n = a.rows();
  line.nnz = a.nnz();
  line.features = x.columns();
  line.semiring = sums_of_floats::name;
  line.type = "float";
  line.kernel = scheme;
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

/// The longest product of a rank's columns of `ranks`, one after another on this rank's device.
double longest_columns_ms(const devices& on, const matrix& a, const features& x, int ranks,
                          const rig::descriptor& one, int repeat) {
  double longest = 0;
  for (int part = 0; part < ranks; ++part) {
    const rig::range columns = columns_of(x, part, ranks);
    const features of = rig::extract(x, rig::all, columns);
    longest = std::max(longest, median_ms(on, repeat, [&] {
                         rig::over_ranks::multiply_features<void, sums_of_floats>(
                             a, of, static_cast<index>(columns.first), x.columns(), one);
                       }));
  }
  return longest;
}

/// The operands of a product, and its time on one device.
struct one_device {
  const devices& on;
  std::string name;
  int repeat;
  matrix whole = rig::generate::random_values(graph_of(name)), a = whole.to(on.here);
  features x, x_here;
  double ms = 0;

  one_device(const devices& of, const std::string& graph, index columns, int rounds)
      : on(of), name(graph), repeat(rounds), x(whole.columns(), columns) {
    for (index i = 0; i < x.rows(); ++i)
      for (index j = 0; j < columns; ++j)
        x(i, j) = static_cast<float>((i * 31 + j * 17) % 23 + 1) / 32;
    x_here = x.to(on.here);
    ms = median_ms(on, repeat, [&] { rig::mxm(a, x_here, sums_of_floats()); });
  }
  void add(record* out, const char* operation, const char* scheme, int ranks, double all_ms,
           double local, double bytes) const {
    if (out == nullptr) return;
    row line = line_of(name, whole, x, scheme, ranks);
    line.operation = operation;
    line.ms = all_ms;
    line.peer_ms = {{"one_device", ms}, {"longest_part", local}};
    line.bytes = bytes;
    line.ratio = ms / all_ms / ranks;  // 1: no time is lost
    out->add(line);
  }
};

/// What ranks need of products over the devices that there are.
struct over_devices {
  rig::ranks_explanation fetch;
  rig::descriptor by_features;  ///< the kernel that ranks name
};

/// Measures a product over the devices that there are, by both exchanges.
over_devices measure_devices(const one_device& of, record* out) {
  const sums_of_floats s;
  const devices& on = of.on;
  const int size = on.ranks.size();
  const auto rows = rig::layout::by_entries(of.whole.structure(), size);
  const auto parts = rig::distributed<matrix>::from_whole(on.ranks, of.whole, rows).to(on.here);
  const auto by_rows = rig::distributed<features>::from_whole(on.ranks, of.x, rows).to(on.here);
  const auto by_features = by_rows.by_features();
  const over_devices found = {rig::explain(parts, by_rows, s),
                              {.kernel = rig::explain(parts, by_features, s).kernel}};
  if (size == 1) return found;
  const auto measure = [&](const rig::distributed<features>& of_x) {
    compare(rig::mxm(parts, of_x, s), rig::mxm(of.a, of.x_here, s));
    return median_ms(on, of.repeat, [&] { rig::mxm(parts, of_x, s); });
  };
  of.add(out, "mxm over devices", "fetch", size, measure(by_rows),
         median_ms(on, of.repeat, [&] { rig::mxm(parts.local(), of.x_here, s); }),
         static_cast<double>(found.fetch.largest_bytes));
  of.add(out, "mxm over devices", "features", size, measure(by_features),
         longest_columns_ms(on, of.a, of.x_here, size, found.by_features, of.repeat), 0);
  return found;
}

/// Predicts a product over four devices. Returns the share by the better exchange.
double predict_four(const one_device& of, const over_devices& measured, record* out) {
  constexpr int four = 4;
  const auto rows = rig::layout::by_entries(of.whole.structure(), four);
  const ranks::volumes moved = ranks::volumes_of(of.whole, rows);
  const double all = moved.share * (four - 1) * of.x.rows() * of.x.columns() * sizeof(float),
               most = all / four * moved.balance,
               local = longest_part_ms(of.on, of.whole, of.x_here, rows, of.repeat);
  rig::ranks_explanation why = measured.fetch;
  why.largest_bytes = static_cast<int64>(most);
  why.largest_part = local / of.ms;
  const double fetched = 1e3 * why.seconds(of.ms / 1e3, nvlink_bytes_per_second),
               split = longest_columns_ms(of.on, of.a, of.x_here, four, measured.by_features,
                                          of.repeat);
  of.add(out, "mxm predicted", "fetch", four, fetched, local, most);
  of.add(out, "mxm predicted", "features", four, split, split, 0);
  return of.ms / std::min(fetched, split) / four;
}

}  // namespace

void device_suite(const std::vector<std::string>& graphs, const options& given, record* out) {
  const devices on(MPI_COMM_WORLD);
  std::vector<double> shares;
  for (const std::string& name : graphs)
    for (const int columns : given.features) {
      const one_device of(on, name, columns, given.repeat);
      shares.push_back(predict_four(of, measure_devices(of, out), out));
    }
  if (out != nullptr) out->summarise("predicted_share_least", std::ranges::min(shares), 0.85);
}

}  // namespace bench
