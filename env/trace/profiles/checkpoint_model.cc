#include "env/trace/profiles/checkpoint_model.h"

#include <cmath>
#include <string>
#include <unordered_map>

namespace yard {
namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;

struct Times {
  double save_s = -1, restore_s = -1;  // -1: unknown
};

int64_t to_us(double seconds) { return seconds < 0 ? -1 : std::llround(seconds * 1e6); }

Times times_of(const Profiles& profiles, const std::string& name,
               const CheckpointCostModel& model) {
  const std::string plain = normalised_model_name(name);
  Times out;
  if (const double weights = profiles.parameter_bytes(plain); weights > 0) {
    const double storage_s = weights * model.state_per_weight / (model.storage_gib_per_s * kGib);
    out = {model.save_s + storage_s, model.start_s + storage_s};
  }
  for (const MeasuredRestart& measured : profiles.restarts) {
    if (normalised_model_name(measured.model) != plain) continue;
    if (measured.save_s >= 0) out.save_s = measured.save_s;
    if (measured.restore_s >= 0) out.restore_s = measured.restore_s;
  }
  return out;
}

}  // namespace

void fill_checkpoint_costs(Trace& trace, const Profiles& profiles,
                           const CheckpointCostModel& model) {
  std::unordered_map<std::string, Times> known;
  for (Job& job : trace.jobs) {
    if (job.model.empty()) continue;
    auto found = known.find(job.model);
    if (found == known.end()) {
      found = known.emplace(job.model, times_of(profiles, job.model, model)).first;
    }
    if (job.save_us < 0) job.save_us = to_us(found->second.save_s);
    if (job.restore_us < 0) job.restore_us = to_us(found->second.restore_s);
  }
}

}  // namespace yard
