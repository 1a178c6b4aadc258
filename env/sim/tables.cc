#include "env/sim/tables.h"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace yard {

SpecTable::SpecTable(const ClusterSpec& spec) {
  for (const Node& node : spec.nodes) {
    gpus_.push_back(node.gpus);
    gpu0_.push_back(total_gpus_);
    rack_.push_back(node.rack);
    speed_.push_back(spec.types[static_cast<size_t>(node.type)].speed);
    total_gpus_ += node.gpus;
    max_node_gpus_ = std::max(max_node_gpus_, node.gpus);
  }
  nodes_of_size_.resize(static_cast<size_t>(max_node_gpus_) + 1);
  for (const int32_t gpus : gpus_) ++nodes_of_size_[static_cast<size_t>(gpus)];
}

SpecColumns SpecTable::columns() const {
  return {static_cast<int32_t>(gpus_.size()),
          total_gpus_,
          max_node_gpus_,
          gpus_.data(),
          gpu0_.data(),
          speed_.data(),
          rack_.data(),
          nodes_of_size_.data()};
}

JobTable::JobTable(const std::vector<Job>& jobs) {
  std::unordered_map<std::string, int32_t> users;
  for (const Job& job : jobs) {
    gpus_.push_back(job.gpus);
    submit_us_.push_back(job.submit_us);
    limit_us_.push_back(job.limit_us < 0 ? kNone : job.limit_us);
    const auto next = static_cast<int32_t>(users.size());
    user_.push_back(job.user.empty() ? kNone : users.try_emplace(job.user, next).first->second);
  }
  num_users_ = static_cast<int32_t>(users.size());
  class_gpus_ = gpus_;
  std::sort(class_gpus_.begin(), class_gpus_.end());
  class_gpus_.erase(std::unique(class_gpus_.begin(), class_gpus_.end()), class_gpus_.end());
  for (const int32_t gpus : gpus_) {
    const auto at = std::lower_bound(class_gpus_.begin(), class_gpus_.end(), gpus);
    size_class_.push_back(static_cast<int32_t>(at - class_gpus_.begin()));
  }
}

JobColumns JobTable::columns() const {
  return {static_cast<int32_t>(gpus_.size()),
          static_cast<int32_t>(class_gpus_.size()),
          num_users_,
          gpus_.data(),
          size_class_.data(),
          user_.data(),
          submit_us_.data(),
          limit_us_.data(),
          class_gpus_.data()};
}

StateSizes sizes_for(const Fixed& fixed, int32_t slots) {
  return {std::max(slots, 1), fixed.spec.num_nodes, fixed.spec.total_gpus, fixed.jobs.num_classes,
          fixed.spec.max_node_gpus};
}

}  // namespace yard
