// expect: trivially copyable
// errors: 1
#include <string>

#include "rig/matrix.hpp"

const auto words = rig::matrix<std::string>::from_tuples(1, 1, std::vector<rig::index>{0},
                                                         std::vector<rig::index>{0},
                                                         std::vector<std::string>{"a word"});
