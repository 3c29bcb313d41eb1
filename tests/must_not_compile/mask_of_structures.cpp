// expect: a mask's values must have a storage type
#include "rig/rig.hpp"

struct pair {
  float x, y;
};

rig::dense<float> product(const rig::matrix<float>& a, const rig::dense<float>& b,
                          const rig::dense<pair>& m) {
  return rig::mxm(a, b, rig::plus_times<float>{}, rig::values(m));
}
