// Trains a graph network on all nodes over the ranks of MPI:
//   mpirun -n 4 build/examples/train_ranks sage rmat:12:16 20
// Each rank has some rows of the graph and of the features, and all weights. The losses have the
// bits of one rank.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "rig/distributed.hpp"
#include "rig/distributed/mpi.hpp"
#include "rig/generate.hpp"
#include "rig/graph.hpp"
#include "rig/semirings.hpp"

namespace {

using rig::dense;
using rig::index;
using rig::int64;
using graph_part = rig::distributed<rig::matrix<float>>;
using features_part = rig::distributed<dense<float>>;

constexpr index classes = 4;

/// A sum over nodes as a multiple of 2^-40. Integers have one sum in any order, so it depends
/// neither on the number of ranks nor on the layout.
constexpr double units = 0x1p40;
int64 in_units(double x) { return std::llround(x * units); }

/// Adds up the ranks' numbers, place by place. Collective.
void add_over_ranks(const rig::communicator& ranks, std::vector<int64>& numbers) {
  std::vector<int64> others(numbers.size() * static_cast<std::size_t>(ranks.size()));
  std::vector<rig::message> sends, receives;
  const std::size_t bytes = numbers.size() * sizeof(int64);
  for (int rank = 0; rank < ranks.size(); ++rank)
    if (rank != ranks.rank()) {
      sends.push_back({rank, numbers.data(), bytes});
      receives.push_back(
          {rank, others.data() + static_cast<std::size_t>(rank) * numbers.size(), bytes});
    }
  ranks.exchange(sends, receives);
  for (std::size_t k = 0; k < others.size(); ++k) {
    const std::size_t rank = k / numbers.size();
    if (rank != static_cast<std::size_t>(ranks.rank())) numbers[k % numbers.size()] += others[k];
  }
}

/// Numbers around 0 that every rank makes alike.
dense<float> numbers(index rows, index columns, unsigned seed) {
  dense<float> made(rows, columns);
  for (index i = 0; i < rows; ++i)
    for (float& x : made.row(i)) {
      seed = seed * 1664525u + 1013904223u;
      x = static_cast<float>(seed >> 8) / 0x1p24f - 0.5f;
    }
  return made;
}

/// Y += X·W, row by row: a rank needs no other rank's rows for it.
void add_product(dense<float>& y, const dense<float>& x, const dense<float>& w) {
  for (index i = 0; i < x.rows(); ++i)
    for (index k = 0; k < w.rows(); ++k)
      for (index j = 0; j < w.columns(); ++j) y(i, j) += x(i, k) * w(k, j);
}
/// X += Y·Wᵀ.
void add_product_of_transpose(dense<float>& x, const dense<float>& y, const dense<float>& w) {
  for (index i = 0; i < y.rows(); ++i)
    for (index k = 0; k < w.rows(); ++k)
      for (index j = 0; j < w.columns(); ++j) x(i, k) += y(i, j) * w(k, j);
}
/// W −= rate · Xᵀ·dY, a sum over the nodes of all ranks. Collective.
void descend(const rig::communicator& ranks, dense<float>& w, const dense<float>& x,
             const dense<float>& dy, double rate) {
  std::vector<int64> sums(static_cast<std::size_t>(w.rows()) *
                          static_cast<std::size_t>(w.columns()));
  for (index i = 0; i < x.rows(); ++i)
    for (index k = 0; k < w.rows(); ++k)
      for (index j = 0; j < w.columns(); ++j)
        sums[static_cast<std::size_t>(k * w.columns() + j)] +=
            in_units(double{x(i, k)} * double{dy(i, j)});
  add_over_ranks(ranks, sums);
  for (index k = 0; k < w.rows(); ++k)
    for (index j = 0; j < w.columns(); ++j) {
      const auto sum = static_cast<double>(sums[static_cast<std::size_t>(k * w.columns() + j)]);
      w(k, j) -= static_cast<float>(rate * sum / units);
    }
}

/// Y = (A·H)·W + H·V, with a rectifier unless it is the last layer. GCN has no V.
struct layer {
  dense<float> w, v;
  bool has_own, is_last;
  dense<float> h = {}, sums = {}, y = {};  ///< of the last `forward`, this rank's rows

