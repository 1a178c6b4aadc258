#include "experiments/programs/train/log_lessons.h"

#include <algorithm>

#include "agents/log_worlds.h"
#include "env/base/error.h"
#include "env/base/file.h"
#include "policies/learned/dispatcher.h"

namespace yard {

LogLessons::LogLessons(const LogFolder& folder, double held_out) : folder_(folder) {
  const std::string path = folder.choices().string();
  const RecordedChoices all =
      unpack_choices(from_safetensors(read_file(path), path), kDispatchShape, path);
  const auto& time_s = all.time_s;
  const float over = time_s.empty() ? 0 : *std::ranges::max_element(time_s);
  const auto limit = static_cast<float>((1 - held_out) * static_cast<double>(over));
  const auto from = std::ranges::find_if(time_s, [&](float s) { return s > limit; });
  const int64_t cut = from - time_s.begin();
  learned_ = all.part(0, cut);
  held_out_ = all.part(cut, all.size());
  if (learned_.size() == 0 || held_out_.size() == 0) {
    throw InputError("validate_share",
                     "a share of the log's time that leaves choices on both sides",
                     std::to_string(learned_.size()) + " before, " +
                         std::to_string(held_out_.size()) + " after");
  }
}

std::unique_ptr<Worlds> LogLessons::worlds(const Agent&, const WorldsOptions& options) const {
  return make_log_worlds(learned_, options);
}

nlohmann::ordered_json LogLessons::provenance() const {
  return {{"log", name()},
          {"log_sha256", sha256()},
          {"decided_by", folder_.fit().at("decided_by")},
          {"decisions", folder_.fit().at("decisions")},
          {"steps", learned_.size()},
          {"steps_held_out", held_out_.size()}};
}

std::string LogLessons::name() const { return "decision log"; }

}  // namespace yard
