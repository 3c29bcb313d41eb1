// rigblas devices: where rig computes on this machine, what it was built with, what it finds.

#include "command.hpp"
#include "graphblas.hpp"
#include "options.hpp"
#include "product_options.hpp"
#include "rig/kernels/optional_libraries.hpp"

namespace {

using example::json;
using members = std::vector<std::pair<std::string, std::string>>;

/// The libraries that rig or this command loads if they are there.
std::vector<rig::optional_library> libraries() {
  auto all = rig::optional_libraries();
  all.push_back({"libgraphblas", "a peer of bench", command::graphblas_path()});
  return all;
}

/// Why CUDA's first device cannot be used, or an empty text.
std::string why_no_cuda() {
  try {
    rig::synchronise(rig::cuda(0));
    return "";
  } catch (const rig::error& failed) {
    return failed.what();
  }
}

void add_places(example::report& out) {
  std::vector<std::string> places;
  for (const rig::device_info& found : rig::devices()) {
    const std::string place = rig::to_string(found.where);
    places.push_back(example::json_object({{"place", json(place)},
                                           {"name", json(found.name)},
                                           {"threads", json(found.threads)},
                                           {"memory", json(found.memory)}}));
    out.note(place, found.name + ", " + example::digits(found.threads) +
                        (found.where == rig::cpu() ? " threads, " : " multiprocessors, ") +
                        example::brief(static_cast<double>(found.memory) / 1e9) + " GB");
  }
  out.add_json("places", example::json_list(places), "");
  const std::string why = why_no_cuda();
  out.add_json("no_cuda", why.empty() ? "null" : json(why), "");
  out.note("no CUDA", why);
}

void add_build(example::report& out) {
  out.add("version", std::string(rig::version()));
  // Of the build of this command, which is the library's.
  out.add_hidden("built_for", std::string(RIG_BUILT_FOR));
  out.note("built for", RIG_BUILT_FOR);
  members pairs;
  for (const example::sums_in& type : example::types_of_sums()) {
    std::vector<std::string> names;
    for (const char* const name : type.semirings) names.push_back(json(std::string(name)));
    pairs.emplace_back(type.type, example::json_list(names));
    out.note("semirings", example::digits(names.size()) + " over " + type.type);
  }
  out.add_json("semirings", example::json_object(pairs), "");
}

void add_libraries(example::report& out) {
  members paths;
  for (const rig::optional_library& each : libraries()) {
    paths.emplace_back(each.name, each.path.empty() ? "null" : json(each.path));
    out.note(each.name, (each.path.empty() ? "not found" : each.path) + " (" + each.serves + ")");
  }
  out.add_json("libraries", example::json_object(paths), "");
}

}  // namespace

int command::devices(int count, char** arguments, const char* summary) {
  return example::run_program(count, arguments,
                              {.summary = summary,
                               .what = example::takes::nothing,
                               .has_product = false,
                               .has_place = false},
                              {}, [](const example::options& given) {
                                example::report out;
                                add_places(out);
                                add_build(out);
                                add_libraries(out);
                                out.print(given.json);
                              });
}