  features_part forward(const graph_part& a, const features_part& input) {
    h = input.local();
    sums = rig::mxm(a, input, rig::plus_times<float>()).local();
    y = dense<float>(h.rows(), w.columns());
    add_product(y, sums, w);
    if (has_own) add_product(y, h, v);
    dense<float> out = y;
    for (index i = 0; i < out.rows() && !is_last; ++i)
      for (float& x : out.row(i)) x = std::max(x, 0.0f);
    return features_part::from_rows(a.communicator(), std::move(out), a.layout());
  }
  /// Passes the gradient of the output on to the input, and changes the weights. Collective.
  dense<float> backward(const graph_part& a, dense<float> dy, double rate, bool is_first) {
    for (index i = 0; i < dy.rows() && !is_last; ++i)
      for (index j = 0; j < dy.columns(); ++j)
        if (y(i, j) <= 0) dy(i, j) = 0;
    dense<float> dh(h.rows(), h.columns());
    if (!is_first) {
      dense<float> of_sums(h.rows(), h.columns());
      add_product_of_transpose(of_sums, dy, w);
      const auto part = features_part::from_rows(a.communicator(), std::move(of_sums), a.layout());
      dh = rig::mxm(a, part, rig::plus_times<float>(), {.transpose_a = true}).local();
      if (has_own) add_product_of_transpose(dh, dy, v);
    }
    descend(a.communicator(), w, sums, dy, rate);
    if (has_own) descend(a.communicator(), v, h, dy, rate);
    return dh;
  }
};

/// The cross entropy of this rank's nodes in units, and in `scores` its gradient.
int64 cross_entropy(dense<float>& scores, const std::vector<index>& labels) {
  int64 loss = 0;
  for (index i = 0; i < scores.rows(); ++i) {
    const auto row = scores.row(i);
    const float greatest = *std::max_element(row.begin(), row.end());
    double sum = 0;
    for (const float x : row) sum += std::exp(double{x - greatest});
    const auto label = static_cast<std::size_t>(labels[static_cast<std::size_t>(i)]);
    loss += in_units(std::log(sum) - double{row[label] - greatest});
    for (float& x : row) x = static_cast<float>(std::exp(double{x - greatest}) / sum);
    row[label] -= 1;
  }
  return loss;
}

/// The mean loss of each epoch. Collective.
std::vector<double> train(const rig::communicator& ranks, const rig::matrix<float>& graph,
                          bool is_sage, int epochs) {
  const auto rows = rig::layout::by_entries(graph.structure(), ranks.size());
  const auto a = graph_part::from_whole(ranks, graph, rows);
  const auto all = numbers(graph.rows(), 16, 1);
  const auto x = features_part::from_whole(ranks, all, rows);
  std::vector<index> labels;  // the greatest of a node's first features
  for (index i = 0; i < x.local().rows(); ++i) {
    const auto row = x.local().row(i);
    labels.push_back(
        static_cast<index>(std::max_element(row.begin(), row.begin() + classes) - row.begin()));
  }
  layer first{numbers(16, 16, 2), numbers(16, 16, 3), is_sage, false};
  layer second{numbers(16, classes, 4), numbers(16, classes, 5), is_sage, true};
  const double rate = 1.0 / graph.rows();
  std::vector<double> losses;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    dense<float> scores = second.forward(a, first.forward(a, x)).local();
    const int64 loss = ranks.all_reduce(cross_entropy(scores, labels), rig::joining::sum);
    losses.push_back(static_cast<double>(loss) / units / graph.rows());
    first.backward(a, second.backward(a, std::move(scores), rate, false), rate, true);
  }
  return losses;
}

/// Prints the losses, and whether they are those of one rank. Collective.
bool run(const rig::communicator& ranks, bool is_sage, const std::string& recipe, int epochs) {
  const auto ones = rig::generate::from_text(recipe).with_value(1.0f);
  const auto graph = is_sage ? rig::mean_normalise(ones) : rig::gcn_normalise(ones);
  const std::vector<double> losses = train(ranks, graph, is_sage, epochs),
                            on_one = train(rig::loopback(1)[0], graph, is_sage, epochs);
  const bool is_same =
      std::memcmp(losses.data(), on_one.data(), losses.size() * sizeof(double)) == 0;
  if (ranks.rank() == 0)
    std::printf(
        "%s, %d nodes, %d ranks, %d epochs: the loss falls from %.4f to %.4f; the losses "
        "%s those of one rank\n",
        is_sage ? "sage" : "gcn", graph.rows(), ranks.size(), epochs, losses.front(), losses.back(),
        is_same ? "are" : "are not");
  return is_same && losses.back() < losses.front();
}

/// At least two, because the first and the last loss are compared.
int epochs_of(const std::string& word) {
  int epochs = 0;
  const char* const end = word.data() + word.size();
  if (std::from_chars(word.data(), end, epochs).ptr != end || epochs < 2)
    rig::fail(rig::errc::range, {"the epochs are '", word, "'; give a number of at least 2"});
  return epochs;
}

}  // namespace

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  const std::vector<std::string> given(arguments + 1, arguments + count);
  const auto word = [&](std::size_t k, const char* usual) {
    return given.size() > k ? given[k] : std::string(usual);
  };
  const std::string model = word(0, "sage");
  bool is_right = false;
  try {
    if (model != "sage" && model != "gcn")
      rig::fail(rig::errc::range, {"the model is '", model, "'; give sage or gcn"});
    is_right = run(rig::mpi_communicator(MPI_COMM_WORLD), model == "sage", word(1, "rmat:8:8"),
                   epochs_of(word(2, "10")));
  } catch (const rig::error& failed) {
    std::fprintf(stderr, "train_ranks: %s\n", failed.what());
  }
  MPI_Finalize();
  return is_right ? 0 : 1;
}
