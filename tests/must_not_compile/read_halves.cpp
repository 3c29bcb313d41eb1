// expect: files are read and written as float, double, int32, int64 or bool
// errors: 1
#include "rig/rig.hpp"

void copy(const char* from, const char* to) {
  rig::write_dense(to, rig::read_dense<rig::half>(from));
  rig::write_matrix(to, rig::read_matrix<rig::half>(from));
}
