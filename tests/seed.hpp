#pragma once

/// The seed of every random test: RIG_SEED of the environment, or a fixed number. main prints it.
unsigned long test_seed();

/// A small generator (splitmix64) with the same numbers everywhere, unlike the distributions of
/// <random>.
class random_bits {
 public:
  explicit random_bits(unsigned long seed) : state_(seed) {}

  unsigned long next() {
    unsigned long x = state_ += 0x9e3779b97f4a7c15ul;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ul;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebul;
    return x ^ (x >> 31);
  }
  /// 0 … count − 1.
  int below(int count) { return static_cast<int>(next() % static_cast<unsigned long>(count)); }
  /// [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  bool chance(double probability) { return unit() < probability; }

 private:
  unsigned long state_;
};
