#include "policies/queue_order.h"

#include <algorithm>
#include <array>
#include <functional>

namespace yard {
namespace {

constexpr std::array<const char*, 4> kNames = {"arrival", "priority", "weight", "deadline"};

}  // namespace

QueueOrder parse_queue_order(const std::string& name) {
  const auto it = std::find(kNames.begin(), kNames.end(), name);
  if (it == kNames.end()) {
    throw InputError("order", "one of: " + join(queue_order_names()), "'" + name + "'");
  }
  return static_cast<QueueOrder>(it - kNames.begin());
}

std::vector<std::string> queue_order_names() { return {kNames.begin(), kNames.end()}; }

std::vector<int32_t> waiting_in_order(const View& view, QueueOrder order) {
  std::vector<int32_t> slots;
  slots.reserve(static_cast<size_t>(view.num_waiting()));
  for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
    slots.push_back(slot);
  }
  const auto due_us = [&](int32_t slot) {
    return view.first_deadline_us(slot) == kNone ? kNever : view.first_deadline_us(slot);
  };
  if (order == QueueOrder::kPriority) {
    std::ranges::stable_sort(slots, std::greater<>(), std::bind_front(&View::priority, &view));
  } else if (order == QueueOrder::kWeight) {
    std::ranges::stable_sort(slots, std::greater<>(), std::bind_front(&View::weight, &view));
  } else if (order == QueueOrder::kDeadline) {
    std::ranges::stable_sort(slots, {}, due_us);
  }
  return slots;
}

}  // namespace yard
