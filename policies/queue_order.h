// The order in which a policy considers waiting jobs, for policies where it is a setting.
#pragma once

#include "policies/order.h"

namespace yard {

//   arrival   by entry into the queue
//   priority  highest first
//   weight    largest first
//   deadline  earliest first; by a job's first deadline, jobs without one last
// Ties go by entry into the queue.
enum class QueueOrder : uint8_t { kArrival, kPriority, kWeight, kDeadline };

QueueOrder parse_queue_order(const std::string& name);  // throws InputError
std::vector<std::string> queue_order_names();

std::vector<int32_t> waiting_in_order(const View& view, QueueOrder order);

struct QueueOrderConfig : PlacementConfig {
  std::string order = "arrival";
  void fields(FieldList& f) {
    PlacementConfig::fields(f);
    f("order", order, queue_order_names(), "queue order; ties by arrival");
  }
};

template <InformationLevel kUsedLevel>
class ConfiguredOrderPolicy : public PlacementRulePolicy<QueueOrderConfig, kUsedLevel> {
 public:
  explicit ConfiguredOrderPolicy(const Settings& settings)
      : PlacementRulePolicy<QueueOrderConfig, kUsedLevel>(settings),
        order_(parse_queue_order(this->config_.order)) {}

 protected:
  QueueOrder order_;
};

}  // namespace yard
