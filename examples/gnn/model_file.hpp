#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "model.hpp"

// Trained networks as files: JSON with a format, a version, the shape, and every parameter in the
// shortest notation that reads back to the same float. So a file serves on any machine.

namespace gnn {

struct saved_model {
  gnn::shape shape;
  bool normalise_features = false;       ///< whether the features were
  rig::dense<float> values;              ///< 1 × parameters
  std::optional<bool> multi_label = {};  ///< whether nodes have several labels; none in older files
};

/// Writes the whole file, or leaves the one of this name as it was. Throws error(io); range, if a
/// parameter is not finite.
void save(const std::string& path, const saved_model& model);

/// Throws error: io; format, for every defect of the file; range, for shapes that make no sense.
saved_model load_model(const std::string& path);
/// The same from a stream; `name` is in front of errors.
saved_model read_model(std::istream& from, const std::string& name);

}  // namespace gnn
