// Writes scalars in TensorBoard's event format: TFRecord frames around protobuf messages `Event`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "experiments/run/append_file.h"

namespace yard {

// Returns the first frame of every file.
std::string version_event(double wall_s);

// Returns a frame with one value for each tag.
std::string scalar_event(int64_t step, double wall_s,
                         const std::vector<std::pair<std::string, double>>& values);

// A file whose name sorts after the folder's existing event files, as readers expect.
class TensorBoardFile {
 public:
  explicit TensorBoardFile(const std::filesystem::path& folder);

  // Omits values that are not finite floats, which TensorBoard cannot show.
  void write_scalars(int64_t step, const std::vector<std::pair<std::string, double>>& values);
  // Starts a session. Readers discard earlier values from `step` on.
  void mark_restart_at(int64_t step);

 private:
  AppendFile file_;
};

}  // namespace yard
