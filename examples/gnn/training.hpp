#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "data.hpp"
#include "loss.hpp"
#include "model.hpp"

// Training on the whole graph at once.

namespace gnn {

struct training {
  int epochs = 200;
  double rate = 0.01, decay = 5e-4;
  std::uint64_t seed = 1;
};

/// What a network needs of a data set, where it is computed.
struct problem {
  aggregation<float> a;
  var<float> x;
  truth<float> of;
  /// The operator of an epoch by its seed, if that is not `a`.
  std::function<aggregation<float>(std::uint64_t)> drawn = {};
};

struct outcome {
  scores best;               ///< at the epoch of the best validation score, the last of equal ones
  rig::dense<float> values;  ///< the parameters of that epoch
  int epochs = 0;            ///< epochs trained
  double last_loss = 0;
  std::vector<double> curve;  ///< the validation score of every tenth epoch
  double epoch_ms = 0;        ///< median of forward, backward, and the step of Adam
};

/// An epoch as its observer sees it.
struct progress {
  int epoch;
  double loss, validation;
};

/// Epochs without a better validation score after which training ends.
inline constexpr int patience = 100;

inline double median(std::vector<double> of) {
  if (of.empty()) return 0;
  const auto middle = of.begin() + static_cast<long>(of.size() / 2);
  std::nth_element(of.begin(), middle, of.end());
  return *middle;
}

/// One step of training: forward, backward and Adam. `seed` draws dropout, and the operator if that
/// is drawn. Returns the loss, for which alone it waits unless the operator is drawn.
inline double step(tape& t, network<float>& net, adam<float>& optimiser, const problem& on,
                   std::uint64_t seed) {
  net.clear_gradients();
  const auto a = on.drawn ? t.run(stage::aggregate, [&] { return on.drawn(seed); }) : on.a;
  const auto z = net.forward(t, a, on.x, seed);
  const double found = loss(t, z, on.of);
  t.backward();
  t.run(stage::update, [&] { optimiser.step(net); });
  return found;
}

/// The results of a network for every node, where the features are; the network may be elsewhere.
inline rig::dense<float> results_of(const network<float>& net, const problem& on) {
  tape plain(false, on.x->where());
  if (net.values().where() == on.x->where()) return net.forward(plain, on.a, on.x)->value;
  network<float> copied(net.shape(), 1, on.x->where());
  copied.set_values(net.values());
  return copied.forward(plain, on.a, on.x)->value;
}

/// Trains by `epoch`, which takes the steps of one and returns their loss; without it, by one step
/// over the whole graph.
inline outcome train(
    network<float>& net, const problem& on, const training& how,
    const std::function<void(const progress&)>& observe,
    const std::function<double(tape&, adam<float>&, std::uint64_t)>& epoch_of = {}) {
  outcome found;
  adam<float> optimiser(how.rate, how.decay);
  std::vector<double> ms;
  const rig::place where = net.values().where();
  int best_epoch = 0;
  for (int epoch = 1; epoch <= how.epochs && epoch - best_epoch <= patience; ++epoch) {
    const example::stopwatch watch;
    tape t(true, where);
    const std::uint64_t seed = how.seed * 1'000'003 + static_cast<std::uint64_t>(epoch);
    found.last_loss = epoch_of ? epoch_of(t, optimiser, seed) : step(t, net, optimiser, on, seed);
    rig::synchronise(where);
    ms.push_back(watch.ms());
    if (!std::isfinite(found.last_loss))
      rig::fail(rig::errc::range,
                {"training: the loss of epoch ", epoch, " is ", found.last_loss,
                 "; give a learning rate below ", how.rate, ", a lower weight decay than ",
                 how.decay, ", or smaller features"});
    found.epochs = epoch;

    const auto z = results_of(net, on);
    // The loss of the next epoch shows what this one did.
    if (epoch == how.epochs && !is_finite(z))
      rig::fail(rig::errc::range, {"training: the results of epoch ", epoch,
                                   " are not finite; give a learning rate below ", how.rate});
    const scores now = accuracy(z, on.of);
    if (epoch == 1 || now.validation >= found.best.validation) {
      if (epoch == 1 || now.validation > found.best.validation) best_epoch = epoch;
      found.best = now;
      found.values = net.values();
    }
    if (epoch % 10 == 0) found.curve.push_back(now.validation);
    observe({epoch, found.last_loss, now.validation});
  }
  found.epoch_ms = median(ms);
  return found;
}

/// Milliseconds of the stages of some work.
struct stage_times {
  double aggregate = 0, update = 0;
};
/// Splits `ms`, the time of some work, among its stages. The shares are measured in runs of their
/// own, which wait for the device around each stage.
inline stage_times measure_stages(double ms, bool records, rig::place where,
                                  const std::function<void(tape&)>& work) {
  std::vector<double> aggregate, update;
  for (int run = 0; run < 5; ++run) {
    const example::stopwatch watch;
    tape t(records, where);
    t.measure();
    work(t);
    rig::synchronise(where);
    const double all = watch.ms();
    aggregate.push_back(t.ms(stage::aggregate) / all);
    update.push_back(t.ms(stage::update) / all);
  }
  return {ms * median(aggregate), ms * median(update)};
}

}  // namespace gnn
