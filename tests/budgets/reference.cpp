// What the seconds of the other files are measured by: the standard library alone.
#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <vector>

int main(int count, char** words) {
  std::map<std::string, std::vector<std::string>> seen;
  const std::regex pattern("([a-z]+)=([0-9]+)");
  for (int i = 1; i < count; ++i) {
    std::smatch found;
    const std::string word = words[i];
    if (std::regex_match(word, found, pattern)) seen[found[1]].push_back(found[2]);
  }
  for (auto& [name, values] : seen) std::sort(values.begin(), values.end());
  return static_cast<int>(seen.size());
}
