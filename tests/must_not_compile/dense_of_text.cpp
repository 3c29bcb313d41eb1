// expect: trivially copyable
// errors: 1
#include <string>

#include "rig/dense.hpp"

rig::dense<std::string> words(2, 2, "a word that is too long to be kept in place");
