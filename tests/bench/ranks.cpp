// Suite ranks: what products over ranks move, from the plans of up to 1024 ranks; and products of
// ranks in one process beside an all-gather of X with a local product.

#include <algorithm>
#include <exception>
#include <thread>

#include "bench.hpp"
#include "distributed/simulated.hpp"
#include "rig/distributed.hpp"
#include "rig/semirings.hpp"

namespace bench {
namespace {

using sums = rig::plus_times<float>;
using features_of_ranks = rig::distributed<rig::dense<float>>;
using matrix_of_ranks = rig::distributed<rig::matrix<float>>;

rig::layout even_rows(rig::index rows, int ranks) {
  std::vector<rig::int64> counts;
  for (rig::int64 r = 0; r < ranks; ++r)
    counts.push_back(rows * (r + 1) / ranks - rows * r / ranks);
  return rig::layout::contiguous(counts);
}

row line_of(const std::string& name, const rig::matrix<float>& a, int ranks) {
  row line;
  line.graph = name;
  line.n = a.rows();
  line.nnz = a.nnz();
  line.ranks = ranks;
  line.features = 0;
  line.type = "float";
  return line;
}

void add_volumes(const std::string& name, const rig::matrix<float>& a, int ranks, record& out) {
  const std::pair<const char*, rig::layout> layouts[] = {
      {"even rows", even_rows(a.rows(), ranks)},
      {"by entries", rig::layout::by_entries(a.structure(), ranks)}};
  const std::pair<const char*, rig::exchange> schemes[] = {{"fetch, ", rig::exchange::fetch},
                                                           {"cover, ", rig::exchange::cover}};
  for (const auto& [scheme, by] : schemes)
    for (const auto& [of_rows, rows] : layouts) {
      const ranks::volumes moved = ranks::volumes_of(a, rows, by);
      row line = line_of(name, a, ranks);
      line.operation = std::string(scheme) + of_rows;
      line.ms = moved.plan_seconds * 1e3;
      line.moved_share = moved.share;
      line.balance = moved.balance;
      out.add(line);
    }
}

/// The time of a plan over that of the local product that it serves, on the first of some ranks.
double plan_in_products(const rig::matrix<float>& a, int ranks, int columns, const options& given) {
  const auto rows = rig::layout::by_entries(a.structure(), ranks);
  const auto part = matrix_of_ranks::from_whole(ranks::simulated(0, ranks), a, rows);
  const rig::dense<float> x(a.columns(), columns, 0.5f);
  const contender field[] = {
      {"plan",
       [&] {
         part.drop_plans();
         part.prepare(rows);
       }},
      {"product", [&] { rig::mxm(part.local(), x, sums(), {.threads = 1}); }}};
  const auto ms = race(field, repeat_of(given));
  return ms[0] / ms[1];
}

/// Ranks of one process and their parts.
class process {
 public:
  process(const rig::matrix<float>& a, const rig::dense<float>& x, int ranks)
      : ranks_(rig::loopback(ranks)), parts_(ranks_.size()) {
    const auto rows = rig::layout::by_entries(a.structure(), ranks);
    together([&](std::size_t rank) {
      auto of_x = features_of_ranks::from_whole(ranks_[rank], x, rows);
      auto split = of_x.by_features();
      parts_[rank].emplace(part{matrix_of_ranks::from_whole(ranks_[rank], a, rows), std::move(of_x),
                                std::move(split)});
      for (const auto by : {rig::exchange::fetch, rig::exchange::features})
        parts_[rank]->a.prepare(rows, {.exchange = by});
    });
  }

  void fetch(int threads) {
    together([&](std::size_t rank) {
      const part& of = *parts_[rank];
      rig::mxm(of.a, of.x, sums(), {.threads = threads, .exchange = rig::exchange::fetch});
    });
  }
  void split_features(int threads) {
    together([&](std::size_t rank) {
      const part& of = *parts_[rank];
      rig::mxm(of.a, of.split, sums(), {.threads = threads, .exchange = rig::exchange::features});
    });
  }
  void all_gather(int threads) {
    together([&](std::size_t rank) {
      const part& of = *parts_[rank];
      rig::mxm(of.a.local(), of.x.gather(), sums(), {.threads = threads});
    });
  }

 private:
  struct part {
    matrix_of_ranks a;
    features_of_ranks x, split;
  };

  template <class Work>
  void together(const Work& work) {
    std::vector<std::exception_ptr> thrown(ranks_.size());
    {
      std::vector<std::jthread> threads;
      for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
        threads.emplace_back([&, rank] {
          try {
            work(rank);
          } catch (...) {
            thrown[rank] = std::current_exception();
          }
        });
    }
    for (const auto& cause : thrown)
      if (cause != nullptr) std::rethrow_exception(cause);
  }

  std::vector<rig::communicator> ranks_;
  std::vector<std::optional<part>> parts_;
};

/// Returns the time of an all-gather and a local product over that of fetch, and that of one rank.
std::pair<double, double> measure_products(const std::string& name, const rig::matrix<float>& a,
                                           int ranks, int columns, const options& given,
                                           record& out) {
  const int all = threads_of(given), each = std::max(1, all / ranks);
  const rig::dense<float> x(a.columns(), columns, 0.5f);
  process of(a, x, ranks);
  const contender field[] = {{"fetch", [&] { of.fetch(each); }},
                             {"features", [&] { of.split_features(each); }},
                             {"all_gather", [&] { of.all_gather(each); }},
                             {"one_rank", [&] { rig::mxm(a, x, sums(), {.threads = all}); }}};
  const auto ms = race(field, repeat_of(given));
  row line = line_of(name, a, ranks);
  line.operation = "mxm over ranks";
  line.features = columns;
  line.semiring = sums::name;
  line.kernel = "fetch";
  line.ms = ms[0];
  for (std::size_t k = 1; k < ms.size(); ++k) line.peer_ms[field[k].name] = ms[k];
  line.ratio = ms[2] / ms[0];
  out.add(line);
  return {ms[2] / ms[0], ms[3] / ms[0]};
}

}  // namespace

void ranks_suite(const options& given, record& out) {
  std::vector<std::string> graphs = given.graphs;
  if (graphs.empty()) {
    graphs = {"rmat:17:16", "uniform:131072:16", "rmat:20:16"};
    if (std::ranges::count(data_sets(), "web-cnr2000") > 0) graphs.push_back("web-cnr2000");
  }
  std::vector<double> over_all_gather, over_one_rank;
  double plans = 0;
  const std::vector<int> usual{64};
  for (const std::string& name : graphs) {
    const rig::matrix<float> a = rig::generate::random_values(graph_of(name));
    for (int ranks = 2; ranks <= 1024; ranks *= 2) add_volumes(name, a, ranks, out);
    for (const int columns : given.features.empty() ? usual : given.features) {
      plans = std::max(plans, plan_in_products(a, 16, columns, given));
      for (const int ranks : {2, 4}) {
        const auto [gathered, alone] = measure_products(name, a, ranks, columns, given, out);
        over_all_gather.push_back(gathered);
        if (ranks == 4) over_one_rank.push_back(alone);
      }
    }
  }
  out.limit("plan_in_local_products_greatest", plans, 10);
  out.summarise("over_all_gather_geomean", geometric_mean(over_all_gather));
  out.summarise("over_all_gather_least", std::ranges::min(over_all_gather), 1);
  out.summarise("four_ranks_over_one_least", std::ranges::min(over_one_rank), 0.8);
}

}  // namespace bench
