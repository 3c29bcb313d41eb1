#include "model_file.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "rig/output_file.hpp"

namespace gnn {
namespace {

using json = nlohmann::json;
using rig::errc;
using rig::fail;

constexpr const char* format_name = "rig gnn model";
constexpr int format_version = 2;

template <class Names>
int name_among(const Names& names, const std::string& name, const char* key) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) fail(errc::format, {key, " is '", name, "', which is no name"});
  return static_cast<int>(found - names.begin());
}

/// An integer of a file, which may hold a number of any kind and size.
int integer(const json& of, const char* key) {
  const json& value = of.at(key);
  const bool is_above =
      value.is_number_unsigned() && value.get<std::uint64_t>() > std::numeric_limits<int>::max();
  if (!value.is_number_integer() || is_above || value < std::numeric_limits<int>::min() ||
      value > std::numeric_limits<int>::max())
    fail(errc::format, {key, " is ", value.dump(), ", not an integer"});
  return value.get<int>();
}

shape shape_from(const json& of) {
  shape s;
  s.model = static_cast<kind>(name_among(kind_names, of.at("model").get<std::string>(), "model"));
  s.aggregate = static_cast<gathering>(
      name_among(gathering_names, of.at("aggregate").get<std::string>(), "aggregate"));
  s.inputs = integer(of, "inputs");
  s.hidden = integer(of, "hidden");
  s.outputs = integer(of, "outputs");
  s.layers = integer(of, "layers");
  s.k = integer(of, "k");
  s.dropout = of.at("dropout").get<double>();
  s.heads = integer(of, "heads");
  s.edge_dropout = of.at("edge_dropout").get<double>();
  s.norm = static_cast<norm>(name_among(norm_names, of.at("norm").get<std::string>(), "norm"));
  s.residual = of.at("residual").get<bool>();
  s.alpha = of.at("alpha").get<double>();
  s.hops = integer(of, "hops");
  check(s);
  return s;
}

rig::dense<float> values_from(const json& of, const shape& s) {
  rig::int64 count = 0;
  for (int l = 0; l < s.all_layers(); ++l)
    for (const auto& p : parameters_of(s, l)) count += static_cast<rig::int64>(p.rows) * p.columns;
  if (!of.is_array() || static_cast<rig::int64>(of.size()) != count)
    fail(errc::format, {"there are ", of.size(), " parameters, and the shape has ", count});
  rig::dense<float> values(1, static_cast<rig::index>(count));
  float* next = values.data();
  for (const json& number : of) {
    const double value = number.is_number() ? number.get<double>() : NAN;
    if (!(std::abs(value) <= double{std::numeric_limits<float>::max()}))
      fail(errc::format, {"parameter ", next - values.data(), " is ", number.dump(),
                          ", not a number that a float holds"});
    *next++ = static_cast<float>(value);
  }
  return values;
}

saved_model parsed(std::istream& file) {
  const json of = json::parse(file);
  if (of.at("format") != format_name)
    fail(errc::format, {"the format is ", of.at("format").dump(), ", not '", format_name, "'"});
  if (integer(of, "version") != format_version)
    fail(errc::format, {"the version is ", integer(of, "version"), "; this program reads version ",
                        format_version, "; train the model again"});
  saved_model out;
  out.shape = shape_from(of.at("shape"));
  out.normalise_features = of.at("normalise_features").get<bool>();
  if (of.contains("multi_label")) out.multi_label = of.at("multi_label").get<bool>();
  out.values = values_from(of.at("parameters"), out.shape);
  return out;
}

}  // namespace

void save(const std::string& path, const saved_model& model) {
  const shape& s = model.shape;
  json head = {{"format", format_name},
               {"version", format_version},
               {"normalise_features", model.normalise_features},
               {"shape",
                {{"model", kind_names[static_cast<std::size_t>(s.model)]},
                 {"aggregate", gathering_names[static_cast<std::size_t>(s.aggregate)]},
                 {"inputs", s.inputs},
                 {"hidden", s.hidden},
                 {"outputs", s.outputs},
                 {"layers", s.layers},
                 {"k", s.k},
                 {"dropout", s.dropout},
                 {"heads", s.heads},
                 {"edge_dropout", s.edge_dropout},
                 {"norm", norm_names[static_cast<std::size_t>(s.norm)]},
                 {"residual", s.residual},
                 {"alpha", s.alpha},
                 {"hops", s.hops}}}};
  if (model.multi_label) head["multi_label"] = *model.multi_label;
  std::string text = head.dump();
  text.pop_back();
  text += ", \"parameters\": [";
  const auto values = model.values.to(rig::cpu());
  char digits[32];
  for (const float value : values) {
    if (!std::isfinite(value)) fail(errc::range, {path, ": a parameter is not finite"});
    text.append(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
    text += value == 0 ? ".0," : ",";  // "-0" would be read as an integer, which has no sign
  }
  text.back() = ']';
  rig::write_text(path, text + "}\n");
}

saved_model read_model(std::istream& from, const std::string& name) {
  try {
    return parsed(from);
  } catch (const json::exception& bad) {
    fail(errc::format, {name, ": not a model that gnn_train --save writes: ", bad.what()});
  } catch (const rig::error& bad) {
    fail(bad.code(), {name, ": ", bad.what()});
  }
}

saved_model load_model(const std::string& path) {
  std::ifstream file(path);
  if (!file || std::filesystem::is_directory(path)) fail(errc::io, {path, ": cannot be read"});
  return read_model(file, path);
}

}  // namespace gnn
