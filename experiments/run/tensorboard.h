// Scalars in TensorBoard's event format: TFRecord frames with masked CRC-32C around protocol-buffer
// messages `Event`, whose few fields are encoded here by hand.
//   EventFile events(run_folder);
//   events.scalars(step, wall_s, {{"train/return", 1.25}});
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "experiments/run/append_file.h"

namespace yard {

// The first frame of every file.
std::string version_event(double wall_s);

// A frame with one value for each tag.
std::string scalar_event(int64_t step, double wall_s,
                         const std::vector<std::pair<std::string, double>>& values);

// A frame that says: a session starts at `step`. Readers forget what came before from there on.
std::string start_event(int64_t step, double wall_s);

// A new file in a folder, named so that readers take the files of a folder in their order.
class EventFile {
 public:
  explicit EventFile(const std::filesystem::path& folder);

  // Values that are no finite floats are left out: TensorBoard's charts cannot show them.
  void scalars(int64_t step, const std::vector<std::pair<std::string, double>>& values);
  void restart(int64_t step);

 private:
  AppendFile file_;
};

}  // namespace yard
