#pragma once

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "serving/snapshot/messages.h"

namespace yard {

// Returns whether a snapshot may give this speed; the reference speed is 1.
inline bool is_valid_speed(double speed) { return speed >= 1e-3 && speed <= 1e3; }

// The speeds of jobs on the nodes of a snapshot. A gang runs at the speed of its slowest GPU.
class GangSpeeds {
 public:
  // Requires: the request outlives the object.
  explicit GangSpeeds(const pb::DecideRequest& request) {
    std::unordered_map<std::string_view, const pb::GpuType*> types;
    for (const pb::GpuType& type : request.gpu_types()) {
      if (type.speed() != 1 || type.speed_of_model_size() > 0) types[type.name()] = &type;
    }
    if (types.empty()) return;
    for (const pb::Node& node : request.nodes()) {
      const auto type = types.find(node.gpu_type());
      if (type != types.end()) type_of_node_[node.name()] = type->second;
    }
  }

  // Returns the work per second of a job that trains `model` on the GPUs of its pieces, as a
  // multiple of the reference speed; 1 for a job without GPUs.
  template <class Pieces>
  double of(std::string_view model, const Pieces& pieces) const {
    double slowest = 0;
    for (const pb::Piece& piece : pieces) {
      if (piece.gpus() == 0) continue;
      const auto type = type_of_node_.find(piece.node());
      const double speed = type == type_of_node_.end() ? 1 : speed_on(*type->second, model);
      slowest = slowest == 0 ? speed : std::min(slowest, speed);
    }
    return slowest == 0 ? 1 : slowest;
  }

 private:
  static double speed_on(const pb::GpuType& type, std::string_view model) {
    for (const pb::ModelSpeed& one : type.speed_of_model()) {
      if (one.model() == model && is_valid_speed(one.speed())) return one.speed();
    }
    return is_valid_speed(type.speed()) ? type.speed() : 1;
  }

  std::unordered_map<std::string_view, const pb::GpuType*> type_of_node_;
};

}  // namespace yard
