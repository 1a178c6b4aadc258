#include "experiments/run/tensorboard.h"

#include <chrono>
#include <cmath>
#include <cstdio>

#include "env/base/files/protobuf_wire.h"
#include "env/base/files/tfrecord.h"

namespace yard {
namespace {

// Event: 1 wall_time, 2 step, 3 file_version, 5 summary, 7 session_log.
std::string event(double wall_s) { return wire::float_field(1, wall_s); }

std::string event(double wall_s, int64_t step) { return event(wall_s) + wire::number(2, step); }

double now_s() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// Returns the first free name after the existing ones. Other writers put the host's name before the
// number; run folders do not reveal it.
std::filesystem::path new_name(const std::filesystem::path& folder) {
  const auto seconds = static_cast<long long>(now_s());
  for (int n = 0;; ++n) {
    char name[64];
    std::snprintf(name, sizeof name, "events.out.tfevents.%010lld.yardmaster.%04d", seconds, n);
    if (!std::filesystem::exists(folder / name)) return folder / name;
  }
}

}  // namespace

std::string version_event(double wall_s) {
  return tfrecord_frame(event(wall_s) + wire::bytes(3, "brain.Event:2"));
}

std::string scalar_event(int64_t step, double wall_s,
                         const std::vector<std::pair<std::string, double>>& values) {
  std::string summary;
  for (const auto& [tag, value] : values) {  // Value: 1 tag, 2 simple_value
    summary +=
        wire::bytes(1, wire::bytes(1, tag) + wire::float_field(2, static_cast<float>(value)));
  }
  return tfrecord_frame(event(wall_s, step) + wire::bytes(5, summary));
}

TensorBoardFile::TensorBoardFile(const std::filesystem::path& folder) : file_(new_name(folder)) {
  file_.write(version_event(now_s()));
}

void TensorBoardFile::write_scalars(int64_t step,
                                    const std::vector<std::pair<std::string, double>>& values) {
  std::vector<std::pair<std::string, double>> finite;
  for (const auto& value : values) {
    if (std::isfinite(static_cast<float>(value.second))) finite.push_back(value);
  }
  if (!finite.empty()) file_.write(scalar_event(step, now_s(), finite));
}

void TensorBoardFile::mark_restart_at(int64_t step) {
  // SessionLog: 1 status, START = 1
  file_.write(tfrecord_frame(event(now_s(), step) + wire::bytes(7, wire::number(1, 1))));
}

}  // namespace yard
